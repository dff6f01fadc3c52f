# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze maps of Liu 2019 with noise, corrected: counts per observer, Gaussian and Laplace mechanisms.

The paper names three examples: good is ε = 1, okay is ε = 3, both with δ = n^(-3/2); poor is a δ of the order of 1/n.
Here a guarantee has the best level that it implies; whatever implies neither is poor. Rules:

- refused: δ ≥ 1/n. A mechanism that publishes one whole participant picked at random would satisfy it.
- warned about: every other poor guarantee, ε above 10, and a δ above 1/100,000 however few participants there are (L9).

`ObserverMaps` and the kernels are raw data: what is computed from them is private only after a mechanism has added its
noise.

The sum of all observers' maps is in whole counts, so noise is added there, on a lattice and exactly; the mean map is
that divided by n. One observer adds 0 to ``cap`` to each of ``cells`` cells, and at most ``samples`` in all where that
is enforced. Sensitivities and proofs: docs/proofs/liu-mechanisms.md.

Each mechanism is a frozen value, made for a public number of observers: it states its guarantee before it sees data,
and takes no parameter from the data. It owns the kernel that keeps the bounds its noise is made for; nobody can hand in
a sum of their own. Releases go through a study's plan (`gazeveil.aggregate.liu.mechanism`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.aggregate.engine import Columns, Engine, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import GAZE, CountMap, OnGrid
from gazeveil.arrays import FloatArray, IntArray, Tell, silent
from gazeveil.errors import OptionError, PrivacyError
from gazeveil.exact import (
    Number,
    above_zero,
    as_text,
    at_least_zero,
    chance_of_failure,
    in_digits,
    probability,
    root_up,
    whole_number,
)
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, from_lattice, lattice_step
from gazeveil.noise.lattice import LARGEST
from gazeveil.privacy.calibration import gaussian_sigma, laplace_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.registry import Names

HUGE_EPSILON = 10
WEAK_DELTA = Fraction(1, 100_000)


class Level(StrEnum):
    """How the paper calls a guarantee."""

    GOOD = "good"
    OKAY = "okay"
    POOR = "poor"


_EPSILON = {Level.GOOD: Fraction(1), Level.OKAY: Fraction(3)}


def delta_of(observers: int) -> Fraction:
    """Return n^(-3/2), the paper's δ, rounded down in its fortieth digit where it is not a fraction.

    Raises:
        OptionError: If there are fewer than two observers: one cannot hide behind oneself.
    """
    people = whole_number(observers, "observers", at_least=1)
    if people < 2:
        raise OptionError("a gaze map of one observer cannot be private at δ = n^(-3/2)", hint="more observers")
    return 1 / root_up(Fraction(people) ** 3)


def demands(level: Level | str, observers: int) -> tuple[Fraction, Fraction]:
    """Return the ε and δ of a level.

    Raises:
        OptionError: If the level is unknown, or poor, which demands nothing.
    """
    try:
        epsilon = _EPSILON[Level(level)]
    except (KeyError, ValueError):
        raise OptionError(f"no guarantee can be asked for as {str(level)!r}", hint="known: good, okay") from None
    return epsilon, delta_of(observers)


def level_of(epsilon: Number, delta: Number, observers: int) -> Level:
    """Return the best level that (ε, δ) implies for this many observers."""
    spent, failure = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    people = whole_number(observers, "observers", at_least=1)
    if failure**2 * people**3 > 1:  # δ > n^(-3/2), without a root
        return Level.POOR
    return next((level for level, most in _EPSILON.items() if spent <= most), Level.POOR)


def check(epsilon: Number, delta: Number, observers: int) -> tuple[str, ...]:
    """Return what there is to warn about; refuse what is no privacy at all.

    Raises:
        PrivacyError: If δ ≥ 1/n.
    """
    level = level_of(epsilon, delta, observers)
    spent, failure = at_least_zero(epsilon, "epsilon"), probability(delta, "delta")
    if failure * observers >= 1:
        raise PrivacyError(
            f"δ = {in_digits(failure)} is at least 1/n for {observers:,} observers: "
            "publishing one whole participant at random would satisfy that",
            hint=f"ask for a δ well below {in_digits(Fraction(1, observers), up=False)}",
        )
    warnings = []
    if level is Level.POOR:
        warnings.append(
            f"Liu 2019 would call this poor: it takes ε ≤ 3 and δ ≤ n^(-3/2), for {observers:,} participants"
        )
    if spent > HUGE_EPSILON:
        warnings.append(f"ε = {in_digits(spent)} lets the odds change by e^{in_digits(spent)}: hardly a guarantee")
    if failure > WEAK_DELTA:
        warnings.append(f"δ = {in_digits(failure)} is a large δ; n^(-3/2) is weak for few participants (L9)")
    return tuple(warnings)


