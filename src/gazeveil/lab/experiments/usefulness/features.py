# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private feature series are: three products, honestly accounted, against the public mean as the floor.

Errors are root mean squares over participants, steps and features, as parts of the declared ranges. ε covers all
features together, but for "one feature", where each has its own. The paper's mechanisms are in their corrected forms.
How many bins they keep, and whether their noise is Laplace or Gaussian with the same δ as ours, is chosen on the public
participants: the better one counts, and choosing costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gazeveil.arrays import FloatArray, Tell, silent
from gazeveil.exact import exact
from gazeveil.features.design import Design
from gazeveil.features.design_learning import learn
from gazeveil.features.fourier import ChunkedSeries, bin_count
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.lab.experiments.feature_people import People
from gazeveil.lab.utility.series import range_error
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_epsilon

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


def run(
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
