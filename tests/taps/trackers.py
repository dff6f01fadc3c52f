# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers on TCP that send all that real ones send: every raw field carries a canary, every eye has its own point.

Now and then a tracker says something that breaks its protocol and is full of canaries, so that the gateway has to
complain about it somewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from pathlib import Path
from typing import Any

from gazeveil.gateway.protocols.gazepointer import packed
from tests.gateway.neon_phone import Phone, payload
from tests.taps.raw import CAMERA, HEIGHT, WIDTH, CameraGaze, Canaries, Gaze, monotonic

GARBAGE_EVERY_S = 20.0


class Tracker:
    """What all trackers share: a pace, gaze and canaries."""

    protocol = ""
    kind_of_gaze = Gaze

    def __init__(self, canaries: Canaries, seed: int, rate_hz: float = 120.0) -> None:
        self.canaries, self.rate_hz = canaries, rate_hz
        self.random = random.Random(seed)
        self.gaze = self.kind_of_gaze(self.random)
        self.port = 0
        self.rude = 0
        self.token_file: Path | None = None
        """Where a sender finds its token."""
        self._count = 0

    @property
    def stream(self) -> str:
        """The name of a stream, for protocols that have names instead of ports."""
        return ""

    async def open(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    def send(self) -> None:
        """Send one raw record."""
        raise NotImplementedError

    def offend(self) -> None:
        """Say something that breaks the protocol."""

    async def pump(self) -> None:
        """Send at a steady pace for ever, and garbage now and then."""
        due = monotonic()
        offence = due + GARBAGE_EVERY_S * self.random.uniform(0.2, 0.6)
        while True:
            due += 1 / self.rate_hz
            wait = due - monotonic()
            await asyncio.sleep(max(wait, 0))
            if wait < -1:
                due = monotonic()
            if due > offence:
                offence = due + GARBAGE_EVERY_S
                self.rude += 1
                self.offend()
            self._count += 1
            self.send()

    def eyes(self) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Return the point of both eyes, and that of each."""
        both = self.gaze.next()
        return both, self.gaze.near(both), self.gaze.near(both)

    def number(self, field: str) -> float:
        return self.canaries.number(f"{self.protocol} {field}")

    def share(self, field: str) -> float:
        return self.canaries.share(f"{self.protocol} {field}")

    def word(self, field: str) -> str:
        return self.canaries.word(f"{self.protocol} {field}")


class TcpTracker(Tracker):
    """A server that sends to whoever connects."""

    def __init__(self, canaries: Canaries, seed: int, rate_hz: float = 120.0) -> None:
        super().__init__(canaries, seed, rate_hz)
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def send(self) -> None:
        if self._writers:
            self.write(self.record())

    def offend(self) -> None:
        both = self.gaze.next()
        self.write(f"{self.word('garbage')} {both[0]} {both[1]} {self.number('garbage')}\r\n}}<\xff\r\n".encode())

    def write(self, data: bytes) -> None:
        for writer in self._writers:
            if not writer.is_closing():
                writer.write(data)

    def record(self) -> bytes:
        raise NotImplementedError

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Do what comes before records."""

    def answer(self, line: bytes) -> bytes:
        """Answer as a real tracker would, as far as our own client asks."""
        return b""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            await self.greet(reader, writer)
            self._writers.add(writer)
            while line := await reader.readline():
                writer.write(self.answer(line))
        self._writers.discard(writer)
        writer.close()


class OpenGaze(TcpTracker):
    protocol = "opengaze"

    def record(self) -> bytes:
        (x, y), *eyes = self.eyes()
        t, number = monotonic(), self.number
        told: dict[str, object] = {
            "CNT": self._count, "TIME": f"{t:.6f}", "TIME_TICK": round(t * 1e6),
            "FPOGX": x, "FPOGY": y, "FPOGS": f"{t:.5f}", "FPOGD": "0.1", "FPOGID": int(number("FPOGID")), "FPOGV": 1,
            "BPOGX": x, "BPOGY": y, "BPOGV": 1,
        }  # fmt: skip
        for side, (eye_x, eye_y) in zip("LR", eyes, strict=True):
            told |= {f"{side}POGX": eye_x, f"{side}POGY": eye_y, f"{side}POGV": 1}
            for name in ("PCX", "PCY", "PD", "PS", "EYEX", "EYEY", "EYEZ", "PUPILD", "PMM"):
                told[side + name] = number(side + name)
            told |= {f"{side}PV": 1, f"{side}PUPILV": 1, f"{side}PMMV": 1}
        told |= {"BKID": 7, "BKDUR": number("BKDUR"), "BKPMIN": 17, "CX": number("CX"), "CY": number("CY"), "CS": 0}
        told |= {"USER": self.word("USER"), "SERIAL_ID": self.word("SERIAL_ID"), "GSR": number("GSR")}
        fields = " ".join(f'{name}="{value}"' for name, value in told.items())
        return f"<REC {fields} />\r\n".encode()

    def answer(self, line: bytes) -> bytes:
        name = re.search(rb'ID="(\w+)"', line)
        if not name:
            return b""
        return b'<ACK ID="%s" STATE="1" FREQ="1000000" VALUE="%s" />\r\n' % (name[1], self.word("ACK").encode())


class EyeTribe(TcpTracker):
    protocol = "eyetribe"

    def record(self) -> bytes:
        both, *eyes = self.eyes()
        told: dict[str, Any] = {
            "timestamp": self.word("timestamp"), "time": round(monotonic() * 1000), "fix": True, "state": 7,
            "raw": _pixels(both), "avg": _pixels(self.gaze.near(both)), "user": self.word("user"),
        }  # fmt: skip
        for side, eye in zip(("lefteye", "righteye"), eyes, strict=True):
            told[side] = {
                "raw": _pixels(eye),
                "avg": _pixels(self.gaze.near(eye)),
                "psize": self.number(f"{side} psize"),
                "pcenter": {"x": self.share(f"{side} pcenter x"), "y": self.share(f"{side} pcenter y")},
            }
        return self._reply(category="tracker", request="get", statuscode=200, values={"frame": told})

    def answer(self, line: bytes) -> bytes:
        asked = json.loads(line)
        quality = {"result": True, "deg": self.number("deg"), "degl": self.number("degl")}
        values = {"screenresw": WIDTH, "screenresh": HEIGHT, "heartbeatinterval": 3000, "calibresult": quality}
        return self._reply(category=asked.get("category"), request=asked.get("request"), statuscode=200, values=values)

    def _reply(self, **told: object) -> bytes:
        return json.dumps(told).encode() + b"\n"


class GazePointer(TcpTracker):
    protocol = "gazepointer"

    def record(self) -> bytes:
        x, y = self.gaze.next()
        head = "".join(f"<Head{n}>{self.number(n)}</Head{n}>" for n in ("X", "Y", "Z", "Yaw", "Pitch", "Roll"))
        more = f"<Serial>{self.word('Serial')}</Serial>"
        return packed(f"<CGazeData><GazeX>{x * WIDTH}</GazeX><GazeY>{y * HEIGHT}</GazeY>{head}{more}</CGazeData>")

    def offend(self) -> None:
        self.write(packed(f"{self.word('garbage')} {self.gaze.next()} {self.number('garbage')}"))

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readexactly(3) != b"xml":
            raise ValueError("not a client of this kind")
        await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(packed(f"ok {self.word('welcome')}"))


class JsonLines(TcpTracker):
    protocol = "jsonlines"

    def told(self) -> dict[str, object]:
        (x, y), *eyes = self.eyes()
        sides = {
            side: {"x": eye[0], "y": eye[1], "pupil": self.number(f"{side} pupil"), "origin": [self.number("origin")]}
            for side, eye in zip(("left", "right"), eyes, strict=True)
        }
        return {
            "t": monotonic(), "x": x, "y": y, "unit": "norm", **sides, "confidence": self.share("confidence"),
            "pupil": self.number("pupil"), "head": {"yaw": self.number("yaw"), "z": self.number("head z")},
            "blink": self.share("blink"), "serial": self.word("serial"), "user": self.word("user"),
            "fixation_id": self.number("fixation_id"), "gaze_point_3d": [self.number(f"3d {i}") for i in range(3)],
        }  # fmt: skip

    def record(self) -> bytes:
        return json.dumps(self.told()).encode() + b"\n"


class WebSocket(JsonLines):
    protocol = "websocket"

    async def open(self) -> None:
        from websockets.asyncio.server import serve

        self._sockets: set[Any] = set()
        self._web = await serve(self._talk, "127.0.0.1", 0, server_header=self.word("server"), compression=None)
        self.port = next(iter(self._web.sockets)).getsockname()[1]

    async def close(self) -> None:
        self._web.close()

    def send(self) -> None:
        self._say(json.dumps(self.told()))

    def offend(self) -> None:
        self._say(f"{self.word('garbage')} {self.gaze.next()} {self.number('garbage')}")

    def _say(self, text: str) -> None:
        from websockets.asyncio.server import broadcast

        broadcast(self._sockets, text)

    async def _talk(self, connection: Any) -> None:
        self._sockets.add(connection)
        try:
            await connection.wait_closed()
        finally:
            self._sockets.discard(connection)


class Neon(Tracker):
    """A phone with glasses that tells everything: eyes, lids, serial numbers, events and answers about the person."""

    protocol = "neon"
    kind_of_gaze = CameraGaze

    async def open(self) -> None:
        said = ("device_id", "device_name", "serial", "wearer")
        self._phone = Phone(phone={name: self.word(name) for name in said} | {"memory": self.number("memory")})
        self._phone.extra = [
            {"model": "Event", "data": {"name": self.word("event"), "timestamp": int(self.number("event"))}},
            {"model": "Recording", "data": {"id": self.word("recording"), "message": self.word("message")}},
            {"model": "NetworkDevice", "data": {"ip": self.word("ip"), "device_name": self.word("neighbour")}},
        ]
        await self._phone.open()
        self.port = self._phone.port
        self._begun = time.time()

    async def close(self) -> None:
        await self._phone.close()

    def send(self) -> None:
        both, left, right = self.eyes()
        state = [self.number(f"eye {n}") if n % 7 < 4 else self.share(f"eye {n}") for n in range(20)]
        pixels = [at * size for place in (both, left, right) for at, size in zip(place, CAMERA, strict=True)]
        self._say(payload(pixels[0], pixels[1], True, (*state, *pixels[2:])))

    def offend(self) -> None:
        self._say(self.word("garbage").encode())

    def _say(self, data: bytes) -> None:
        self._phone.send(data, time.time(), self._begun)


class Push(Tracker):
    """A sender: it connects to the gateway, shows its token and sends. Any field too many would be refused."""

    protocol = "push"

    def __init__(self, canaries: Canaries, seed: int, rate_hz: float = 120.0) -> None:
        super().__init__(canaries, seed, rate_hz)
        self._socket: Any = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._task = asyncio.create_task(self._connect())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def send(self) -> None:
        x, y = self.gaze.next()
        place = [self.number("origin")] * 3
        geometry = {"head": [self.number("head")] * 3, "origins": [place, place], "ipd": self.number("ipd")}
        self._say(json.dumps({"t": monotonic(), "x": x, "y": y, **geometry}))

    def offend(self) -> None:
        x, y = self.gaze.next()
        self._say(json.dumps({"t": monotonic(), "x": x, "y": y, self.word("garbage"): self.number("garbage")}))

    def _say(self, text: str) -> None:
        from websockets.asyncio.server import broadcast

        if self._socket is not None:
            broadcast([self._socket], text)

    async def _connect(self) -> None:
        """Connect again and again: the gateway may not listen yet, and hangs up after an offence."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        while True:
            with contextlib.suppress(OSError, WebSocketException):
                token = self.token_file.read_text().strip() if self.token_file else ""
                async with connect(f"ws://127.0.0.1:{self.port}") as socket:
                    await socket.send(json.dumps({"token": token}))
                    await socket.recv()
                    self._socket = socket
                    await socket.wait_closed()
            self._socket = None
            await asyncio.sleep(0.05)


class PushLines(Push):
    """The same over TCP, a line a message."""

    protocol = "pushlines"

    def _say(self, text: str) -> None:
        if self._socket is not None:
            self._socket.write(text.encode() + b"\n")

    async def _connect(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                token = self.token_file.read_text().strip() if self.token_file else ""
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(json.dumps({"token": token}).encode() + b"\n")
                await reader.readline()
                self._socket = writer
                await reader.read()
                writer.close()
            self._socket = None
            await asyncio.sleep(0.05)


def _pixels(point: tuple[float, float]) -> dict[str, float]:
    return {"x": point[0] * WIDTH, "y": point[1] * HEIGHT}
