# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One noise vector for a whole release: pure ε radial noise for few numbers, Gaussian noise for many.

Radial noise has standard deviation √(d + 1)·Δ/ε a coordinate and no δ; Gaussian noise s(ε, δ)·Δ whatever d is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import Number, exact
from gazeveil.features.series import dp_guarantee, gaussian_scale
from gazeveil.noise import NoiseSource, add_gaussian, add_radial, from_lattice, lattice_step, to_lattice
from gazeveil.privacy.calibration import gaussian_epsilon, pure_epsilon, radial_beats_gaussian, radial_scale
from gazeveil.privacy.guarantee import Guarantee, ZeroConcentratedDP
from gazeveil.privacy.protection import ProtectedUnit

_FINE = 1 << 20
_MARGIN = Fraction(1) + Fraction(1, 10**9)
"""More than rounding errors can add to the length of a change, or rounding to the fine lattice."""


@dataclass(frozen=True, slots=True)
class SphericalNoise:
    """Noise of the same size in every direction, for vectors whose change is bounded.

    Attributes:
        dimension: How many numbers a vector has.
        change: How far (ℓ2) a vector can move between neighbours, at most.
        epsilon: The ε to keep.
        delta: The δ that may be spent; 0 for none.
    """

    dimension: int
    change: float
    epsilon: Number
    delta: Number = 0

    @property
    def is_radial(self) -> bool:
        """Whether the noise is radial, and the guarantee pure."""
        return not exact(self.delta) or radial_beats_gaussian(self.dimension, self.epsilon, self.delta)

    @property
    def scale(self) -> float:
        """The scale of radial noise, or the σ of Gaussian noise."""
        change = Fraction(self.change) * _MARGIN
        if self.is_radial:
            return radial_scale(self.epsilon, change)
        return gaussian_scale(self.epsilon, self.delta, change)

    @property
    def sd(self) -> float:
        """The standard deviation of the noise on every coordinate."""
        return self.scale * math.sqrt(self.dimension + 1) if self.is_radial else self.scale

    def guarantee(self, unit: ProtectedUnit) -> Guarantee:
        """Return the guarantee: pure if the noise is radial."""
        return dp_guarantee(self.epsilon, 0 if self.is_radial else self.delta, unit)

    def concentrated(self, unit: ProtectedUnit) -> ZeroConcentratedDP:
        """Return what Gaussian noise costs in ρ, in which several releases add up best.

        Raises:
            OptionError: If the noise is radial: its ε adds up as it is.
        """
        if self.is_radial:
            raise OptionError("radial noise has no ρ of its own", hint="add up its ε")
        ratio = Fraction(self.change) * _MARGIN / Fraction(self.scale)
        return ZeroConcentratedDP(ratio * ratio / 2, unit=unit)

    def epsilon_at(self, change: float) -> Fraction:
        """Return the ε that the same noise keeps for vectors that change by so much, at the same δ."""
        if change == self.change:
            return exact(self.epsilon)
        if self.is_radial:
            return pure_epsilon(self.scale, Fraction(change) * _MARGIN)
        return Fraction(gaussian_epsilon(self.scale, Fraction(change) * _MARGIN, self.delta))

    def add(self, rows: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return vectors, one a row, with noise."""
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise OptionError(f"expected rows of {self.dimension} numbers, found shape {rows.shape}")
        scale = self.scale
        if self.is_radial:
            return add_radial(noise, rows, scale, lattice_step(scale))
        step = _fine_step(self.change, self.dimension)
        return from_lattice(add_gaussian(noise, to_lattice(rows, step), scale, step), step)


def _fine_step(change: float, dimension: int) -> float:
    """Return a lattice step so fine that rounding every coordinate adds less than the margin to a change."""
    finest = change / math.sqrt(dimension) / (2000 * _FINE)
    return float(2.0 ** math.floor(math.log2(finest)))


def in_ball(rows: FloatArray, radius: float) -> FloatArray:
    """Return rows shortened to at most a length."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, radius / np.maximum(lengths, 1e-300)))
