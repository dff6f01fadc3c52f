# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful released feature series are, whether documents can be told apart, and who is still recognised.

Errors are root mean squares over participants, steps and features, as parts of the declared ranges. ε covers all
features together, but for "one feature", where each has its own. The paper's mechanisms are in their corrected forms.
How many bins they keep, and whether their noise is Laplace or Gaussian with the same δ as ours, is chosen on the public
participants: the better one counts, and choosing costs nothing.

Both release a participant's means over 30 s, every half second, of the additive channels, under the same guarantee
about any this many seconds of raw gaze. Overlapping windows must hide every window that such a stretch meets (erratum
B10); bins only the few that it touches, and their means over 30 s are post-processing. Errors are parts of the bins'
declared ranges, so both are measured with one ruler.

Trained on some runs of a participant, tested on another.

Every run is a release with noise of its own. Where the guarantee is for a participant, ε is for all runs of the
participant together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil import FeatureTable, ParticipantRelease
from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.exact import exact
from gazeveil.features.bins import BinRules, bin_ranges, extract_bin_corpus
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import declared_ranges
from gazeveil.features.fourier import ChunkedSeries, bin_count
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.participant_series import ParticipantSeries, RawGaze
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism, panel_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.lab.datasets import EYETRIBE_PUPIL, eyetribe
from gazeveil.lab.experiments.feature_series import (
    CHOSEN,
    LEARNERS,
    PRIVATE_SEED,
    PUBLIC_SEED,
    People,
    by_task,
    first_runs,
    identify,
    other_documents,
)
from gazeveil.lab.utility.releases import range_error
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_epsilon
from gazeveil.simulate.readers import ReadingStudy

