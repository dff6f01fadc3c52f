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

from gazeveil.errors import FileFormatError, InputError, MissingExtra

MOST_PIXELS = 40_000_000
"""A frame of 8K has 33 million. Larger ones are refused before they are decoded, so that memory is bounded."""

_FEW = 0.9
"""A video of which less than this share of the announced frames can be read is cut off or damaged."""

_USUAL_RATE = 25.0


@cache
def opencv(purpose: str = "reading videos") -> Any:
    """Return the module cv2; it prints nothing of its own, since what it has to say goes into our errors.

    Raises:
        MissingExtra: If it is not installed.
    """
    os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    try:
        import cv2  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("opencv-python-headless", "scene", purpose) from None
    return cv2


def video_frames(path: Path, due: Callable[[float], bool]) -> Iterator[tuple[float, NDArray[np.uint8]]]:
    """Yield times in seconds and frames (rows by columns by red, green, blue): those whose times are due.

    Raises:
        InputError: If there is no such file, or its frames are too large.
        FileFormatError: If it is no video, or cut off.
        MissingExtra: If OpenCV is not installed.
    """
    if not path.is_file():  # OpenCV would also take addresses and patterns of names
        raise InputError(f"{path}: {'a folder' if path.is_dir() else 'nothing there'}", hint="give a video file")
    capture = opencv().VideoCapture(str(path))
    try:
        if not capture.isOpened():
            raise _no_video(path, "something else, or a damaged one")
        announced, rate = _announced(capture, path)
        read, last = 0, -math.inf
        while capture.grab():
            last = _time(capture, read, rate, last)
            read += 1
            if due(last):
                yield last, _retrieved(capture, path)
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


def frames_at(path: Path, times: Sequence[float]) -> Iterator[NDArray[np.uint8]]:
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


def _announced(capture: Any, path: Path) -> tuple[int, float]:
    """Return how many frames a video says it has and their rate; 0 for what it does not say."""
    cv2 = opencv()
    width, height = capture.get(cv2.CAP_PROP_FRAME_WIDTH), capture.get(cv2.CAP_PROP_FRAME_HEIGHT)
    if width * height > MOST_PIXELS:
        raise InputError(f"{path} has frames of {width:,.0f} x {height:,.0f} pixels", hint="make them smaller first")
    count, rate = capture.get(cv2.CAP_PROP_FRAME_COUNT), capture.get(cv2.CAP_PROP_FPS)
    return (
        int(count) if math.isfinite(count) and count > 0 else 0,
        float(rate) if math.isfinite(rate) and 0 < rate < 1e4 else 0.0,
    )


def _time(capture: Any, read: int, rate: float, last: float) -> float:
    """Return when the frame that was grabbed is shown: by its own stamp, or by the rate where stamps stand still."""
    stamp = capture.get(opencv().CAP_PROP_POS_MSEC) / 1000
    if math.isfinite(stamp) and stamp > last and (stamp > 0 or not read):
        return float(stamp)
    return max(read / (rate or _USUAL_RATE), last)


def _retrieved(capture: Any, path: Path) -> NDArray[np.uint8]:
    done, found = capture.retrieve()
    if not done or found is None:
        raise InputError(f"{path}: a frame cannot be decoded")
    if found.ndim == 2:
        found = np.repeat(found[:, :, None], 3, axis=2)
    return np.ascontiguousarray(found[:, :, 2::-1])
