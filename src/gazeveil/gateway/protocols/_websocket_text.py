# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""WebSocket texts in and out, without sockets, for a protocol that has its own words above them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from gazeveil.errors import WireError
from gazeveil.gateway.protocols.websocket import MOST_HANDSHAKE, POLICY, _mute, _websockets, may_read


class _Texts:
    """What both ends have in common."""

    def __init__(self, protocol: Any) -> None:
        self._ws = _websockets()
        self._protocol = protocol
        self._message: bytearray | None = None

    def to_send(self) -> bytes:
        """Return what waits to be sent, once."""
        return b"".join(self._protocol.data_to_send())

    def _heard(self, data: bytes) -> list[str]:
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
                continue
            if event.fin:
                found.append(_text(self._message))
                self._message = None
        if protocol.handshake_exc is not None or protocol.parser_exc is not None:
            raise WireError("the other end broke the WebSocket protocol")
        return found


class TextClient(_Texts):
    """The end that asks for a WebSocket."""

    def __init__(self, longest: int) -> None:
        ws = _websockets()
        uri = ws.uri.parse_uri("ws://127.0.0.1:43333/")
        super().__init__(ws.client.ClientProtocol(uri, max_size=longest, logger=_mute()))
        self._first: str | None = None

    def open(self) -> None:
        """Ask for a WebSocket."""
        self._protocol.send_request(self._protocol.connect())

    def send(self, text: str) -> None:
        """Send a text as soon as there is a WebSocket."""
        self._first = text

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the texts that are whole now.

        Raises:
            WireError: If they are not a WebSocket's.
        """
        found = self._heard(data)
        if self._first is not None and self._protocol.state is self._ws.protocol.State.OPEN:
            self._protocol.send_text(self._first.encode())
            self._first = None
        return found


class TextServer(_Texts):
    """The end that is asked.

    Args:
        longest: Bytes of the longest text that is accepted.
        origins: Web pages that may read, besides those of this machine.

    Attributes:
        closed: Whether there is no WebSocket any more, or never was.
    """

    def __init__(self, longest: int, origins: tuple[str, ...]) -> None:
        super().__init__(_websockets().server.ServerProtocol(max_size=longest, logger=_mute()))
        self._origins = origins
        self._request: bytearray | None = bytearray()
        self.closed = False

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the texts that are whole now.

        Raises:
            WireError: If they are not a WebSocket's.
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
        found = self._heard(data) if data and not self.closed else []
        self.closed = self._protocol.state is not self._ws.protocol.State.OPEN
        return found

    def packed(self, text: str) -> bytes:
        """Return a text as a frame; a server's are not masked, so a few bytes before it are all that it needs."""
        data = text.encode()
        head = bytes((0x81, len(data))) if len(data) < 126 else b"\x81\x7e" + len(data).to_bytes(2, "big")
        return head + data

    def close(self, reason: str) -> None:
        """Close with a reason, of which the first 120 bytes fit."""
        if self._request is None and not self.closed:
            self._protocol.send_close(POLICY, reason.encode()[:120].decode(errors="ignore"))
        self.closed = True

    def _shake_hands(self, head: bytes) -> None:
        protocol = self._protocol
        protocol.receive_data(head)
        request = next((event for event in protocol.events_received() if hasattr(event, "headers")), None)
        if request is None:
            raise WireError("the app did not ask for a WebSocket")
        if may_read(request.headers.get_all("Origin"), self._origins):
            answer = protocol.accept(request)
        else:
            answer = protocol.reject(
                HTTPStatus.FORBIDDEN, "This page may not read gaze here; the policy can list it.\n"
            )
        del answer.headers["Date"]  # so that the same request has the same answer
        protocol.send_response(answer)
        self.closed = protocol.state is not self._ws.protocol.State.OPEN


def _text(data: bytearray) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WireError("expected text, found other bytes") from None
