# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The program that reads a scene, in a process of its own and with less priority, so that no sample waits for it.

Its first message says what to watch. Pushed pictures come through its input and are decoded here: the process that
holds gaze never decodes a picture that an app made. It answers with text and a picture, never with Python objects. It
ends when its input does, whatever happened to the gateway.
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
"""The lengths of a message's text and of its bytes."""
_NICE = 10
"""By how much its priority is lower than the gateway's, as far as possible."""
_WIDEST = 960
"""The largest width of a keyframe that is shown."""
_MOST_SHOWN = 200
"""The most regions whose boxes are reported; all of them count."""


def packed_message(message: dict[str, Any], data: bytes = b"") -> bytes:
    """Return a message as bytes."""
    text = json.dumps(message).encode()
    return HEAD.pack(len(text), len(data)) + text + data


def read_messages(file: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield messages until the other end closes."""
    while len(head := file.read(HEAD.size)) == HEAD.size:
        text, data = HEAD.unpack(head)
        message, rest = file.read(text), file.read(data)
        if len(message) < text or len(rest) < data:
            return
        yield json.loads(message), rest


class _SceneReader:
    """Reads frames and boxes, and sends what was read."""

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
        """Load the finder of regions, which may take seconds; boxes do not need it."""
        self._finder = self._finder or self._make_finder()
        return self._finder

    def frame(self, t: float, frame: Pixels) -> bool:
        """Read a frame of a time on the source's clock, and send the reading; return False if none is due."""
        at, began, self._finding = time.monotonic(), time.perf_counter(), 0.0
        reading = self._context.add_frame(t, frame)
        if reading is None:
            return False
        took = time.perf_counter() - began
        self._frames += 1
        data = encode_png(_shrunk(frame)) if reading.begins else b""
        self._send_reading(
            at, reading, data, {"keyframe_ms": 1e3 * (took - self._finding), "regions_ms": 1e3 * self._finding}
        )
        return True

    def boxes(self, boxes: Any) -> None:
        """Take boxes, and send the reading."""
        at = time.monotonic()
        self._send_reading(at, self._context.add_regions(at, regions_from(boxes)), b"", {})

    def send(self, data: bytes = b"", **message: Any) -> None:
        """Send an answer."""
        self._answers.write(packed_message(message, data))
        self._answers.flush()

    def _find(self, frame: Pixels) -> Regions:
        finder, began = self.prepare(), time.perf_counter()
        found = finder(frame)
        self._finding = time.perf_counter() - began
        return found

    def _send_reading(self, at: float, reading: SceneState, data: bytes, took: dict[str, float]) -> None:
        boxes = np.array(reading.regions[:_MOST_SHOWN]).reshape(-1, 4) * self._share + self._place
        self.send(
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


def _watch(task: dict[str, Any], reader: _SceneReader) -> None:
    reader.prepare()
    if task["source"] == "video":
        _play(Path(task["file"]), reader, loop=task["loop"])
        reader.send(over="the video is over")
        return
    source = Camera(task["device"]) if task["source"] == "camera" else ScreenPart(*(task["region"] or ()))
    for t, frame in frames_of(source, every_s=reader.every_s):
        reader.frame(t, frame)


def _play(path: Path, reader: _SceneReader, *, loop: bool) -> None:
    """Read a video at its own speed; frames that are late are skipped. A picture is a video of one frame."""
    before = 0.0
    while True:
        began, t = time.monotonic(), 0.0
        for t, frame in frames_of(path, every_s=reader.every_s):
            ahead = began + t - time.monotonic()
            if ahead < -reader.every_s:
                continue
            time.sleep(max(ahead, 0.0))
            reader.frame(before + t, frame)
        before += t + reader.every_s
        if not loop:
            return
        time.sleep(max(began + t + reader.every_s - time.monotonic(), 0.0))


def _take_pushes(reader: _SceneReader, asked: Iterator[tuple[dict[str, Any], bytes]]) -> None:
    for message, data in asked:
        try:
            if "boxes" in message:
                reader.boxes(message["boxes"])
                continue
            frame = decode(data)
            reader.prepare()  # before the frame's time is taken, or the first would come late
            if not reader.frame(time.monotonic(), frame):
                reader.send(refused="frames come faster than they are looked at")
        except GazeveilError as error:
            reader.send(refused=error.message, hint=error.hint)


def _shrunk(frame: Pixels) -> Pixels:
    step = -(-max(frame.shape[:2]) // _WIDEST)
    return np.ascontiguousarray(frame[::step, ::step])


def _end_with(file: IO[bytes]) -> None:
    """End the process when the gateway closes its input, whatever it is doing."""
    while file.read(1):
        pass
    os._exit(0)


def main() -> None:
    """Watch what the first message says until the gateway closes the input."""
    for name in ("SIGINT", "SIGHUP"):  # those are for the gateway, which then closes the input
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write where answers go
    with contextlib.suppress(AttributeError, OSError):
        os.nice(_NICE)
    with contextlib.suppress(ImportError):
        import cv2  # noqa: PLC0415

        cv2.setNumThreads(1)
    asked = read_messages(sys.stdin.buffer)
    task, _ = next(asked)
    try:
        reader = _SceneReader(task, answers)
        if task["source"] == "push":
            reader.send(ready=True)
            _take_pushes(reader, asked)
            return
        threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
        _watch(task, reader)
    except GazeveilError as error:
        answers.write(packed_message({"trouble": error.message}))
        answers.flush()
        sys.exit(1)


if __name__ == "__main__":
    main()