EPSILONS: Final = (0.5, 1.0, 3.0, 10.0, 48.0)
STRETCH: Final = 64
DELTA: Final = 1e-5
FAMILY: Final = (("lpa", 0), ("fpa", 0), ("c-fpa", 64), ("dc-fpa", 32))
PEERS: Final = (("efpa", 0), ("exponential", 0))
"""Beside the paper's four: bins chosen privately (Ács 2012), and one of few levels (after Steil 2019)."""
KEPT: Final = (1, 2, 3, 4, 6, 8, 12, 16)
OURS, WAVELETS, FLOOR = "low-rank (ours)", "low-rank, wavelets", "public mean"


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the table.

    Attributes:
        data: Which participants.
        product: What is released, under which guarantee.
        method: How.
        epsilon: The ε.
        error: The error, as a part of the declared range.
        se: Its standard error over tasks and repeats.
        expected: The error that was reported beforehand, where it was.
    """

    data: str
    product: str
    method: str
    epsilon: float
    error: float
    se: float
    expected: float | None = None


def measure_usefulness(
    people: People,
    *,
    epsilons: Sequence[float] = EPSILONS,
    sizes: Sequence[int] = (20, 50, 100),
    repeats: int = 10,
    seed: int = 1,
    tell: Tell = silent,
) -> list[Cell]:
    """Return the table for one data set.

    Groups are of the given sizes, or of everyone if there are fewer participants.
    """
    noise = NoiseSource.seeded(seed)
    jobs = list(_jobs(people, epsilons, sizes, repeats))
    cells = []
    for done, job in enumerate(jobs):
        tell(done, len(jobs))
        cells.append(job(noise))
    return cells


def _jobs(
    people: People, epsilons: Sequence[float], sizes: Sequence[int], repeats: int
) -> Iterator[Callable[[NoiseSource], Cell]]:
    features = len(people.ranges)
    stretch = min(STRETCH, people.steps)
    own = (
        (f"own series, any {stretch} steps, one feature", stretch, False),
        (f"own series, any {stretch} steps, {features} features", stretch, True),
        (f"own series, whole participant, {features} features", None, True),
    )
    for product, hidden, jointly in own:
        for epsilon in epsilons:
            for name, chunk in (*FAMILY, *PEERS):
                yield _own_job(people, product, name, chunk, epsilon, hidden, jointly, repeats)
            yield _low_rank_job(people, product, OURS, epsilon, hidden, jointly, repeats)
            yield _low_rank_job(people, product, WAVELETS, epsilon, hidden, jointly, repeats)
            yield _floor_job(people, product, epsilon)
    most = min(len(series) for series in people.private.values())
    for size in [size for size in sizes if size <= most] or [most]:
        for epsilon in epsilons:
            product = f"mean of {size} participants, {features} features"
            for name, chunk in FAMILY:
                yield _group_family_job(people, product, name, chunk, epsilon, size, repeats)
            yield _group_job(people, product, OURS, epsilon, size, repeats)
            yield _group_job(people, product, WAVELETS, epsilon, size, repeats)
            yield _group_floor_job(people, product, epsilon, size)


def made(name: str, chunk: int, **options: Any) -> SeriesMechanism:
    """Return a mechanism of the paper, with chunks where it has them."""
    if chunk:
        options["chunk"] = min(chunk, options["steps"])
    return SERIES_MECHANISMS[name](**options)


def best_kept(mechanism: SeriesMechanism, public: FloatArray, noise: NoiseSource) -> SeriesMechanism:
    """Return the mechanism with the number of bins and the kind of noise that do best on public participants."""
    trials = [mechanism]
    if isinstance(mechanism, ChunkedSeries):
        trials.append(replace(mechanism, delta=DELTA))
    return _best([one for trial in trials for one in _numbers_of_bins(trial)], public, noise)


def _numbers_of_bins(mechanism: SeriesMechanism) -> list[SeriesMechanism]:
    if not isinstance(mechanism, ChunkedSeries) or mechanism.name == "lpa":
        return [mechanism]
    return [replace(mechanism, kept=kept) for kept in KEPT if kept <= bin_count(mechanism.chunk)]


def _best(trials: list[SeriesMechanism], public: FloatArray, noise: NoiseSource) -> SeriesMechanism:
    if len(trials) == 1:
        return trials[0]
    return min(trials, key=lambda trial: range_error(public, trial.perturb(public, noise)))


def _own_job(
    people: People, product: str, name: str, chunk: int, epsilon: float, hidden: int | None, jointly: bool, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        features = len(people.ranges) if jointly else 1
        mechanism = made(name, chunk, epsilon=epsilon, steps=people.steps, features=features, stretch=hidden)
        columns = [slice(None)] if jointly else [slice(f, f + 1) for f in range(len(people.ranges))]
        some = people.public[:: max(1, len(people.public) // 20)]
        best = [best_kept(mechanism, some[:, :, column], noise) for column in columns]
        errors = []
        for series in people.private.values():
            for _ in range(repeats):
                parts = [one.perturb(series[:, :, c], noise) for c, one in zip(columns, best, strict=True)]
                errors.append(range_error(series, np.concatenate(parts, axis=2)))
        return _cell(people, product, _title(name, chunk), epsilon, errors)

    return job


def _low_rank_job(
    people: People, product: str, title: str, epsilon: float, hidden: int | None, jointly: bool, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        whole = people.wavelets if title == WAVELETS else people.design
        designs = [(slice(None), whole)]
        if not jointly:
            designs = [
                (slice(f, f + 1), _one_feature(people.public, people.ranges, f, whole))
                for f in range(len(people.ranges))
            ]
        mechanisms = [
            (part, ParticipantSeries(epsilon=epsilon, design=d, delta=DELTA, stretch=hidden)) for part, d in designs
        ]
        errors = []
        for series in people.private.values():
            for _ in range(repeats):
                parts = [mechanism.perturb(series[:, :, part], noise) for part, mechanism in mechanisms]
                errors.append(range_error(series, np.concatenate(parts, axis=2)))
        expected = float(np.sqrt(np.mean([mechanism.plan().error ** 2 for _, mechanism in mechanisms])))
        return replace(_cell(people, product, title, epsilon, errors), expected=expected)

    return job


def _floor_job(people: People, product: str, epsilon: float) -> Callable[[NoiseSource], Cell]:
    def job(_: NoiseSource) -> Cell:
        errors = [
            range_error(series, np.broadcast_to(people.design.mean, series.shape)) for series in people.private.values()
        ]
        return _cell(people, product, FLOOR, epsilon, errors)

    return job


def _group_family_job(
    people: People, product: str, name: str, chunk: int, epsilon: float, size: int, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        options: dict[str, Any] = {"steps": people.steps, "features": len(people.ranges)}
        plain = made(name, chunk, epsilon=epsilon, **options)
        trials = [
            for_mean(one, size) for trial in (plain, replace(plain, delta=DELTA)) for one in _numbers_of_bins(trial)
        ]
        whole = people.public[: size * (len(people.public) // size) or None]
        public = whole.reshape(-1, min(size, len(whole)), *whole.shape[1:]).mean(axis=1)
        mechanism = _best(trials, public, noise)
        errors = [range_error(mean, mechanism.perturb(mean[None], noise)[0]) for mean in _means(people, size, repeats)]
        return _cell(people, product, _title(name, chunk), epsilon, errors)

    return job


def for_mean(mechanism: SeriesMechanism, size: int) -> SeriesMechanism:
    """Return the mechanism whose noise on a mean of N participants' series keeps what the given one keeps.

    One participant moves the mean by one n-th of a series, so noise may be one n-th as wide.
    """
    if isinstance(mechanism, ChunkedSeries) and mechanism.is_gaussian:
        change = mechanism.sensitivity(mechanism.changed)
        return replace(mechanism, epsilon=gaussian_epsilon(mechanism.scale / size, change, mechanism.delta))
    return replace(mechanism, epsilon=exact(mechanism.epsilon) * size)


def _group_job(
    people: People, product: str, title: str, epsilon: float, size: int, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        design = people.wavelets if title == WAVELETS else people.design
        mechanism = GroupSeries(epsilon=epsilon, delta=DELTA, design=design)
        errors = [
            range_error(some.mean(axis=0), mechanism.estimate(some, noise).mean)
            for some in _samples(people, size, repeats)
        ]
        expected = mechanism.plan(size).error
        return replace(_cell(people, product, title, epsilon, errors), expected=expected)

    return job


def _group_floor_job(people: People, product: str, epsilon: float, size: int) -> Callable[[NoiseSource], Cell]:
    def job(_: NoiseSource) -> Cell:
        errors = [
            range_error(mean, np.broadcast_to(people.design.mean, mean.shape)) for mean in _means(people, size, 3)
        ]
        return _cell(people, product, FLOOR, epsilon, errors)

    return job


def _samples(people: People, size: int, repeats: int) -> Iterator[FloatArray]:
    """Yield groups of private participants of every task.

    Consecutive ones, beginning at another participant each time.
    """
    for series in people.private.values():
        for turn in range(repeats):
            where = (np.arange(size) + turn * max(1, len(series) // repeats)) % len(series)
            yield series[where]


def _means(people: People, size: int, repeats: int) -> Iterator[FloatArray]:
    for some in _samples(people, size, repeats):
        yield some.mean(axis=0)


def _cell(people: People, product: str, method: str, epsilon: float, errors: list[float]) -> Cell:
    spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
    return Cell(people.name, product, method, epsilon, float(np.sqrt(np.mean(np.square(errors)))), spread)


def _one_feature(public: FloatArray, ranges: Ranges, feature: int, whole: Design) -> Design:
    """Return the design of one feature by itself."""
    return learn([public[:, :, feature : feature + 1]], ranges.only([ranges.names[feature]]), whole.source, whole.kind)


def _title(name: str, chunk: int) -> str:
    return f"{name} {chunk}" if chunk else name


# --- Can a reader of a released group series see how documents differ? Series to draw, and how often the sign is right.


VISIBLE = 0.05
"""Differences of time-averages of at least so much of a range are asked for."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupPicture:
    """Released group series of one feature.

    Attributes:
        feature: Which.
        truths: The true mean series of every task.
        released: For participants and ε, for every task the released mean and its standard deviation.
        signs: For participants and ε, how often the sign of a visible difference between two tasks is right.
        pairs: How many differences are visible.
    """

    feature: str
    truths: dict[str, FloatArray]
    released: dict[tuple[int, float], dict[str, tuple[FloatArray, FloatArray]]]
    signs: dict[tuple[int, float], float]
    pairs: int


