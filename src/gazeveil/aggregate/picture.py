# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Maps that were decoded together, blurred and drawn on the grid that was asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.prior import Prior
from gazeveil.aggregate.render import render
from gazeveil.aggregate.strategy import Estimate
from gazeveil.aggregate.together import Measured, decode_together
from gazeveil.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Blurred maps on the grid of the release, one after the other, and their mean.

    Attributes:
        maps: Maps by rows by columns, each of mass 1.
        noise_sd: The standard deviation that the privacy noise gives each cell.
        data_share: Of each map, how much of what sets it apart from the mean is data.
        mean: The mean over the maps.
    """

    maps: FloatArray
    noise_sd: FloatArray
    data_share: FloatArray
    mean: Estimate

    def estimate(self, place: int) -> Estimate:
        """Return one of the maps."""
        return Estimate(self.maps[place], self.noise_sd[place], self.mean.prior, float(self.data_share[place]))


def drawn(prior: Prior, measured: Measured, grid: Grid, blur_cells: float) -> Drawn:
    """Decode, blur, and draw."""
    working = prior.grid
    blur = blur_cells * working.rows / grid.rows, blur_cells * working.columns / grid.columns
    found = decode_together(prior, measured, blur)
    area = working.size / grid.size

    def maps(cells: FloatArray) -> FloatArray:
        return of_mass_1(stretched(render(cells.reshape(-1, *working.shape), blur), grid))

    def errors(cells: FloatArray) -> FloatArray:
        return area * stretched(cells.reshape(-1, *working.shape), grid)

    mean = Estimate(maps(found.mean)[0], errors(found.mean_noise_sd)[0], maps(prior.mean)[0], found.mean_data_share)
    return Drawn(maps(found.maps), errors(found.noise_sd), found.data_share, mean)


def stretched(values: FloatArray, grid: Grid) -> FloatArray:
    """Interpolate maps between the middles of cells, along one axis and then the other."""
    rows, columns = values.shape[-2:]
    if (rows, columns) == grid.shape:
        return values
    return np.asarray(_between(rows, grid.rows) @ values @ _between(columns, grid.columns).T)


def _between(source: int, target: int) -> FloatArray:
    place = np.clip((np.arange(target) + 0.5) * source / target - 0.5, 0, source - 1)
    low = np.minimum(place.astype(np.int64), max(source - 2, 0))
    weight = place - low
    matrix = np.zeros((target, source))
    matrix[np.arange(target), low] += 1 - weight
    matrix[np.arange(target), np.minimum(low + 1, source - 1)] += weight
    return matrix


def of_mass_1(maps: FloatArray) -> FloatArray:
    """Return maps, each divided by its mass."""
    return np.asarray(maps / maps.sum(axis=(-2, -1), keepdims=True))
