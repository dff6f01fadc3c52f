# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Subjects of the auditor: the mechanisms for maps, movies and areas of interest, on the worst neighbours.

Neighbours are recordings. They go once through the engine and the mechanism's own kernel; what is repeated is the
noise, because nothing else is random. Decoding is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.aoi.mechanism import AoiPlan, AoiStatistics
from gazeveil.aggregate.aoi.statistics import STATISTICS, Bounds, Statistic
from gazeveil.aggregate.engine import ENGINES, Columns, Engine, Kernel, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.heatmap import COUNT_SHARE, PrivateHeatmap
from gazeveil.aggregate.liu.mechanism import PrivateCap
from gazeveil.aggregate.liu.noisy_maps import CountsAndLosses, GaussianMap, LaplaceMap, NoisyMap
from gazeveil.aggregate.movie import MoviePlan
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task
from gazeveil.aggregate.study_heatmaps import StudyPlan
from gazeveil.arrays import FloatArray, IntArray, Tell, silent
from gazeveil.errors import InternalError
from gazeveil.exact import exact
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.subject import Pair, Subject, auditable, extreme_maps, observer_pairs
from gazeveil.privacy.composition import compose_disjoint
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.protection import Neighbours

Noisy_co = TypeVar("Noisy_co", covariant=True)


class Measures(Protocol[Noisy_co]):
    """What releases a noisy sum over observers."""

    def measure(self, corpus: Corpus, noise: NoiseSource, engine: Engine) -> Noisy_co:
        """Return the noisy sum over a corpus."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """An engine that answers with one sum, a row for every trial: nothing but the noise differs between trials."""

    total: IntArray
    trials: int

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum, as often as there are trials.

        Raises:
            InternalError: If the sum is not one of this kernel.
        """
        if self.total.shape != (kernel.size,):
            raise InternalError(f"a sum of shape {self.total.shape} is none of {kernel.size} integers")
        return Summed(np.tile(self.total, (self.trials, 1)), 1)

    def map_recordings(self, corpus: Corpus, function: Any, tell: Tell = silent) -> Iterator[Any]:
        """There are no recordings here."""
        raise InternalError("an audit of sums has no recordings")


def measured(product: Measures[Noisy_co], total: IntArray, noise: NoiseSource, trials: int) -> Noisy_co:
    """Return what this many releases with this sum over observers measure, one a row."""
    return product.measure(Corpus.of([]), noise, Repeated(total, trials))


# --- The mechanisms of Liu 2019.


@dataclass(frozen=True, slots=True)
class NoisyMapSums:
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
    runner = NoisyMapSums(replace(mechanism, grid=grid_of(mechanism.cells)))
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
    stares, spread, gone = (_sum_of_walk(kernel, cells_seen) for cells_seen in ([0] * samples, range(samples), []))
    pairs = (
        Pair(stares, gone, "one observer who stares at one cell, or has an empty recording"),
        Pair(stares, spread, "one observer who stares at one cell, or looks everywhere"),
    )
    return Subject(ChosenCaps(mechanism).run, mechanism.guarantee, pairs)


def grid_of(cells: int) -> Grid:
    """Return this many cells in a row."""
    return Grid(cells, 1, screen(100 * cells, 100))


def _sum_of_walk(kernel: CountsAndLosses, cells: Sequence[int]) -> IntArray:
    """Return what a kernel makes of someone who looks at cells in turn, round and round."""
    where = 100.0 * (np.array(cells, dtype=np.float64) % kernel.grid.columns) + 50.0
    gaze = Recording(np.arange(len(where)) / 10, where, np.full(len(where), 50.0), kernel.grid.geometry, "a", "scene")
    return ENGINES["local"]("local").sum_over_observers(Corpus.of([gaze]), kernel).total


# --- The heatmap strategies, from recordings to noisy integers.


