# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Subjects of the auditor: our samplers of noise, and two mechanisms that are broken."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.noise import (
    NoiseSource,
    add_gaussian,
    add_laplace,
    add_radial,
    ball_laplace,
    from_lattice,
    lattice_step,
    planar_laplace,
    to_lattice,
)
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.privacy.calibration import gaussian_sigma, laplace_scale, radial_scale
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, PureDP

_GAZE = (960.3, 540.7, 71.9)
"""Where someone looks, on no lattice; the third number is for three dimensions."""


@dataclass(frozen=True, slots=True)
class GaussianCount:
    """A number on the lattice plus Gaussian noise."""

    sigma: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy numbers."""
        step = lattice_step(self.sigma)
        return from_lattice(add_gaussian(noise, to_lattice(np.full(trials, data), step), self.sigma, step), step)

    def log_ratio(self, outputs: Outputs, first: float, second: float) -> FloatArray:
        """Return the log ratio of the two densities."""
        return np.asarray((first - second) / self.sigma**2 * (outputs[:, 0] - (first + second) / 2))


@dataclass(frozen=True, slots=True)
class LaplaceCount:
    """A number on the lattice plus Laplace noise."""

    scale: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy numbers."""
        step = lattice_step(self.scale)
        return from_lattice(add_laplace(noise, to_lattice(np.full(trials, data), step), self.scale, step), step)

    def log_ratio(self, outputs: Outputs, first: float, second: float) -> FloatArray:
        """Return the log ratio of the two densities."""
        return np.asarray((np.abs(outputs[:, 0] - second) - np.abs(outputs[:, 0] - first)) / self.scale)


