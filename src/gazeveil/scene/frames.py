# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where frames come from: a video file, a picture, a camera, a part of the screen.

Each source is an iterator of times and frames. It decodes no more frames than are looked at, and holds one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from gazeveil.errors import InputError, needing, why
from gazeveil.gaze.opencv import opencv
from gazeveil.gaze.video import announced_by, check_size, dimensions, retrieved, video_frames
from gazeveil.scene.images import MOST_BYTES, decode
from gazeveil.scene.pace import EVERY_S, Pace
from gazeveil.scene.pixels import Pixels

PICTURES = {".png", ".jpg", ".jpeg"}
Frames = Iterator[tuple[float, Pixels]]


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera of this computer, by its number."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class Screen:
    """A part of the screen in pixels, or all of it if nothing is stated."""

    left: int = 0
    top: int = 0
    width: int | None = None
    height: int | None = None


Source = Path | str | Camera | Screen


def frames_of(
    source: Source,
    *,
    every_s: float = EVERY_S,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Frames:
    """Yield times in seconds and frames, as often as they are to be looked at.

    The times of a file are its own, whatever its frame rate is and even if that varies. Those of a camera and of the
    screen are the clock's.

    Args:
        source: A video or picture file, a camera, or a part of the screen.
        every_s: Seconds between two frames.
        clock: Seconds, for what is live.
        sleep: Waits, for what is live.

    Raises:
        InputError: If there is no such source, or it gives no frames, or too large ones.
        MissingExtra: If what reads it is not installed.
    """
    pace = Pace(every_s)
    if isinstance(source, Camera):
        return _camera(source, pace, clock)
    if isinstance(source, Screen):
        return _screen(source, pace, clock, sleep)
    path = Path(source)
    return _picture(path) if path.suffix.lower() in PICTURES else _video(path, pace)


def first_of(frames: Frames) -> tuple[Frames, tuple[int, ...]]:
    """Return the same frames again, and the shape of the first: a source that cannot be opened fails here."""
    first = next(frames)
    return chain([first], frames), first[1].shape


def length_of(path: Path) -> float | None:
    """Return how many seconds a video says that it lasts; None if it does not say so, or is a picture."""
    if path.suffix.lower() in PICTURES:
        return None
    capture = opencv().VideoCapture(str(path))
    try:
        frames, rate = announced_by(capture)
        return frames / rate if frames and rate else None
    finally:
        capture.release()


def _picture(path: Path) -> Frames:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: {why(error)}") from None
    yield 0.0, decode(data)


def _video(path: Path, pace: Pace) -> Frames:
    for t, frame in video_frames(path, pace.due):
        pace.looked(t)
        yield t, frame


def _camera(camera: Camera, pace: Pace, clock: Callable[[], float]) -> Frames:
    capture = opencv("reading cameras").VideoCapture(camera.number)
    try:
        if not capture.isOpened():
            raise InputError(
                f"camera {camera.number} cannot be opened", hint="is it plugged in, allowed, and not in use elsewhere?"
            )
        check_size(*dimensions(capture), f"camera {camera.number}")
        while capture.grab():  # it waits until there is one
            t = clock()
            if pace.due(t):
                pace.looked(t)
                yield t, retrieved(capture, f"camera {camera.number}")
        raise InputError(f"camera {camera.number} gives no more frames", hint="was it unplugged?")
    finally:
        capture.release()


def _screen(screen: Screen, pace: Pace, clock: Callable[[], float], sleep: Callable[[float], None]) -> Frames:
    with needing("mss", "scene", "reading the screen"):
        import mss  # noqa: PLC0415
    try:
        with mss.MSS() as grabber:
            area = _area(screen, grabber.monitors[0])
            while True:
                t = clock()
                shot = grabber.grab(area)
                yield t, np.frombuffer(shot.rgb, np.uint8).reshape(shot.height, shot.width, 3)
                sleep(max(t + pace.every_s - clock(), 0.0))
    except mss.ScreenShotError as error:
        raise InputError(f"the screen cannot be read: {error}", hint="is there a display, and is it allowed?") from None


def _area(screen: Screen, all_of_it: dict[str, int]) -> dict[str, int]:
    left, top = all_of_it["left"] + screen.left, all_of_it["top"] + screen.top
    width = all_of_it["width"] - screen.left if screen.width is None else screen.width
    height = all_of_it["height"] - screen.top if screen.height is None else screen.height
    check_size(width, height, "the part of the screen")
    return {"left": left, "top": top, "width": width, "height": height}
