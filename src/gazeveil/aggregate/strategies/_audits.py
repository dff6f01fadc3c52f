# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The heatmap strategies before the auditor, on the worst neighbours: from recordings to noisy integers.

Neighbours are recordings. They go once through the engine and the strategy's own kernel; what is repeated is the noise,
because nothing else is random. Decoding is post-processing. Importing this module enters the subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate._repeated import measured
from gazeveil.aggregate.engine import ENGINES, Kernel
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.liu.audits import NoisySums
from gazeveil.aggregate.liu.noisy import GaussianMap
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task
from gazeveil.exact import exact
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray, IntArray

PLANE = screen(800, 600, 80, 60, 573)  # 8 by 6 degrees, so that there are few numbers and the auditor sees sharply
GRID = Grid(8, 6, PLANE)
TEN_HOURS_S = 10 * 3600


@dataclass(frozen=True, slots=True)
class NoisyIntegers:
    """Runs a strategy from the sum of its kernel to its noisy integers."""

    strategy: Strategy

    def run(self, data: IntArray, noise: NoiseSource, trials: int) -> IntArray:
        """Return noisy integers, one release a row."""
        return measured(self.strategy, data, noise, trials)

    def log_ratio(self, outputs: IntArray, first: IntArray, second: IntArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        recipe = self.strategy.to_dict()
        if "sigma" in recipe:
            return np.asarray((outputs - (first + second) / 2) @ (first - second) / recipe["sigma"] ** 2)
        away = np.linalg.norm(outputs - second, axis=1) - np.linalg.norm(outputs - first, axis=1)
        return np.asarray(away / recipe["scale"])


def heatmap_subject(name: str, observers: int, epsilon: float, delta: float, add_remove: int) -> Subject:
    """Return a strategy as a subject, claiming its own guarantee."""
    relation = Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE
    task = Task(grid=GRID, observers=observers, epsilon=epsilon, delta=delta, neighbours=relation)
    strategy: Strategy = STRATEGIES[name](task)  # type: ignore[call-arg]
    runner = NoisyIntegers(strategy)
    return Subject(runner.run, strategy.guarantee, pairs_of(strategy.kernel(), relation), runner.log_ratio)


@auditable("heatmap-bumps")
def bumps_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, add_remove: int = 0) -> Subject:
    """What bumps see of gaze, of one length, under Gaussian noise."""
    return heatmap_subject("bumps", observers, epsilon, delta, add_remove)


@auditable("heatmap-modes")
def modes_subject(observers: int = 15, epsilon: float = 1.0, delta: float = 1e-5, add_remove: int = 0) -> Subject:
    """Few coordinates of gaze in a ball under radial noise."""
    return heatmap_subject("modes", observers, epsilon, delta, add_remove)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts participants, as a heatmap does whose number of participants is a secret."""

    mechanism: PrivateHeatmap

    def run(self, data: int, noise: NoiseSource, trials: int) -> IntArray:
        """Return noisy counts."""
        return np.array([[self.mechanism.counted(data, noise)] for _ in range(trials)])


@auditable("heatmap-count")
def count_subject(epsilon: float = 1.0) -> Subject:
    """The number of participants, counted privately where it is a secret."""
    claim = PureDP(epsilon, neighbours=Neighbours.ADD_REMOVE)
    pair = Pair(1000, 1001, "one participant more or less")  # so many that no count is cut at one
    return Subject(Counts(PrivateHeatmap(epsilon=exact(epsilon) / COUNT_SHARE)).run, claim, (pair,))


@auditable("heatmap-liu")
def liu_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, cap: int = 1) -> Subject:
    """Liu 2019, corrected: counts of gaze up to a cap under Gaussian noise."""
    mechanism = GaussianMap(observers, GRID.size, epsilon, cap=cap, delta=delta, grid=GRID)
    runner = NoisySums(mechanism)
    pairs = [
        Pair(pair.first[None, :], pair.second[None, :], pair.words)
        for pair in pairs_of(mechanism.kernel(), Neighbours.REPLACE_ONE)
    ]
    return Subject(runner.run, mechanism.guarantee, pairs, runner.log_ratio)


def pairs_of(kernel: Kernel, neighbours: Neighbours) -> tuple[Pair, ...]:
    """Return neighbouring participants' recordings as the sums that a kernel makes of them."""
    stares, second = gaze_at([(10, 10)], seconds=10), gaze_at([(10, 10)], seconds=1)
    elsewhere, middle = gaze_at([(790, 590)], seconds=10), gaze_at([(400, 300)], seconds=10)
    everywhere = gaze_at([(x, y) for y in range(5, 600, 10) for x in range(5, 800, 10)], seconds=4800)
    empty, hours = gaze_at([(10, 10)], seconds=0), ten_hours()

    def pair(one: Recording, other: Recording | None, words: str) -> Pair:
        return Pair(_summed([one], kernel), _summed([] if other is None else [other], kernel), f"one observer {words}")

    if neighbours is Neighbours.ADD_REMOVE:
        return (
            pair(stares, None, "who stares at one pixel, there or not"),
            pair(everywhere, None, "who looks everywhere, there or not"),
            pair(empty, None, "whose recording is empty, there or not"),
            pair(hours, None, "who was recorded for ten hours, there or not"),
        )
    return (
        pair(stares, elsewhere, "who stares at one pixel, or at another"),
        pair(stares, middle, "who stares at the corner, or at the middle"),
        pair(stares, everywhere, "who stares at one pixel, or looks everywhere"),
        pair(everywhere, empty, "who looks everywhere, or has an empty recording"),
        pair(second, hours, "who was recorded for one second, or for ten hours"),
    )


def ten_hours(rate_hz: int = 10) -> Recording:
    """Return ten hours of gaze that moves on every second. What a kernel makes of it does not depend on the rate."""
    places = [(790 - 10 * (i % 6), 590 - 10 * (i // 6)) for i in range(36)]
    return gaze_at(places, seconds=TEN_HOURS_S, rate_hz=rate_hz)


def gaze_at(places: Sequence[tuple[float, float]], seconds: int, rate_hz: int = 10) -> Recording:
    """Return a recording that goes from place to place, one a second, over and over."""
    t = np.arange(seconds * rate_hz) / rate_hz
    where = np.asarray(places, dtype=np.float64)[np.arange(len(t)) // rate_hz % len(places)]
    return Recording(t, where[:, 0], where[:, 1], PLANE, "somebody", "scene")


def _summed(recordings: list[Recording], kernel: Kernel) -> IntArray:
    return ENGINES["local"]("local").sum_over_observers(Corpus.of(recordings), kernel).total
