# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Frames of a scene as arrays: from a video file, a picture, a camera or a part of the screen.

Each source is an iterator of times and frames. It decodes only the frames that are analysed, and holds one at a time.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import Float32Array
from gazeveil.errors import InputError, OptionError, needing, why
from gazeveil.gaze.video import announced_by, check_size, dimensions, opencv, retrieved, video_frames

Pixels = NDArray[np.uint8]

_IN_A_CELL = 3
"""Rows and columns of a cell that are read: nine of its pixels give its colour, whatever its size."""


def checked_frame(frame: Any) -> Pixels:
    """Return a frame if it is one.

    Raises:
        InputError: If it is none, or is too large.
    """
    pixels = np.asarray(frame)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8:
        raise InputError(f"a frame is rows by columns by 3 bytes, not {pixels.dtype} of shape {pixels.shape}")
    check_size(pixels.shape[1], pixels.shape[0])
    return pixels


def cells(frame: Pixels, rows: int, columns: int) -> Float32Array:
    """Return the mean colour of each cell of a raster over a frame: rows by columns by 3, from 0 to 255.

    Of large cells only `_IN_A_CELL` rows and columns are read, evenly spread.
    """
    height, width = frame.shape[:2]
    down, across = _places(height, rows), _places(width, columns)
    seen = frame[down.ravel()][:, across.ravel()]
    blocks = seen.reshape(*down.shape, *across.shape, 3)
    return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def _places(size: int, count: int) -> NDArray[np.int64]:
    """Return which pixels of one axis stand for each cell, a row a cell."""
    each = min(max(size // count, 1), _IN_A_CELL)
    return ((np.arange(count * each) + 0.5) * size / (count * each)).astype(np.int64).reshape(count, each)


# --- Which frames are analysed: the first, and then the first of every interval after it.


LOOK_EVERY_S = 0.5
"""Seconds between two analysed frames: the default of kaleido2021 section 6."""

_ROUNDING = 1e-6
"""Times of videos are rounded to microseconds."""


class Pace:
    """Decides which frames are analysed. Intervals that were missed are not made up for."""

    def __init__(self, every_s: float = LOOK_EVERY_S) -> None:
        if not (math.isfinite(every_s) and every_s > 0):
            raise OptionError(f"every_s must be a number of seconds above 0, not {every_s!r}")
        self.every_s = every_s
        self._first: float | None = None
        self._last = self._next = -math.inf

    def due(self, t: float) -> bool:
        """Whether a frame of this time is due. A time before the last one is, so that the caller can refuse it."""
        return t >= self._next or t < self._last

    def looked(self, t: float) -> None:
        """Record that a frame of this time is analysed."""
        self._last = t
        if self._first is None:
            self._first = t
        intervals = math.floor((t - self._first) / self.every_s + _ROUNDING) + 1
        self._next = self._first + intervals * self.every_s - _ROUNDING


# --- Pictures as bytes: PNG and JPEG in, PNG out. Pictures from an app are not trusted: their size is read before they
# are decoded.


MOST_BYTES = 32 * 1024 * 1024
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8"
_WITHOUT_LENGTH = {0x01, *range(0xD0, 0xD8)}
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG that say how large it is."""


def decode(data: bytes) -> Pixels:
    """Return a PNG or JPEG picture as a frame.

    Raises:
        InputError: If it is none, is damaged, or is too large; nothing is decoded before its size is known.
        MissingExtra: If OpenCV is not installed.
    """
    if len(data) > MOST_BYTES:
        raise InputError(f"a picture of {len(data):,} bytes is more than the {MOST_BYTES:,} that are taken")
    check_size(*_size(data), "the picture")
    cv2 = opencv("reading pictures")
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error:
        found = None
    if found is None:
        raise InputError("the picture is damaged", hint="send a whole PNG or JPEG file")
    return _swapped(found)


def encode_png(frame: Pixels) -> bytes:
    """Return a frame as a PNG file.

    Raises:
        InputError: If that is no frame.
        MissingExtra: If OpenCV is not installed.
    """
    done, data = opencv("writing pictures").imencode(".png", _swapped(checked_frame(frame)))
    if not done:
        raise InputError("the frame could not be written as PNG")
    return bytes(data)


def _swapped(pixels: Any) -> Pixels:
    """Return red, green, blue as blue, green, red or the other way: OpenCV's order is not ours."""
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _size(data: bytes) -> tuple[int, int]:
    """Return width and height as the file says them.

    Raises:
        InputError: If it is no PNG or JPEG, or says none.
    """
    if data.startswith(_PNG) and len(data) >= 24 and data[12:16] == b"IHDR":
        width, height = struct.unpack(">II", data[16:24])
        return int(width), int(height)
    if data.startswith(_JPEG):
        return _jpeg_size(data)
    raise InputError("this is no PNG or JPEG picture", hint="send the bytes of such a file")


def _jpeg_size(data: bytes) -> tuple[int, int]:
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF or marker in _WITHOUT_LENGTH:
            place += 1 if marker == 0xFF else 2
        elif marker in _FRAMES:
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return int(width), int(height)
        else:
            place += 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    raise InputError("the JPEG picture does not say how large it is", hint="send a whole file")


# --- Sources of frames.


PICTURES = {".png", ".jpg", ".jpeg"}
Frames = Iterator[tuple[float, Pixels]]


@dataclass(frozen=True, slots=True)
class Camera:
    """A camera of this computer, by its number."""

    number: int = 0


@dataclass(frozen=True, slots=True)
class ScreenPart:
    """A part of the screen in pixels, or all of it if nothing is stated."""

    left: int = 0
    top: int = 0
    width: int | None = None
    height: int | None = None


Source = Path | str | Camera | ScreenPart


def frames_of(
    source: Source,
    *,
    every_s: float = LOOK_EVERY_S,
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
    if isinstance(source, ScreenPart):
        return _screen(source, pace, clock, sleep)
    path = Path(source)
    return _picture(path) if path.suffix.lower() in PICTURES else _video(path, pace)


def with_first_shape(frames: Frames) -> tuple[Frames, tuple[int, ...]]:
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


def _screen(screen: ScreenPart, pace: Pace, clock: Callable[[], float], sleep: Callable[[float], None]) -> Frames:
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


def _area(screen: ScreenPart, all_of_it: dict[str, int]) -> dict[str, int]:
    left, top = all_of_it["left"] + screen.left, all_of_it["top"] + screen.top
    width = all_of_it["width"] - screen.left if screen.width is None else screen.width
    height = all_of_it["height"] - screen.top if screen.height is None else screen.height
    check_size(width, height, "the part of the screen")
    return {"left": left, "top": top, "width": width, "height": height}
