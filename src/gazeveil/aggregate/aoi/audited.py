# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of areas of interest for the auditor: gaze that goes to extremes, and integers that go to the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate._repeated import measured
from gazeveil.aggregate.aoi.mechanism import AoiStatistics
from gazeveil.aggregate.aoi.plan import AoiPlan
from gazeveil.aggregate.aoi.statistics import STATISTICS, Bounds, Statistic
from gazeveil.aggregate.engine import Columns
from gazeveil.exact import exact
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.neighbours.observers import extreme_maps
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.compose import compose_disjoint
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import IntArray

_STIMULUS = "picture"
_PLANE = screen(1200, 800, 480, 320, 600)
_AREAS = AreasOfInterest(
    tuple(Rectangle(name, 400.0 * at, 0, 400.0 * (at + 1), 800) for at, name in enumerate(("left", "middle", "right"))),
    _PLANE,
)


@dataclass(frozen=True, slots=True)
class NoisySums:
    """The noisy sums of groups of participants, from which all else is computed.

    Attributes:
        mechanism: What is released of each group.
        groups: How many groups there are.
    """

    mechanism: AoiPlan
    groups: int = 1

    def run(self, data: IntArray, noise: NoiseSource, trials: int) -> IntArray:
        """Return noisy sums; the data are the sums of each group."""
        return np.hstack([measured(self.mechanism, group, noise, trials) for group in self._apart(data)])

    def log_ratio(self, outputs: NDArray[np.float64], first: IntArray, second: IntArray) -> NDArray[np.float64]:
        """Return the log ratio of the densities around the sums of the two inputs."""
        ratio, start = np.zeros(len(outputs)), 0
        for noise in self.mechanism.noises() * self.groups:
            block = slice(start, start + noise.dimensions)
            ratio += noise.log_ratio(outputs[:, block], first[block].astype(float), second[block].astype(float))
            start += noise.dimensions
        return ratio

    def _apart(self, data: IntArray) -> list[IntArray]:
        return np.split(data, self.groups)


def one_gaze(path: str, seconds: float, rate_hz: float) -> Columns:
    """Return the rows of someone who looks at areas in turn, for example ``lmr``, for so long each."""
    count = round(seconds * rate_hz)
    t = np.arange(count * len(path)) / rate_hz
    x = np.repeat([{"l": 200.0, "m": 600.0, "r": 1000.0}[letter] for letter in path], count)
    labels = {"stimulus": _STIMULUS, "session": "1", "trial": "1"}
    rows: dict[str, NDArray[np.generic]] = {name: np.full(len(t), value, object) for name, value in labels.items()}
    return {**rows, "t": t, "x": x, "y": np.full(len(t), 400.0), "valid": np.ones(len(t), dtype=np.bool_)}


def gaze_pairs(mechanism: AoiPlan) -> Iterator[Pair]:
    """Yield sums that differ in one participant's gaze, each in another extreme way."""
    kernel = mechanism.kernel()
    nothing = kernel(one_gaze("l", 0, 60))
    staring, elsewhere = kernel(one_gaze("l", 10, 60)), kernel(one_gaze("r", 10, 60))
    for_hours = kernel(one_gaze("l", 36_000, 10))
    around, back = kernel(one_gaze("lmr" * 20, 0.2, 60)), kernel(one_gaze("rml" * 20, 0.2, 60))
    yield Pair(staring, nothing, "one observer who stares at one area, or has an empty recording")
    yield Pair(staring, elsewhere, "one observer who stares at one area, or at another")
    yield Pair(for_hours, nothing, "one observer who stares for ten hours, or has an empty recording")
    yield Pair(around, staring, "one observer who looks everywhere, or stares at one area")
    yield Pair(around, back, "one observer who looks at the areas in turn, or in the reverse order")


