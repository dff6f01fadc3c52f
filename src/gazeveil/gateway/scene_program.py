# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The program that looks at a scene, in a process of its own and with less priority: no sample waits for it.

It is told once what to watch. What is pushed comes through its input, and is decoded here: a picture that an app made
never meets the process that has the gaze. What it answers is text and a picture, and no object of Python's. It ends
when its input does, whatever became of the gateway.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from gazeveil.errors import GazeveilError
from gazeveil.scene.context import SceneContext, SceneState
from gazeveil.scene.frames import Camera, Pixels, ScreenPart, decode, encode_png, frames_of
from gazeveil.scene.keyframes import KeyframeDetector
from gazeveil.scene.regions import FINDERS, Finder, Regions, regions_from

HEAD: Final = struct.Struct(">II")
"""How long a message's text and its bytes are."""
_NICE = 10
"""How much less priority than the gateway it has; as much less as there is, under a gateway with little itself."""
_WIDEST = 960
"""A keyframe is shown at most so wide."""
_MOST_SHOWN = 200
"""Of this many regions the boxes are reported; all of them count."""


def packed_message(told: dict[str, Any], data: bytes = b"") -> bytes:
    """Return a message as both ends send it."""
    text = json.dumps(told).encode()
    return HEAD.pack(len(text), len(data)) + text + data


def read_messages(file: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield messages until the other end hangs up."""
    while len(head := file.read(HEAD.size)) == HEAD.size:
        text, data = HEAD.unpack(head)
        told, rest = file.read(text), file.read(data)
        if len(told) < text or len(rest) < data:
            return
        yield json.loads(told), rest


class _SceneReader:
    """A context, and what is told of its readings."""

    def __init__(self, task: dict[str, Any], answers: IO[bytes]) -> None:
        self._answers = answers
        self._finding = 0.0
        self._finder: Finder | None = None
        self._make_finder = partial(FINDERS[task["finder"]], Path(task["weights"]) if task["weights"] else None)
        left, top, right, bottom = task["area"]
        self._place, self._share = np.array([left, top] * 2), np.array([right - left, bottom - top] * 2)
        self.every_s = 1.0 / task["updates_hz"]
        self._context = SceneContext(
            task["width"] * (right - left),
            task["height"] * (bottom - top),
            self._find,
            detector=KeyframeDetector(every_s=self.every_s),
        )
        self._frames = 0

    def prepare(self) -> Finder:
        """Load what finds regions, which may take seconds; boxes do not need it."""
        self._finder = self._finder or self._make_finder()
        return self._finder

    def frame(self, t: float, frame: Pixels) -> bool:
        """Look at a frame of a time on the source's clock, and tell what it says; False if it is not time to look."""
        at, began, self._finding = time.monotonic(), time.perf_counter(), 0.0
        reading = self._context.add_frame(t, frame)
        if reading is None:
            return False
        took = time.perf_counter() - began
        self._frames += 1
        data = encode_png(_shrunk(frame)) if reading.begins else b""
        self._tell(at, reading, data, {"keyframe_ms": 1e3 * (took - self._finding), "regions_ms": 1e3 * self._finding})
        return True

    def boxes(self, boxes: Any) -> None:
        """Take boxes, and tell what they say."""
        at = time.monotonic()
        self._tell(at, self._context.add_regions(at, regions_from(boxes)), b"", {})

    def say(self, data: bytes = b"", **told: Any) -> None:
        """Send an answer."""
        self._answers.write(packed_message(told, data))
        self._answers.flush()

    def _find(self, frame: Pixels) -> Regions:
        finder, began = self.prepare(), time.perf_counter()
        found = finder(frame)
        self._finding = time.perf_counter() - began
        return found

    def _tell(self, at: float, reading: SceneState, data: bytes, took: dict[str, float]) -> None:
        boxes = np.array(reading.regions[:_MOST_SHOWN]).reshape(-1, 4) * self._share + self._place
        self.say(
            data,
            at=at,
            small=reading.radii.small,
            large=reading.radii.large,
            window=reading.window_s,
            frame=self._frames,
            keyframes=reading.scene + 1,
            regions=boxes.round(4).tolist(),
            took=took,
        )


def _watch(task: dict[str, Any], looker: _SceneReader) -> None:
    looker.prepare()
    if task["source"] == "video":
        _play(Path(task["file"]), looker, loop=task["loop"])
        looker.say(over="the video is over")
        return
    source = Camera(task["device"]) if task["source"] == "camera" else ScreenPart(*(task["region"] or ()))
    for t, frame in frames_of(source, every_s=looker.every_s):
        looker.frame(t, frame)


def _play(path: Path, looker: _SceneReader, *, loop: bool) -> None:
    """Look at a video at its own speed; looks that come too late are left out. A picture is a video that stands."""
    before = 0.0
    while True:
        began, t = time.monotonic(), 0.0
        for t, frame in frames_of(path, every_s=looker.every_s):
            ahead = began + t - time.monotonic()
            if ahead < -looker.every_s:
                continue
            time.sleep(max(ahead, 0.0))
            looker.frame(before + t, frame)
        before += t + looker.every_s
        if not loop:
            return
        time.sleep(max(began + t + looker.every_s - time.monotonic(), 0.0))


def _take_pushes(looker: _SceneReader, asked: Iterator[tuple[dict[str, Any], bytes]]) -> None:
    for told, data in asked:
        try:
            if "boxes" in told:
                looker.boxes(told["boxes"])
                continue
            frame = decode(data)
            looker.prepare()  # before the frame's time is taken, or the first would come late
            if not looker.frame(time.monotonic(), frame):
                looker.say(refused="frames come faster than they are looked at")
        except GazeveilError as error:
            looker.say(refused=error.message, hint=error.hint)


def _shrunk(frame: Pixels) -> Pixels:
    step = -(-max(frame.shape[:2]) // _WIDEST)
    return np.ascontiguousarray(frame[::step, ::step])


def _end_with(file: IO[bytes]) -> None:
    """End the process when the gateway hangs up, whatever it is doing."""
    while file.read(1):
        pass
    os._exit(0)


def main() -> None:
    """Watch what the gateway says until it hangs up."""
    for name in ("SIGINT", "SIGHUP"):  # those are for the gateway, which then hangs up
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may speak where answers go
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_NICE)
    with contextlib.suppress(ImportError):
        import cv2  # noqa: PLC0415

        cv2.setNumThreads(1)
    asked = read_messages(sys.stdin.buffer)
    task, _ = next(asked)
    try:
        looker = _SceneReader(task, answers)
        if task["source"] == "push":
            looker.say(ready=True)
            _take_pushes(looker, asked)
            return
        threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
        _watch(task, looker)
    except GazeveilError as error:
        answers.write(packed_message({"trouble": error.message}))
        answers.flush()
        sys.exit(1)


if __name__ == "__main__":
    main()