# 8 by 6 degrees, so that there are few numbers and the auditor sees sharply
HEATMAP_PLANE = screen(800, 600, 80, 60, 573)
HEATMAP_GRID = Grid(8, 6, HEATMAP_PLANE)
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
    task = Task(grid=HEATMAP_GRID, observers=observers, epsilon=epsilon, delta=delta, neighbours=relation)
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
        return np.array([[self.mechanism.noisy_count(data, noise)] for _ in range(trials)])


@auditable("heatmap-count")
def count_subject(epsilon: float = 1.0) -> Subject:
    """The number of participants, counted privately where it is a secret."""
    claim = PureDP(epsilon, neighbours=Neighbours.ADD_REMOVE)
    pair = Pair(1000, 1001, "one participant more or less")  # so many that no count is cut at one
    return Subject(Counts(PrivateHeatmap(epsilon=exact(epsilon) / COUNT_SHARE)).run, claim, (pair,))


@auditable("heatmap-liu")
def liu_subject(observers: int = 30, epsilon: float = 1.0, delta: float = 1e-3, cap: int = 1) -> Subject:
    """Liu 2019, corrected: counts of gaze up to a cap under Gaussian noise."""
    mechanism = GaussianMap(observers, HEATMAP_GRID.size, epsilon, cap=cap, delta=delta, grid=HEATMAP_GRID)
    runner = NoisyMapSums(mechanism)
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
        return Pair(
            _sum_of_recordings([one], kernel),
            _sum_of_recordings([] if other is None else [other], kernel),
            f"one observer {words}",
        )

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
    return Recording(t, where[:, 0], where[:, 1], HEATMAP_PLANE, "somebody", "scene")


def _sum_of_recordings(recordings: list[Recording], kernel: Kernel) -> IntArray:
    return ENGINES["local"]("local").sum_over_observers(Corpus.of(recordings), kernel).total


# --- Whole studies and dynamic heatmaps, from gaze to noisy integers.


People = tuple[Columns, ...]

# 4 by 3 degrees, so that there are few numbers and the auditor sees sharply
_JOINT_PLANE = screen(400, 300, 40, 30, 573)
_JOINT_GRID = Grid(4, 3, _JOINT_PLANE)
_TEN_HOURS_AT_10_HZ = 10 * 3600 * 10
_STRATEGIES = ("histogram", "bumps")
_CORNER, _OTHER = (10.0, 10.0), (390.0, 290.0)


@dataclass(frozen=True, slots=True)
class JointIntegers:
    """Runs a joint release up to its noisy integers; decoding is post-processing."""

    plan: StudyPlan | MoviePlan

    def run(self, data: People, noise: NoiseSource, trials: int) -> FloatArray:
        """Return noisy integers, one release a row."""
        return measured(self.plan, self._total(data), noise, trials).astype(np.float64)

    def log_ratio(self, outputs: FloatArray, first: People, second: People) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = self._total(first), self._total(second)
        return np.asarray((outputs - (here + there) / 2) @ (here - there) / self.plan.sigma**2)

    def _total(self, people: People) -> IntArray:
        kernel = self.plan.kernel()
        total = np.zeros(kernel.size, dtype=np.int64)
        for rows in people:
            total += kernel(rows)
        return total


