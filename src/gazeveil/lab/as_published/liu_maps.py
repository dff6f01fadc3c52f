# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noise on a gaze map as Liu 2019 publishes it: theorem 3.4, whose proof does not hold, and theorem 3.5."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.aggregate.liu.noisy_maps import NOISES, GaussianMap, LaplaceMap
from gazeveil.exact import in_digits
from gazeveil.privacy.calibration import LiuNoise, gaussian_delta
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, Unproven


@NOISES.add_unlisted("gaussian-as-published")
@dataclass(frozen=True, slots=True)
class GaussianAsPublished(GaussianMap):
    """Gaussian noise at the σ of theorem 3.4, whose proof does not hold (L1, L2).

    Where that σ is large enough all the same, by the exact formula, the guarantee stands. Where it is not (few cells),
    nothing is guaranteed, and the reason says what δ is true.
    """

    name: ClassVar[str] = "liu-gaussian-as-published"

    @property
    def guarantee(self) -> Guarantee:
        """What is claimed if it is true, and nothing if it is not."""
        if self.sound:
            return ApproxDP(self._epsilon, self._delta)
        return Unproven(
            f"theorem 3.4 of Liu 2019 gives too little noise here (errata L1, L2, L3): δ is "
            f"{in_digits(Fraction(self.true_delta))}, not {in_digits(self._delta)}"
        )

    @property
    def sigma(self) -> float:
        """The published standard deviation of the noise, in counts; it knows nothing of ``samples``."""
        return self._published.sigma_gaussian() * self.observers

    @property
    def true_delta(self) -> float:
        """The δ that this noise keeps at ε, rounded up."""
        return gaussian_delta(self.sigma, self.sensitivity, self._epsilon)

    @property
    def sound(self) -> bool:
        """Whether the noise keeps what is claimed."""
        return Fraction(self.true_delta) <= self._delta

    @property
    def _published(self) -> LiuNoise:
        return LiuNoise(
            observers=self.observers, pixels=self.cells, cap=self.cap, epsilon=self._epsilon, delta=self._delta
        )


@NOISES.add_unlisted("laplace-as-published")
@dataclass(frozen=True, slots=True)
class LaplaceAsPublished(LaplaceMap):
    """Laplace noise of theorem 3.5, which is right: scale mr/ε counts, whether or not ``samples`` are bounded."""

    name: ClassVar[str] = "liu-laplace-as-published"

    @property
    def sensitivity(self) -> Fraction:
        """How far one observer could move the sum in ℓ1 by filling every cell, in counts."""
        return Fraction(self.cap * self.cells)
