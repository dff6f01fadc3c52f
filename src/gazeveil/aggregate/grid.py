# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The raster that gaze is counted in, and the blur that turns counts into a heatmap.

The blur is separable, its taps are cut at four standard deviations and sum to one. What happens at the edge of the
viewing plane is stated, never guessed:

- ``reflect``: what would fall off the edge is folded back (…c b a | a b c…). Mass is kept, an even map stays even.
- ``zero``: there is nothing beyond the edge. Mass is lost there, and the border of an even map looks dim.

Applied to a released map this is post-processing: it costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry

OFF_GRID = -1
MOST_CELLS = 1 << 26


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells over a viewing plane, counted row by row from the top left.

    Attributes:
        columns: How many across.
        rows: How many down.
        geometry: The viewing plane; gaze is taken in its unit.
    """

    columns: int
    rows: int
    geometry: Geometry

    def __post_init__(self) -> None:
        for name in ("columns", "rows"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise OptionError(f"{name} must be a whole number from 1 up, not {count!r}")
        if self.columns * self.rows > MOST_CELLS:
            raise OptionError(f"a grid has at most {MOST_CELLS:,} cells, not {self.columns * self.rows:,}")
        self.geometry.extent()  # raises where the plane has no edges

    @property
    def size(self) -> int:
        """How many cells."""
        return self.columns * self.rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns, as numpy orders them."""
        return self.rows, self.columns

    def cells(self, x: FloatArray, y: FloatArray) -> NDArray[np.int64]:
        """Return each point's cell, `OFF_GRID` where it is off the viewing plane or missing.

        The left and top edges belong to a cell; the right and bottom edges of the viewing plane belong to the last one.
        """
        left, top, right, bottom = self.geometry.extent()
        column = _bins(x, left, right, self.columns)
        row = _bins(y, top, bottom, self.rows)
        return np.where((column < 0) | (row < 0), OFF_GRID, row * self.columns + column)

    def to_dict(self) -> dict[str, Any]:
        """Return the grid as plain values."""
        return {"columns": self.columns, "rows": self.rows, "geometry": self.geometry.to_dict()}

    @staticmethod
    def of_degrees(geometry: Geometry, cell_deg: float = 1.0) -> Grid:
        """Return a grid whose cells are about this many degrees wide at the middle of the viewing plane."""
        if not (math.isfinite(cell_deg) and cell_deg > 0):
            raise OptionError(f"a cell's size must be a positive number of degrees, not {cell_deg!r}")
        left, top, right, bottom = geometry.in_unit("deg").extent()
        columns, rows = round((right - left) / cell_deg), round((bottom - top) / cell_deg)
        return Grid(max(columns, 1), max(rows, 1), geometry)

    @staticmethod
    def of_pixels(geometry: Geometry) -> Grid:
        """Return the grid of the viewing plane's own pixels, as Liu 2019 counts gaze."""
        plane = geometry.in_unit("px")
        return Grid(int(plane.width_px or 0), int(plane.height_px or 0), geometry)


def overlap(fine: Grid, coarse: Grid) -> FloatArray:
    """Return which part of each fine cell lies in each coarse cell, a row a fine cell."""
    across = _overlap_axis(fine.columns, coarse.columns)
    down = _overlap_axis(fine.rows, coarse.rows)
    return np.asarray(np.kron(down, across))


def _overlap_axis(fine: int, coarse: int) -> FloatArray:
    edges, wide = np.arange(fine + 1) / fine, np.arange(coarse + 1) / coarse
    upper = np.minimum(edges[1:, None], wide[None, 1:])
    lower = np.maximum(edges[:-1, None], wide[None, :-1])
    return np.asarray(np.maximum(upper - lower, 0.0) * fine)


def _bins(values: FloatArray, low: float, high: float, count: int) -> NDArray[np.int64]:
    """Return the bin of each value; -1 outside and for NaN."""
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        inside = (values >= low) & (values <= high)
    scaled = (np.where(inside, values, low) - low) * (count / (high - low))
    return np.where(inside, np.minimum(scaled.astype(np.int64), count - 1), -1)


# --- Heatmaps from gaze maps: every count spread out by a Gaussian point-spread function.


Edge = Literal["reflect", "zero"]

REACH = 4.0
"""Where the point-spread function is cut, in standard deviations."""

WIDEST_DEG = 180.0
"""A blur beyond this many degrees leaves nothing of a map, and its point-spread function would fill the memory."""

_BY_MATRIX = 256
"""Sides up to this many cells are blurred by a matrix, longer ones by Fourier transform."""


