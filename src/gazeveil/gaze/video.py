# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Videos that were shown: their frames, decoded by OpenCV, which is imported on use.

A file's times are its own, whatever its frame rate is and even if that varies. One frame is held at a time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError, needing


@cache
def opencv(purpose: str = "looking at frames") -> Any:
    """Return the module cv2; it prints nothing: its errors go into ours.

    Raises:
        MissingExtra: If it is not installed.
    """
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    with needing("opencv-python-headless", "scene", purpose):
        import cv2  # noqa: PLC0415
    return cv2


MOST_PIXELS = 40_000_000
"""A frame of 8K has 33 million. Larger frames are refused before they are decoded, so that memory is bounded."""

_MOST_SIDE = 32_768

_FEW = 0.9
"""A video of which less than this share of the announced frames can be read is cut off or damaged."""

_USUAL_RATE = 25.0

Pixels = NDArray[np.uint8]


def check_size(width: int, height: int, what: str = "a frame") -> None:
    """Refuse a frame that cannot be, or that is too large.

    Raises:
        InputError: If it is so.
    """
    if width < 1 or height < 1:
        raise InputError(f"{what} has {width} x {height} pixels: there is nothing to see")
    if width * height > MOST_PIXELS or max(width, height) > _MOST_SIDE:
        raise InputError(
            f"{what} has {width:,} x {height:,} pixels, more than the {MOST_PIXELS:,} that are taken",
            hint="make it smaller first: a few hundred pixels across are looked at anyway",
        )


def video_frames(path: Path, due: Callable[[float], bool]) -> Iterator[tuple[float, Pixels]]:
    """Yield times in seconds and frames (rows by columns by red, green, blue): those whose times are due.

    Raises:
        InputError: If there is no such file, or its frames are too large.
        FileFormatError: If it is no video, or cut off.
        MissingExtra: If OpenCV is not installed.
    """
    if not path.is_file():  # OpenCV would also take addresses and patterns of names
        raise InputError(f"{path}: {'a folder' if path.is_dir() else 'nothing there'}", hint="give a video file")
    capture = opencv("reading videos").VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise _no_video(path, "something else, or a damaged one")
        check_size(*dimensions(capture), str(path))
        announced, rate = announced_by(capture)
        clock, read = _Clock(capture, rate), 0
        while capture.grab():
            t = clock.time()
            read += 1
            if due(t):
                yield t, retrieved(capture, path)
        if not read:
            raise _no_video(path, "no frame that can be decoded")
        if announced and read < _FEW * announced:
            raise FileFormatError(
                path,
                expected=f"{announced:,} frames",
                found=f"{read:,} that can be decoded",
                hint="the file is cut off or damaged; copy it again, or encode it again",
            )
    finally:
        capture.release()


def frames_at(path: Path, times: Sequence[float]) -> Iterator[Pixels]:
    """Yield the frame that is shown at each of some times in seconds, which grow; the same array while it is the same.

    Raises:
        InputError: If the video ends before, and as `video_frames`.
    """
    seen, done = -math.inf, 0
    step = 1 / _USUAL_RATE

    def due(t: float) -> bool:
        nonlocal seen, step
        step = min(max(t - seen, 1e-3), 1.0) if math.isfinite(seen) else step
        seen = t
        return done < len(times) and t + step / 2 >= times[done]

    for t, frame in video_frames(path, due):
        while done < len(times) and t + step / 2 >= times[done]:
            done += 1
            yield frame
        if done == len(times):
            return
    raise InputError(
        f"{path} lasts {seen + step:.3g} s, but the frame at {times[done]:.3g} s is asked for",
        hint="is it the film that was shown? Time runs from its first frame, as it does in recordings",
    )


def _no_video(path: Path, found: str) -> FileFormatError:
    hint = "play it elsewhere to see whether it is whole; MP4, AVI, MKV and WebM are usually read"
    return FileFormatError(path, expected="a video", found=found, hint=hint)


def dimensions(capture: Any) -> tuple[int, int]:
    """Return how many pixels across and down the frames of a video or a camera have."""
    cv2 = opencv()
    return int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))


def announced_by(capture: Any) -> tuple[int, float]:
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
        self._interval = 1 / (rate or _USUAL_RATE)
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


def retrieved(capture: Any, what: Path | str) -> Pixels:
    """Return the frame that was grabbed last, as red, green and blue.

    Raises:
        InputError: If it cannot be decoded, or is too large.
    """
    done, found = capture.retrieve()
    if not done or found is None:
        raise InputError(f"{what}: a frame cannot be decoded")
    if found.size > 3 * MOST_PIXELS:
        check_size(found.shape[1], found.shape[0], str(what))
    if found.ndim == 2:
        found = np.repeat(found[:, :, None], 3, axis=2)
    return np.ascontiguousarray(found[:, :, 2::-1])