# --- The gaze maps of all observers, apart from one another: only the cells that someone looked at are stored.


MOST_SAMPLES = 2**31 - 1
"""Squares of sums of counts are exact in 64 bits up to this many samples in all."""


@dataclass(frozen=True, slots=True, eq=False)
class ObserverMaps:
    """How often each observer looked at each cell; one entry for each pair that occurs.

    Attributes:
        observers: How many observers there are, with or without gaze.
        cells: How many cells a map has.
        observer: Whose entry it is, from 0.
        cell: Which cell, from 0.
        count: How often, at least 1.
    """

    observers: int
    cells: int
    observer: IntArray
    cell: IntArray
    count: IntArray

    def capped(self, cap: int) -> ObserverMaps:
        """Return the maps with every count at most ``cap``."""
        most = whole_number(cap, "cap", at_least=1)
        return ObserverMaps(self.observers, self.cells, self.observer, self.cell, np.minimum(self.count, most))

    def summed(self, cap: int | None = None, times: IntArray | None = None) -> Summed:
        """Return the sum of all maps, capped if asked.

        Args:
            cap: The most that an observer adds to a cell.
            times: How often each observer is taken; once if left out.
        """
        count = self.count if cap is None else self.capped(cap).count
        if times is not None:
            count = count * times[self.observer]
        total = np.zeros(self.cells, dtype=np.int64)
        np.add.at(total, self.cell, count)
        return Summed(total, self.observers if times is None else int(times.sum()))

    @property
    def highest(self) -> int:
        """The largest count of all, the paper's g_max; 0 without gaze."""
        return int(self.count.max(initial=0))

    @staticmethod
    def of_samples(
        observer: ArrayLike, cell: ArrayLike, *, observers: int, cells: int, samples: int | None = None
    ) -> ObserverMaps:
        """Count gaze samples.

        Args:
            observer: Who looked, from 0, in the order of time.
            cell: Where; a negative cell is off the grid and not counted.
            observers: How many observers there are.
            cells: How many cells a map has.
            samples: Only each observer's first this many samples on the grid are counted; all if left out.

        Raises:
            OptionError: If an observer or a cell is out of range.
        """
        who, where = np.asarray(observer, dtype=np.int64), np.asarray(cell, dtype=np.int64)
        people, size = whole_number(observers, "observers", at_least=1), whole_number(cells, "cells", at_least=1)
        if who.shape != where.shape or who.ndim != 1:
            raise OptionError(f"an observer and a cell are needed for each sample, not {who.shape} and {where.shape}")
        if len(who) and not (who.min() >= 0 and who.max() < people and where.max() < size):
            raise OptionError(f"observers go from 0 to {people - 1:,} and cells to {size - 1:,}")
        on_grid = where >= 0
        who, where = who[on_grid], where[on_grid]
        if len(who) > MOST_SAMPLES or people * size >= 2**63:
            raise OptionError(f"at most {MOST_SAMPLES:,} samples, and 2^63 cells of all observers, can be counted here")
        if samples is not None:
            first = _first_of_each(who, whole_number(samples, "samples", at_least=1))
            who, where = who[first], where[first]
        pairs, count = np.unique(who * size + where, return_counts=True)
        return ObserverMaps(people, size, pairs // size, pairs % size, count.astype(np.int64))

    @staticmethod
    def of_table(maps: ArrayLike) -> ObserverMaps:
        """Return maps that are given as a table of whole numbers: a row for each observer, a column for each cell."""
        table = np.asarray(maps)
        if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iu" or table.min() < 0:
            raise OptionError("gaze maps are a table of whole numbers from 0 up: a row an observer, a column a cell")
        observer, cell = np.nonzero(table)
        return ObserverMaps(table.shape[0], table.shape[1], observer, cell, table[observer, cell].astype(np.int64))


@dataclass(frozen=True, slots=True)
class FirstSamples(OnGrid):
    """A kernel: one observer's first ``samples`` valid samples on the grid, counted per cell, at most ``cap`` each.

    Both bounds are needed for the sensitivity √(2mT) (erratum L4); they are enforced here.
    """

    grid: Grid
    cap: int
    samples: int

    def __post_init__(self) -> None:
        whole_number(self.cap, "cap", at_least=1)
        whole_number(self.samples, "samples", at_least=1)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's counts."""
        x, y, valid = (rows[name] for name in GAZE)
        cells = self.grid.cells(x, y)
        first = cells[(cells >= 0) & valid][: self.samples]
        return np.minimum(np.bincount(first, minlength=self.size), self.cap).astype(np.int64)


@dataclass(frozen=True, slots=True)
class CountsAndLosses(OnGrid):
    """A kernel: one observer's first samples as counts up to the largest cap, then what each smaller cap takes away.

    Summed over observers it tells the map and the loss of every candidate, so a cap is chosen in the same pass over
    the data as the map is made.

    Attributes:
        grid: The cells.
        caps: The candidates, rising.
        samples: The most samples that one observer adds.
    """

    grid: Grid
    caps: tuple[int, ...]
    samples: int

    @property
    def size(self) -> int:
        """As many numbers as cells, for each candidate."""
        return self.grid.size * len(self.caps)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's counts and losses."""
        found = FirstSamples(self.grid, self.caps[-1], self.samples)(rows)
        return np.concatenate((found, *(np.maximum(found - cap, 0) for cap in self.caps[:-1])))


def _first_of_each(who: IntArray, most: int) -> IntArray:
    """Return which samples are among the first ``most`` of their observer, in the order they came."""
    order = np.argsort(who, kind="stable")
    grouped = who[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    place = np.arange(len(grouped)) - np.repeat(starts, np.diff(starts, append=len(grouped)))
    return np.sort(order[place < most])


# --- The mechanisms.


@dataclass(frozen=True, slots=True)
class NoisyMap(ABC):
    """The mean map of ``observers`` participants, with noise: what the mechanisms share.

    Attributes:
        observers: How many participants there are, n; public, because neighbours replace one.
        cells: How many cells the map has, r.
        epsilon: The ε of the guarantee.
        cap: The most that one observer adds to a cell, m; public. `gazeveil.aggregate.liu.mechanism` chooses one.
        samples: The most samples that one observer adds in all, T; later ones are not counted. None for all.
        grid: The cells themselves; needed to release a map, not to compute how much noise it would get.
    """

    observers: int
    cells: int
    epsilon: Number
    _: KW_ONLY
    cap: int = 1
    samples: int | None = None
    grid: Grid | None = None

    name: ClassVar[str]

    def __post_init__(self) -> None:
        fix = object.__setattr__
        for name in ("observers", "cells", "cap"):
            fix(self, name, whole_number(getattr(self, name), name, at_least=1))
        if self.samples is not None:
            fix(self, "samples", whole_number(self.samples, "samples", at_least=1))
        fix(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        if self.grid is not None and self.grid.size != self.cells:
            raise OptionError(f"the grid has {self.grid.size:,} cells, not {self.cells:,}", hint="cells=grid.size")

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is guaranteed, before any data are seen."""

    @property
    @abstractmethod
    def noise_sd(self) -> float:
        """The standard deviation of the noise in each cell of the mean map."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to warn about."""
        return check(self.epsilon, 0, self.observers)

    def kernel(self) -> CountMap | FirstSamples:
        """Return what one observer adds: never more than the noise is made for.

        Raises:
            OptionError: If the mechanism has no grid.
        """
        if self.grid is None:
            raise OptionError("a release needs to know the cells, not only how many there are", hint="give grid=")
        if self.samples is None:
            return CountMap(self.grid, self.cap)
        return FirstSamples(self.grid, self.cap, self.samples)

    def measure(self, corpus: Corpus, noise: NoiseSource, engine: Engine, tell: Tell = silent) -> FloatArray:
        """Return the sum over the corpus plus noise, in counts; nothing in the data changes its shape.

        Raises:
            OptionError: If the mechanism has no grid, or its counts are too fine for 64 bits.
        """
        return self._noisy_sum(engine.sum_over_observers(corpus, self.kernel(), tell).total, noise)

    def check(self) -> None:
        """Refuse what could not be noised; a matter of public numbers.

        Raises:
            OptionError: If the counts do not fit into 64 bits beside so little noise.
        """
        self._per_count()

    def _noisy_sum(self, total: IntArray, noise: NoiseSource) -> FloatArray:
        """Return a sum over observers plus noise, in counts. Private only if every map in the sum is the kernel's.

        More participants than were declared cannot push a cell out of 64 bits: what is beyond all of them is cut off,
        which moves no two sums further apart.
        """
        per_count = self._per_count()
        most = self.cap * self.observers
        steps = np.clip(np.asarray(total, dtype=np.int64), 0, most) * per_count
        step = lattice_step(self._spread)
        return from_lattice(self._noised(steps, step, noise), step)

    def _per_count(self) -> int:
        """Return how many steps of the lattice are one count."""
        per_count = round(1 / lattice_step(self._spread))
        if self.cap * self.observers * per_count > LARGEST:
            raise OptionError("the counts do not fit into 64 bits beside so little noise", hint="a smaller ε or cap")
        return per_count

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {
            "mechanism": self.name,
            "observers": self.observers,
            "cells": self.cells,
            "epsilon": as_text(self._epsilon),
            "cap": self.cap,
            "samples": self.samples,
            "grid": None if self.grid is None else self.grid.to_dict(),
        }

    @property
    def _epsilon(self) -> Fraction:
        return above_zero(self.epsilon, "epsilon")

    @property
    @abstractmethod
    def _spread(self) -> float:
        """The parameter of the noise, in counts."""

    @abstractmethod
    def _noised(self, steps: IntArray, step: float, noise: NoiseSource) -> IntArray:
        """Return lattice values plus noise."""


@dataclass(frozen=True, slots=True)
class GaussianMap(NoisyMap):
    """Gaussian noise at the σ of the analytic Gaussian mechanism: (ε, δ), proven.

    Δ₂ is m√r counts, and at most √(2mT) where T is enforced (L4). δ is n^(-3/2) if not given.
    """

    delta: Number | None = None

    name: ClassVar[str] = "liu-gaussian"

    def __post_init__(self) -> None:
        NoisyMap.__post_init__(self)
        delta = delta_of(self.observers) if self.delta is None else chance_of_failure(self.delta, "delta")
        object.__setattr__(self, "delta", delta)
        check(self.epsilon, delta, self.observers)

    @property
    def guarantee(self) -> Guarantee:
        """(ε, δ) for every observer, replaced by any other."""
        return ApproxDP(self._epsilon, self._delta)

    @property
    def sensitivity(self) -> Fraction:
        """How far one observer can move the sum, in ℓ2, in counts; rounded up."""
        return euclidean_sensitivity(self.cells, self.cap, self.samples)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise in counts."""
        return gaussian_sigma(self._epsilon, self._delta, self.sensitivity)

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise in each cell of the mean map."""
        return self.sigma / self.observers

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to warn about."""
        return check(self.epsilon, self._delta, self.observers)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {**NoisyMap.to_dict(self), "delta": as_text(self._delta)}

    @property
    def _delta(self) -> Fraction:
        return delta_of(self.observers) if self.delta is None else chance_of_failure(self.delta, "delta")

    @property
    def _spread(self) -> float:
        return self.sigma

    def _noised(self, steps: IntArray, step: float, noise: NoiseSource) -> IntArray:
        return add_gaussian(noise, steps, self._spread, step)


@dataclass(frozen=True, slots=True)
class LaplaceMap(NoisyMap):
    """Laplace noise of scale Δ₁/ε: pure ε, proven. Δ₁ is mr counts, and at most 2T where T is enforced."""

    name: ClassVar[str] = "liu-laplace"

    @property
    def guarantee(self) -> Guarantee:
        """ε for every observer, replaced by any other."""
        return PureDP(self._epsilon)

    @property
    def sensitivity(self) -> Fraction:
        """How far one observer can move the sum, in ℓ1, in counts."""
        most = self.cap * self.cells
        return Fraction(most if self.samples is None else min(most, 2 * self.samples))

    @property
    def scale(self) -> float:
        """The scale of the noise in counts."""
        return laplace_scale(self._epsilon, self.sensitivity)

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise in each cell of the mean map."""
        return 2**0.5 * self.scale / self.observers

    @property
    def _spread(self) -> float:
        return self.scale

    def _noised(self, steps: IntArray, step: float, noise: NoiseSource) -> IntArray:
        return add_laplace(noise, steps, self._spread, step)


NOISES: Names[type[NoisyMap]] = Names("noise of a gaze map", {"gaussian": GaussianMap, "laplace": LaplaceMap})
"""Mechanisms by the name of their noise."""


def euclidean_sensitivity(cells: int, cap: int, samples: int | None = None) -> Fraction:
    """Return how far one observer can move a sum of capped maps in ℓ2, replaced by another; rounded up.

    Two maps between 0 and m differ by at most m√r. Maps of at most T samples have Σg² ≤ min(m, T)·T, and two of them
    without negative cells differ by at most √(2·min(m, T)·T).
    """
    square = cap * cap * cells
    if samples is not None:
        square = min(square, 2 * min(cap, samples) * samples)
    return root_up(Fraction(square))