def most_telling(people: People) -> str:
    """Return the feature in which public tasks differ most: a public choice."""
    level = people.design.between[0]
    return people.ranges.names[int(np.argmax(np.square(people.design.components) @ level))]


def picture(
    people: People,
    feature: str,
    *,
    sizes: Sequence[int] = (20, 50, 100),
    epsilons: Sequence[float] = (1.0, 3.0),
    repeats: int = 10,
    seed: int = 1,
) -> GroupPicture:
    """Return group series of every task for every number of participants and ε."""
    noise = NoiseSource.seeded(seed)
    column = people.ranges.names.index(feature)
    truths = {task: series.mean(axis=0) for task, series in people.private.items()}
    released: dict[tuple[int, float], dict[str, tuple[FloatArray, FloatArray]]] = {}
    signs: dict[tuple[int, float], float] = {}
    visible = _visible(truths)
    for size in sizes:
        for epsilon in epsilons:
            mechanism = GroupSeries(epsilon=epsilon, delta="1e-5", design=people.design)
            right = []
            for _ in range(repeats):
                made = {task: mechanism.estimate(series[:size], noise) for task, series in people.private.items()}
                for first, second, which, sign in visible:
                    apart = made[first].mean.mean(axis=0)[which] - made[second].mean.mean(axis=0)[which]
                    right.append(bool(np.sign(apart) == sign))
            released[size, epsilon] = {
                task: (estimate.mean[:, column], estimate.sd[:, column]) for task, estimate in made.items()
            }
            signs[size, epsilon] = float(np.mean(right)) if right else float("nan")
    return GroupPicture(
        feature, {task: mean[:, column] for task, mean in truths.items()}, released, signs, len(visible)
    )


