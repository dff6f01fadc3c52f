# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers that misbehave on demand, in three protocols, with every raw field that the real ones send.

Raw fields carry canaries: numbers and words that must not be found in a single byte that an app gets.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import time
from collections import deque

monotonic = time.monotonic

CANARY_NUMBER = 4.987654321
CANARY_WORD = "CANARYX7"
CANARIES = (b"98765432", CANARY_WORD.encode())
WIDTH, HEIGHT = 1920, 1080
RECENT_S = 3.0


class Tracker:
    """A server that sends raw gaze to whoever connects."""

    def __init__(self, protocol: str, seed: int, rate_hz: float = 120.0) -> None:
        self.protocol, self.rate_hz = protocol, rate_hz
        self.random = random.Random(seed)
        self.port = 0
        self.speed = 1.0
        self.silent = False
        self.offset = 0.0
        self.sent = 0
        self.first_after: float | None = None
        self.recent: deque[tuple[float, float, float]] = deque()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._count = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Die: nobody listens any more, and all connections are gone."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    async def pump(self) -> None:
        due = monotonic()
        while True:
            due += 1 / (self.rate_hz * self.speed)
            wait = due - monotonic()
            if wait > 0:
                await asyncio.sleep(wait)
            elif wait < -1:
                due = monotonic()
            else:
                await asyncio.sleep(0)
            if not self.silent and self._writers:
                self._send(self.record())

    def garbage(self) -> None:
        self._send(self.random.randbytes(self.random.choice((3, 400, 5000))) + b"\r\n\r\n}\n<REC />\n")

    def record(self) -> bytes:
        """Return one raw record, with gaze that never repeats."""
        now = monotonic()
        x = 0.5 + 0.2 * (int(now) % 2) + self.random.uniform(-0.02, 0.02)
        y = 0.5 + self.random.uniform(-0.02, 0.02)
        self.recent.append((now, x, y))
        while self.recent and self.recent[0][0] < now - RECENT_S:
            self.recent.popleft()
        self.sent += 1
        self._count += 1
        if self.first_after is None:
            self.first_after = now
        t = now + self.offset
        if self.protocol == "opengaze":
            eyes = "".join(
                f'{side}POGX="{x:.6f}" {side}POGY="{y:.6f}" {side}POGV="1" {side}PCX="{CANARY_NUMBER}" '
                f'{side}PD="{CANARY_NUMBER}" {side}PV="1" {side}EYEZ="{CANARY_NUMBER}" '
                for side in "LR"
            )
            return (
                f'<REC CNT="{self._count}" TIME="{t:.6f}" FPOGX="{x:.6f}" FPOGY="{y:.6f}" FPOGS="{t:.3f}" FPOGD="0.1" '
                f'FPOGID="{self._count}" FPOGV="1" BPOGX="{x:.6f}" BPOGY="{y:.6f}" BPOGV="1" {eyes}'
                f'USER="{CANARY_WORD}" />\r\n'
            ).encode()
        if self.protocol == "eyetribe":
            point = {"x": x * WIDTH, "y": y * HEIGHT}
            eye = {"raw": point, "avg": point, "psize": CANARY_NUMBER, "pcenter": {"x": CANARY_NUMBER, "y": 0.1}}
            frame = {
                "timestamp": CANARY_WORD, "time": round(t * 1000), "fix": False, "state": 7,
                "raw": point, "avg": point, "lefteye": eye, "righteye": eye,
            }  # fmt: skip
            told = {"category": "tracker", "request": "get", "statuscode": 200, "values": {"frame": frame}}
            return json.dumps(told).encode() + b"\n"
        told = {"t": t, "x": x, "y": y, "unit": "norm", "pupil": CANARY_NUMBER, "serial": CANARY_WORD}
        return json.dumps(told).encode() + b"\n"

    def _send(self, data: bytes) -> None:
        for writer in self._writers:
            if not writer.is_closing():
                writer.write(data)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        with contextlib.suppress(OSError, asyncio.CancelledError, asyncio.LimitOverrunError, ValueError):
            while line := await reader.readline():
                writer.write(self._answer(line))
        self._writers.discard(writer)
        writer.close()

    def _answer(self, line: bytes) -> bytes:
        """Answer as a real tracker would, as far as our own client asks."""
        if self.protocol == "opengaze":
            name = re.search(rb'ID="(\w+)"', line)
            return b'<ACK ID="%s" STATE="1" FREQ="1000000" />\r\n' % name[1] if name else b""
        if self.protocol == "eyetribe":
            with contextlib.suppress(ValueError):
                asked = json.loads(line)
                values = {"screenresw": WIDTH, "screenresh": HEIGHT, "heartbeatinterval": 3000, "push": True}
                told = {key: asked.get(key) for key in ("category", "request")}
                return json.dumps({**told, "statuscode": 200, "values": values}).encode() + b"\n"
        return b""
