# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Gaussian noise of Liu et al. 2019 for gaze maps, against what its authors claim (errata L1 to L3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gazeveil.noise import NoiseSource, add_gaussian, from_lattice, lattice_step
from gazeveil.privacy.audit.events.base import Outputs
from gazeveil.privacy.audit.neighbours.observers import observer_pairs
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.calibrate import gaussian_delta, gaussian_epsilon
from gazeveil.privacy.guarantee import ApproxDP
from gazeveil.privacy.liu import LiuNoise
from gazeveil.types import FloatArray


@dataclass(frozen=True, slots=True)
class GaussianLoss:
    """The loss of Gaussian noise, by the analytic formula of Balle and Wang 2018."""

    sigma: float
    sensitivity: Fraction
    words: str = "the exact loss of Gaussian noise, by the analytic formula"

    def epsilon_at(self, delta: float) -> float:
        """Return the ε that is true at δ, rounded down."""
        if delta <= 0:
            return math.inf
        return max(0.0, math.nextafter(gaussian_epsilon(self.sigma, self.sensitivity, delta), -math.inf))

    def delta_at(self, epsilon: float) -> float:
        """Return the δ that is true at ε, rounded down."""
        return max(0.0, math.nextafter(gaussian_delta(self.sigma, self.sensitivity, epsilon), -math.inf))


@dataclass(frozen=True, slots=True)
class NoisySum:
    """The sum of all observers' maps plus Gaussian noise: the mean map times the number of observers."""

    sigma: float

    def run(self, data: NDArray[np.int64], noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy sums, one map a row."""
        step = lattice_step(self.sigma)
        total = data.sum(axis=0) * round(1 / step)
        return from_lattice(add_gaussian(noise, np.tile(total, (trials, 1)), self.sigma, step), step)

    def log_ratio(self, outputs: Outputs, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log ratio of the two densities."""
        here, there = first.sum(axis=0), second.sum(axis=0)
        return np.asarray((outputs - (here + there) / 2) @ (here - there) / self.sigma**2)


@auditable("liu-as-published")
def liu_as_published(observers: int = 1000, pixels: int = 1, cap: int = 1, epsilon: float = 1.0) -> Subject:
    """Liu 2019, theorem 3.4: Gaussian noise on a gaze map, claimed at δ = observers^(-3/2)."""
    noise = LiuNoise(observers=observers, pixels=pixels, cap=cap, epsilon=epsilon)
    mechanism = NoisySum(noise.sigma_gaussian() * observers)
    maps = np.zeros((2, pixels), dtype=np.int64)  # whoever stays the same cancels out; their number enters σ alone
    return Subject(
        mechanism.run,
        ApproxDP(noise.epsilon, noise.delta),
        tuple(observer_pairs(maps, cap=cap)),
        mechanism.log_ratio,
        GaussianLoss(noise.sigma_gaussian(), noise.sensitivity()),
    )