def _visible(truths: dict[str, FloatArray]) -> list[tuple[str, str, int, float]]:
    """Return pairs of tasks and features whose time-averages differ enough to be asked for, with the sign."""
    found = []
    for first, second in combinations(truths, 2):
        apart = truths[first].mean(axis=0) - truths[second].mean(axis=0)
        found += [(first, second, int(which), float(np.sign(apart[which])))
                  for which in np.flatnonzero(np.abs(apart) >= VISIBLE)]  # fmt: skip
    return found


# --- What it costs to hide seconds of raw gaze: bins with windows derived afterwards, against overlapping windows.


HIDDEN: Final = (0.5, 2.0, 10.0, 30.0)
"""Seconds of raw gaze to hide."""

ADDITIVE: Final = ("x", "y", "pupil", "log_path", "saccades", "fixations")
"""Channels whose windows are plain means of bins."""

WINDOW_S: Final = 30.0
BINS_FIRST, OVERLAPPING = "bins, windows derived", "overlapping windows"


@dataclass(frozen=True, slots=True, eq=False)
class BinPeople:
    """Participants' bins, split.

    Attributes:
        name: What the data set is called.
        rules: How the bins were made.
        ranges: The declared ranges of the channels.
        public: By task, participant by bin by channel, from 0 to 1.
        private: Those who are released, likewise.
    """

    name: str
    rules: BinRules
    ranges: Ranges
    public: tuple[FloatArray, ...]
    private: tuple[FloatArray, ...]


def reader_bins(private: int = 40, public: int = 20, seconds: float = 300.0) -> BinPeople:
    """Return simulated readers' bins; public participants read other documents."""
    rules = BinRules()
    ranges = bin_ranges(rules).only(ADDITIVE)
    outside = _bins(ReadingStudy(public, seconds, documents=other_documents(), seed=PUBLIC_SEED).recordings(), rules)
    inside = _bins(ReadingStudy(private, seconds, seed=PRIVATE_SEED).recordings(), rules)
    count = int(seconds / rules.width)
    fill = panel_of(outside, ranges, count).values.mean(axis=(0, 1))
    return BinPeople(
        "simulated readers", rules, ranges,
        tuple(by_task(panel_of(outside, ranges, count, fill)).values()),
        tuple(by_task(panel_of(inside, ranges, count, fill)).values()),
    )  # fmt: skip


def eyetribe_bins(path: Path) -> BinPeople:
    """Return the bins of each participant's first EyeTribe run.

    Every second participant is public, the others private.
    """
    rules = BinRules()
    table = _bins(first_runs(path), rules)
    ranges = bin_ranges(rules, EYETRIBE_PUPIL).only(ADDITIVE)
    count = int(np.median([len(series.values) for series in table.series()]))
    even = np.arange(len(list(table.series()))) % 2 == 0
    fill = panel_of(table, ranges, count).values[even].mean(axis=(0, 1))
    values = panel_of(table, ranges, count, fill).values
    return BinPeople("EyeTribe runs", rules, ranges, (values[even],), (values[~even],))


