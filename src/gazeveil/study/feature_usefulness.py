# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How useful private feature series are: three products, honestly accounted, against the public mean as the floor.

Errors are root mean squares over people, steps and features, as parts of the declared ranges. ε covers all features
together, but for "one feature", where each has its own. The paper's mechanisms are in their sound forms; how many bins
they keep is chosen on the public people, which costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gazeveil.features.fourier import FloatArray, bins
from gazeveil.features.group import GroupSeries
from gazeveil.features.learning import learn
from gazeveil.features.own import OwnSeries
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS, SeriesMechanism
from gazeveil.noise import NoiseSource
from gazeveil.study.feature_people import People
from gazeveil.utility.series import range_error

EPSILONS: Final = (0.5, 1.0, 3.0, 10.0, 48.0)
STRETCH: Final = 64
DELTA: Final = 1e-5
FAMILY: Final = (("lpa", 0), ("fpa", 0), ("c-fpa", 64), ("dc-fpa", 32))
KEPT: Final = (1, 2, 3, 4, 6, 8, 12, 16)

Tell = Callable[[float, float | None], None]


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of the table.

    Attributes:
        data: Which people.
        product: What is released, under which promise.
        method: How.
        epsilon: The ε.
        error: The error, as a part of the declared range.
        se: Its standard error over tasks and repeats.
        expected: The error that was told beforehand, where it was.
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
    tell: Tell = lambda done, total: None,
) -> list[Cell]:
    """Return the table for one data set."""
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
        (f"own series, whole person, {features} features", None, True),
    )
    for product, hidden, jointly in own:
        for epsilon in epsilons:
            for name, chunk in FAMILY:
                yield _own_job(people, product, name, chunk, epsilon, hidden, jointly, repeats)
            yield _low_rank_job(people, product, epsilon, hidden, jointly, repeats)
            yield _floor_job(people, product, epsilon)
    for size in sizes:
        if size <= min(len(series) for series in people.private.values()):
            for epsilon in epsilons:
                product = f"mean of {size} people, {features} features"
                for name, chunk in FAMILY[:3]:
                    yield _group_family_job(people, product, name, chunk, epsilon, size, repeats)
                yield _group_job(people, product, epsilon, size, repeats)
                yield _group_floor_job(people, product, epsilon, size)


def made(name: str, chunk: int, **options: Any) -> SeriesMechanism:
    """Return a mechanism of the paper, with chunks where it has them."""
    if chunk:
        options["chunk"] = min(chunk, options["steps"])
    return SERIES_MECHANISMS[name](**options)


def best_kept(mechanism: SeriesMechanism, public: FloatArray, noise: NoiseSource) -> SeriesMechanism:
    """Return the mechanism with the number of bins that does best on public people: a public choice."""
    if not hasattr(mechanism, "kept") or mechanism.name == "lpa":
        return mechanism
    most = bins(getattr(mechanism, "chunk", mechanism.steps))
    trials = [replace(mechanism, kept=kept) for kept in KEPT if kept <= most]  # type: ignore[call-arg]
    return min(trials, key=lambda trial: range_error(public, trial.perturb(public, noise)))


def _own_job(
    people: People, product: str, name: str, chunk: int, epsilon: float, hidden: int | None, jointly: bool, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        features = len(people.ranges) if jointly else 1
        mechanism = made(name, chunk, epsilon=epsilon, steps=people.steps, features=features, stretch=hidden)
        public = people.public[:40]
        if jointly:
            mechanism = best_kept(mechanism, public, noise)
        errors = []
        for series in people.private.values():
            for _ in range(repeats):
                noisy = mechanism.perturb(series, noise) if jointly else _each(mechanism, series, public, noise)
                errors.append(range_error(series, noisy))
        return _cell(people, product, f"{name} {chunk}".removesuffix(" 0"), epsilon, errors)

    return job


def _each(mechanism: SeriesMechanism, series: FloatArray, public: FloatArray, noise: NoiseSource) -> FloatArray:
    out = np.empty_like(series)
    for feature in range(series.shape[2]):
        one = slice(feature, feature + 1)
        best = best_kept(mechanism, public[:12, :, one], noise)
        out[:, :, one] = best.perturb(series[:, :, one], noise)
    return out


def _low_rank_job(
    people: People, product: str, epsilon: float, hidden: int | None, jointly: bool, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        if jointly:
            designs = [(slice(None), people.design)]
        else:
            designs = [
                (slice(f, f + 1), learn([people.public[:, :, f : f + 1]], _one(people.ranges, f), people.design.source))
                for f in range(len(people.ranges))
            ]
        mechanisms = [(part, OwnSeries(epsilon=epsilon, design=d, delta=DELTA, stretch=hidden)) for part, d in designs]
        errors = []
        for series in people.private.values():
            for _ in range(repeats):
                parts = [mechanism.perturb(series[:, :, part], noise) for part, mechanism in mechanisms]
                errors.append(range_error(series, np.concatenate(parts, axis=2)))
        expected = float(np.sqrt(np.mean([mechanism.plan().error ** 2 for _, mechanism in mechanisms])))
        return replace(_cell(people, product, "low-rank (ours)", epsilon, errors), expected=expected)

    return job


def _floor_job(people: People, product: str, epsilon: float) -> Callable[[NoiseSource], Cell]:
    def job(_: NoiseSource) -> Cell:
        errors = [
            range_error(series, np.broadcast_to(people.design.mean, series.shape)) for series in people.private.values()
        ]
        return _cell(people, product, "public mean", epsilon, errors)

    return job


def _group_family_job(
    people: People, product: str, name: str, chunk: int, epsilon: float, size: int, repeats: int
) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        # A mean of n moves by one n-th of what a series does, so n times the ε buys the same noise for a series.
        mechanism = made(name, chunk, epsilon=epsilon * size, steps=people.steps, features=len(people.ranges))
        public = people.public[: size * (len(people.public) // size) or None]
        public = public.reshape(-1, min(size, len(public)), *public.shape[1:]).mean(axis=1)
        mechanism = best_kept(mechanism, public, noise)
        errors = [range_error(mean, mechanism.perturb(mean[None], noise)[0]) for mean in _means(people, size, repeats)]
        return _cell(people, product, f"{name} {chunk}".removesuffix(" 0"), epsilon, errors)

    return job


def _group_job(people: People, product: str, epsilon: float, size: int, repeats: int) -> Callable[[NoiseSource], Cell]:
    def job(noise: NoiseSource) -> Cell:
        mechanism = GroupSeries(epsilon=epsilon, delta=DELTA, people=size, design=people.design)
        errors = [
            range_error(some.mean(axis=0), mechanism.estimate(some, noise).mean)
            for some in _samples(people, size, repeats)
        ]
        expected = mechanism.plan().error
        return replace(_cell(people, product, "low-rank (ours)", epsilon, errors), expected=expected)

    return job


def _group_floor_job(people: People, product: str, epsilon: float, size: int) -> Callable[[NoiseSource], Cell]:
    def job(_: NoiseSource) -> Cell:
        errors = [
            range_error(mean, np.broadcast_to(people.design.mean, mean.shape)) for mean in _means(people, size, 3)
        ]
        return _cell(people, product, "public mean", epsilon, errors)

    return job


def _samples(people: People, size: int, repeats: int) -> Iterator[FloatArray]:
    """Yield groups of private people of every task: consecutive ones, beginning at another person each time."""
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


def _one(ranges: Ranges, feature: int) -> Ranges:
    return ranges.only([ranges.names[feature]])
