# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is known about gaze before anybody looks: an analytic prior of a handful of public numbers.

A model is a mean map and a covariance. The mean is a broad bump near the middle of the plane over a uniform floor:
90 of them, by centre and width. The covariance says how strongly and how far hot spots lift a map above its mean:
three of them. All 270 combinations are weighed by the evidence of what was measured (`gazeveil.aggregate.decoder`).
Where the picture is known that was looked at, ten more mean maps are bumps times what the picture's pixels say
(`gazeveil.aggregate.saliency`). Nothing here was learnt from anybody's gaze at release time, so it costs no privacy.

Lengths are degrees. Where the plane's size in degrees is not known, it is taken to be 32 degrees wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.saliency import PREDICTED, SPECTRAL, Saliency
from gazeveil.types import FloatArray

MOST_WORKING_CELLS = 1000
"""Finer grids are decoded on a coarser one and drawn on their own."""

_TYPICAL_CELLS = 768
_TYPICAL_WIDTH_DEG = 32.0
_TYPICAL_ASPECT = 0.75

_CENTRES_X, _CENTRES_Y = (0.45, 0.5, 0.55), (0.44, 0.5, 0.56)
_WIDTHS = (0.14, 0.19, 0.26, 0.36)
_SIZES = tuple((width, height) for width in _WIDTHS for height in _WIDTHS if 1 / 1.5 < width / height < 1.5)
_FLOOR = 0.2
_OFF_CENTRE_WEIGHT = 0.5
HOT_SPOTS = ((1.0, 2.5), (4.0, 1.7), (16.0, 1.2))
"""Relative variance of a map around its mean, and the size of hot spots in degrees: from weak and wide to sharp."""

FAINT_HOT_SPOTS = ((0.5, 3.0), (2.0, 2.0), (8.0, 1.5))
"""The same where little can be seen: what stands out less and is wider is all that a handful of numbers can show."""


@dataclass(frozen=True, slots=True)
class _Trust:
    """How far a kind of guess from a picture is believed before anything is measured.

    Attributes:
        weight: How likely it is that gaze follows it.
        powers: To which powers it may have to be taken.
        floor: The part of gaze that goes anywhere.
        hot_spots: Kinds of hot spots around it, besides those of any map.
    """

    weight: float
    powers: tuple[float, ...]
    floor: float
    hot_spots: tuple[tuple[float, float], ...] = ()


_TRUST = {
    SPECTRAL: _Trust(0.1, (1.0,), 0.2),
    PREDICTED: _Trust(0.8, (0.75, 1.0, 1.25), 0.05, ((0.2, 2.0), (0.6, 2.0))),
}

