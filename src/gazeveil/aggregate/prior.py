# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about the maps of many stimuli before anyone looks: an analytic prior of a handful of public numbers.

A mean map is a broad bump near the middle of the viewing plane over a uniform floor: 90 of them, by centre and width.
Hot spots lift maps above their mean, by covariances that `gazeveil.aggregate.joint_decoder` weighs. What is known of
one stimulus is in `gazeveil.aggregate.models`. Nothing here was learnt from anyone's gaze at release time, so it costs
no privacy.

Lengths are degrees. Where the viewing plane's size in degrees is not known, it is taken to be 32 degrees wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from gazeveil.aggregate.grid import Grid
from gazeveil.types import FloatArray

MOST_WORKING_CELLS = 1000
"""Finer grids are decoded on a coarser one and drawn on their own."""

_TYPICAL_CELLS = 768
_TYPICAL_WIDTH_DEG = 32.0
_TYPICAL_ASPECT = 0.75

_CENTRES_X, _CENTRES_Y = (0.45, 0.5, 0.55), (0.44, 0.5, 0.56)
_WIDTHS = (0.14, 0.19, 0.26, 0.36)
SIZES = tuple((width, height) for width in _WIDTHS for height in _WIDTHS if 1 / 1.5 < width / height < 1.5)
_FLOOR = 0.2
_OFF_CENTRE_WEIGHT = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The models of a grid; cells run row by row.

    Attributes:
        grid: The cells.
        cell_deg: Width and height of a cell in degrees.
        means: The mean maps, one a row, each of mass 1.
        weights: How likely each mean map is before anything is measured.
    """

    grid: Grid
    cell_deg: tuple[float, float]
    means: FloatArray
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The map expected before anything is measured."""
        return self.weights @ self.means

    def positions(self) -> tuple[FloatArray, FloatArray]:
        """Return x and y of the middle of each column and each row, in degrees from the corner."""
        return (
            np.asarray((np.arange(self.grid.columns) + 0.5) * self.cell_deg[0]),
            np.asarray((np.arange(self.grid.rows) + 0.5) * self.cell_deg[1]),
        )

    def kernels(self, length: float) -> tuple[FloatArray, FloatArray]:
        """Return exp(-d²/2l²) of the distances between rows and between columns."""
        x, y = self.positions()
        return bell(y, y, length), bell(x, x, length)

    def correlated(self, values: FloatArray, length: float) -> FloatArray:
        """Multiply columns of values, one row a cell, by the matrix exp(-d²/2l²) of the distances between cells."""
        down, across = self.kernels(length)
        along_x = np.matmul(across, values.reshape(self.grid.rows, self.grid.columns, -1))
        return np.tensordot(down, along_x, axes=1).reshape(values.shape)

    def covariance_times(self, mean: FloatArray, hot_spots: tuple[float, float], values: FloatArray) -> FloatArray:
        """Multiply columns of values by the covariance of maps around a mean: hot spots scale it, mass stays 1."""
        variance, length = hot_spots
        weighted = mean[:, None] * (values - mean @ values)
        spread = mean[:, None] * self.correlated(weighted, length)
        return np.asarray(variance * (spread - mean[:, None] * spread.sum(axis=0)))


@lru_cache(maxsize=8)
def prior_of(grid: Grid) -> Prior:
    """Return the prior on a grid."""
    means, weights = [], []
    for x, y, (width, height) in product(_CENTRES_X, _CENTRES_Y, SIZES):
        means.append(floored(broad(grid, x, y, width, height), _FLOOR))
        weights.append(math.prod(1.0 if centre == 0.5 else _OFF_CENTRE_WEIGHT for centre in (x, y)))
    return Prior(grid, _cell_degrees(grid), np.asarray(means), np.asarray(weights) / sum(weights))


def working_grid(grid: Grid) -> Grid:
    """Return the grid to decode on: the same, or a coarser one where it is fine."""
    if grid.size <= MOST_WORKING_CELLS:
        return grid
    shrink = math.sqrt(grid.size / _TYPICAL_CELLS)
    columns, rows = round(grid.columns / shrink), round(grid.rows / shrink)
    return Grid(max(min(columns, MOST_WORKING_CELLS), 1), max(min(rows, MOST_WORKING_CELLS), 1), grid.geometry)


def bell(at: FloatArray, around: FloatArray, length: float) -> FloatArray:
    """Return exp(-d²/2l²) of all distances between two sets of points on a line."""
    return np.asarray(np.exp(-0.5 * ((at[:, None] - around[None, :]) / length) ** 2))


def broad(grid: Grid, x: float, y: float, width: float, height: float) -> FloatArray:
    """Return a bump of mass 1; its centre and its width are parts of the viewing plane."""
    across, down = ((np.arange(count) + 0.5) / count for count in (grid.columns, grid.rows))
    return np.outer(_bump(down, y, height), _bump(across, x, width)).ravel()


def floored(mean: FloatArray, floor: float) -> FloatArray:
    """Return a map of mass 1 of which a part is spread evenly."""
    return np.asarray((1 - floor) * mean / mean.sum() + floor / len(mean))


def _bump(at: FloatArray, centre: float, width: float) -> FloatArray:
    bump = np.exp(-0.5 * ((at - centre) / width) ** 2)
    return np.asarray(bump / bump.sum())


def _cell_degrees(grid: Grid) -> tuple[float, float]:
    geometry = grid.geometry
    if geometry.knows_degrees:
        left, top, right, bottom = geometry.in_unit("deg").extent()
        return (right - left) / grid.columns, (bottom - top) / grid.rows
    aspect = _TYPICAL_ASPECT
    if geometry.width_px is not None and geometry.height_px is not None:
        aspect = geometry.height_px / geometry.width_px
    return _TYPICAL_WIDTH_DEG / grid.columns, _TYPICAL_WIDTH_DEG * aspect / grid.rows
