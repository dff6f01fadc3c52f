# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps that follow one another, as videos: animated PNG and GIF, and MP4 where OpenCV is installed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError, OutputError, needing
from gazeveil.geometry import Geometry
from gazeveil.release.heatmap_files import enlarged

WIDTH = 640
"""Pixels across a video without a picture under it; with one, at most twice as many."""

BAR = 6
"""Pixels of the bar at the bottom that shows how much time has passed."""

_SHORTEST_MS = 20  # below, players fall back to a speed of their own
_LONGEST_MS = 65_535  # more does not fit into the two bytes that an animated PNG has for it
_RATE = 25


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """Pictures and how long each is shown.

    Attributes:
        pictures: Frames by height by width by red, green, blue.
        seconds: How long each lasts.
    """

    pictures: NDArray[np.uint8]
    seconds: FloatArray

    @staticmethod
    def of(maps: FloatArray, edges: FloatArray, geometry: Geometry, picture: NDArray[np.uint8] | None = None) -> Frames:
        """Draw maps over a still picture, or over black; all frames share one scale, so that they compare.

        Raises:
            InputError: If there are no maps, or not one more edge than maps.
            MissingExtra: If matplotlib is not installed.
        """
        if not len(maps) or len(edges) != len(maps) + 1:
            raise InputError(f"{len(maps)} maps need {len(maps) + 1} edges of time, not {len(edges)}")
        under = _ground(geometry) if picture is None else _shrunk(picture)
        height, width = under.shape[:2]
        colour, largest = _colours(), max(float(np.max(maps)), 1e-300)
        frames = np.empty((len(maps), height + BAR, width, 3), dtype=np.uint8)
        for frame, map_, end in zip(frames, maps, edges[1:], strict=True):
            strength = np.clip(enlarged(map_ / largest, height, width), 0.0, 1.0)
            cover = np.ones_like(strength) if picture is None else np.clip(strength * 1.6, 0.0, 0.75)
            hot = colour[np.round(strength * (len(colour) - 1)).astype(np.int64)]
            frame[:height] = np.round(under * (1 - cover[..., None]) + hot * cover[..., None])
            passed = round(width * float(end - edges[0]) / float(edges[-1] - edges[0]))
            frame[height:, :passed], frame[height:, passed:] = 230, 60
        return Frames(frames, np.diff(edges))


def write_videos(frames: Frames, folder: Path, *, speed: float = 1.0) -> list[Path]:
    """Write ``movie.gif``, ``movie.png`` (animated) and, where OpenCV is installed, ``movie.mp4``.

    Raises:
        OptionError: If the speed is not a positive number.
        MissingExtra: If Pillow is not installed; it comes with matplotlib.
        OutputError: If a video cannot be written.
    """
    if not 0 < speed < np.inf:
        raise OptionError(f"the speed of a video must be a positive number, not {speed!r}")
    with needing("pillow", "plots", "writing videos"):
        from PIL import Image  # noqa: PLC0415
    lasts = np.clip(np.round(1000 * frames.seconds / speed), _SHORTEST_MS, _LONGEST_MS).astype(int).tolist()
    pictures: list[Any] = [Image.fromarray(frame) for frame in frames.pictures]
    first, *others = pictures
    written = []
    for name, options in (("movie.gif", {"optimize": False}), ("movie.png", {})):
        path = folder / name
        first.save(path, save_all=True, append_images=others, duration=lasts, loop=0, **options)
        written.append(path)
    if write_mp4(frames, folder / "movie.mp4", speed=speed):
        written.append(folder / "movie.mp4")
    return written


def write_mp4(frames: Frames, path: Path, *, speed: float = 1.0) -> bool:
    """Write an MP4 video at 25 frames a second, if OpenCV is installed; say whether it is.

    Raises:
        OutputError: If OpenCV is there and cannot write it.
    """
    try:
        cv2: Any = importlib.import_module("cv2")
    except ImportError:
        return False
    height, width = (size - size % 2 for size in frames.pictures.shape[1:3])  # many players want even sides
    video = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), _RATE, (width, height))
    if not video.isOpened():
        raise OutputError(f"cannot write {path}: OpenCV has no encoder for MP4")
    try:
        for frame, seconds in zip(frames.pictures, frames.seconds, strict=True):
            for _ in range(max(round(float(seconds) / speed * _RATE), 1)):
                video.write(np.ascontiguousarray(frame[:height, :width, ::-1]))
    finally:
        video.release()
    return True


def _colours() -> NDArray[np.float64]:
    with needing("matplotlib", "plots", "drawing videos"):
        from matplotlib import colormaps  # noqa: PLC0415
    return np.asarray(colormaps["inferno"](np.linspace(0, 1, 256))[:, :3] * 255)


def _ground(geometry: Geometry) -> NDArray[np.uint8]:
    left, top, right, bottom = geometry.extent()
    return np.zeros((max(round(WIDTH * abs((bottom - top) / (right - left))), 2), WIDTH, 3), dtype=np.uint8)


def _shrunk(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a large picture with fewer pixels: every this many of them."""
    step = max(-(-picture.shape[1] // (2 * WIDTH)), 1)
    return np.ascontiguousarray(picture[::step, ::step])
