# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals around noisy means, from public numbers alone: they cost no privacy.

Two kinds. One is about the participants in the study: only the noise lies between them and the release. The other is
about everyone they were drawn from: it also allows for which participants happened to come, and needs no variance,
because a mean of numbers from 0 to 1 is spread no further than coins are. Both cover with at least the stated
confidence, for every number of participants and every distribution. Proofs: docs/proofs/aoi-statistics.md.

Means are shares of the largest value, from 0 to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.aoi.noise import Law, Noise, gamma_difference_quantile
from gazeveil.types import FloatArray

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
