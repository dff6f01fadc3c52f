# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""WebSocket texts in and out, without sockets, for protocols that exchange their own messages over them."""

from __future__ import annotations

import functools
import logging
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from gazeveil.errors import WireError, needing

MOST_HANDSHAKE: Final = 1 << 14
"""Bytes of an app's HTTP request."""

POLICY: Final = 1008
GOING_AWAY: Final = 1001

_MOST_REASON: Final = 120
"""Bytes of a reason that fit into a close frame."""


class _Texts:
    """What client and server share.

    Attributes:
        pongs: How many pings were answered.
        binaries: How many messages were binary; they are ignored.
    """

    def __init__(self, protocol: Any) -> None:
        self._ws = websockets_package()
        self._protocol = protocol
        self._message: bytearray | None = None
        self.pongs = self.binaries = 0

    def to_send(self) -> bytes:
        """Return what waits to be sent, once."""
        return b"".join(self._protocol.data_to_send())

    def _texts_in(self, data: bytes) -> list[str]:
        """Take bytes and return complete texts; answer pings, which may come between the parts of a text."""
        protocol, kinds = self._protocol, self._ws.frames.Opcode
        protocol.receive_data(data)
        found = []
        for event in protocol.events_received():
            opcode = getattr(event, "opcode", None)
            if opcode is kinds.TEXT:
                self._message = bytearray(event.data)
            elif opcode is kinds.CONT and self._message is not None:
                self._message += event.data
            else:
                self.pongs += opcode is kinds.PONG
                self.binaries += opcode is kinds.BINARY
                continue
            if event.fin:
                found.append(_text(self._message))
                self._message = None
        if protocol.handshake_exc is not None:
            raise WireError("the other end did not agree to a WebSocket")
        if protocol.parser_exc is not None:
            raise WireError("the other end broke the WebSocket protocol")
        return found


class TextClient(_Texts):
    """The client side of a WebSocket.

    Args:
        longest: Bytes of the longest text that is accepted.
        uri: The server's address, for the handshake.
    """

    def __init__(self, longest: int, uri: str = "ws://127.0.0.1:43333/") -> None:
        ws = websockets_package()
        super().__init__(ws.client.ClientProtocol(ws.uri.parse_uri(uri), max_size=longest, logger=silent_logger()))
        self._first: str | None = None

    def open(self) -> None:
        """Ask for a WebSocket."""
        self._protocol.send_request(self._protocol.connect())

    def send(self, text: str) -> None:
        """Send a text as soon as there is a WebSocket."""
        self._first = text

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the texts that are complete now.

        Raises:
            WireError: If they break the WebSocket protocol.
        """
        found = self._texts_in(data)
        if self._first is not None and self._protocol.state is self._ws.protocol.State.OPEN:
            self._protocol.send_text(self._first.encode())
            self._first = None
        return found


class TextServer(_Texts):
    """The server side of a WebSocket.

    Args:
        longest: Bytes of the longest text that is accepted.
        origins: Web pages that may connect, besides those of this machine.
        greeting: The first text, sent as soon as there is a WebSocket.
        refusal: The answer to any other page.

    Attributes:
        greeting: The same.
        open: Whether there is a WebSocket.
        closed: Whether it was closed or refused.
        refused_origin: The web page that was turned away, as it named itself; empty if none was.
    """

    def __init__(
        self,
        longest: int,
        origins: tuple[str, ...],
        greeting: bytes = b"",
        refusal: str = "This page may not read gaze here; the policy can list it.",
    ) -> None:
        super().__init__(websockets_package().server.ServerProtocol(max_size=longest, logger=silent_logger()))
        self._origins = origins
        self.greeting = greeting
        self._refusal = refusal
        self._request: bytearray | None = bytearray()
        self.open = False
        self.closed = False
        self.refused_origin = ""

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the texts that are complete now.

        Raises:
            WireError: If they break the WebSocket protocol.
        """
        if self.closed:
            return []
        if self._request is not None:
            self._request += data
            head, blank, rest = self._request.partition(b"\r\n\r\n")
            if len(head) > MOST_HANDSHAKE:
                raise WireError("the app's request is too long")
            if not blank:
                return []
            self._request = None
            self._shake_hands(bytes(head + blank))
            data = bytes(rest)
        found = self._texts_in(data) if data and self.open else []
        self._update_state()
        return found

    def packed(self, text: str | bytes) -> bytes:
        """Return a text as a frame; a server's frames are not masked, so it only needs a short prefix."""
        data = text.encode() if isinstance(text, str) else text
        size = len(data)
        if size < 126:
            return bytes((0x81, size)) + data
        marker, width = (0x7E, 2) if size < 1 << 16 else (0x7F, 8)
        return bytes((0x81, marker)) + size.to_bytes(width, "big") + data

    def ping(self) -> None:
        """Send a ping; an answer increases ``pongs``."""
        self._protocol.send_ping(b"")

    def close(self, reason: str, code: int = POLICY) -> None:
        """Close with a reason, of which the first 120 bytes fit."""
        self._update_state()
        if self.open:
            self._protocol.send_close(code, reason.encode()[:_MOST_REASON].decode(errors="ignore"))
        self.open, self.closed = False, True

    def _update_state(self) -> None:
        self.open = self._protocol.state is self._ws.protocol.State.OPEN
        self.closed = not self.open

    def _shake_hands(self, head: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(head)
        request = next((event for event in protocol.events_received() if hasattr(event, "headers")), None)
        if request is None:
            raise WireError("the app did not ask for a WebSocket")
        origins = request.headers.get_all("Origin")
        if may_read(origins, self._origins):
            answer = protocol.accept(request)
        else:
            self.refused_origin = ", ".join(origins)
            answer = protocol.reject(HTTPStatus.FORBIDDEN, f"{self._refusal}\n")
        del answer.headers["Date"]  # so that the same request has the same answer
        protocol.send_response(answer)
        self._update_state()
        if self.open and self.greeting:
            protocol.send_text(self.greeting)


def may_read(found: list[str], listed: tuple[str, ...]) -> bool:
    """Return whether these Origin headers may read: none (no browser), one of this machine, or a listed one."""
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


def _text(data: bytearray) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WireError("expected text, found other bytes") from None


@functools.cache
def websockets_package() -> Any:
    """Return the package, which is imported on use."""
    with needing("websockets", "live", "WebSocket"):
        import websockets.client  # noqa: PLC0415
        import websockets.frames  # noqa: PLC0415
        import websockets.protocol  # noqa: PLC0415
        import websockets.server  # noqa: PLC0415
        import websockets.uri  # noqa: PLC0415
    return websockets


@functools.cache
def silent_logger() -> logging.Logger:
    """Return a logger without output: at its lowest level the package logs every frame, and frames are gaze."""
    return logging.Logger("gazeveil.websocket", logging.CRITICAL + 1)
