# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where frames come from: a video file, a picture, a camera, a part of the screen.

Each source is an iterator of times and frames. It decodes no more frames than are looked at, and holds one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from gazeveil.errors import FileFormatError, InputError, MissingExtra, why
from gazeveil.scene._opencv import opencv
from gazeveil.scene.images import MOST_BYTES, decode
from gazeveil.scene.pace import EVERY_S, Pace
from gazeveil.scene.pixels import MOST_PIXELS, Pixels, check_size

PICTURES = {".png", ".jpg", ".jpeg"}
_FEW = 0.9
"""A video of which less than this share of the announced frames can be read is cut off or damaged."""

Frames = Iterator[tuple[float, Pixels]]


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera of this computer, by its number."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class Screen:
    """A part of the screen in pixels, or all of it if nothing is said."""

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
        frames, rate = _announced(capture)
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
    if not path.is_file():  # OpenCV would also take addresses and patterns of names
        raise InputError(f"{path}: {'a folder' if path.is_dir() else 'nothing there'}", hint="give a video file")
    capture = opencv("reading videos").VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise _no_video(path, "something else, or a damaged one")
        check_size(*_dimensions(capture), str(path))
        announced, rate = _announced(capture)
        clock, read = _Clock(capture, rate), 0
        while capture.grab():
            t = clock.time()
            read += 1
            if pace.due(t):
                pace.looked(t)
                yield t, _retrieved(capture, path)
        if not read:
            raise _no_video(path, "no frame that can be decoded")
        if announced and read < _FEW * announced:
            raise FileFormatError(
                path,
                expected=f"{announced:,} frames",
                found=f"{read:,} that can be decoded",
                hint="the file is cut off or damaged; copy it again, or encode it anew",
            )
    finally:
        capture.release()


def _no_video(path: Path, found: str) -> FileFormatError:
    hint = "play it elsewhere to see whether it is whole; MP4, AVI, MKV and WebM are usually read"
    return FileFormatError(path, expected="a video", found=found, hint=hint)


def _dimensions(capture: Any) -> tuple[int, int]:
    cv2 = opencv()
    return int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))


def _announced(capture: Any) -> tuple[int, float]:
    """Return how many frames a video says it has and their rate; 0 for what it does not say."""
    cv2 = opencv()
    count, rate = capture.get(cv2.CAP_PROP_FRAME_COUNT), capture.get(cv2.CAP_PROP_FPS)
    return (
        int(count) if math.isfinite(count) and count > 0 else 0,
        float(rate) if math.isfinite(rate) and 0 < rate < 1e4 else 0.0,
    )


class _Clock:
    """When frames are shown: by their own stamps, or by the rate where there are none."""

    def __init__(self, capture: Any, rate: float) -> None:
        self._capture = capture
        self._interval = 1 / (rate or 25.0)
        self._stamped = False
        self._count = -1
        self._last = 0.0

    def time(self) -> float:
        """Return the time of the frame that was grabbed last; it never runs back."""
        self._count += 1
        stamp = self._capture.get(opencv().CAP_PROP_POS_MSEC) / 1000
        self._stamped |= math.isfinite(stamp) and stamp > 0
        now = stamp if self._stamped else self._count * self._interval
        self._last = max(now, self._last) if math.isfinite(now) else self._last
        return self._last


def _retrieved(capture: Any, what: Path | str) -> Pixels:
    done, found = capture.retrieve()
    if not done or found is None:
        raise InputError(f"{what}: a frame cannot be decoded")
    if found.size > 3 * MOST_PIXELS:
        check_size(found.shape[1], found.shape[0], str(what))
    if found.ndim == 2:
        found = np.repeat(found[:, :, None], 3, axis=2)
    return np.ascontiguousarray(found[:, :, 2::-1])


def _camera(camera: Camera, pace: Pace, clock: Callable[[], float]) -> Frames:
    capture = opencv("reading cameras").VideoCapture(camera.number)
    try:
        if not capture.isOpened():
            raise InputError(
                f"camera {camera.number} cannot be opened", hint="is it plugged in, allowed, and not in use elsewhere?"
            )
        check_size(*_dimensions(capture), f"camera {camera.number}")
        while capture.grab():  # it waits until there is one
            t = clock()
            if pace.due(t):
                pace.looked(t)
                yield t, _retrieved(capture, f"camera {camera.number}")
        raise InputError(f"camera {camera.number} gives no more frames", hint="was it unplugged?")
    finally:
        capture.release()


def _screen(screen: Screen, pace: Pace, clock: Callable[[], float], sleep: Callable[[float], None]) -> Frames:
    try:
        import mss  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("mss", "scene", "reading the screen") from None
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
