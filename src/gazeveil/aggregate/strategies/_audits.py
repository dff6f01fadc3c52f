# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The heatmap strategies before the auditor: whole runs, from gaze to noisy integers, on the worst neighbours.

Importing this module enters the subjects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.engine import Columns, IntArray
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task
from gazeveil.gaze.geometry import FloatArray, screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.unit import Neighbours

People = tuple[Columns, ...]

_PLANE = screen(800, 600, 80, 60, 573)  # 8 by 6 degrees, so that there are few numbers and the auditor sees sharply
_TEN_HOURS = 10 * 3600 * 10


@dataclass(frozen=True, slots=True)
class NoisyIntegers:
    """Runs a strategy up to its noisy integers; decoding is post-processing."""

    strategy: Strategy

    def run(self, data: People, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy integers, one release a row."""
        total = self._total(data)
        return np.array([self.strategy.measure(total, noise) for _ in range(trials)], dtype=np.float64)

    def log_ratio(self, outputs: FloatArray, first: People, second: People) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = self._total(first), self._total(second)
        recipe = self.strategy.to_dict()
        if "sigma" in recipe:
            return np.asarray((outputs - (here + there) / 2) @ (here - there) / recipe["sigma"] ** 2)
        away = np.linalg.norm(outputs - there, axis=1) - np.linalg.norm(outputs - here, axis=1)
        return np.asarray(away / recipe["scale"])

    def _total(self, people: People) -> IntArray:
        kernel = self.strategy.kernel()
        total = np.zeros(kernel.size, dtype=np.int64)
        for rows in people:
            total += kernel(rows)
        return total


def heatmap_subject(name: str, observers: int, epsilon: float, delta: float, add_remove: int) -> Subject:
    """Return a strategy as a subject, claiming its own guarantee."""
    relation = Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE
    task = Task(grid=Grid(8, 6, _PLANE), observers=observers, epsilon=epsilon, delta=delta, neighbours=relation)
    strategy: Strategy = STRATEGIES[name](task)  # type: ignore[call-arg]
    runner = NoisyIntegers(strategy)
    return Subject(runner.run, strategy.guarantee, _pairs(relation), runner.log_ratio)


@auditable("heatmap-histogram")
def histogram_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0) -> Subject:
    """Coarse histograms of one length under Gaussian noise."""
    return heatmap_subject("histogram", observers, epsilon, delta, add_remove)


@auditable("heatmap-bumps")
def bumps_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0) -> Subject:
    """What bumps see of gaze, of one length, under Gaussian noise."""
    return heatmap_subject("bumps", observers, epsilon, delta, add_remove)


@auditable("heatmap-modes")
def modes_subject(observers: int = 15, epsilon: float = 1.0, delta: float = 1e-5, add_remove: int = 0) -> Subject:
    """Few coordinates of gaze in a ball under radial noise."""
    return heatmap_subject("modes", observers, epsilon, delta, add_remove)


@auditable("heatmap-hierarchical")
def hierarchical_subject(
    observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0
) -> Subject:
    """Distributions of gaze on grids from coarse to fine, weighted by level, under Gaussian noise."""
    return heatmap_subject("hierarchical", observers, epsilon, delta, add_remove)


def _pairs(neighbours: Neighbours) -> tuple[Pair, ...]:
    across, down = np.meshgrid(np.arange(5.0, 800, 10), np.arange(5.0, 600, 10))
    stares, elsewhere = _gaze([10.0], [10.0]), _gaze([790.0], [590.0])
    everywhere = _gaze(across.ravel(), down.ravel())
    ten_hours = _gaze(np.full(_TEN_HOURS, 790.0), np.full(_TEN_HOURS, 590.0))
    if neighbours is Neighbours.ADD_REMOVE:
        return (
            Pair((stares,), (), "one observer who stares at one pixel, there or not"),
            Pair((everywhere,), (), "one observer who looks everywhere, there or not"),
            Pair((ten_hours,), (), "one observer who was recorded for ten hours, there or not"),
        )
    return (
        Pair((stares,), (elsewhere,), "one observer who stares at one pixel, or at another"),
        Pair((stares,), (_gaze([400.0], [300.0]),), "one observer who stares at the corner, or at the middle"),
        Pair((stares,), (everywhere,), "one observer who stares at one pixel, or looks everywhere"),
        Pair((stares,), (_gaze([], []),), "one observer who stares at one pixel, or has an empty recording"),
        Pair((stares,), (ten_hours,), "one observer who stares at one pixel, or elsewhere for ten hours"),
    )


def _gaze(x: FloatArray | list[float], y: FloatArray | list[float]) -> Columns:
    return {
        "x": np.asarray(x, dtype=np.float64),
        "y": np.asarray(y, dtype=np.float64),
        "valid": np.ones(len(x), dtype=np.bool_),
    }
