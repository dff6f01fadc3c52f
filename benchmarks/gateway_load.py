# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers, apps and a bare proxy to load a gateway with; `bench_gateway` runs them.

A tracker's sample carries the moment at which it was sent as its time stamp, which passes every veil, so an app knows
how long each sample was under way. Trackers and apps share this process and its clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

monotonic = time.monotonic


class Trackers:
    """As many trackers as connect: each connection gets gaze as JSON lines, all at the same rate, one after another."""

    _rest = ',"unit":"norm"'

    def __init__(self, rate_hz: float) -> None:
        self.rate_hz = rate_hz
        self.running = self.awake = False
        self.sent = 0
        self.port = 0
        self._all: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Hang up."""
        if self._server is not None:
            self._server.close()
        for writer in self._all:
            writer.close()

    async def run(self) -> None:
        """Send for ever: at the rate while ``running``, now and then while ``awake``, so that nobody hangs up.

        A first sample that a starting gateway reads late would put all its stream behind by as much.
        """
        turn = 0
        begun = monotonic()
        while True:
            wait = begun + turn / 1000 - monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif wait < -1:
                begun -= wait
            count = len(self._all) if self.awake else 0
            rate = self.rate_hz if self.running else 1.0
            # In every millisecond those are due whose phase falls into it: the load is even, as with real trackers.
            first, last = (int(count * (turn + step) * rate / 1000) for step in (0, 1))
            for index in range(first, last):
                writer = self._all[index % count]
                if not writer.is_closing():
                    x = 0.3 + 0.4 * ((index * 7) % 100) / 100
                    writer.write(self._packed(f'{{"t":{monotonic():.6f},"x":{x:.4f},"y":0.5{self._rest}}}'))
                    self.sent += self.running
            turn += 1

    @property
    def connected(self) -> int:
        """How many of them are connected."""
        return len(self._all)

    def _packed(self, text: str) -> bytes:
        return text.encode() + b"\n"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._all.append(writer)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            await reader.read()
        self._all.remove(writer)


class Senders(Trackers):
    """Trackers that connect to a gateway that listens, each with its token, and send lines of JSON."""

    _rest = ""

    def __init__(self, rate_hz: float) -> None:
        super().__init__(rate_hz)
        self._readers: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Do nothing: there is nobody to connect to yet."""

    async def connect(self, ports: Sequence[int], tokens: Sequence[str]) -> None:
        """Connect one sender to each port, and show its token if it has one."""
        for port, token in zip(ports, tokens, strict=True):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await self._enter(reader, writer, token)
            self._all.append(writer)
            self._readers.append(asyncio.create_task(self._read(reader, writer)))

    async def close(self) -> None:
        """Hang up."""
        for reader in self._readers:
            reader.cancel()
        await super().close()

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        if token:
            writer.write(self._packed(f'{{"token":"{token}"}}'))
            if b'"ok"' not in await reader.readline():
                raise RuntimeError("the gateway refused a sender")

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what the gateway says; while a sender is connected that should be nothing."""
        with contextlib.suppress(ConnectionError):
            if said := await reader.read():
                print(f"a sender was told: {said[:300]!r}", file=sys.stderr)


class WebSocketSenders(Senders):
    """The same over WebSocket: whole text messages, and pings are answered."""

    def _packed(self, text: str) -> bytes:
        return self._frame(0x81, text.encode())

    def _frame(self, first: int, data: bytes) -> bytes:
        return bytes((first, 0x80 | len(data), 0, 0, 0, 0)) + data  # a mask of zeros changes nothing

    async def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        writer.write(
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        if b" 101 " not in await reader.readuntil(b"\r\n\r\n"):
            raise RuntimeError("the gateway refused a WebSocket")
        writer.write(self._packed(f'{{"token":"{token}"}}'))
        if b'"ok"' not in await self._heard(reader, writer):
            raise RuntimeError("the gateway refused a sender")

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                said = await self._heard(reader, writer)
                print(f"a sender was told: {said[:300]!r}", file=sys.stderr)

    async def _heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        """Return the next message that is not a ping; those are answered."""
        while True:
            first, length = await reader.readexactly(2)
            if length == 126:
                length = int.from_bytes(await reader.readexactly(2))
            data = await reader.readexactly(length)
            if first != 0x89:
                return data
            writer.write(self._frame(0x8A, data))


class App(asyncio.Protocol):
    """Reads what a gateway or a proxy gives, and notes how long it was under way."""

    def __init__(self, seen: list[float]) -> None:
        self._seen, self._rest = seen, b""

    def data_received(self, data: bytes) -> None:
        """Note every sample."""
        now = monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b'{"t":'):
                self._seen.append(now - float(line[5 : line.index(b",")]))


class Proxy(asyncio.Protocol):
    """The least that could stand between tracker and app: bytes in, the same bytes out."""

    def __init__(self, apps: set[asyncio.Transport]) -> None:
        self._apps = apps

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        for app in self._apps:
            app.write(data)


class ProxyDoor(asyncio.Protocol):
    """Where an app enters the proxy."""

    def __init__(self, apps: set[asyncio.Transport]) -> None:
        self._apps = apps

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let an app in."""
        self._transport: asyncio.Transport = transport  # type: ignore[assignment]
        self._apps.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let it go."""
        self._apps.discard(self._transport)


async def run_proxy(tracker_port: int, streams: int) -> None:
    """Run a proxy of so many streams, print its ports, and stay; without a tracker's port, those of senders first."""
    loop = asyncio.get_running_loop()
    ports, doors = [], []
    for _ in range(streams):
        apps: set[asyncio.Transport] = set()
        server = await loop.create_server(partial(ProxyDoor, apps), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        if tracker_port:
            await loop.create_connection(partial(Proxy, apps), "127.0.0.1", tracker_port)
        else:
            door = await loop.create_server(partial(Proxy, apps), "127.0.0.1", 0)
            doors.append(door.sockets[0].getsockname()[1])
    print(*doors, *ports, flush=True)
    await asyncio.Event().wait()


async def settle(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until something holds, at most so long."""
    until = monotonic() + seconds
    while not condition() and monotonic() < until:  # noqa: ASYNC110  (what is waited for is another process)
        await asyncio.sleep(0.02)
    return condition()


async def connect_apps(ports: list[int], seen: list[float]) -> list[asyncio.BaseTransport]:
    """Connect one app to each port."""
    loop = asyncio.get_running_loop()
    made: list[Awaitable[tuple[asyncio.BaseTransport, App]]] = [
        loop.create_connection(lambda: App(seen), "127.0.0.1", port) for port in ports
    ]
    return [transport for transport, _ in await asyncio.gather(*made)]


if __name__ == "__main__":
    asyncio.run(run_proxy(int(sys.argv[1]), int(sys.argv[2])))
