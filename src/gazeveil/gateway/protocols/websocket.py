# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""WebSocket with one JSON object a text message, for browsers and for headset runtimes.

The handshake and the frames that come in are the ``websockets`` package's, which works without sockets too. A browser
lets any web page open a WebSocket to this machine, so a sink looks at the page's origin: pages of this machine may
read, others only if the policy lists them, and never one that hides its origin (``null``).
"""

from __future__ import annotations

import functools
import logging
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from gazeveil.errors import MissingExtra, WireError
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import PROTOCOLS, Protocol, Shown, Source
from gazeveil.gateway.protocols._graded import GradedSink
from gazeveil.gateway.protocols._json_gaze import (
    LEAVES,
    MOST_BYTES,
    WITHHELD,
    JsonFields,
    JsonReader,
    JsonWriter,
)
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledHit, VeiledSample

MOST_HANDSHAKE: Final = 1 << 14
"""Bytes of an app's HTTP request."""

PATIENCE_S: Final = 10.0
"""How long an app may take for its handshake, and for the answer to a ping."""

PING_EVERY_S: Final = 20.0

POLICY: Final = 1008
GOING_AWAY: Final = 1001

_MOST_REASON: Final = 120
"""Bytes of a reason that fit into a close frame."""


class WebSocketSource(Source):
    """The client of a tracker or headset runtime that pushes JSON.

    Args:
        plane: Where gaze lies.
        uri: Where the tracker is, for the handshake; the connection itself is somebody else's.
        fields: How the tracker calls things.
    """

    def __init__(self, plane: Plane, uri: str = "ws://127.0.0.1:7381/", fields: JsonFields | None = None) -> None:
        super().__init__(plane)
        self._reader = JsonReader(plane, fields or JsonFields())
        ws = _websockets()
        self._ws = ws
        self._protocol = ws.client.ClientProtocol(ws.uri.parse_uri(uri), max_size=MOST_BYTES, logger=_mute())
        self._message: bytearray | None = None

    def connected(self, now: float) -> None:
        """Ask for a WebSocket."""
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of all messages that are complete now; pings are answered.

        Raises:
            WireError: If they are not the answer to the handshake or not messages of JSON.
        """
        protocol = self._protocol
        protocol.receive_data(data)
        samples = []
        for event in protocol.events_received():
            message = self._assembled(event)
            if message is not None and (sample := self._reader.read(message)) is not None:
                samples.append(sample)
        self._flush()
        if protocol.handshake_exc is not None:
            raise WireError("the tracker did not agree to a WebSocket")
        if protocol.parser_exc is not None:
            raise WireError("the tracker broke the WebSocket protocol")
        return samples

    def _assembled(self, event: Any) -> bytearray | None:
        """Return the message that a frame completes. Control frames may come between the parts of one."""
        opcode, kinds = getattr(event, "opcode", None), self._ws.frames.Opcode
        if opcode is kinds.TEXT:
            self._message = bytearray(event.data)
        elif opcode is kinds.CONT and self._message is not None:
            self._message += event.data
        else:
            return None
        if not event.fin:
            return None
        whole, self._message = self._message, None
        return whole

    def _flush(self) -> None:
        self._out += b"".join(self._protocol.data_to_send())


class WebSocketSink(GradedSink):
    """The server for an app."""

    def __init__(self, shown: Shown) -> None:
        super().__init__(shown)
        self._writer = JsonWriter(shown)
        self._ws = _websockets()
        self._protocol = self._ws.server.ServerProtocol(max_size=MOST_BYTES, logger=_mute())
        self._request: bytearray | None = bytearray()
        self._open = False
        self._deadline: float | None = None
        self._pinged = False

    def connected(self, now: float) -> None:
        """Wait for the app's handshake, but not for ever."""
        self._deadline = now + PATIENCE_S

    def received(self, data: bytes, now: float) -> None:
        """Take bytes of the app: its handshake, then pings and pongs. Whatever else it says is ignored.

        Raises:
            WireError: If they are not a WebSocket's.
        """
        if self.ended:
            return
        if self._request is not None:
            self._request += data
            head, blank, rest = self._request.partition(b"\r\n\r\n")
            if len(head) > MOST_HANDSHAKE:
                raise WireError("the app's request is too long")
            if not blank:
                return
            self._request = None
            self._shake_hands(bytes(head + blank), now)
            data = bytes(rest)
        if data and self._open:
            self._listen(data, now)

    def tick(self, now: float) -> None:
        """Ping the app now and then, and drop it if it does not answer."""
        if self.ended or self._deadline is None or now < self._deadline:
            return
        if not self._open or self._pinged:
            self.ended = True
            return
        self._protocol.send_ping(b"")
        self._flush()
        self._pinged = True
        self._deadline = now + PATIENCE_S

    def silence(self, now: float) -> None:
        """Say that there is no gaze at present."""
        self._send(self._writer.silence())

    def end(self, reason: str, now: float, code: int = POLICY) -> None:
        """Say why nothing more comes, and close: 1008 for the policy's reasons, `GOING_AWAY` when the gateway stops."""
        self._send(self._writer.end(reason))
        if self._open:
            short = reason.encode()[:_MOST_REASON].decode(errors="ignore")
            self._protocol.send_close(code, short)
            self._flush()
        self._open = False
        self.ended = True

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        self._send(self._writer.sample(veiled))

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._send(self._writer.fixation(veiled))

    def _hit(self, veiled: VeiledHit, now: float) -> None:
        self._send(self._writer.hit(veiled))

    def _send(self, message: bytes) -> None:
        """Queue a text message. A server's frames are not masked: a few bytes before it are all that it needs."""
        if not self._open:
            return
        size = len(message)
        if size < 126:
            self._out += bytes((0x81, size))
        else:
            self._out += (
                b"\x81\x7e" + size.to_bytes(2, "big") if size < 1 << 16 else b"\x81\x7f" + size.to_bytes(8, "big")
            )
        self._out += message

    def _shake_hands(self, head: bytes, now: float) -> None:
        protocol = self._protocol
        protocol.receive_data(head)
        request = next((event for event in protocol.events_received() if hasattr(event, "headers")), None)
        if request is None:
            raise WireError("the app did not ask for a WebSocket")
        if may_read(request.headers.get_all("Origin"), self.shown.origins):
            answer = protocol.accept(request)
        else:
            answer = protocol.reject(
                HTTPStatus.FORBIDDEN, "This page may not read gaze here; the policy can list it.\n"
            )
        del answer.headers["Date"]  # so that the same request has the same answer
        protocol.send_response(answer)
        self._flush()
        if protocol.state is not self._ws.protocol.State.OPEN:
            self.ended = True
            return
        self._open = True
        self._deadline = now + PING_EVERY_S
        self._send(self._writer.hello())

    def _listen(self, data: bytes, now: float) -> None:
        protocol = self._protocol
        protocol.receive_data(data)
        for event in protocol.events_received():
            if event.opcode is self._ws.frames.Opcode.PONG:
                self._pinged = False
                self._deadline = now + PING_EVERY_S
        self._flush()
        if protocol.parser_exc is not None:
            raise WireError("the app broke the WebSocket protocol")
        if protocol.state is not self._ws.protocol.State.OPEN:
            self._open = False
            self.ended = True

    def _flush(self) -> None:
        self._out += b"".join(self._protocol.data_to_send())