@auditable("whole-study")
def study_subject(
    stimuli: int = 3,
    most_stimuli: int = 3,
    epsilon: float = 1.0,
    delta: float = 1e-3,
    heavy: float = 2.0,
    bumps: int = 0,
    add_remove: int = 0,
) -> Subject:
    """Heatmaps of several stimuli under one Gaussian noise, the first of another weight."""
    names = tuple(f"s{number}" for number in range(stimuli))
    plan = StudyPlan(
        grid=_JOINT_GRID,
        stimuli=names,
        weights=(heavy, *(1.0,) * (stimuli - 1)),
        observers=30,
        epsilon=epsilon,
        delta=delta,
        neighbours=Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE,
        strategy=_STRATEGIES[bool(bumps)],
        most_stimuli=min(most_stimuli, stimuli),
        blur_cells=1.1,
    )
    stares = _over_stimuli(names, *_still(_CORNER))
    return _joint_subject(
        plan,
        stares,
        {
            "stares at another pixel in all stimuli": _over_stimuli(names, *_still(_OTHER)),
            "looks everywhere in all stimuli": _over_stimuli(names, *_everywhere()),
            "looks nowhere": _over_stimuli(names, *_still(_CORNER, 0)),
            "looks elsewhere, at the first stimulus alone": _over_stimuli(names[:1], *_still(_OTHER)),
            "looks elsewhere for ten hours, at all stimuli": _over_stimuli(names, *_still(_OTHER, _TEN_HOURS_AT_10_HZ)),
        },
    )


@auditable("dynamic-heatmap")
def movie_subject(
    bins: int = 3, epsilon: float = 1.0, delta: float = 1e-3, bumps: int = 0, add_remove: int = 0
) -> Subject:
    """The time course of a heatmap under one Gaussian noise."""
    plan = MoviePlan(
        grid=_JOINT_GRID,
        observers=30,
        epsilon=epsilon,
        delta=delta,
        bin_seconds=1.0,
        duration=float(bins),
        neighbours=Neighbours.ADD_REMOVE if add_remove else Neighbours.REPLACE_ONE,
        strategy=_STRATEGIES[bool(bumps)],
        blur_cells=1.1,
    )
    count = 10 * bins
    turns = tuple(np.concatenate([_still(_CORNER, 10)[axis], _still(_OTHER, count)[axis]]) for axis in (0, 1))
    return _joint_subject(
        plan,
        _over_time(*_still(_CORNER, count)),
        {
            "stares at another pixel all the time": _over_time(*_still(_OTHER, count)),
            "looks everywhere": _over_time(*_everywhere()),
            "looks nowhere": _over_time(*_still(_CORNER, 0)),
            "looks elsewhere after the first second": _over_time(*turns),
            "looks elsewhere, for a moment": _over_time(*_still(_OTHER, 1)),
            "looks elsewhere for ten hours": _over_time(*_still(_OTHER, _TEN_HOURS_AT_10_HZ)),
        },
    )


def _joint_subject(plan: StudyPlan | MoviePlan, stares: Columns, others: dict[str, Columns]) -> Subject:
    runner = JointIntegers(plan)
    if plan.neighbours is Neighbours.ADD_REMOVE:
        people = {"stares at one pixel": stares, **others}
        pairs = [Pair((rows,), (), f"one observer who {does}, there or not") for does, rows in people.items()]
    else:
        pairs = [
            Pair((stares,), (rows,), f"one observer stares at one pixel, or {does}") for does, rows in others.items()
        ]
    return Subject(runner.run, plan.guarantee, tuple(pairs), runner.log_ratio)


def _still(at: tuple[float, float], count: int = 10) -> tuple[FloatArray, FloatArray]:
    return np.full(count, at[0]), np.full(count, at[1])


def _everywhere() -> tuple[FloatArray, FloatArray]:
    across, down = np.meshgrid(np.arange(5.0, 400, 10), np.arange(5.0, 300, 10))
    return across.ravel(), down.ravel()


def _over_stimuli(names: tuple[str, ...], x: FloatArray, y: FloatArray) -> Columns:
    stimulus = np.repeat(np.array(names, dtype=object), len(x))
    return {
        "stimulus": stimulus,
        "x": np.tile(x, len(names)),
        "y": np.tile(y, len(names)),
        "valid": np.ones(len(stimulus), dtype=np.bool_),
    }


def _over_time(x: FloatArray, y: FloatArray) -> Columns:
    label = np.full(len(x), "1", dtype=object)
    return {
        "session": label,
        "trial": label,
        "t": np.arange(len(x)) / 10,
        "x": x,
        "y": y,
        "valid": np.ones(len(x), dtype=np.bool_),
    }


