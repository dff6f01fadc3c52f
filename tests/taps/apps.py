# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Apps on TCP that ask for everything their protocol has, and keep every byte for the tap."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field

from gazeveil.gateway.protocols.gazepointer import packed
from gazeveil.gateway.protocols.opengaze import _CONSTANTS, _FIELDS
from tests.gateway.neon_phone import asking_for
from tests.taps.raw import Canaries, Points
from tests.taps.search import Found, names, search

_HEARTBEAT_S = 1.0
_WEB_SOCKET = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_KEY = "AppKeyDemo"
_MASKED_KEY = bytes((0x81, 0x80 | len(_KEY), 0, 0, 0, 0)) + _KEY.encode()
_PONG = bytes((0x8A, 0x80, 0, 0, 0, 0))
_CALIBRATION = "".join(
    f'<SET ID="{name}" {value} />\r\n'
    for name, value in (
        ("CALIBRATE_DELAY", 'VALUE="0"'),
        ("CALIBRATE_TIMEOUT", 'VALUE="0.1"'),
        ("CALIBRATE_START", 'STATE="1"'),
    )
)
_OPEN_GAZE = "".join(f'<GET ID="{name}" />\r\n' for name in (*_CONSTANTS, "SCREEN_SIZE", "CALIBRATE_RESULT_SUMMARY"))
_OPEN_GAZE += "".join(f'<SET ID="{flag}" STATE="1" />\r\n' for flag in (*_FIELDS, "ENABLE_SEND_DATA"))
_EYE_TRIBE_VALUES = (
    *("push", "heartbeatinterval", "version", "trackerstate", "framerate", "iscalibrated", "iscalibrating"),
    *("calibresult", "frame", "screenindex", "screenresw", "screenresh", "screenpsyw", "screenpsyh"),
)
_EYE_TRIBE_ALL = {"category": "tracker", "request": "get", "values": _EYE_TRIBE_VALUES}
_NEON_HOST = "127.0.0.1:8080"
_NEON_PATHS = ("status", "template_def", "template_data", "camera_control?camera=world", "../calibration.bin")
_NEON_ASKS = "".join(f"GET /api/{path} HTTP/1.1\r\nHost: {_NEON_HOST}\r\n\r\n" for path in _NEON_PATHS).encode()
_NEON_STREAMS = b"".join(asking_for(stream) for stream in ("world", "eyes", "imu", "eye_events", "gaze"))
_EYE_TRIBE_SECRET = {"category": "tracker", "request": "get", "values": ["serial"]}

GREETINGS = {
    "opengaze": (_OPEN_GAZE + _CALIBRATION).encode(),
    "eyetribe": b'{"category":"tracker","request":"set","values":{"push":true,"version":1}}\n',
    "gazepointer": b"xml" + packed(_KEY),
    "gazepointer over WebSocket": _WEB_SOCKET + _MASKED_KEY,
    "websocket": _WEB_SOCKET,
    "jsonlines": b"",
    "neon": _NEON_ASKS + _NEON_STREAMS,
}
AGAIN = {
    "neon": _NEON_ASKS,
    "opengaze": b'<GET ID="CALIBRATE_RESULT_SUMMARY" />\r\n<GET ID="SERIAL_ID" />\r\n<GET ID="IMAGE_TX" />\r\n',
    "eyetribe": b"".join(
        json.dumps(what).encode() + b"\n" for what in ({"category": "heartbeat"}, _EYE_TRIBE_ALL, _EYE_TRIBE_SECRET)
    ),
    "gazepointer over WebSocket": _PONG,
    "websocket": _PONG,
}
ENDS = {
    "opengaze": b"\n",
    "eyetribe": b"\n",
    "gazepointer": b"</CGazeData>",
    "gazepointer over WebSocket": b"}",
    "websocket": b"}",
    "jsonlines": b"\n",
}
RECORDS = {
    "opengaze": b"<REC ",
    "eyetribe": b'"request":"get","statuscode":200,"values":{"frame"',
    "gazepointer": b"<GazeX>",
    "gazepointer over WebSocket": b'"GazeX":',
    "websocket": b'"t":',
    "jsonlines": b'"t":',
    "neon": b"$\0\0",
}


@dataclass(slots=True)
class Heard:
    """What one app heard of one tracker."""

    app: str
    tracker: str
    protocol: str
    dialect: str
    output: str
    veiled: bool
    port: int = 0
    records: int = 0
    found: Found = field(default_factory=Found)


class TcpApp:
    """A client that stays connected and keeps what it hears until it is searched."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self._fresh = bytearray()

    async def run(self) -> None:
        dialect = self.heard.dialect
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.heard.port)
                writer.write(GREETINGS[dialect])
                again = asyncio.create_task(self._again(writer))
                try:
                    while data := await reader.read(1 << 16):
                        self._fresh += data
                finally:
                    again.cancel()
                    writer.close()
            await asyncio.sleep(0.1)

    def search(self, points: Points, canaries: Canaries, *, last: bool = False) -> None:
        """Search all whole records that came since the last time; at the last time everything."""
        heard = self.heard
        end = len(self._fresh) if last else self._whole()
        if end <= 0:
            return
        data = bytes(self._fresh[:end])
        del self._fresh[:end]
        heard.records += data.count(RECORDS[heard.dialect])
        heard.found.add(search(data, points, canaries, binary=False, floats=heard.dialect == "neon"))
        heard.found.add(names(heard.protocol, data))

    def _whole(self) -> int:
        """Return where the last whole record ends; a packet of Neon's ends where the next one begins."""
        dialect = self.heard.dialect
        if dialect == "neon":
            return self._fresh.rfind(RECORDS[dialect])
        mark = ENDS[dialect]
        at = self._fresh.rfind(mark)
        return at + len(mark) if at >= 0 else 0

    async def close(self) -> None:
        """Nothing is left to close."""

    async def _again(self, writer: asyncio.StreamWriter) -> None:
        while True:
            await asyncio.sleep(_HEARTBEAT_S)
            writer.write(AGAIN.get(self.heard.dialect, b""))
