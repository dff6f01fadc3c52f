# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Finer than a histogram: overlapping Gaussian bumps of each observer's map, scaled to one length, Gaussian noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate.decoder import Decoder
from gazeveil.aggregate.engine import Columns, IntArray
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import GAZE, dwell, to_bounded_integers
from gazeveil.aggregate.prior import Prior, bell, prior_of, working_grid
from gazeveil.aggregate.strategies import _normalised
from gazeveil.aggregate.strategies._common import BOUND, check, check_size, estimate, features_of
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.gaze.geometry import FloatArray, Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee

BUMP_DEG, SPACING_DEG = 1.3, 1.25
_MOST_DIRECTIONS = 150
"""How many directions of the noisy numbers the decoder looks at; the others hold next to nothing of a map."""


@dataclass(frozen=True, slots=True, eq=False)
class BumpMap:
    """One observer's map seen through bumps, as integers of bounded length without negative entries.

    Attributes:
        grid: The cells that gaze is counted in.
        bumps: How much each bump sees of each cell, one row a cell.
    """

    grid: Grid
    bumps: FloatArray

    @property
    def size(self) -> int:
        """How many bumps."""
        return int(self.bumps.shape[1])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of gaze."""
        return GAZE

    @property
    def geometry(self) -> Geometry:
        """The plane of the grid."""
        return self.grid.geometry

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers."""
        return to_bounded_integers(features_of(dwell(self.grid, rows), self.bumps), BOUND)


@STRATEGIES.register("bumps")
@dataclass(frozen=True, slots=True)
class Bumps:
    """Release what overlapping bumps see of gaze and infer the map from it.

    Promise: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    def __post_init__(self) -> None:
        check(self.task)
        _normalised.sigma(self.task)

    @property
    def guarantee(self) -> Guarantee:
        """What it promises."""
        return _normalised.promise(self.task)

    def kernel(self) -> BumpMap:
        """Return what turns one observer's rows into integers."""
        grid = working_grid(self.task.grid)
        return BumpMap(grid, _bumps(grid))

    def measure(self, total: IntArray, noise: NoiseSource) -> IntArray:
        """Return the sum over observers with noise."""
        return _normalised.noisy(self.task, check_size(total, self._size), noise)

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        decoder, turn, length = _decoder(self.task)
        turned = turn @ check_size(noisy, self._size).astype(np.float64)
        return estimate(self.task, decoder, np.asarray(turned * (length / (BOUND * self.task.observers))))

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        return {
            "strategy": "bumps",
            "bumps": self._size,
            "bump_deg": BUMP_DEG,
            "spacing_deg": SPACING_DEG,
            "bound": BOUND,
            "sigma": _normalised.sigma(self.task),
        }

    @property
    def _size(self) -> int:
        return int(_bumps(working_grid(self.task.grid)).shape[1])


@lru_cache(maxsize=4)
def _bumps(grid: Grid) -> FloatArray:
    """Return the bumps, on a lattice over the plane, one row a cell."""
    prior = prior_of(grid)
    along = [
        bell(at, _lattice(count * size), max(BUMP_DEG, size))
        for at, count, size in zip(prior.positions(), (grid.columns, grid.rows), prior.cell_deg, strict=True)
    ]
    seen = np.asarray(np.kron(along[1], along[0]))
    seen.flags.writeable = False
    return seen


def _lattice(span: float) -> FloatArray:
    """Return evenly spaced middles over a span, about `SPACING_DEG` apart."""
    count = max(round(span / SPACING_DEG), 1)
    return np.asarray((np.arange(count) + 0.5) * (span / count))


@lru_cache(maxsize=2)
def _decoder(task: Task) -> tuple[Decoder, FloatArray, float]:
    prior: Prior = prior_of(working_grid(task.grid))
    bumps = _bumps(prior.grid)
    _, _, turn = np.linalg.svd(bumps, full_matrices=False)
    turn = np.ascontiguousarray(turn[:_MOST_DIRECTIONS])
    features = np.ascontiguousarray(bumps @ turn.T)
    length = _normalised.unit(prior, features)
    return Decoder(prior, _normalised.channel(task, prior, features, length)), turn, length
