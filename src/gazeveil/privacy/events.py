# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What happened to the data: the mechanisms behind releases, for an account that is tighter than their guarantees.

A guarantee forgets how it was kept. Ten Gaussian releases together are one Gaussian release with √10 times less noise,
which their ten (ε, δ) do not tell. Events remember the one number that matters: noise relative to sensitivity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gazeveil.exact import Number, above_zero, as_source, at_least_zero, whole_number
from gazeveil.privacy import convert


class Event(ABC):
    """This many releases of one mechanism."""

    __slots__ = ()
    count: int

    @abstractmethod
    def renyi(self) -> convert.RenyiCurve:
        """Return the Rényi curve of one of the releases."""

    @abstractmethod
    def epsilon_alone(self) -> Fraction | None:
        """Return the pure ε of one of the releases; None if it has none."""

    def _place(self, count: int, **values: Any) -> None:
        for name, value in {**values, "count": whole_number(count, "count", at_least=1)}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class GaussianEvent(Event):
    """Gaussian noise; the noise multiplier is σ divided by the ℓ2 sensitivity."""

    noise_multiplier: Fraction
    count: int

    def __init__(self, noise_multiplier: Number, count: int = 1) -> None:
        self._place(count, noise_multiplier=above_zero(noise_multiplier, "noise_multiplier"))

    def __repr__(self) -> str:
        return f"GaussianEvent({as_source(self.noise_multiplier)}, count={self.count})"

    def renyi(self) -> convert.RenyiCurve:
        """Return the Rényi curve of one of the releases."""
        return convert.gaussian_renyi(self.noise_multiplier, 1)

    def epsilon_alone(self) -> Fraction | None:
        """Return None: Gaussian noise has no pure ε."""
        return None


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class LaplaceEvent(Event):
    """Laplace noise on one number; the noise multiplier is the scale b divided by the sensitivity.

    For a vector, say `PureEvent` with ε = Δ1/b: that several coordinates lose no more than one that moves as far is
    proven for the Rényi curve, not for the distribution of losses that `dp_accounting` adds up.
    """

    noise_multiplier: Fraction
    count: int

    def __init__(self, noise_multiplier: Number, count: int = 1) -> None:
        self._place(count, noise_multiplier=above_zero(noise_multiplier, "noise_multiplier"))

    def __repr__(self) -> str:
        return f"LaplaceEvent({as_source(self.noise_multiplier)}, count={self.count})"

    def renyi(self) -> convert.RenyiCurve:
        """Return the Rényi curve of one of the releases."""
        return convert.laplace_renyi(self.noise_multiplier, 1)

    def epsilon_alone(self) -> Fraction | None:
        """Return Δ/b."""
        return 1 / self.noise_multiplier


@dataclass(frozen=True, slots=True, init=False, repr=False, order=True)
class PureEvent(Event):
    """Any mechanism that is ε-private: radial noise, randomised response, a black box."""

    epsilon: Fraction
    count: int

    def __init__(self, epsilon: Number, count: int = 1) -> None:
        self._place(count, epsilon=at_least_zero(epsilon, "epsilon"))

    def __repr__(self) -> str:
        return f"PureEvent({as_source(self.epsilon)}, count={self.count})"

    def renyi(self) -> convert.RenyiCurve:
        """Return the largest Rényi curve that one of the releases can have."""
        return convert.pure_renyi(self.epsilon)

    def epsilon_alone(self) -> Fraction | None:
        """Return ε."""
        return self.epsilon
