# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which noise each statistic gets under a shared budget, and what is known about it before any data are seen.

Two ways. Pure: ε is divided, and each statistic gets Laplace or radial noise, whichever is smaller. Gaussian: every
statistic gets Gaussian noise, and together they spend one Gaussian mechanism (zCDP adds up: Σ Δ²/σ² is the same as for
one of them alone). Few numbers are better off with the first, many with the second; where there is a δ, the way with
the smaller noise is taken. All choices depend on public numbers alone.
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
from gazeveil.exact import float_up, root_up
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, add_radial
from gazeveil.privacy.calibrate import gaussian_sigma, laplace_scale, radial_scale
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray, IntArray


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
