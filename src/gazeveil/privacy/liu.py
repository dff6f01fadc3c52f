# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of Liu et al. 2019 for aggregate gaze maps, as published, and what it is worth.

Their gaze map is the mean of n observers' maps over r pixels, each pixel of each observer between 0 and a cap m. The
published Gaussian noise (theorem 3.4) rests on a proof that does not hold (errata L1, L2). The number is nevertheless
large enough when there are many pixels, and too small when there are few (L3): `LiuNoise.true_delta` tells. The
Laplace noise (theorem 3.5) is right. Derivation: docs/proofs/liu.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero, chance_of_failure, root_up, whole_number
from gazeveil.privacy.calibrate import gaussian_delta, gaussian_sigma

_LEAST = Fraction(1, 10**100)
"""Noise below this, or above its inverse, would leave the range of floats on the way."""


@dataclass(frozen=True, slots=True, init=False)
class LiuNoise:
    """The noise for one gaze map.

    Attributes:
        observers: How many participants there are, n; public.
        pixels: How many pixels the map has, r.
        cap: The most that one observer adds to a pixel, m; fixed beforehand, never taken from the data (L7).
        epsilon: The ε that is claimed.
        delta: The δ that is claimed; n^(-3/2) if not given.
    """

    observers: int
    pixels: int
    cap: Fraction
    epsilon: Fraction
    delta: Fraction

    def __init__(
        self, *, observers: int, pixels: int, epsilon: Number, cap: Number = 1, delta: Number | None = None
    ) -> None:
        people = whole_number(observers, "observers", at_least=1)
        claimed = 1 / root_up(Fraction(people) ** 3) if delta is None else delta
        values = {
            "observers": people,
            "pixels": whole_number(pixels, "pixels", at_least=1),
            "cap": above_zero(cap, "cap"),
            "epsilon": above_zero(epsilon, "epsilon"),
            "delta": chance_of_failure(claimed, "delta"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        each = self.cap / (self.observers * self.epsilon)
        if not (each >= _LEAST and each * self.pixels <= 1 / _LEAST and self.delta >= _LEAST):
            raise OptionError("these numbers are out of all proportion: no gaze map is like that")

    def sigma_gaussian(self) -> float:
        """Return σ = m/(nε) √(r (ε/2 + ln(r/δ))) of theorem 3.4, as published."""
        log = math.log(self.pixels) + math.log(self.delta.denominator) - math.log(self.delta.numerator)
        spread = math.sqrt(self.pixels * (float(self.epsilon) / 2 + log))
        return float(self.cap / (self.observers * self.epsilon)) * spread

    def sigma_laplace(self) -> float:
        """Return the standard deviation √2 m r/(εn) of theorem 3.5, as published; the scale is 1/√2 of it."""
        return math.sqrt(2) * float(self.cap * self.pixels / (self.epsilon * self.observers))

    def sensitivity(self, samples: int | None = None) -> Fraction:
        """Return how far one observer can move the map, in ℓ2: m√r/n.

        Args:
            samples: The most gaze samples that one observer adds to the map, if that is enforced. A map of at most T
                samples has a norm of at most √(mT), and two such maps without negative pixels are at most √(2mT) apart
                (L4), which is far less than if one observer could fill every pixel.
        """
        square = self.cap**2 * self.pixels
        if samples is not None:
            square = min(square, 2 * self.cap * whole_number(samples, "samples", at_least=1))
        return root_up(square) / self.observers

    def true_delta(self) -> float:
        """Return the δ that the published Gaussian noise keeps at ε: exact, rounded up by at most one float."""
        return gaussian_delta(self.sigma_gaussian(), self.sensitivity(), self.epsilon)

    @property
    def sound(self) -> bool:
        """Whether the published Gaussian noise keeps what is claimed."""
        return Fraction(self.true_delta()) <= self.delta

    def sigma_sound(self, samples: int | None = None) -> float:
        """Return the smallest σ of Gaussian noise that keeps the claim, by the analytic Gaussian mechanism."""
        return gaussian_sigma(self.epsilon, self.delta, self.sensitivity(samples))