def render(values: ArrayLike, blur: float | tuple[float, float], edge: Edge = "reflect") -> FloatArray:
    """Return a map, or a stack of maps, blurred by the Gaussian point-spread function.

    Args:
        values: Rows by columns in the last two axes; negative values (noise) are welcome.
        blur: Standard deviation in cells, or one for down and one for across; 0 leaves a map as it is.
        edge: What lies beyond the edge.

    Raises:
        OptionError: If the map is not two-dimensional or the blur is not a number from 0 up.
    """
    smooth = np.asarray(values, dtype=np.float64)
    if smooth.ndim < 2:
        raise OptionError(f"a map has rows and columns, not the shape {smooth.shape}")
    down, across = blur if isinstance(blur, tuple) else (blur, blur)
    for axis, width in ((-2, down), (-1, across)):
        smooth = _along(smooth, axis, float(width), edge)
    return smooth.copy() if smooth is values else smooth


def blur_matrix(size: int, blur: float, edge: Edge = "reflect") -> FloatArray:
    """Return the blur of one axis as a read-only matrix.

    A map is rendered by the matrix of its rows from the left and the transposed matrix of its columns from the right.
    """
    return _matrix(size, _width(blur), _known(edge))


def noise_gain(shape: tuple[int, int], blur: float | tuple[float, float], edge: Edge = "reflect") -> FloatArray:
    """Return the standard deviation that each cell of a rendered map has, if every cell had noise of sd 1 before."""
    down, across = blur if isinstance(blur, tuple) else (blur, blur)
    gains = [
        np.sqrt(np.square(blur_matrix(size, width, edge)).sum(axis=1))
        for size, width in zip(shape, (down, across), strict=True)
    ]
    return np.outer(*gains)


def _along(values: FloatArray, axis: int, blur: float, edge: Edge) -> FloatArray:
    width, size = _width(blur), values.shape[axis]
    if width == 0 or size == 0:
        _known(edge)
        return values
    if size <= _BY_MATRIX:
        matrix = _matrix(size, width, _known(edge))
        return matrix @ values if axis == -2 else values @ matrix.T
    taps = _taps(width)
    reach = len(taps) // 2
    padded = _padded(values, axis, reach, _known(edge))
    length = _smooth_length(size + 4 * reach)
    column = (-1, 1) if axis == -2 else (-1,)
    gain = np.fft.rfft(taps, length).reshape(column)
    spread = np.fft.irfft(np.fft.rfft(padded, length, axis=axis) * gain, length, axis=axis)
    middle = slice(2 * reach, 2 * reach + size)
    return np.ascontiguousarray(spread[..., middle, :] if axis == -2 else spread[..., middle])


def _padded(values: FloatArray, axis: int, reach: int, edge: Edge) -> FloatArray:
    if edge == "reflect":
        return np.take(values, _folded(np.arange(-reach, values.shape[axis] + reach), values.shape[axis]), axis=axis)
    around = [(0, 0)] * values.ndim
    around[axis] = (reach, reach)
    return np.pad(values, around)


@lru_cache(maxsize=64)
def _matrix(size: int, blur: float, edge: Edge) -> FloatArray:
    matrix = np.zeros((size, size))
    if blur == 0:
        np.fill_diagonal(matrix, 1.0)
    else:
        taps = _taps(blur)
        reach = len(taps) // 2
        here = np.repeat(np.arange(size), len(taps))
        there = here + np.tile(np.arange(-reach, reach + 1), size)
        weights = np.tile(taps, size)
        if edge == "zero":
            inside = (there >= 0) & (there < size)
            here, there, weights = here[inside], there[inside], weights[inside]
        np.add.at(matrix, (here, _folded(there, size)), weights)
    matrix.flags.writeable = False
    return matrix


def _taps(blur: float) -> FloatArray:
    reach = max(1, math.ceil(REACH * blur))
    taps = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / blur))
    return np.asarray(taps / taps.sum())


def _folded(places: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return where places beyond the edges fall when the viewing plane is reflected as often as needed."""
    turned = places % (2 * size)
    return np.where(turned < size, turned, 2 * size - 1 - turned)


def _smooth_length(least: int) -> int:
    """Return the next length that a Fourier transform likes: only the factors 2, 3 and 5."""
    length = least
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def _width(blur: float) -> float:
    if not (math.isfinite(blur) and blur >= 0):
        raise OptionError(f"a blur is a number of cells from 0 up, not {blur!r}")
    return float(blur) if blur > 0.02 else 0.0  # below, the next cell gets exp(-1250), which is nothing


def _known(edge: str) -> Edge:
    if edge == "reflect":
        return "reflect"
    if edge == "zero":
        return "zero"
    raise OptionError(f"no edge is called {edge!r}", hint="known: reflect, zero")
