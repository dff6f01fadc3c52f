# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Apps with a tap: every byte that they get is searched for raw gaze and for canaries."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time

from tests.chaos.trackers import CANARIES, HEIGHT, RECENT_S, WIDTH, Tracker

monotonic = time.monotonic

GREETINGS = {
    "jsonlines": b"",
    "opengaze": b'<SET ID="ENABLE_SEND_TIME" STATE="1" />\r\n<SET ID="ENABLE_SEND_POG_BEST" STATE="1" />\r\n'
    b'<SET ID="ENABLE_SEND_POG_FIX" STATE="1" />\r\n<SET ID="ENABLE_SEND_PUPIL_LEFT" STATE="1" />\r\n'
    b'<SET ID="ENABLE_SEND_EYE_LEFT" STATE="1" />\r\n<SET ID="ENABLE_SEND_USER_DATA" STATE="1" />\r\n'
    b'<SET ID="ENABLE_SEND_DATA" STATE="1" />\r\n',
    "eyetribe": b'{"category":"tracker","request":"set","values":{"push":true,"version":1}}\n',
}
HEARTBEAT = b'{"category":"heartbeat"}\n'


class App:
    """A client that stays connected, come what may, and remembers when gaze last came."""

    def __init__(self, name: str, protocol: str, port: int, tracker: Tracker) -> None:
        self.name, self.protocol, self.port, self.tracker = name, protocol, port, tracker
        self.samples = 0
        self.last = float("-inf")
        self.first_since: float | None = None
        self.leaks = 0
        self.canaries = 0
        self.bytes = 0
        self.ended = ""
        self.writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        while True:
            with contextlib.suppress(OSError, ValueError, asyncio.LimitOverrunError):
                reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
                self.writer.write(GREETINGS[self.protocol])
                beats = asyncio.create_task(self._beat(self.writer)) if self.protocol == "eyetribe" else None
                try:
                    while line := await reader.readline():
                        self.taste(line)
                finally:
                    if beats is not None:
                        beats.cancel()
                    self.writer.close()
            await asyncio.sleep(0.1)

    def cut(self) -> None:
        """Die without a word, and come again."""
        if self.writer is not None:
            self.writer.transport.abort()

    def taste(self, line: bytes) -> None:
        """Search one record for raw gaze."""
        self.bytes += len(line)
        if any(canary in line for canary in CANARIES):
            self.canaries += 1
        point = self._point(line)
        if point is None:
            return
        now = monotonic()
        self.samples += 1
        self.last = now
        if self.first_since is None:
            self.first_since = now
        near = 1e-5 if self.protocol == "eyetribe" else 2e-6
        for t, x, y in self.tracker.recent:
            if t > now - RECENT_S and abs(x - point[0]) < near and abs(y - point[1]) < near:
                self.leaks += 1
                break

    def _point(self, line: bytes) -> tuple[float, float] | None:
        """Return the point of a record, in fractions; None where it shows none."""
        if self.protocol == "opengaze":
            found = dict(re.findall(rb'(\w+)="([^"]*)"', line))
            if not line.startswith(b"<REC") or float(found.get(b"BPOGV", b"0")) != 1:
                return None
            return float(found[b"BPOGX"]), float(found[b"BPOGY"])
        told = json.loads(line)
        if self.protocol == "eyetribe":
            frame = told.get("values", {}).get("frame") if isinstance(told.get("values"), dict) else None
            if frame is None or not frame["state"] & 1:
                return None
            return frame["avg"]["x"] / WIDTH, frame["avg"]["y"] / HEIGHT
        if told.get("type") == "end":
            self.ended = told["reason"]
        return (told["x"], told["y"]) if told.get("valid") else None

    async def _beat(self, writer: asyncio.StreamWriter) -> None:
        while True:
            await asyncio.sleep(1)
            writer.write(HEARTBEAT)
