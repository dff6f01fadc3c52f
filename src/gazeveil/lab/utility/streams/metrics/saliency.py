# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a map of where a participant looked survives: the map of the veiled samples against that of the raw ones.

Each sample counts once, in cells of half a degree (64 across where degrees are not known), blurred by one degree (two
cells). Veiled points beyond the edge of the viewing plane are counted at the edge, where a user of the stream would see
them.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.aggregate.grid import Grid, render
from gazeveil.arrays import FloatArray
from gazeveil.errors import GeometryError
from gazeveil.geometry import Geometry
from gazeveil.lab.utility.maps import correlation, divergence
from gazeveil.lab.utility.streams.pair import METRICS, Pair

CELL_DEG = 0.5
BLUR_CELLS = 2.0
_COLUMNS = 64


@METRICS.register("saliency_cc")
def saliency_cc(pair: Pair) -> float:
    """Return the correlation of the two maps; NaN without samples or on a viewing plane without edges."""
    maps = saliency_maps(pair)
    return math.nan if maps is None else correlation(*maps)


@METRICS.register("saliency_kl")
def saliency_kl(pair: Pair) -> float:
    """Return the divergence of the raw map from the veiled one in nats; NaN as for the correlation."""
    maps = saliency_maps(pair)
    return math.nan if maps is None else divergence(*maps)


def saliency_maps(pair: Pair) -> tuple[FloatArray, FloatArray] | None:
    """Return the maps of the veiled and of the raw samples; None if there is nothing to draw."""
    grid = saliency_grid(pair.raw.geometry)
    if grid is None or not pair.both.any():
        return None
    x, y, veiled_x, veiled_y = pair.compared(grid.geometry.unit)
    return saliency_map(grid, veiled_x, veiled_y), saliency_map(grid, x, y)


def saliency_grid(plane: Geometry) -> Grid | None:
    """Return the cells of a viewing plane; None if it has no edges."""
    try:
        left, top, right, bottom = plane.extent()
    except GeometryError:
        return None
    if plane.knows_degrees:
        return Grid.of_degrees(plane, CELL_DEG)
    return Grid(_COLUMNS, max(1, round(_COLUMNS * (bottom - top) / (right - left))), plane)


def saliency_map(grid: Grid, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the blurred count of samples per cell; points beyond the edge count at the edge."""
    left, top, right, bottom = grid.geometry.extent()
    cells = grid.cells(np.clip(x, left, right), np.clip(y, top, bottom))
    counts = np.bincount(cells[cells >= 0], minlength=grid.size).reshape(grid.shape)
    return render(counts, BLUR_CELLS)
