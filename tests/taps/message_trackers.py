# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers that send messages, with all that real ones send: Pupil Capture over ZeroMQ, and a relay on LSL."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from tests.taps.raw import monotonic
from tests.taps.trackers import Tracker


class Pupil(Tracker):
    """Pupil Capture: gaze with its ``base_data``, and topics that the gateway has not asked for."""

    protocol = "pupil"

    async def open(self) -> None:
        import zmq
        import zmq.asyncio

        self._context = zmq.asyncio.Context()
        self._plain = zmq.Context()
        self._requests = self._context.socket(zmq.REP)
        self._data = self._plain.socket(zmq.PUB)
        self.port = self._requests.bind_to_random_port("tcp://127.0.0.1")
        self._data_port = self._data.bind_to_random_port("tcp://127.0.0.1")
        self._answering = asyncio.create_task(self._answer())

    async def close(self) -> None:
        self._answering.cancel()
        await asyncio.gather(self._answering, return_exceptions=True)
        self._context.destroy(linger=0)
        self._plain.destroy(linger=0)

    def send(self) -> None:
        both, *eyes = self.eyes()
        t = monotonic()
        pupils = [self._pupil(eye, number, t) for number, eye in enumerate(eyes)]
        gaze = {
            "topic": "gaze.3d.01.",
            "norm_pos": [both[0], 1.0 - both[1]],
            "confidence": self.share("confidence"),
            "timestamp": t,
            "base_data": pupils,
            "gaze_point_3d": [self.number(f"point {axis}") for axis in "xyz"],
            "eye_centers_3d": {"0": [self.number("centre 0")] * 3, "1": [self.number("centre 1")] * 3},
            "gaze_normals_3d": {"0": [self.share("normal 0")] * 3, "1": [self.share("normal 1")] * 3},
            "serial": self.word("serial"),
        }
        self._publish("gaze.3d.01.", gaze)
        for pupil in pupils:
            self._publish(pupil["topic"], pupil)
        if not self._count % 60:
            self._publish("fixations", {"norm_pos": list(both), "id": int(self.number("fixation id")), "base_data": []})
            self._publish("blinks", {"confidence": self.share("blink"), "timestamp": t})
            self._publish("notify.calibration.result", {"subject": self.word("calibration")})
            self._publish("frame.eye.0", {"format": "gray"}, self.word("image").encode() * 40)

    def offend(self) -> None:
        both = self.gaze.next()
        self._publish("gaze.3d.01.", {"norm_pos": self.word("garbage"), "confidence": both[0], "timestamp": both[1]})

    def _pupil(self, eye: tuple[float, float], number: int, t: float) -> dict[str, Any]:
        return {
            "topic": f"pupil.{number}.3d", "id": number, "norm_pos": list(eye), "timestamp": t,
            "confidence": self.share("pupil confidence"), "diameter": self.number(f"diameter {number}"),
            "diameter_3d": self.number(f"diameter_3d {number}"), "method": self.word("method"),
            "ellipse": {"center": [self.number("ellipse")] * 2, "axes": [1.0, 2.0], "angle": 3.0},
            "sphere": {"center": [self.number("sphere")] * 3, "radius": self.number("sphere radius")},
            "theta": self.share("theta"), "phi": self.share("phi"),
        }  # fmt: skip

    def _publish(self, topic: str, told: dict[str, Any], *more: bytes) -> None:
        import msgspec

        self._data.send_multipart([topic.encode(), msgspec.msgpack.encode(told), *more])

    async def _answer(self) -> None:
        while True:
            asked = await self._requests.recv()
            await self._requests.send(b"%d" % self._data_port if asked == b"SUB_PORT" else self.word("answer").encode())


class Lsl(Tracker):
    """A relay of gaze: what Pupil Labs' own one sends, and a serial number in its description."""

    protocol = "lsl"
    channels = (
        ("confidence", "Confidence", "normalized", "both"),
        ("norm_pos_x", "ScreenX", "normalized", "both"),
        ("norm_pos_y", "ScreenY", "normalized", "both"),
        *((f"gaze_point_3d_{axis}", f"Direction{axis.upper()}", "mm", "both") for axis in "xyz"),
        *(
            (f"eye_center{number}_3d_{axis}", f"Position{axis.upper()}", "mm", eye)
            for number, eye in enumerate(("right", "left"))
            for axis in "xyz"
        ),
        *((f"diameter{number}_3d", "Diameter", "mm", eye) for number, eye in enumerate(("right", "left"))),
        *(
            (f"norm_pos{number}_{axis}", f"Screen{axis.upper()}", "normalized", eye)
            for number, eye in enumerate(("right", "left"))
            for axis in "xy"
        ),
        ("fixation_id", "Id", "", "both"),
    )

    @property
    def stream(self) -> str:
        return f"taps-tracker-{os.getpid()}"

    async def open(self) -> None:
        import pylsl

        count = len(self.channels)
        info = pylsl.StreamInfo(self.stream, "Gaze", count, pylsl.IRREGULAR_RATE, "double64", self.word("source_id"))
        info.desc().append_child_value("serial", self.word("serial"))
        channels = info.desc().append_child("channels")
        for label, kind, unit, eye in self.channels:
            entry = channels.append_child("channel")
            for name, value in (("label", label), ("type", kind), ("unit", unit), ("eye", eye)):
                entry.append_child_value(name, value)
        self._outlet: Any = pylsl.StreamOutlet(info, 0, 10)

    async def close(self) -> None:
        self._outlet = None

    def send(self) -> None:
        both, right, left = self.eyes()
        raw = [self.number(label) for label, *_ in self.channels[3:-5]]
        eyes = [right[0], 1.0 - right[1], left[0], 1.0 - left[1]]
        values = [self.share("confidence"), both[0], 1.0 - both[1], *raw, *eyes, self.number("fixation_id")]
        self._outlet.push_sample(values)
