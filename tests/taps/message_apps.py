# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Apps that get messages and keep them for the tap: ZeroMQ's SUB, pylsl's inlet, and LSL's bytes on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import struct
from typing import Any

from tests.taps.apps import Heard
from tests.taps.raw import Canaries, Points
from tests.taps.search import Found, off_list, search

_OVERLAP = 24
_PUPIL_REQUESTS = (b"SUB_PORT", b"PUB_PORT", b"t", b"v", b"R", b"r", b"C", b"c", b"T 1000.0", b"serial")
_FEED = (
    "LSL:streamfeed/110 {uid}\r\nNative-Byte-Order: 1234\r\nEndian-Performance: 0\r\nHas-IEEE754-Floats: 1\r\n"
    "Supports-Subnormals: 1\r\nValue-Size: {size}\r\nData-Protocol-Version: 110\r\nMax-Buffer-Length: 360\r\n"
    "Max-Chunk-Length: 0\r\nHostname: taps\r\nSource-Id: {source}\r\nSession-Id: {session}\r\n\r\n"
)


_BLANK = (
    '{{"topic": "pupil.{eye}.3d", "id": {eye}, "confidence": 0.0, "norm_pos": [NaN, NaN], "diameter": NaN, '
    '"diameter_3d": NaN, "sphere": {{"center": [NaN, NaN, NaN], "radius": NaN}}, "theta": NaN, "phi": NaN}}'
)


class PupilApp:
    """Asks everything there is to ask, and subscribes to every topic."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self._fresh: list[bytes] = []
        self._found = Found()
        self._context: Any = None

    async def run(self) -> None:
        import zmq
        import zmq.asyncio

        self._context = zmq.asyncio.Context()
        requests, data = self._context.socket(zmq.REQ), self._context.socket(zmq.SUB)
        for socket in (requests, data):
            socket.setsockopt(zmq.LINGER, 0)
        requests.connect(f"tcp://127.0.0.1:{self.heard.port}")
        answers = []
        for request in _PUPIL_REQUESTS:
            await requests.send(request)
            answers.append(await requests.recv())
        self._fresh += answers
        data.setsockopt(zmq.SUBSCRIBE, b"")
        data.connect(f"tcp://127.0.0.1:{int(answers[0])}")
        while True:
            self._take(await data.recv_multipart())

    def search(self, points: Points, canaries: Canaries, *, last: bool = False) -> None:
        joined, self._fresh = b"".join(self._fresh), []
        found, self._found = self._found, Found()
        found.add(search(joined, points, canaries, binary=True))
        self.heard.found.add(found)

    async def close(self) -> None:
        if self._context is not None:
            self._context.destroy(linger=0)

    def _take(self, frames: list[bytes]) -> None:
        import msgspec

        self._fresh += frames
        self.heard.records += frames[0].startswith((b"gaze.", b"fixations", b"surfaces."))
        if len(frames) != 2:
            self._found.off_list.add(f"{len(frames)} frames")
            return
        told = msgspec.msgpack.decode(frames[1])
        self._found.add(off_list("pupil", _keys(told)))
        for name, allowed in (("confidence", (0.0, 1.0)), ("on_surf", (True,))):
            if any(value not in allowed for value in _values(told, name)):
                self._found.not_made_up.add(name)
        blank = f"[{', '.join(_BLANK.format(eye=eye) for eye in (0, 1))}]"
        for base in _values(told, "base_data"):
            points_to_gaze = len(base) == 2 and str(base[0]).startswith("gaze.") and base[1] == told["timestamp"]
            if base and not points_to_gaze and json.dumps(base) != blank:
                self._found.not_made_up.add("base_data")


class LslApp:
    """Listens twice: as pylsl's inlet, and as a client of its own that keeps every byte of liblsl's stream."""

    def __init__(self, heard: Heard) -> None:
        self.heard = heard
        self._fresh = bytearray()
        self._wire = bytearray()
        self._found = Found()
        self._stopped = False
        self._inlet: Any = None

    async def run(self) -> None:
        info = None
        while info is None:
            info = await asyncio.to_thread(self._find)
        wire = asyncio.create_task(self._overhear(info))
        try:
            await asyncio.to_thread(self._listen, info)
        finally:
            wire.cancel()
            await asyncio.gather(wire, return_exceptions=True)

    def search(self, points: Points, canaries: Canaries, *, last: bool = False) -> None:
        for kept in (self._fresh, self._wire):
            data = bytes(kept)
            if len(data) > _OVERLAP or last:
                self.heard.found.add(search(data, points, canaries, binary=True))
                del kept[: -_OVERLAP or None]
        found, self._found = self._found, Found()
        self.heard.found.add(found)

    async def close(self) -> None:
        self._stopped = True

    def _find(self) -> Any:
        import pylsl

        found = pylsl.resolve_byprop("name", self.heard.app, timeout=1.0)
        return found[0] if found else None

    def _listen(self, info: Any) -> None:
        import pylsl
        import pylsl.util

        from gazeveil.gateway.protocols.lsl import channels_of

        inlet = pylsl.StreamInlet(info, 10, recover=False)
        with contextlib.suppress(pylsl.util.LostError, pylsl.util.TimeoutError):
            described = inlet.info(5.0)
            self._fresh += described.as_xml().encode()
            labels = [channel.label for channel in channels_of(described)]
            self._found.add(off_list("lsl", labels))
            while not self._stopped:
                values, times = inlet.pull_chunk(timeout=0.2)
                for value, t in zip(values, times, strict=True):
                    self._take(labels, value, t)
        inlet.close_stream()

    def _take(self, labels: list[str], values: list[Any], t: float) -> None:
        self.heard.records += 1
        if len(values) != len(labels):
            self._found.off_list.add(f"{len(values)} values")
        if labels[0] == "confidence" and values[0] not in (0.0, 1.0):
            self._found.not_made_up.add("confidence")
        packed = (v.encode() if isinstance(v, str) else struct.pack("<d", v) for v in (t, *values))
        self._fresh += b"".join(packed)

    async def _overhear(self, info: Any) -> None:
        """Ask liblsl's own server for descriptions and for the stream, as an inlet does, and keep the bytes."""
        about = dict(re.findall(r"<(\w+)>([^<]*)</\1>", info.as_xml()))
        for request in (b"LSL:fullinfo\r\n", b"LSL:shortinfo\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", int(about["v4data_port"]))
            writer.write(request)
            self._wire += await reader.read()
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(about["v4data_port"]))
        size = {"double64": 8}.get(about["channel_format"], 0)
        feed = _FEED.format(uid=about["uid"], size=size, source=about["source_id"], session=about["session_id"])
        writer.write(feed.encode())
        try:
            while data := await reader.read(1 << 16):
                self._wire += data
        finally:
            writer.close()


def _keys(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in _keys(inner)}
    return {key for inner in value for key in _keys(inner)} if isinstance(value, list) else set()


def _values(value: object, name: str) -> list[Any]:
    """Return every value of a field, however deep."""
    if isinstance(value, dict):
        own = [value[name]] if name in value else []
        return own + [found for inner in value.values() for found in _values(inner, name)]
    return [found for inner in value for found in _values(inner, name)] if isinstance(value, list) else []