def may_read(found: list[str], listed: tuple[str, ...]) -> bool:
    """Return whether a request with these Origin headers may read: none (no browser), this machine's, or a listed."""
    if not found:
        return True
    if len(found) > 1:
        return False
    if found[0] in listed:
        return True
    try:
        origin = urlsplit(found[0])
        return origin.scheme in {"http", "https"} and origin.hostname in {"localhost", "127.0.0.1", "::1"}
    except ValueError:
        return False


@functools.cache
def _websockets() -> Any:
    try:
        import websockets.client  # noqa: PLC0415
        import websockets.frames  # noqa: PLC0415
        import websockets.protocol  # noqa: PLC0415
        import websockets.server  # noqa: PLC0415
        import websockets.uri  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("websockets", "live", "WebSocket") from None
    return websockets


@functools.cache
def _mute() -> logging.Logger:
    """Return a logger that says nothing: at its lowest level the package logs every frame, and frames are gaze."""
    return logging.Logger("gazeveil.websocket", logging.CRITICAL + 1)


PROTOCOLS.register("websocket")(
    Protocol(
        name="websocket",
        title="WebSocket with JSON messages",
        port=7381,
        leaves=LEAVES,
        withheld=WITHHELD,
        source=WebSocketSource,
        sink=WebSocketSink,
        outputs=frozenset({"samples", "fixations", "hits"}),
    )
)
