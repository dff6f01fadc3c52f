# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A released heatmap as files: the map, its error bars, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import Estimate
from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, needing
from gazeveil.gaze.video import frames_at
from gazeveil.geometry import Geometry
from gazeveil.release import plots
from gazeveil.release.manifest import checked_file
from gazeveil.release.study import Stimulus

CONFIDENCE_SDS = 2.58
"""Standard deviations of the noise that a cell of a whole study's map must exceed the prior by to be a hot spot: 99 %
for one cell."""

INTERVAL_SDS = 1.96
"""Standard deviations to both sides of a map that make up a 95 % interval."""


MOST_STRETCHED = 1.3
"""How far the cells of a user's own map may be from squares: beyond it, rows and columns were taken for one another."""

MOST_DRAWN = 200
"""The pictures of more maps than these have no axes: with them, 10,000 maps take an hour."""

_WIDE_ENOUGH = 960
"""Pixels across of a picture under a map: overlays are drawn with fewer."""

PRIOR_MAPS = "prior_maps.npz"
"""The file with what pictures, or maps of the user's own, said about gaze, by stimulus or by moment."""


Drawing = tuple[plots.MapPictures, plots.MapPictures]
"""What draws maps, and what draws their error bars: the numbers of their scales are of different lengths."""


def drawing_of(geometry: Geometry) -> Drawing:
    """Return what draws many maps of a screen."""
    return plots.MapPictures(geometry), plots.MapPictures(geometry)


def write_map(
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

    Bare pictures have no axes, no scale and no title. Whoever draws many maps of a screen gives what draws them.

    Without the extra ``plots`` there are none: a release that was paid for does not fail for want of a picture.
    """
    if not plots.available():
        return
    if bare:
        (folder / f"{name}.png").write_bytes(plots.bare_picture(estimate.map))
        (folder / f"{name}.errors.png").write_bytes(plots.bare_picture(estimate.noise_sd))
        return
    maps, errors = drawing or drawing_of(geometry)
    (folder / f"{name}.png").write_bytes(maps.draw(estimate.map, title))
    shown = errors.draw(estimate.noise_sd, f"{title}: standard deviation of the noise")
    (folder / f"{name}.errors.png").write_bytes(shown)
    if picture is not None:
        step = max(picture.shape[1] // _WIDE_ENOUGH, 1)
        under = picture[::step, ::step]
        large = enlarged(estimate.map, under.shape[0], under.shape[1])
        (folder / f"{name}.overlay.png").write_bytes(plots.heat_over_picture(under, large, title))


def write_parts(estimate: Estimate, geometry: Geometry, path: Path, title: str) -> None:
    """Write the picture of what a map is made of; none without the extra ``plots``."""
    if plots.available():
        path.write_bytes(plots.parts_picture(estimate.prior, estimate.map, estimate.hot_spots, geometry, title))


def arrays_of(estimate: Estimate) -> dict[str, NDArray[Any]]:
    """Return everything that is known about the cells of a map, rows by columns, under the names of its files."""
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
    """Return the 95 % interval around the cells of a map; it ends at 0, for there is no less gaze than none."""
    return np.maximum(values - INTERVAL_SDS * sd, 0.0), values + INTERVAL_SDS * sd


def hot_spots(estimate: Estimate) -> NDArray[np.bool_]:
    """Return the cells that have more than four times the gaze of an even map.

    Where nothing is known about more than the noise: those that stand out of the prior by more than it explains.
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


@lru_cache(maxsize=2)  # a picture is looked at when a release is planned and when it is drawn
def _declared_pixels(path: Path, digest: str) -> NDArray[np.uint8]:
    pixels = read_pixels(path)
    pixels.flags.writeable = False
    return pixels


@lru_cache(maxsize=8)
def _declared_saliency(path: Path, digest: str) -> Saliency:
    return Saliency.of(_declared_pixels(path, digest))


def read_map(path: Path, geometry: Geometry) -> Saliency:
    """Read a map of the user's own of where gaze is likely on a viewing plane, as numpy stores arrays.

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


def said_of(stimulus: Stimulus) -> Saliency | None:
    """Return what a study declares about where gaze on a stimulus is likely: its map, else what its picture says.

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
def said_by_film(film: tuple[Path, str], screen: Geometry, times: tuple[float, ...]) -> tuple[Saliency, ...]:
    """Return what the frames of a declared film say that are shown at some times.

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


def table_of(estimate: Estimate, **labels: str | None) -> pl.DataFrame:
    """Return an estimate as a table, a row a cell, with columns that say what it is of."""
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
