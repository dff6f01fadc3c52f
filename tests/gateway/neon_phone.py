# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The phone of Neon or Invisible on loopback: real servers of HTTP, WebSocket and RTSP, and gaze in real datagrams.

Its bytes are written here by hand and shared with nothing in the gateway; Pupil Labs' own client reads them too, see
`test_neon_clients`.
"""

from __future__ import annotations

import asyncio
import json
import re
import struct
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

CLOCK_RATE = 90_000
SDP = (
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=Unnamed\r\ni=N/A\r\nt=0 0\r\na=recvonly\r\nm=application 5006 RTP/AVP 96\r\n"
)
SDP += f"a=rtpmap:96 com.pupillabs.gaze1/{CLOCK_RATE}\r\n"
FLOATS = {"plain": 0, "both": 4, "state": 14, "lids": 20, "all": 24}
"""How many numbers follow the point and the flag in each kind of payload."""


def payload(x: float, y: float, worn: bool = True, rest: tuple[float, ...] = ()) -> bytes:
    return struct.pack(f"!ffB{len(rest)}f", x, y, 255 if worn else 0, *rest)


def report(unix: float, stamp: int) -> bytes:
    whole, parts = divmod(unix + 2_208_988_800, 1)
    head = struct.pack("!BBHI", 0x80, 200, 6, 7)
    bye = struct.pack("!BBHI", 0x81, 202, 2, 7) + b"\1\0\0\0"  # some description that nobody reads
    return head + struct.pack("!IIIII", int(whole), int(parts * 2**32), stamp, 1, 1) + bye


def packet(number: int, stamp: int, data: bytes) -> bytes:
    return struct.pack("!BBHII", 0x80, 0x80 | 96, number % 65536, stamp % 2**32, 7) + data


def asking_for(stream: str, host: str = "127.0.0.1:8080") -> bytes:
    """What a client of few words says to get a stream over its connection."""
    url = f"rtsp://{host}/?camera={stream}"
    asked = [
        ("OPTIONS", ""),
        ("DESCRIBE", ""),
        ("SETUP", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n"),
        ("PLAY", ""),
    ]
    lines = (f"{method} {url} RTSP/1.0\r\nCSeq: {n}\r\n{more}\r\n" for n, (method, more) in enumerate(asked, 1))
    return "".join(lines).encode()


@dataclass
class Listener:
    """Somebody who asked for gaze: by datagrams to two ports, or over the connection on two channels."""

    writer: asyncio.StreamWriter
    ports: tuple[int, int] | None = None
    channels: tuple[int, int] = (0, 1)
    plays: bool = False
    reported: bool = False


class _Hears(asyncio.DatagramProtocol):
    def __init__(self, heard: list[bytes]) -> None:
        self.heard = heard

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.heard.append(data)


@dataclass
class Phone:
    """A phone with glasses.

    Attributes:
        protocol: What its status says: ``rtsp`` for datagrams, ``rtspt`` for gaze over the connection.
        version: 2 for Neon, 1 for Invisible.
        connected: Whether the glasses are plugged in.
        extra: Further parts of the status.
        chunked: Whether answers come in chunks.
        asked: First lines of all requests of RTSP.
        heard: Datagrams that came.
        refuses: A method that is answered with an error.
        phone: Further fields of the phone itself.
    """

    protocol: str = "rtsp"
    version: str = "2"
    connected: bool = True
    extra: list[dict[str, Any]] = field(default_factory=list)
    chunked: bool = False
    refuses: str = ""
    phone: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    port: int = 0
    rtsp_port: int = 0
    heard: list[bytes] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    _number: int = 65_530  # it turns over soon
    _first_stamp: int = 2**32 - CLOCK_RATE  # so does this, after a second

    async def __aenter__(self) -> Phone:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        from websockets.asyncio.server import serve

        self._rtsp = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.rtsp_port = self._rtsp.sockets[0].getsockname()[1]
        self._web = await serve(self._follow, "127.0.0.1", 0, process_request=self._answer, compression=None)
        self.port = next(iter(self._web.sockets)).getsockname()[1]
        loop = asyncio.get_running_loop()
        self._datagrams, _ = await loop.create_datagram_endpoint(
            lambda: _Hears(self.heard), local_addr=("127.0.0.1", 0)
        )

    async def close(self) -> None:
        self._web.close()
        self._rtsp.close()
        self._datagrams.abort()
        for one in self.listeners:
            one.writer.close()

    def status(self) -> list[dict[str, Any]]:
        world = {"sensor": "world", "conn_type": "DIRECT", "connected": True, "ip": "127.0.0.1", "port": self.rtsp_port}
        gaze = world | {"sensor": "gaze", "params": "camera=gaze", "protocol": self.protocol, "stream_error": False}
        gaze |= {"connected": self.connected}
        return [
            {"model": "Phone", "data": _PHONE | {"ip": "127.0.0.1", "port": self.port} | self.phone},
            {"model": "Hardware", "data": {"version": self.version, "glasses_serial": "g", "world_camera_serial": "w"}},
            {"model": "Sensor", "data": world | {"params": "camera=world", "protocol": "rtsp", "stream_error": False}},
            {"model": "Sensor", "data": gaze | {"conn_type": "WEBSOCKET", "port": 1, "protocol": "ws"}},
            {"model": "Sensor", "data": gaze},
            *self.extra,
        ]

    def send(self, data: bytes, unix: float, began: float) -> None:
        """Send one payload of a moment to everybody who listens, with a report first."""
        stamp = (self._first_stamp + round((unix - began) * CLOCK_RATE)) % 2**32
        self._number += 1
        for one in self.listeners:
            if one.plays:
                if not one.reported:
                    one.reported = True
                    self._carry(one, 1, report(unix, stamp))
                self._carry(one, 0, packet(self._number, stamp, data))

    def _carry(self, one: Listener, which: int, data: bytes) -> None:
        if one.ports is not None:
            self._datagrams.sendto(data, ("127.0.0.1", one.ports[which]))
        elif not one.writer.is_closing():
            one.writer.write(struct.pack("!cBH", b"$", one.channels[which], len(data)) + data)

    def _answer(self, connection: Any, request: Any) -> Any:
        if request.path != "/api/status":
            return connection.respond(HTTPStatus.NOT_FOUND, "")
        if "Upgrade" in request.headers:
            return None
        body = json.dumps({"message": "Success", "result": self.status()}, indent=1)
        answer = connection.respond(HTTPStatus.OK, body)
        del answer.headers["Content-Type"]
        answer.headers["Content-Type"] = "application/json"
        if self.chunked:
            del answer.headers["Content-Length"]
            answer.headers["Transfer-Encoding"] = "chunked"
            pieces = [body[i : i + 100].encode() for i in range(0, len(body), 100)] + [b""]
            answer.body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        return answer

    async def _follow(self, connection: Any) -> None:
        for part in self.status():
            await connection.send(json.dumps(part))
        await connection.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener = Listener(writer)
        self.listeners.append(listener)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                while head.startswith(b"$"):  # a client's own report
                    size = 4 + int.from_bytes(head[2:4], "big")
                    head = head[size:] or await reader.readuntil(b"\r\n\r\n")
                self._hear(head.decode(), listener)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.listeners.remove(listener)
            writer.close()

    def _hear(self, text: str, listener: Listener) -> None:
        first, *lines = text.split("\r\n")
        self.asked.append(first)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        method, url, _ = first.split(" ")
        told, body = [f"CSeq: {headers['cseq']}"], ""
        if method == self.refuses or "camera=gaze" not in url:
            listener.writer.write(f"RTSP/1.0 404 Not Found\r\n{told[0]}\r\n\r\n".encode())
            return
        if method == "OPTIONS":
            told.append("Public: DESCRIBE,SETUP,TEARDOWN,PLAY,PAUSE")
        elif method == "DESCRIBE":
            body = SDP
            told += ["Content-Type: application/sdp", f"Content-Length: {len(body)}"]
        elif method == "SETUP":
            if ports := re.search(r"client_port=(\d+)-(\d+)", headers["transport"]):
                listener.ports = int(ports[1]), int(ports[2])
            elif channels := re.search(r"interleaved=(\d+)-(\d+)", headers["transport"]):
                listener.channels = int(channels[1]), int(channels[2])
            port = self._datagrams.get_extra_info("sockname")[1]
            theirs = f";server_port={port}-{port}" if listener.ports else ""
            told += [f"Transport: {headers['transport']}{theirs};ssrc=7;mode=play", "Session: 1185d20035702ca"]
        elif method == "PLAY":
            listener.plays = True
        listener.writer.write(("\r\n".join(["RTSP/1.0 200 OK", *told, "", ""]) + body).encode())


_PHONE = {
    "device_id": "d0d0", "device_name": "Neon Companion", "battery_level": 42, "battery_state": "OK",
    "memory": 123456789, "memory_state": "OK", "time_echo_port": None,
}  # fmt: skip
