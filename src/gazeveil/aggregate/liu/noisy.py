# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noise on a gaze map: the Gaussian and Laplace mechanisms of Liu 2019, corrected.

The sum of all observers' maps is in whole counts, so noise is added there, on a lattice and exactly; the mean map is
that divided by n. One observer adds 0 to ``cap`` to each of ``cells`` cells, and at most ``samples`` in all where that
is enforced. Sensitivities and proofs: docs/proofs/liu-mechanisms.md.

Each is a frozen value, made for a public number of observers: it says its guarantee before it sees data, and takes no
parameter from the data. It owns the kernel that keeps the bounds its noise is made for; nobody else can hand in a sum.
Releases go through a study's plan (`gazeveil.aggregate.liu.mechanism`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gazeveil.aggregate.engine import Engine
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.liu import levels
from gazeveil.aggregate.liu.counts import FirstSamples
from gazeveil.aggregate.maps import CountMap
from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, as_text, chance_of_failure, root_up, whole_number
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, from_lattice, lattice_step
from gazeveil.noise.lattice import LARGEST
from gazeveil.privacy.calibrate import gaussian_sigma, laplace_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.registry import Registry
from gazeveil.types import FloatArray, IntArray, Tell, silent


@dataclass(frozen=True, slots=True)
class NoisyMap(ABC):
    """What all of them share: the mean map of ``observers`` participants, with noise.

    Attributes:
        observers: How many participants there are, n; public, because neighbours replace one.
        cells: How many cells the map has, r.
        epsilon: The ε of the guarantee.
        cap: The most that one observer adds to a cell, m; public (see `gazeveil.aggregate.liu.caps` for choosing it).
        samples: The most samples that one observer adds in all, T: whatever comes later is not counted. None for all.
        grid: The cells themselves; needed to release a map, not to tell how much noise it would get.
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
        return levels.check(self.epsilon, 0, self.observers)

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


NOISES: Registry[type[NoisyMap]] = Registry("noise of a gaze map")
"""Which noise a map can get."""


@NOISES.register("gaussian")
@dataclass(frozen=True, slots=True)
class GaussianMap(NoisyMap):
    """Gaussian noise at the σ of the analytic Gaussian mechanism: (ε, δ), proven.

    Δ₂ is m√r counts, and at most √(2mT) where T is enforced (L4). δ is n^(-3/2) if not given.
    """

    delta: Number | None = None

    name: ClassVar[str] = "liu-gaussian"

    def __post_init__(self) -> None:
        NoisyMap.__post_init__(self)
        delta = levels.delta_of(self.observers) if self.delta is None else chance_of_failure(self.delta, "delta")
        object.__setattr__(self, "delta", delta)
        levels.check(self.epsilon, delta, self.observers)

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
        return levels.check(self.epsilon, self._delta, self.observers)

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism and its parameters as plain values."""
        return {**NoisyMap.to_dict(self), "delta": as_text(self._delta)}

    @property
    def _delta(self) -> Fraction:
        return levels.delta_of(self.observers) if self.delta is None else chance_of_failure(self.delta, "delta")

    @property
    def _spread(self) -> float:
        return self.sigma

    def _noised(self, steps: IntArray, step: float, noise: NoiseSource) -> IntArray:
        return add_gaussian(noise, steps, self._spread, step)


@NOISES.register("laplace")
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


def euclidean_sensitivity(cells: int, cap: int, samples: int | None = None) -> Fraction:
    """Return how far one observer can move a sum of capped maps in ℓ2, replaced by another; rounded up.

    Two maps between 0 and m differ by at most m√r. Maps of at most T samples have Σg² ≤ min(m, T)·T, and two of them
    without negative cells differ by at most √(2·min(m, T)·T).
    """
    square = cap * cap * cells
    if samples is not None:
        square = min(square, 2 * min(cap, samples) * samples)
    return root_up(Fraction(square))
