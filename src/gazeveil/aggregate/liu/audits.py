# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the auditor needs to know of the mechanisms of Liu 2019: how to run them, on the worst neighbours there are.

Importing this module enters the subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gazeveil.aggregate._repeated import Repeated, measured
from gazeveil.aggregate.engine import ENGINES
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu.caps import PrivateCap
from gazeveil.aggregate.liu.counts import CountsAndLosses
from gazeveil.aggregate.liu.noisy import GaussianMap, LaplaceMap, NoisyMap
from gazeveil.errors import InternalError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.neighbours.observers import observer_pairs
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class NoisySums:
    """Runs a mechanism on the sum of a table of maps; whoever stays the same cancels out, so a few rows will do."""

    mechanism: NoisyMap

    def run(self, data: IntArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy sums, one map a row."""
        return measured(self.mechanism, data.sum(axis=0), noise, trials)

    def log_ratio(self, outputs: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = first.sum(axis=0), second.sum(axis=0)
        if isinstance(self.mechanism, GaussianMap):
            return np.asarray((outputs - (here + there) / 2) @ (here - there) / self.mechanism.sigma**2)
        if isinstance(self.mechanism, LaplaceMap):
            return np.asarray((np.abs(outputs - there) - np.abs(outputs - here)).sum(axis=1) / self.mechanism.scale)
        raise InternalError(f"the density of {self.mechanism.name} is not known")


@dataclass(frozen=True, slots=True)
class ChosenCaps:
    """Runs the private choice of a cap, as it is made with the map that follows."""

    mechanism: PrivateCap

    def run(self, data: IntArray, noise: NoiseSource, trials: int) -> FloatArray:
        """Return chosen caps, one a row; the map that follows is paid for by itself."""
        grid, engine = grid_of(self.mechanism.cells), Repeated(data, 1)
        rows = [self.mechanism.measure(grid, Corpus.of([]), noise, engine)[0] for _ in range(trials)]
        return np.array(rows, dtype=np.float64)[:, None]


def noisy_map_subject(mechanism: NoisyMap) -> Subject:
    """Return one of the noisy gaze maps as a subject, claiming its own guarantee."""
    maps = np.zeros((2, mechanism.cells), dtype=np.int64)
    pairs = tuple(observer_pairs(maps, cap=mechanism.cap, total=mechanism.samples))
    runner = NoisySums(replace(mechanism, grid=grid_of(mechanism.cells)))
    return Subject(runner.run, mechanism.guarantee, pairs, runner.log_ratio)


@auditable("liu-gaussian-map")
def gaussian_map_subject(
    observers: int = 30, cells: int = 16, epsilon: float = 1.0, delta: float = 1e-3, cap: int = 2, samples: int = 12
) -> Subject:
    """Liu 2019, corrected: Gaussian noise on a gaze map, each observer capped and cut to some samples."""
    return noisy_map_subject(GaussianMap(observers, cells, epsilon, delta, cap=cap, samples=samples))


@auditable("liu-laplace-map")
def laplace_map_subject(
    observers: int = 30, cells: int = 16, epsilon: float = 1.0, cap: int = 2, samples: int = 12
) -> Subject:
    """Liu 2019, corrected: Laplace noise on a gaze map, each observer capped and cut to some samples."""
    return noisy_map_subject(LaplaceMap(observers, cells, epsilon, cap=cap, samples=samples))


@auditable("liu-private-cap")
def private_cap_subject(cells: int = 1, samples: int = 64, epsilon: float = 1.0) -> Subject:
    """The private choice of Liu's cap, where the map needs little noise and the choice depends on one participant."""
    mechanism = PrivateCap(2, cells, samples, epsilon, map_epsilon=1000, map_delta="0.1", candidates=(1, samples))
    kernel = CountsAndLosses(grid_of(cells), mechanism.candidates, samples)
    stares, spread, gone = (_summed(kernel, cells_seen) for cells_seen in ([0] * samples, range(samples), []))
    pairs = (
        Pair(stares, gone, "one observer who stares at one cell, or has an empty recording"),
        Pair(stares, spread, "one observer who stares at one cell, or looks everywhere"),
    )
    return Subject(ChosenCaps(mechanism).run, mechanism.guarantee, pairs)


def grid_of(cells: int) -> Grid:
    """Return this many cells in a row."""
    return Grid(cells, 1, screen(100 * cells, 100))


def _summed(kernel: CountsAndLosses, cells: Sequence[int]) -> IntArray:
    """Return what a kernel makes of someone who looks at cells in turn, round and round."""
    where = 100.0 * (np.array(cells, dtype=np.float64) % kernel.grid.columns) + 50.0
    gaze = Recording(np.arange(len(where)) / 10, where, np.full(len(where), 50.0), kernel.grid.geometry, "a", "scene")
    return ENGINES["local"]("local").sum_over_observers(Corpus.of([gaze]), kernel).total