def steps_touched(seconds: float, rules: BinRules) -> int:
    """Return how many overlapping windows, one every bin, a stretch of raw gaze meets at most."""
    return math.floor((WINDOW_S + seconds + rules.reach) / rules.width) + 1


def means_over_windows(bins: FloatArray, width: float) -> FloatArray:
    """Return the means over windows of 30 s, one beginning at every bin: participants by windows by channels."""
    count = round(WINDOW_S / width)
    sums = np.cumsum(np.concatenate([np.zeros_like(bins[:, :1]), bins], axis=1), axis=1)
    return np.asarray((sums[:, count:] - sums[:, :-count]) / count)


def compare_promises(
    people: BinPeople,
    *,
    epsilons: Sequence[float] = EPSILONS,
    hidden: Sequence[float] = HIDDEN,
    repeats: int = 5,
    seed: int = 1,
    tell: Tell = silent,
) -> list[Cell]:
    """Return the table: a cell for every guarantee, design and ε."""
    noise = NoiseSource.seeded(seed)
    cells: list[Cell] = []
    todo = 2 * len(hidden) * len(epsilons)
    for jointly in (False, True):
        designs = _designs(people, jointly)
        what = f"{len(people.ranges)} features" if jointly else "one feature"
        for seconds in hidden:
            for epsilon in epsilons:
                tell(len(cells) / 3, todo)
                errors = _errors(people, designs, seconds, epsilon, repeats, noise)
                product = f"any {seconds:g} s of raw gaze, {what}"
                cells += [Cell(people.name, product, method, epsilon, *both) for method, both in errors.items()]
    return cells


@dataclass(frozen=True, slots=True, eq=False)
class _Designs:
    """Which channels are released together, and the public designs of each such part."""

    parts: list[slice]
    bins: list[Design]
    windows: list[Design]


def _designs(people: BinPeople, jointly: bool) -> _Designs:
    parts = [slice(None)] if jointly else [slice(channel, channel + 1) for channel in range(len(people.ranges))]
    windows = [means_over_windows(bins, people.rules.width) for bins in people.public]
    return _Designs(
        parts,
        [_design(people, people.public, part) for part in parts],
        [_design(people, windows, part) for part in parts],
    )


def _errors(
    people: BinPeople, designs: _Designs, seconds: float, epsilon: float, repeats: int, noise: NoiseSource
) -> dict[str, tuple[float, float]]:
    """Return error and standard error of both ways, and of the public mean."""
    width, raw = people.rules.width, RawGaze(seconds, people.rules)
    steps = min(steps_touched(seconds, people.rules), designs.windows[0].steps)
    whole = [ParticipantSeries(epsilon=epsilon, delta=DELTA, design=d, stretch=steps) for d in designs.windows]
    binned = [ParticipantSeries(epsilon=epsilon, delta=DELTA, design=d, raw=raw) for d in designs.bins]
    public = np.concatenate([design.mean for design in designs.windows])
    squares: dict[str, list[FloatArray]] = {OVERLAPPING: [], BINS_FIRST: [], FLOOR: []}
    for bins in people.private:
        truth = means_over_windows(bins, width)
        released = {
            OVERLAPPING: [_released(whole, designs.parts, truth, noise) for _ in range(repeats)],
            BINS_FIRST: [
                means_over_windows(_released(binned, designs.parts, bins, noise), width) for _ in range(repeats)
            ],
            FLOOR: [np.broadcast_to(public, truth.shape)],
        }
        for method, tries in released.items():
            squares[method].append(np.mean([np.mean(np.square(truth - one), axis=(1, 2)) for one in tries], axis=0))
    return {method: _root(np.concatenate(each)) for method, each in squares.items()}


def _released(
    mechanisms: list[ParticipantSeries], parts: list[slice], values: FloatArray, noise: NoiseSource
) -> FloatArray:
    released = [one.perturb(values[:, :, part], noise) for one, part in zip(mechanisms, parts, strict=True)]
    return np.concatenate(released, axis=2)


