# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Released maps as files: the map, its error bars, pictures, and maps that follow one another as videos."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError, OutputError, needing
from gazeveil.gaze.video import frames_at
from gazeveil.geometry import Geometry
from gazeveil.release import visual_report
from gazeveil.release.study import Stimulus
from gazeveil.release.study_toml import checked_file

CONFIDENCE_SDS = 2.58
"""Standard deviations of the noise that a cell of a whole study's map must exceed the prior by to be a hot spot: 99 %
for one cell."""

INTERVAL_SDS = 1.96
"""Standard deviations to both sides of a map that make up a 95 % interval."""


MOST_STRETCHED = 1.3
"""How far the cells of a user's own map may be from squares; beyond it, rows and columns were probably swapped."""

MOST_DRAWN = 200
"""With more maps than these, pictures have no axes: drawing axes for 10,000 maps takes an hour."""

_WIDE_ENOUGH = 960
"""Pixels across of a picture under a map: overlays are drawn with fewer."""

PRIOR_MAPS = "prior_maps.npz"
"""The file with the saliency of pictures, or with maps of the user's own, by stimulus or by moment."""


Drawing = tuple[visual_report.MapPictures, visual_report.MapPictures]
"""The drawers of maps and of their error bars; they differ, as the numbers of their scales have different lengths."""


def drawing_of(geometry: Geometry) -> Drawing:
    """Return the drawers for many maps of a screen."""
    return visual_report.MapPictures(geometry), visual_report.MapPictures(geometry)