# --- Statistics of areas of interest: gaze that goes to extremes, and integers that go to the bounds.


_STIMULUS = "picture"
_AOI_PLANE = screen(1200, 800, 480, 320, 600)
_AREAS = AreasOfInterest(
    tuple(Rectangle(name, 400.0 * at, 0, 400.0 * (at + 1), 800) for at, name in enumerate(("left", "middle", "right"))),
    _AOI_PLANE,
)


@dataclass(frozen=True, slots=True)
class NoisyAoiSums:
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


def _aoi_plan(statistics: tuple[Statistic, ...], epsilon: float, delta: float) -> AoiPlan:
    asked = AoiStatistics(None, statistics, epsilon=epsilon)
    return asked.plan_for([(_STIMULUS, _AREAS)], _AOI_PLANE, 30, Neighbours.REPLACE_ONE, exact(delta))


def _aoi_subject(statistics: tuple[Statistic, ...], epsilon: float, delta: float) -> Subject:
    mechanism = _aoi_plan(statistics, epsilon, delta)
    sums = NoisyAoiSums(mechanism)
    return Subject(sums.run, mechanism.guarantee, (*gaze_pairs(mechanism), *bound_pairs(mechanism)), sums.log_ratio)


@auditable("aoi-dwell")
def aoi_dwell(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Dwell shares of three areas of interest; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["dwell"](),), epsilon, delta)


@auditable("aoi-fixations")
def aoi_fixations(epsilon: float = 1.0, delta: float = 1e-5, most: int = 12) -> Subject:
    """Fixation counts of three areas of interest; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["fixations"](most=most),), epsilon, delta)


@auditable("aoi-first-fixation")
def aoi_first_fixation(epsilon: float = 1.0, delta: float = 1e-5, within: float = 5.0) -> Subject:
    """Times to the first fixation on three areas of interest; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["first-fixation"](within=within),), epsilon, delta)


@auditable("aoi-reached")
def aoi_reached(epsilon: float = 1.0, delta: float = 1e-5, within: float = 5.0) -> Subject:
    """Who fixated three areas of interest within a time; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["reached"](within=within),), epsilon, delta)


@auditable("aoi-transitions")
def aoi_transitions(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Transitions between three areas of interest; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["transitions"](),), epsilon, delta)


@auditable("aoi-visit-order")
def aoi_visit_order(epsilon: float = 1.0, delta: float = 1e-5, length: int = 3, most: int = 4) -> Subject:
    """Orders in which three areas of interest are visited; δ = 0 for the pure guarantee."""
    return _aoi_subject((STATISTICS["visit-order"](length=length, most=most),), epsilon, delta)


@auditable("aoi-together")
def aoi_together(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """All statistics of areas of interest under one budget; δ = 0 for the pure guarantee."""
    return _aoi_subject(tuple(make() for make in STATISTICS.values()), epsilon, delta)


@auditable("aoi-comparison")
def aoi_comparison(epsilon: float = 1.0, delta: float = 1e-5) -> Subject:
    """Dwell shares of two groups of different participants side by side; δ = 0 for the pure guarantee."""
    mechanism = _aoi_plan((STATISTICS["dwell"](),), epsilon, delta)
    sums = NoisyAoiSums(mechanism, groups=2)
    claim = compose_disjoint([(mechanism.guarantee, {"an expert"}), (mechanism.guarantee, {"a novice"})])
    pairs = []
    for pair in (*gaze_pairs(mechanism), *bound_pairs(mechanism)):
        other = np.zeros_like(pair.first)  # the group that the person is not in stays the same
        first, second = np.concatenate([pair.first, other]), np.concatenate([pair.second, other])
        pairs.append(Pair(first, second, pair.words))
    return Subject(sums.run, claim, tuple(pairs), sums.log_ratio)
