# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Finer than a histogram: overlapping Gaussian bumps of each observer's map, scaled to one length, Gaussian noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate.decoder import Decoder
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import ManyOnGrid, add_products
from gazeveil.aggregate.prior import Prior, prior_of, working_grid
from gazeveil.aggregate.sight import BUMP_DEG, SPACING_DEG, bumps_along, bumps_over
from gazeveil.aggregate.strategies import _normalised
from gazeveil.aggregate.strategies._common import BOUND, check_size, estimate
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.types import FloatArray, IntArray

_MOST_DIRECTIONS = 150
"""How many directions of the noisy numbers the decoder looks at; the others hold next to nothing of a map."""


@dataclass(frozen=True, slots=True, eq=False)
class BumpMap(ManyOnGrid):
    """One observer's map seen through bumps, as integers of bounded length without negative entries.

    Attributes:
        grid: The cells that gaze is counted in.
        across: How much each column of bumps sees of each column of cells, one row a column of cells.
        down: How much each row of bumps sees of each row of cells, one row a row of cells.
    """

    grid: Grid
    across: FloatArray
    down: FloatArray

    @property
    def size(self) -> int:
        """How many bumps."""
        return int(self.across.shape[1] * self.down.shape[1])

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the integers of several observers to ``total``, in one pass over the rows."""
        add_products(self.grid, self.across, self.down, BOUND, rows, starts, total)


@STRATEGIES.register("bumps")
@dataclass(frozen=True, slots=True)
class Bumps(_normalised.Normalised):
    """Release what overlapping bumps see of gaze and infer the map from it.

    Promise: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    def kernel(self) -> BumpMap:
        """Return what turns one observer's rows into integers."""
        grid = working_grid(self.task.grid)
        return BumpMap(grid, *bumps_along(grid))

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
            "sigma": self.sigma,
        }

    @property
    def _size(self) -> int:
        return int(bumps_over(working_grid(self.task.grid)).shape[1])


@lru_cache(maxsize=2)
def _decoder(task: Task) -> tuple[Decoder, FloatArray, float]:
    if task.saliency is not None:
        known, turn, length = _decoder(replace(task, saliency=None))
        return known.of_picture(task.saliency), turn, length
    prior: Prior = prior_of(working_grid(task.grid))
    bumps = bumps_over(prior.grid)
    _, _, turn = np.linalg.svd(bumps, full_matrices=False)
    turn = np.ascontiguousarray(turn[:_MOST_DIRECTIONS])
    features = np.ascontiguousarray(bumps @ turn.T)
    length = _normalised.unit(prior, features)
    return Decoder(prior, _normalised.channel(task, prior, features, length)), turn, length