_DRIFT_VARIANCE, _DRIFT_DEG = 0.3, 5.0
_LARGEST_RANK = 220
_LOOKS = 5.0
"""How many independent looks one observer's map is worth."""


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The models of a grid; cells run row by row.

    Attributes:
        grid: The cells.
        cell_deg: Width and height of a cell in degrees.
        means: The mean maps, one a row, each of mass 1.
        weights: How likely each mean map is before anything is measured.
        pictured: How many of the mean maps, the last ones, follow a picture.
        hot_spots: The kinds of hot spots, each as likely as the others.
    """

    grid: Grid
    cell_deg: tuple[float, float]
    means: FloatArray
    weights: FloatArray
    pictured: int = 0
    hot_spots: tuple[tuple[float, float], ...] = HOT_SPOTS

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

    def correlated(self, values: FloatArray, length: float) -> FloatArray:
        """Multiply columns of values, one row a cell, by the matrix exp(-d²/2l²) of the distances between cells."""
        x, y = self.positions()
        kernel_x, kernel_y = bell(x, x, length), bell(y, y, length)
        cube = values.reshape(self.grid.rows, self.grid.columns, -1)
        along_x = np.matmul(kernel_x, cube)
        return np.tensordot(kernel_y, along_x, axes=1).reshape(values.shape)

    def covariance_times(self, mean: FloatArray, hot_spots: tuple[float, float], values: FloatArray) -> FloatArray:
        """Multiply columns of values by the covariance of maps around a mean: hot spots scale it, mass stays 1."""
        variance, length = hot_spots
        weighted = mean[:, None] * (values - mean @ values)
        spread = mean[:, None] * self.correlated(weighted, length)
        return np.asarray(variance * (spread - mean[:, None] * spread.sum(axis=0)))


@lru_cache(maxsize=8)
def prior_of(grid: Grid, saliency: Saliency | None = None) -> Prior:
    """Return the prior on a grid, of a known picture if there is one."""
    means, weights = [], []
    for x, y, (width, height) in product(_CENTRES_X, _CENTRES_Y, _SIZES):
        means.append(_floored(_broad(grid, x, y, width, height)))
        weights.append(math.prod(1.0 if centre == 0.5 else _OFF_CENTRE_WEIGHT for centre in (x, y)))
    likely = np.asarray(weights) / sum(weights)
    if saliency is None:
        return Prior(grid, _cell_degrees(grid), np.asarray(means), likely)
    drawn, trust = saliency.on(grid), _TRUST[saliency.source]
    for power, (width, height) in product(trust.powers, _SIZES):
        means.append(_floored(_broad(grid, 0.5, 0.5, width, height) * drawn**power, trust.floor))
    pictured = len(trust.powers) * len(_SIZES)
    likely = np.concatenate(((1 - trust.weight) * likely, np.full(pictured, trust.weight / pictured)))
    return Prior(grid, _cell_degrees(grid), np.asarray(means), likely, pictured, (*HOT_SPOTS, *trust.hot_spots))


@lru_cache(maxsize=24)
def log_field(grid: Grid, hot_spots: tuple[float, float]) -> FloatArray:
    """Return L, one row a cell: log-maps around a mean are L ξ with ξ standard normal.

    L L' is log(1 + variance) exp(-d²/2l²) plus a slow drift over the whole plane, cut to the strongest directions.
    """
    prior = prior_of(grid)
    variance, length = hot_spots
    unit = np.eye(grid.size)
    covariance = math.log1p(variance) * prior.correlated(unit, length)
    covariance += _DRIFT_VARIANCE * prior.correlated(unit, _DRIFT_DEG)
    values, vectors = np.linalg.eigh(covariance)
    rank = min(_LARGEST_RANK, grid.size)
    factor: FloatArray = vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))
    factor.flags.writeable = False
    return factor


def mixture_moments(prior: Prior) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, covariance between stimuli and covariance between observers of one stimulus, over all models."""
    means, weights = prior.means, prior.weights
    mean = prior.mean
    weighted = weights[:, None] * means
    second = weighted.T @ means
    unit = np.eye(prior.grid.size)
    hot = np.zeros_like(second)
    for variance, length in prior.hot_spots:
        kernel = prior.correlated(unit, length)
        spread = means * (means @ kernel)  # row sums of mean mean' kernel, a row a model
        cross = weighted.T @ spread
        total = spread.sum(axis=1)
        projected = kernel * second - cross - cross.T + (weighted * total[:, None]).T @ means
        hot += variance * projected / len(prior.hot_spots)
    between = hot + second - np.outer(mean, mean)
    within = (np.diag(mean) - second - hot / 2) / _LOOKS
    return mean, between, within


def features_spread(
    prior: Prior, features: FloatArray, hot_spots: tuple[float, float], observers: int
) -> tuple[FloatArray, FloatArray]:
    """Return what features of the mean over observers should be under each mean map: expectation and covariance.

    Args:
        prior: The prior.
        features: One row a cell, one column a feature.
        hot_spots: Variance and length of the covariance.
        observers: How many people are averaged.

    Returns:
        Expectations, one row a mean map, and covariances, one matrix a mean map.
    """
    expected = prior.means @ features
    covariances = np.empty((len(prior.means), features.shape[1], features.shape[1]))
    for k, mean in enumerate(prior.means):
        hot = features.T @ prior.covariance_times(mean, hot_spots, features)
        single = features.T @ (mean[:, None] * features) - np.outer(expected[k], expected[k])
        covariances[k] = hot + (single - hot / 2) / (_LOOKS * observers)
    return expected, covariances


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


def _broad(grid: Grid, x: float, y: float, width: float, height: float) -> FloatArray:
    across, down = ((np.arange(count) + 0.5) / count for count in (grid.columns, grid.rows))
    return np.outer(_bump(down, y, height), _bump(across, x, width)).ravel()


def _floored(mean: FloatArray, floor: float = _FLOOR) -> FloatArray:
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
