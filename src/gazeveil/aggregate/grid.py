# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The cells that gaze is counted in: a public raster over a public viewing plane, the same for everyone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry
from gazeveil.types import FloatArray

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