def _design(people: BinPeople, tasks: Sequence[FloatArray], part: slice) -> Design:
    names = people.ranges.names[part]
    return learn([task[:, :, part] for task in tasks], people.ranges.only(names), f"{people.name}, public ones")


def _root(squares: FloatArray) -> tuple[float, float]:
    """Return the root of the mean of participants' squared errors, and its standard error."""
    error = math.sqrt(float(squares.mean()))
    return error, float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * error)


def _bins(recordings: Iterable[Recording], rules: BinRules) -> FeatureTable:
    return extract_bin_corpus(Corpus.of(recordings), rules=rules).table


# --- Are participants still recognised in released series? EyeTribe runs.


RUNS: Final = 3


def recognise(
    path: Path,
    *,
    epsilons: Sequence[float],
    every: int = 10,
    seed: int = 1,
    tell: Tell = silent,
) -> list[dict[str, Any]]:
    """Return how often participants are recognised: a row for every method and ε, raw series first.

    Every second participant is public and makes the design; the others are released and recognised.
    """
    noise = NoiseSource.seeded(seed)
    found = eyetribe_runs(path)
    series, people, runs, design = found.series, found.people, found.runs, found.design
    rows = [_row("raw", None, series, people, runs, every)]
    shared: dict[str, Any] = {"steps": design.steps, "features": len(design.ranges), "kept": 1}
    for done, epsilon in enumerate(epsilons):
        tell(done, len(epsilons))
        methods = {
            "fpa, whole participant": SERIES_MECHANISMS["fpa"](epsilon=epsilon, **shared),
            "low-rank (ours), whole participant": ParticipantSeries(epsilon=epsilon, delta=DELTA, design=design),
            f"low-rank (ours), any {STRETCH} steps": ParticipantSeries(
                epsilon=epsilon, delta=DELTA, design=design, stretch=min(STRETCH, design.steps)
            ),
        }
        for title, mechanism in methods.items():
            released = ParticipantRelease(mechanism=mechanism).each(RUNS).perturb(series, noise)
            rows.append(_row(title, epsilon, released, people, runs, every))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Series of participants in several runs each.

    Attributes:
        series: Series by steps by features.
        people: Whose each is, as a number.
        runs: Of which run each is.
        design: Learnt from other participants.
    """

    series: FloatArray
    people: NDArray[np.int64]
    runs: NDArray[np.int64]
    design: Design


def eyetribe_runs(path: Path) -> Runs:
    """Return three EyeTribe runs of every second participant; the others are public and make the design."""
    ranges = declared_ranges(unit="deg", pupil_range=EYETRIBE_PUPIL).only(CHOSEN)
    table = extract_corpus(Corpus.of(first_runs_of_everybody(path))).table
    steps = int(np.median([len(series.values) for series in table.series()]))
    who = np.array([series.key.observer for series in table.series()])
    names = np.unique(who)
    number = np.searchsorted(names, who)
    is_public = number % 2 == 0
    fill = panel_of(table, ranges, steps).values[is_public].mean(axis=(0, 1))
    values = panel_of(table, ranges, steps, fill).values
    design = learn([values[is_public]], ranges, "EyeTribe runs, every second participant")
    series, people = values[~is_public], number[~is_public] // 2
    runs = np.tile(np.arange(RUNS), len(np.unique(people)))
    return Runs(series, people, runs, design)


def first_runs_of_everybody(path: Path) -> list[Recording]:
    """Return the first runs of everyone who has enough that last a window, in order."""
    found: dict[str, list[Recording]] = {}
    for recording in eyetribe(path):
        mine = found.setdefault(recording.observer, [])
        if len(mine) < RUNS and recording.duration > 60.0:
            mine.append(recording)
    return [recording for runs in found.values() if len(runs) == RUNS for recording in runs]


def _row(
    title: str,
    epsilon: float | None,
    series: FloatArray,
    people: NDArray[np.int64],
    runs: NDArray[np.int64],
    every: int,
) -> dict[str, Any]:
    told = {learner: asdict(identify(series, people, runs, learner, every)) for learner in LEARNERS}
    return {"method": title, "epsilon": epsilon, "people": len(np.unique(people)), **told}