def write_map_pictures(
    estimate: Estimate,
    geometry: Geometry,
    folder: Path,
    name: str,
    picture: NDArray[np.uint8] | None,
    title: str,
    *,
    bare: bool = False,
    drawing: Drawing | None = None,
) -> None:
    """Write the pictures of a map: itself, its noise, and over the stimulus where there is a picture of that.

    Bare pictures have no axes, no scale and no title. To draw many maps of a screen, pass one ``drawing`` for all.

    Without the extra ``plots`` nothing is drawn: a release that was paid for must not fail because of a picture.
    """
    if not visual_report.available():
        return
    if bare:
        (folder / f"{name}.png").write_bytes(visual_report.bare_picture(estimate.map))
        (folder / f"{name}.errors.png").write_bytes(visual_report.bare_picture(estimate.noise_sd))
        return
    maps, errors = drawing or drawing_of(geometry)
    (folder / f"{name}.png").write_bytes(maps.draw(estimate.map, title))
    shown = errors.draw(estimate.noise_sd, f"{title}: standard deviation of the noise")
    (folder / f"{name}.errors.png").write_bytes(shown)
    if picture is not None:
        step = max(picture.shape[1] // _WIDE_ENOUGH, 1)
        under = picture[::step, ::step]
        large = enlarged(estimate.map, under.shape[0], under.shape[1])
        (folder / f"{name}.overlay.png").write_bytes(visual_report.heat_over_picture(under, large, title))


def write_parts_picture(estimate: Estimate, geometry: Geometry, path: Path, title: str) -> None:
    """Write the picture of what a map is made of; none without the extra ``plots``."""
    if visual_report.available():
        path.write_bytes(visual_report.parts_picture(estimate.prior, estimate.map, estimate.hot_spots, geometry, title))


def arrays_of(estimate: Estimate) -> dict[str, NDArray[Any]]:
    """Return all arrays about the cells of a map, rows by columns, by their names in its file."""
    found: dict[str, NDArray[Any] | None] = {
        "map": estimate.map,
        "prior": estimate.prior,
        "noise_sd": estimate.noise_sd,
        "error_sd": estimate.error_sd,
        "population_sd": estimate.population_sd,
        "hot_spots": estimate.hot_spots,
    }
    return {name: values for name, values in found.items() if values is not None}


def arrays_of_all(estimates: Sequence[Estimate]) -> dict[str, NDArray[Any]]:
    """Return the same of several maps, one after the other; priors only where more is known than the noise."""
    each = [arrays_of(estimate) for estimate in estimates]
    names = [name for name in (each[0] if each else ()) if name != "prior" or "error_sd" in each[0]]
    several = {"map": "maps", "prior": "priors"}
    return {several.get(name, name): np.stack([arrays[name] for arrays in each]) for name in names}


def interval(values: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the 95 % interval around the cells of a map; it ends at 0, as gaze cannot be negative."""
    return np.maximum(values - INTERVAL_SDS * sd, 0.0), values + INTERVAL_SDS * sd


def hot_spots(estimate: Estimate) -> NDArray[np.bool_]:
    """Return the cells that have more than four times the gaze of an even map.

    Where only the noise is known: the cells that exceed the prior by more than the noise explains.
    """
    if estimate.hot_spots is not None:
        return estimate.hot_spots
    return np.asarray(estimate.map - estimate.prior > CONFIDENCE_SDS * estimate.noise_sd)


def read_pixels(path: Path) -> NDArray[np.uint8]:
    """Read a picture as rows by columns by red, green and blue.

    Raises:
        InputError: If it is no picture.
    """
    with needing("matplotlib", "plots", "reading a picture"):
        from matplotlib.image import imread  # noqa: PLC0415
    try:
        pixels: NDArray[Any] = imread(path)
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"cannot read the picture {path}: {error}", hint="give the stimulus as a PNG file") from None
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    pixels = pixels[:, :, :3]
    return pixels if pixels.dtype == np.uint8 else np.round(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def read_picture(path: Path, geometry: Geometry) -> NDArray[np.uint8]:
    """Read the stimulus as an RGB picture of the viewing plane's proportions.

    Raises:
        InputError: If it is no picture, or of other proportions than the viewing plane.
    """
    pixels = read_pixels(path)
    check_proportions(pixels, geometry)
    return pixels


def check_proportions(pixels: NDArray[np.uint8], geometry: Geometry) -> None:
    """Refuse a picture, or a frame, of other proportions than the viewing plane.

    Raises:
        InputError: If it has others.
    """
    if geometry.width_px is None or geometry.height_px is None:
        return
    wanted, found = geometry.width_px / geometry.height_px, pixels.shape[1] / pixels.shape[0]
    if abs(wanted / found - 1) > 0.02:
        raise InputError(
            f"the picture is {pixels.shape[1]} x {pixels.shape[0]}, but the viewing plane is "
            f"{geometry.width_px:g} x {geometry.height_px:g}: other proportions",
            hint="give the picture as it filled the screen",
        )


def picture_of(stimulus: Stimulus) -> NDArray[np.uint8] | None:
    """Read the picture that a study declares for a stimulus; None where it declares none.

    Raises:
        FileFormatError: If it is not the declared file.
        InputError: If it is no picture, or of other proportions than the screen.
    """
    if stimulus.picture is None:
        return None
    pixels = _declared_pixels(checked_file(stimulus.picture), stimulus.picture[1])
    check_proportions(pixels, stimulus.screen)
    return pixels


@lru_cache(maxsize=2)  # a picture is read when a release is planned and when it is drawn
def _declared_pixels(path: Path, digest: str) -> NDArray[np.uint8]:
    pixels = read_pixels(path)
    pixels.flags.writeable = False
    return pixels


@lru_cache(maxsize=8)
def _declared_saliency(path: Path, digest: str) -> Saliency:
    return Saliency.of(_declared_pixels(path, digest))


def read_map(path: Path, geometry: Geometry) -> Saliency:
    """Read the user's own map of where gaze is likely on a viewing plane, a ``.npy`` file.

    Raises:
        InputError: If it is no such map, or of quite other proportions than the viewing plane.
    """
    hint = "store it with numpy.save: rows by columns, from the upper left"
    try:
        with path.open("rb") as file:
            values = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"cannot read the map {path}: {error}", hint=hint) from None
    try:
        found = Saliency.of_map(values)
    except InputError as error:
        raise InputError(f"{path}: {error.message}", hint=error.hint or hint) from None
    if geometry.width_px is not None and geometry.height_px is not None:
        rows, columns = values.shape
        wanted = geometry.width_px / geometry.height_px
        if not 1 / MOST_STRETCHED <= columns / rows / wanted <= MOST_STRETCHED:
            raise InputError(
                f"{path} has {rows} rows and {columns} columns, but the viewing plane is {geometry.width_px:g} x "
                f"{geometry.height_px:g}: other proportions",
                hint="rows first, then columns; the map covers the whole viewing plane",
            )
    return found


def stimulus_saliency(stimulus: Stimulus) -> Saliency | None:
    """Return where gaze on a stimulus is likely by a study's declaration: its map, else the saliency of its picture.

    None where it declares neither.

    Raises:
        FileFormatError: If a file is not the declared one.
        InputError: If it is no map, no picture, or of other proportions than the screen.
    """
    if stimulus.prior is not None:
        return read_map(checked_file(stimulus.prior), stimulus.screen)
    if stimulus.picture is None or picture_of(stimulus) is None:
        return None
    return _declared_saliency(*stimulus.picture)


@lru_cache(maxsize=2)  # plans are made again and again, with another ε; a film takes a third of a second a frame
def film_saliency(film: tuple[Path, str], screen: Geometry, times: tuple[float, ...]) -> tuple[Saliency, ...]:
    """Return the saliency of the frames of a declared film that are shown at some times.

    Raises:
        FileFormatError: If it is not the declared file, or no video.
        InputError: If it is too short, or of other proportions than the screen.
        MissingExtra: If OpenCV is not installed.
    """
    found: list[Saliency] = []
    last: NDArray[np.uint8] | None = None
    for frame in frames_at(checked_file(film), times):
        if last is None:
            check_proportions(frame, screen)
        found.append(found[-1] if frame is last else Saliency.of(frame))
        last = frame
    return tuple(found)


def map_table(estimate: Estimate, **labels: str | None) -> pl.DataFrame:
    """Return an estimate as a table, one row per cell, with a column for each label."""
    rows, columns = estimate.map.shape
    row, column = np.divmod(np.arange(rows * columns), columns)
    cells = {
        "row": row,
        "column": column,
        "value": estimate.map.ravel(),
        "noise_sd": estimate.noise_sd.ravel(),
        "prior": estimate.prior.ravel(),
    }
    for whose, sd in (("", estimate.error_sd), ("population_", estimate.population_sd)):
        if sd is not None:
            low, high = interval(estimate.map, sd)
            cells[f"{whose or 'error_'}sd"] = sd.ravel()
            cells |= {f"{whose}low": low.ravel(), f"{whose}high": high.ravel()}
    cells["hot_spot"] = hot_spots(estimate).ravel()
    named = [pl.lit(value, dtype=pl.String).alias(name) for name, value in labels.items()]
    return pl.DataFrame(cells).select(*named, pl.all())


def enlarged(values: FloatArray, height: int, width: int) -> FloatArray:
    """Return a map stretched to this many pixels, smoothly: linear along each axis."""
    rows, columns = values.shape
    y = np.clip((np.arange(height) + 0.5) * rows / height - 0.5, 0, rows - 1)
    x = np.clip((np.arange(width) + 0.5) * columns / width - 0.5, 0, columns - 1)
    across = np.stack([np.interp(x, np.arange(columns), line) for line in values])
    return np.stack([np.interp(y, np.arange(rows), line) for line in across.T], axis=1)


# --- Maps over time as videos: animated PNG and GIF, and MP4 where OpenCV is installed.


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
        under = _black_picture(geometry) if picture is None else _shrunk(picture)
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
    """Write an MP4 video at 25 frames a second, if OpenCV is installed; return whether it is.

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


def _black_picture(geometry: Geometry) -> NDArray[np.uint8]:
    left, top, right, bottom = geometry.extent()
    return np.zeros((max(round(WIDTH * abs((bottom - top) / (right - left))), 2), WIDTH, 3), dtype=np.uint8)


def _shrunk(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a large picture with fewer pixels: every this many of them."""
    step = max(-(-picture.shape[1] // (2 * WIDTH)), 1)
    return np.ascontiguousarray(picture[::step, ::step])
