# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers that connect to the gateway: a listening port, and the one sender that may use it at a time.

Nothing here interprets the bytes: `PushedSource` does, and reports when a sender has shown its token. Buffers are
bounded: replies are short, and a sender that does not read them is disconnected.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any, Final

from gazeveil.errors import GazeveilError, WireError
from gazeveil.gateway.protocol import Gate, PushedSource
from gazeveil.gateway.tcp import LAST_WORDS_S, Link, listening, monotonic, port_of
from gazeveil.gateway.telemetry import shortened

MOST_WAITING: Final = 8
"""Connections that have not shown the token yet; beyond that the oldest is closed."""
MOST_UNREAD: Final = 1 << 16
"""Bytes of answers that a sender may leave unread."""
GOING_AWAY, TAKEN_OVER = 1001, 1008
"""Close codes: the sender may come again later, or another one took its place."""
NOBODY: Final = "no sender is connected"
NOTHING_YET: Final = "a sender is connected, and no sample of it could be used yet"
_TICK_S: Final = 0.25


class Inlet(Link):
    """One tracker's listening port.

    Attributes:
        refused: Why the last sender was refused after it had shown the token; empty if it was not.

    Args:
        make: Makes the parser of a sender's messages.
        token: The token that a sender must show.
        origins: Web pages that may send, besides those of this machine.
        take_over: Whether a second sender replaces the first.
    """

    def __init__(
        self,
        make: Callable[[Gate], PushedSource],
        *,
        token: str,
        origins: tuple[str, ...],
        take_over: bool,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self.token, self._make, self._origins, self._take_over = token, make, origins, take_over
        self._server: asyncio.Server | None = None
        self._connections: dict[_Sender, None] = {}
        self._sender: _Sender | None = None
        self.refused = ""

    async def open(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Begin to listen.

        Raises:
            InputError: If the port is taken or the address is not this machine's.
        """
        self._server = await listening(f"tracker {self.name!r}", lambda: _Sender(self), host, port, tls)

    @property
    def port(self) -> int:
        """The port that senders connect to."""
        return port_of(self._server)

    async def run(self) -> None:
        """Do what is due until it is cancelled, then close."""
        self.lost(NOBODY)
        try:
            while True:
                await asyncio.sleep(_TICK_S)
                now = monotonic()
                for connection in tuple(self._connections):
                    connection.tick(now)
        finally:
            self.close("this source is not used any more")

    def close(self, reason: str) -> None:
        """Stop listening, and close all connections with the reason."""
        if self._server is not None:
            self._server.close()
        self._sender = None  # no loss is reported: another source may be in use already
        for connection in tuple(self._connections):
            connection.hang_up(reason)
        self.meter.connected = False

    def source_for(self, connection: _Sender) -> PushedSource:
        """Return the parser for a connection."""
        return self._make(Gate(self.token, self._origins, lambda: self._let_in(connection)))

    def came(self, connection: _Sender) -> None:
        """Add a connection; of too many without a token the oldest is closed."""
        waiting = [one for one in self._connections if one is not self._sender]
        if len(waiting) >= MOST_WAITING:
            self.meter.refused += 1
            waiting[0].cut_off()
            self.left(waiting[0])
        self._connections[connection] = None

    def left(self, connection: _Sender) -> None:
        """Remove a connection; if it was the sender, apps get no gaze."""
        self._connections.pop(connection, None)
        if connection is self._sender:
            self._sender = None
            self.gone(f"{NOBODY}; the last sender was refused: {self.refused}" if self.refused else NOBODY)

    def is_sender(self, connection: _Sender) -> bool:
        """Whether this connection's samples are used."""
        return connection is self._sender

    def _let_in(self, connection: _Sender) -> str:
        before = self._sender
        if before is not None and not self._take_over:
            self.meter.refused += 1
            self.log("sender refused", tracker=self.name, why="another one is connected")
            return "another sender is connected"
        self._sender, self.refused = connection, ""
        self.lost(NOTHING_YET)
        self.meter.connects += 1
        self.meter.connected = True
        if before is not None:
            before.hang_up("another sender took over", TAKEN_OVER)
        self.log("sender connected", tracker=self.name)
        return ""


class _Sender(asyncio.Protocol):
    """One connection, before or after its token was checked."""

    def __init__(self, inlet: Inlet) -> None:
        self._inlet = inlet
        self._source = inlet.source_for(self)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._inlet.came(self)
        self._source.connected(monotonic())

    def data_received(self, data: bytes) -> None:
        inlet, now = self._inlet, monotonic()
        try:
            samples = self._source.received(data, now)
        except WireError as error:
            self._refused(error)
            return
        except Exception as error:  # noqa: BLE001  (a parser's fault must not stop the other streams)
            inlet.meter.garbage += 1
            inlet.log("source failed", tracker=inlet.name, why=error)
            self.cut_off()
            return
        if self._source.remark:
            inlet.log("sender warned", tracker=inlet.name, why=self._source.remark)
            self._source.remark = ""
        if samples and inlet.is_sender(self):
            inlet.meter.samples += len(samples)
            inlet.push(samples, now)
        self._flush()

    def tick(self, now: float) -> None:
        """Do what is due."""
        try:
            self._source.tick(now)
        except GazeveilError as error:
            self._refused(error)
            return
        self._flush()

    def hang_up(self, reason: str, code: int = GOING_AWAY) -> None:
        """Report why, and close."""
        if not self._source.ended:
            self._source.close(reason, code)
        self._flush()

    def cut_off(self) -> None:
        """Abort the connection."""
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._inlet.left(self)

    def _refused(self, error: GazeveilError) -> None:
        inlet, source = self._inlet, self._source
        inlet.meter.garbage += source.admitted
        if not source.refused_token:  # that is logged below
            inlet.log("garbage from sender", tracker=inlet.name, why=error.message, hint=error.hint)
        if inlet.is_sender(self):
            inlet.refused = error.message
        self._flush()

    def _flush(self) -> None:
        transport, source, inlet = self._transport, self._source, self._inlet
        if transport is None or transport.is_closing():
            return
        if data := source.data_to_send():
            transport.write(data)
        if transport.get_write_buffer_size() > MOST_UNREAD:
            inlet.log("sender does not read", tracker=inlet.name)
            self.cut_off()
        elif source.ended:
            if source.refused_origin:
                inlet.meter.refused_origins += 1
                inlet.log("origin refused", tracker=inlet.name, origin=shortened(source.refused_origin))
            if source.refused_token:
                inlet.meter.refused_tokens += 1
                inlet.log("token refused", tracker=inlet.name)
            transport.close()
            asyncio.get_running_loop().call_later(LAST_WORDS_S, transport.abort)  # it may not read them
            self._inlet.left(self)