@dataclass(frozen=True, slots=True)
class RadialVector:
    """A vector plus noise whose density falls with its length."""

    scale: float

    def run(self, data: tuple[float, ...], noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy vectors."""
        return add_radial(noise, np.tile(data, (trials, 1)), self.scale, lattice_step(self.scale))

    def log_ratio(self, outputs: Outputs, first: tuple[float, ...], second: tuple[float, ...]) -> FloatArray:
        """Return the log ratio of the two densities."""
        away = [np.linalg.norm(outputs - np.array(point), axis=1) for point in (first, second)]
        return np.asarray((away[1] - away[0]) / self.scale)


@dataclass(frozen=True, slots=True)
class GazePoint:
    """A gaze point, in the viewing plane or in space, plus planar Laplace noise.

    One call for all trials, or one a trial.
    """

    per_unit: Fraction
    live: bool = False

    def run(self, data: tuple[float, ...], noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy points."""
        if self.live:
            x, y = data
            return np.array([planar_laplace(noise, x, y, self.per_unit) for _ in range(trials)])
        axes = [np.full(trials, coordinate) for coordinate in data]
        if len(axes) == 2:
            return np.column_stack(planar_laplace(noise, axes[0], axes[1], self.per_unit))
        return np.column_stack(ball_laplace(noise, axes[0], axes[1], axes[2], self.per_unit))

    def log_ratio(self, outputs: Outputs, first: tuple[float, ...], second: tuple[float, ...]) -> FloatArray:
        """Return the log ratio of the two densities."""
        return RadialVector(float(1 / self.per_unit)).log_ratio(outputs, first, second)


@auditable("lattice-gaussian")
def lattice_gaussian(epsilon: float = 1.0, delta: float = 1e-3, sensitivity: float = 1.0) -> Subject:
    """Gaussian noise on a lattice, at the σ of the analytic Gaussian mechanism."""
    mechanism = GaussianCount(gaussian_sigma(epsilon, delta, sensitivity))
    return Subject(mechanism.run, ApproxDP(epsilon, delta), _counts(sensitivity), mechanism.log_ratio)


@auditable("lattice-gaussian-wide")
def lattice_gaussian_wide(epsilon: float = 1.0, delta: float = 1e-3, sensitivity: float = 20_000.0) -> Subject:
    """Gaussian noise too wide for a table: the sampler that refines intervals."""
    return lattice_gaussian(epsilon, delta, sensitivity)


@auditable("lattice-laplace")
def lattice_laplace(epsilon: float = 1.0, sensitivity: float = 1.0) -> Subject:
    """Laplace noise on a lattice."""
    mechanism = LaplaceCount(laplace_scale(epsilon, sensitivity))
    return Subject(mechanism.run, PureDP(epsilon), _counts(sensitivity), mechanism.log_ratio)


@auditable("lattice-laplace-wide")
def lattice_laplace_wide(epsilon: float = 1.0, sensitivity: float = 20_000.0) -> Subject:
    """Laplace noise too wide for a table: the sampler that refines intervals."""
    return lattice_laplace(epsilon, sensitivity)


@auditable("planar-laplace")
def planar(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """A gaze point plus planar Laplace noise, moved by a radius in pixels."""
    return _gaze(GazePoint(Fraction(epsilon) / Fraction(radius)), epsilon, radius, dimensions=2)


@auditable("planar-laplace-live")
def planar_live(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """The same as planar-laplace, one point at a time as in a live stream."""
    return _gaze(GazePoint(Fraction(epsilon) / Fraction(radius), live=True), epsilon, radius, dimensions=2)


@auditable("planar-laplace-3d")
def planar_3d(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """A gaze point in space plus three-dimensional Laplace noise."""
    return _gaze(GazePoint(Fraction(epsilon) / Fraction(radius)), epsilon, radius, dimensions=3)


@auditable("radial")
def radial(epsilon: float = 1.0, dimensions: int = 5) -> Subject:
    """A vector plus radial noise, at an l2 sensitivity of 1."""
    mechanism = RadialVector(radial_scale(epsilon))
    here, there = (0.3,) * dimensions, (1.3, *(0.3,) * (dimensions - 1))
    pair = Pair(here, there, f"two vectors of {dimensions} numbers at distance 1")
    return Subject(mechanism.run, PureDP(epsilon), (pair,), mechanism.log_ratio)


def _counts(sensitivity: float) -> tuple[Pair, ...]:
    return (Pair(0.0, sensitivity, f"a count of 0 and a count of {sensitivity:g}"),)


def _gaze(mechanism: GazePoint, epsilon: float, radius: float, *, dimensions: int) -> Subject:
    here = _GAZE[:dimensions]
    there = (here[0] - radius, *here[1:])
    pair = Pair(here, there, f"two gaze points at a distance of {radius:g}")
    return Subject(mechanism.run, GazeStreamDP(epsilon, 1, radius), (pair,), mechanism.log_ratio)


# --- Two mechanisms that break their guarantee, to see whether the auditor finds it. Never release with these.


@dataclass(frozen=True, slots=True)
class FloatLaplace:
    """A number plus numpy's floating-point Laplace noise: right on paper, wrong in its last bits."""

    scale: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy numbers."""
        generator = np.random.default_rng(noise.words(4))  # noqa: TID251  (numpy's noise is what is audited here)
        return data + generator.laplace(0.0, self.scale, trials)


@auditable("numpy-laplace")
def numpy_laplace(epsilon: float = 1.0) -> Subject:
    """Broken: floating-point Laplace noise by numpy, which shows the secret in its last bits."""
    mechanism = FloatLaplace(laplace_scale(epsilon))
    return Subject(mechanism.run, PureDP(epsilon), (Pair(0.0, 1.0, "a count of 0 and a count of 1"),))


@auditable("half-scale-laplace")
def half_scale_laplace(epsilon: float = 1.0) -> Subject:
    """Broken: Laplace noise at half the scale that the claim needs."""
    mechanism = LaplaceCount(laplace_scale(epsilon) / 2)
    return Subject(mechanism.run, PureDP(epsilon), (Pair(0.0, 1.0, "a count of 0 and a count of 1"),))
