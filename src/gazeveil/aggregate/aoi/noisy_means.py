# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which noise each statistic gets under a shared budget, and intervals around noisy means from public numbers alone.

There are two kinds of noise. Pure: ε is divided, and each statistic gets Laplace or radial noise, whichever is smaller.
Gaussian: every statistic gets Gaussian noise, and together they spend one Gaussian mechanism (zCDP adds up: Σ Δ²/σ² is
the same as for one of them alone). The first suits few numbers, the second many; where there is a δ, the kind with the
smaller noise is taken. All choices depend on public numbers alone.

There are two kinds of intervals. One is about the participants in the study: only the noise lies between them and the
release. The other is about everyone they were drawn from: it also allows for which participants happened to come, and
needs no variance, because a mean of numbers from 0 to 1 is spread no further than coins are. Both cover with at least
the stated confidence, for every number of participants and every distribution. Proofs: docs/proofs/aoi-statistics.md.

Means are shares of the largest value, from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from gazeveil.aggregate.aoi.statistics import Bounds
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.exact import float_up, root_up
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, add_radial
from gazeveil.privacy.calibration import gaussian_sigma, laplace_scale, radial_scale
from gazeveil.privacy.protection import Neighbours


class Law(StrEnum):
    """The distribution of noise."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"
    RADIAL = "radial"


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise on the integers of one statistic.

    Attributes:
        law: The distribution.
        scale: Its scale, in steps of the fixed point: σ of the Gaussian, b of the others.
        dimensions: How many integers get noise together.
    """

    law: Law
    scale: float
    dimensions: int

    @property
    def sd(self) -> float:
        """The standard deviation of one integer's noise, before rounding."""
        factor = {Law.GAUSSIAN: 1.0, Law.LAPLACE: math.sqrt(2), Law.RADIAL: math.sqrt(self.dimensions + 1)}
        return factor[self.law] * self.scale

    @property
    def shape(self) -> float:
        """Of the Gamma variables whose difference one integer's Laplace or radial noise is, in scales."""
        return 1.0 if self.law is Law.LAPLACE else (self.dimensions + 1) / 2

    def add(self, totals: IntArray, source: NoiseSource) -> IntArray:
        """Return totals, one row a release, with exact noise on every row."""
        if self.law is Law.GAUSSIAN:
            return add_gaussian(source, totals, self.scale)
        if self.law is Law.LAPLACE:
            return add_laplace(source, totals, self.scale)
        return add_radial(source, totals.astype(np.float64), self.scale, 1).astype(np.int64)

    def log_mgf(self, slopes: FloatArray) -> FloatArray:
        """Return ln E exp(s z) of one integer's noise z for each slope s; infinite where there is no such mean."""
        if self.law is Law.GAUSSIAN:
            return (self.scale * slopes) ** 2 / 2
        inside = (self.scale * slopes) ** 2
        return np.where(inside < 1, -self.shape * np.log1p(-np.minimum(inside, 1 - 1e-15)), np.inf)

    def quantile(self, chance: float) -> float:
        """Return what one integer's noise exceeds, in either direction, with at most this chance."""
        if self.law is Law.GAUSSIAN:
            return NormalDist().inv_cdf(1 - chance / 2) * self.scale
        if self.law is Law.LAPLACE:
            return -math.log(chance) * self.scale
        return gamma_difference_quantile(chance / 2, math.ceil(self.shape)) * self.scale

    def log_ratio(self, outputs: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return how much likelier outputs, one a row, are around the first point than around the second."""
        away, near = outputs - second, outputs - first
        if self.law is Law.GAUSSIAN:
            return np.asarray(((away**2).sum(axis=1) - (near**2).sum(axis=1)) / (2 * self.scale**2))
        order = 1 if self.law is Law.LAPLACE else 2
        return np.asarray((np.linalg.norm(away, order, axis=1) - np.linalg.norm(near, order, axis=1)) / self.scale)


def share_out(
    bounds: Sequence[Bounds], epsilon: Fraction, delta: Fraction | None, neighbours: Neighbours
) -> tuple[Noise, ...]:
    """Return the noise of each statistic, such that all together keep (ε, δ), or ε if there is no δ."""
    pure = tuple(_pure(each, epsilon / len(bounds), neighbours) for each in bounds)
    if delta is None:
        return pure
    one = Fraction(gaussian_sigma(epsilon, delta)) ** 2  # the σ² that is enough for a sensitivity of 1
    gaussian = tuple(
        Noise(Law.GAUSSIAN, float_up(root_up(each.l2_square(neighbours) * len(bounds) * one)), each.cells)
        for each in bounds
    )
    return min(pure, gaussian, key=lambda noises: math.fsum(math.log(noise.sd) for noise in noises))


def _pure(bounds: Bounds, epsilon: Fraction, neighbours: Neighbours) -> Noise:
    laplace = Noise(Law.LAPLACE, laplace_scale(epsilon, bounds.l1(neighbours)), bounds.cells)
    radial = Noise(Law.RADIAL, radial_scale(epsilon, root_up(Fraction(bounds.l2_square(neighbours)))), bounds.cells)
    return radial if bounds.cells > 1 and radial.sd < laplace.sd else laplace


def gamma_difference_quantile(tail: float, shape: int) -> float:
    """Return what the difference of two Gamma(shape, 1) variables exceeds with a chance of at most ``tail``."""
    low, high = 0.0, 1.0
    while _gamma_difference_tail(high, shape) > tail:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _gamma_difference_tail(middle, shape) > tail else (low, middle)
    return high


def _gamma_difference_tail(distance: float, shape: int) -> float:
    """Return P(X - Y > t) of two Gamma(k, 1) variables: e^-t Σ_j C(k+j-1, j) 2^-(k+j) Σ_{i<k-j} t^i / i!."""
    terms = np.array([math.exp(i * math.log(distance) - math.lgamma(i + 1) - distance) for i in range(shape)])
    sums = np.cumsum(terms)
    weights = [
        math.exp(math.lgamma(shape + j) - math.lgamma(j + 1) - math.lgamma(shape) - (shape + j) * math.log(2))
        for j in range(shape)
    ]
    return float(sum(weight * sums[shape - 1 - j] for j, weight in enumerate(weights)))


# --- Intervals around noisy means, from public numbers alone: they cost no privacy.


# Each slope gives a valid bound, so a finite list of them does too; this one is dense enough to lose nothing visible.
_SLOPES = np.geomspace(1e-6, 1e3, 1000)


@dataclass(frozen=True, slots=True, eq=False)
class NoisyMean:
    """Means of one statistic, as released.

    Attributes:
        mean: The noisy means, not clipped.
        people: How many observers there were.
        largest: The integer that stands for 1.
        step: How much of 1 the fixed point may have rounded away from each observer's value.
        noise: What was added to the sums.
    """

    mean: FloatArray
    people: int
    largest: int
    step: float
    noise: Noise

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on a mean."""
        return self.noise.sd / (self.people * self.largest)

    @property
    def rounding(self) -> float:
        """How far rounding of the noise may move a mean."""
        return 0.5 / (self.people * self.largest)

    def in_study(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals for the means of the participants in the study."""
        away = self.noise.quantile(1 - confidence) / (self.people * self.largest) + self.rounding
        return np.clip(self.mean - away, 0, 1), np.clip(self.mean + away + self.step, 0, 1)

    def in_population(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals for the means of everyone, if observers were drawn independently from them."""
        high = self._upper(self.mean + self.rounding, confidence)
        low = 1 - self._upper(1 - self.mean + self.rounding, confidence)
        return low, np.minimum(high + self.step, 1)

    def _upper(self, mean: FloatArray, confidence: float) -> FloatArray:
        """Return the largest population mean that such a small noisy mean does not contradict (a Chernoff bound)."""
        free = self.noise.log_mgf(_SLOPES / self.largest)
        slopes, free = _SLOPES[np.isfinite(free)], free[np.isfinite(free)]
        log_tail = math.log((1 - confidence) / 2)
        exponent = (log_tail - free) / self.people - np.outer(mean, slopes)
        with np.errstate(over="ignore"):
            bounds = -np.expm1(exponent) / -np.expm1(-slopes)
        return np.asarray(np.clip(bounds.min(axis=1), 0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """The difference between the noisy means of two groups of different participants."""

    first: NoisyMean
    second: NoisyMean

    @property
    def mean(self) -> FloatArray:
        """The noisy differences."""
        return self.first.mean - self.second.mean

    @property
    def noise_sd(self) -> float:
        """The standard deviation of the noise on a difference."""
        return math.hypot(self.first.noise_sd, self.second.noise_sd)

    def in_study(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals for the differences between the participants in the study."""
        return self._around(self._noise_reach(confidence))

    def in_population(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return intervals for the differences between everyone that the two groups were drawn from."""
        return self._around(self._reach(confidence))

    @property
    def _sides(self) -> tuple[NoisyMean, NoisyMean]:
        return self.first, self.second

    def _around(self, reach: float) -> tuple[FloatArray, FloatArray]:
        reach += sum(side.rounding for side in self._sides)
        low, high = self.mean - reach - self.second.step, self.mean + reach + self.first.step
        return np.clip(low, -1, 1), np.clip(high, -1, 1)

    def _noise_reach(self, confidence: float) -> float:
        if all(side.noise.law is Law.GAUSSIAN for side in self._sides):
            unit = Noise(Law.GAUSSIAN, 1.0, 1)
            return unit.quantile(1 - confidence) * self.noise_sd
        # the same noise, unless the groups differ in size: then both are taken as wide as the wider
        scale = max(side.noise.scale / (side.people * side.largest) for side in self._sides)
        shape = math.ceil(sum(side.noise.shape for side in self._sides))
        return scale * gamma_difference_quantile((1 - confidence) / 2, shape)

    def _reach(self, confidence: float) -> float:
        """Return how far a difference may stray: Chernoff's bound with Hoeffding's lemma for the participants."""
        slopes = _SLOPES * min(side.people for side in self._sides)
        free = np.zeros_like(slopes)
        for side in self._sides:
            free += slopes**2 / (8 * side.people) + side.noise.log_mgf(slopes / (side.people * side.largest))
        return float(((math.log(2 / (1 - confidence)) + free) / slopes).min())
