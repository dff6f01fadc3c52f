# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The plain way: each observer's map on a coarse grid, scaled to one length, summed, Gaussian noise, then decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate import bayes_decoder, strategy_parts
from gazeveil.aggregate.grid import Grid, overlap
from gazeveil.aggregate.map_prior import working_grid
from gazeveil.aggregate.maps import NormalisedMap
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.aggregate.strategy_parts import BOUND, check_size, estimate, plane_of
from gazeveil.arrays import IntArray, one_thread

MUCH = 0.01319
COARSE, FINER = (8, 8), (16, 12)
"""Columns and rows that are released where each participant's share of the noise is above `MUCH`, and below.

For replace-one, ε = 1 and δ = 10⁻⁵, fewer than 400 participants have more.
"""


@STRATEGIES.register("histogram", listed=False)
@dataclass(frozen=True, slots=True)
class Histogram(strategy_parts.Normalised):
    """Release a coarse histogram of gaze and infer the fine map from it.

    Guarantee: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    @property
    def coarse(self) -> Grid:
        """The cells that are released."""
        return coarse_grid(self.task)

    def kernel(self) -> NormalisedMap:
        """Return what turns one observer's rows into integers."""
        return NormalisedMap(self.coarse, BOUND)

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        measured = check_size(noisy, self.coarse.size) / (BOUND * self.task.observers)
        return estimate(self.task, _coarse_decoder(self.task), np.asarray(measured))

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        return {
            "strategy": "histogram",
            "columns": self.coarse.columns,
            "rows": self.coarse.rows,
            "bound": BOUND,
            "sigma": self.sigma,
        }


def coarse_grid(task: Task) -> Grid:
    """Return the cells to release: the more noise there is for each participant, the fewer."""
    columns, rows = COARSE if strategy_parts.noise_sd(task) > MUCH else FINER
    working = working_grid(task.grid)
    return Grid(min(columns, working.columns), min(rows, working.rows), task.grid.geometry)


@lru_cache(maxsize=4)
@one_thread()
def _coarse_decoder(task: Task) -> bayes_decoder.Decoder:
    plane = plane_of(task)
    features = plane.in_blurred(overlap(plane.grid, coarse_grid(task)))
    models = strategy_parts.models_for(task, plane)
    projected = plane.project(models, features)
    return bayes_decoder.Decoder(plane, models, strategy_parts.channel(task, plane, features, projected), projected)
