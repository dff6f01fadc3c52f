# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The phone of Neon or Invisible as a tracker: reads from its status where gaze is published, and follows it there.

Gaze comes in datagrams, or over the connection that asks for it. Datagrams are awaited at the address by which this
machine reaches the phone, and taken from the phone alone. When gaze ends, the status is read again: that also finds
glasses that were unplugged, so no updates are needed.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import Source
from gazeveil.gateway.protocols.neon_phone import NeonSource, Sensor, sensor_in
from gazeveil.gateway.protocols.rtsp import Message, Messages
from gazeveil.gateway.tcp import CALL_S, TrackerConnection, TrackerLink, monotonic

_TRIES: Final = 20
"""Attempts to find two adjacent ports."""


class NeonLink(TrackerLink):
    """A link to a phone."""

    def __init__(self, make: Callable[..., Source], host: str, port: int, **given: Any) -> None:
        self._sensor = Sensor()
        name = f"[{host}]" if ":" in host else host
        super().__init__(lambda: make(sensor=self._sensor, host=name), host, port, **given)

    async def _follow(self) -> str:
        async with asyncio.timeout(CALL_S):
            self._sensor = sensor_in(await _status_of(self._host, self._port))
        connection = _GazeConnection(self)
        try:
            connection.check(self._sensor)
            await self._call(connection, self._sensor.port)
            if not self._sensor.interleaved:
                await connection.await_datagrams()
            self.meter.connects += 1
            connection.ask()
            return await connection.over()
        finally:
            connection.close()


class _GazeConnection(TrackerConnection):
    """One session with the phone: the connection that asks for gaze, and the datagrams that may bring it."""

    def __init__(self, link: NeonLink) -> None:
        super().__init__(link)
        self._datagrams: list[asyncio.DatagramTransport] = []
        if not isinstance(self._source, NeonSource):
            raise WireError("only a source of Neon's follows a phone")
        self._gaze: NeonSource = self._source

    def check(self, sensor: Sensor) -> None:
        """Refuse a viewing plane that is not that of the scene camera.

        Raises:
            WireError: If the policy has another one.
        """
        plane, (width, height) = self._gaze.plane, sensor.camera
        if plane.geometry.knows_pixels and plane.pixels != sensor.camera:
            raise WireError(
                f"gaze of these glasses is in {width} x {height} pixels of their scene camera, and the policy says "
                f"{plane.pixels[0]} x {plane.pixels[1]}",
                hint=f"screen = {{ width_px = {width}, height_px = {height} }}",
            )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Do not ask yet: the ports for datagrams must be known first."""
        self._transport = transport  # type: ignore[assignment]

    def ask(self) -> None:
        """Ask for gaze."""
        if self._transport is not None:
            super().connection_made(self._transport)

    async def await_datagrams(self) -> None:
        """Open two adjacent ports, the first of them even, as RTP requires."""
        if self._transport is None:
            return
        here, phone = (self._transport.get_extra_info(name) for name in ("sockname", "peername"))
        loop = asyncio.get_running_loop()
        pair = _two_ports(here[0])
        for one, take in zip(pair, (self._gaze.gaze, self._took_report), strict=True):
            made = partial(_Datagrams, self, phone[0], take)
            transport, _ = await loop.create_datagram_endpoint(made, sock=one)
            self._datagrams.append(transport)
        self._gaze.ports = pair[0].getsockname()[1], pair[1].getsockname()[1]

    def _flush(self) -> None:
        super()._flush()
        if self._gaze.datagrams and self._transport is not None and self._datagrams:
            phone = self._transport.get_extra_info("peername")
            for which, port, data in self._gaze.datagrams:
                self._datagrams[which].sendto(data, (phone[0], port))
        self._gaze.datagrams.clear()

    def took(self, read: Callable[[bytes], Any], data: bytes) -> None:
        """Take a datagram."""
        if not self._over.done():
            self._take(lambda: read(data), monotonic())

    def close(self) -> None:
        """Close the connection and the ports."""
        super().close()
        for transport in self._datagrams:
            transport.abort()
        self._datagrams.clear()

    def _took_report(self, data: bytes) -> list[Any]:
        self._gaze.report(data)
        return []


class _Datagrams(asyncio.DatagramProtocol):
    """One port for datagrams from one phone."""

    def __init__(self, connection: _GazeConnection, phone: str, read: Callable[[bytes], Any]) -> None:
        self._connection, self._phone, self._read = connection, phone, read

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        if addr[0] == self._phone:
            self._connection.took(self._read, data)


def _two_ports(host: str) -> tuple[socket.socket, socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for _ in range(_TRIES):
        one, other = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
        try:
            one.bind((host, 0))
            port = one.getsockname()[1]
            other.bind((host, port ^ 1))
        except OSError:
            one.close()
            other.close()
            continue
        return (other, one) if port % 2 else (one, other)
    raise WireError("there are no two free ports side by side for gaze")


async def _status_of(host: str, port: int) -> bytes:
    """Return the phone's status.

    Raises:
        WireError: If it sends none.
        OSError: If it cannot be reached.
    """
    reader, writer = await asyncio.open_connection(host, port)
    try:
        name = f"[{host}]" if ":" in host else host
        writer.write(
            f"GET /api/status HTTP/1.1\r\nHost: {name}:{port}\r\nAccept: application/json\r\n"
            "User-Agent: gazeveil\r\nConnection: close\r\n\r\n".encode()
        )
        messages = Messages()
        while data := await reader.read(1 << 16):
            for one in messages.feed(data):
                if not isinstance(one, Message) or one.status != 200:
                    raise WireError("the tracker does not tell its status", hint="is this the address of the phone?")
                return one.body
        raise WireError("the tracker closed the connection before it sent its status")
    finally:
        writer.close()