def bound_pairs(mechanism: AoiPlan) -> Iterator[Pair]:
    """Yield sums that differ in one participant who goes to the bounds of every statistic at once."""
    fullest = [_fullest(question.bounds) for question in mechanism.questions]
    apart = [shape * (shape[::-1] == 0) for shape in fullest]
    gone = [(shape, np.zeros_like(shape)) for shape in fullest]
    elsewhere = [(shape, shape[::-1]) for shape in apart]
    farther = [max(both, key=_distance) for both in zip(gone, elsewhere, strict=True)]
    for sides, words in ((gone, "gives nothing"), (elsewhere, "elsewhere"), (farther, "whatever is farther")):
        first, second = (np.concatenate(side) for side in zip(*sides, strict=True))
        yield Pair(first, second, f"one observer who goes to all bounds, or {words}")


def _distance(pair: tuple[IntArray, IntArray]) -> float:
    return float(np.linalg.norm(pair[0].astype(float) - pair[1]))


def _fullest(bounds: Bounds) -> IntArray:
    shapes = extreme_maps(bounds.cells, cap=bounds.largest, total=bounds.total, norm=math.isqrt(bounds.square))
    return shapes["fills cells to the cap"]


def _plan(statistics: tuple[Statistic, ...], epsilon: float, delta: float) -> AoiPlan:
    asked = AoiStatistics(None, statistics, epsilon=epsilon)
    return asked.plan_for([(_STIMULUS, _AREAS)], _PLANE, 30, Neighbours.REPLACE_ONE, exact(delta))


def _subject(statistics: tuple[Statistic, ...], epsilon: float, delta: float) -> Subject:
    mechanism = _plan(statistics, epsilon, delta)
    sums = NoisySums(mechanism)
    return Subject(sums.run, mechanism.guarantee, (*gaze_pairs(mechanism), *bound_pairs(mechanism)), sums.log_ratio)


@auditable("aoi-dwell")
def aoi_dwell(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Dwell shares of three areas of interest; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["dwell"](),), epsilon, delta)


@auditable("aoi-fixations")
def aoi_fixations(epsilon: float = 1.0, delta: float = 1e-5, most: int = 12) -> Subject:
    """Fixation counts of three areas of interest; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["fixations"](most=most),), epsilon, delta)


@auditable("aoi-first-fixation")
def aoi_first_fixation(epsilon: float = 1.0, delta: float = 1e-5, within: float = 5.0) -> Subject:
    """Times to the first fixation on three areas of interest; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["first-fixation"](within=within),), epsilon, delta)


@auditable("aoi-reached")
def aoi_reached(epsilon: float = 1.0, delta: float = 1e-5, within: float = 5.0) -> Subject:
    """Who fixated three areas of interest within a time; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["reached"](within=within),), epsilon, delta)


@auditable("aoi-transitions")
def aoi_transitions(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Transitions between three areas of interest; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["transitions"](),), epsilon, delta)


@auditable("aoi-visit-order")
def aoi_visit_order(epsilon: float = 1.0, delta: float = 1e-5, length: int = 3, most: int = 4) -> Subject:
    """Orders in which three areas of interest are visited; δ = 0 for the pure guarantee."""
    return _subject((STATISTICS["visit-order"](length=length, most=most),), epsilon, delta)


@auditable("aoi-together")
def aoi_together(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """All statistics of areas of interest under one budget; δ = 0 for the pure guarantee."""
    return _subject(tuple(make() for make in STATISTICS), epsilon, delta)


@auditable("aoi-comparison")
def aoi_comparison(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Dwell shares of two groups of different participants side by side; δ = 0 for the pure guarantee."""
    mechanism = _plan((STATISTICS["dwell"](),), epsilon, delta)
    sums = NoisySums(mechanism, groups=2)
    claim = compose_disjoint([(mechanism.guarantee, {"an expert"}), (mechanism.guarantee, {"a novice"})])
    pairs = []
    for pair in (*gaze_pairs(mechanism), *bound_pairs(mechanism)):
        other = np.zeros_like(pair.first)  # the group that the person is not in stays the same
        first, second = np.concatenate([pair.first, other]), np.concatenate([pair.second, other])
        pairs.append(Pair(first, second, pair.words))
    return Subject(sums.run, claim, tuple(pairs), sums.log_ratio)
