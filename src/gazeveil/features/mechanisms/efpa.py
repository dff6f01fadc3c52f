# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fourier perturbation with a private choice of how many bins to keep: EFPA, and SPA beside it (Ács 2012).

Half of ε pays for the choice, half for the noise. Published code of both keeps the true phase of every bin, which is
not private; here real and imaginary parts get noise. Choosing costs more than it gains below ε of about 48: prefer a
fixed number by a public rule (`fpa`), or the low-rank mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import OptionError
from gazeveil.exact import exact, root_up
from gazeveil.features import fourier
from gazeveil.features.series import SERIES_MECHANISMS, STEP, SeriesMechanism, checked
from gazeveil.noise import NoiseSource, add_laplace, add_radial, from_lattice, lattice_step, to_lattice
from gazeveil.privacy.calibration import laplace_scale, pure_epsilon, radial_scale


@SERIES_MECHANISMS.register("efpa")
@dataclass(frozen=True, slots=True, kw_only=True)
class EnhancedFourierPerturbation(SeriesMechanism):
    """Chooses privately, for every series, how many bins to keep, and adds Laplace noise to those."""

    name: ClassVar[str] = "efpa"

    def __post_init__(self) -> None:
        super(EnhancedFourierPerturbation, self).__post_init__()
        if exact(self.delta):
            raise OptionError(f"{self.name} is purely ε-private: leave delta at 0")

    @property
    def share(self) -> Fraction:
        """The ε of one half (the choice, the noise) of one feature."""
        return exact(self.epsilon) / (2 * self.features)

    @property
    def slack(self) -> Fraction:
        """What rounding errors of the transform can add to a change."""
        return root_up(Fraction(self.steps)) * self.steps * Fraction(2 * fourier.STABLE)

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that choice and noise guarantee for a stretch of this many steps."""
        if changed == self.changed:
            return exact(self.epsilon)
        chosen = self._length(changed) + fourier.ROUNDING, self._length(self.changed) + fourier.ROUNDING
        choice = self.share * chosen[0] / chosen[1]
        worst = max(
            pure_epsilon(self.scale(k), self.sensitivity(k, changed)) for k in fourier.kept_candidates(self.steps)
        )
        return self.features * (choice + worst)

    def sensitivity(self, kept: int, changed: int) -> Fraction:
        """Return how far a stretch moves the kept coordinates of one feature, in ℓ1."""
        rounding = (
            fourier.coordinate_count(self.steps, kept) * Fraction(STEP) + root_up(Fraction(2 * kept)) * self.slack
        )
        return root_up(kept * changed * Fraction(fourier.slow_share(self.steps, kept, changed))) + rounding

    def scale(self, kept: int) -> float:
        """Return the scale of the noise on every coordinate."""
        return laplace_scale(self.share, self.sensitivity(kept, self.changed))

    def expected_noise(self, kept: int) -> float:
        """Return the root of the energy that the noise is expected to have."""
        even = fourier.orthonormal(self.steps, kept)
        return self.scale(kept) * float(np.sqrt(2 * np.sum(np.square(even))))

    def noisy(self, parts: FloatArray, kept: int, noise: NoiseSource) -> FloatArray:
        """Return coordinates with noise, one series a row."""
        return from_lattice(add_laplace(noise, to_lattice(parts, STEP), self.scale(kept), STEP), STEP)

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        chosen, parts = self.measure(values, noise)
        out = np.empty((len(chosen), self.steps))
        for index, kept in enumerate(fourier.kept_candidates(self.steps)):
            mine = chosen == index
            if mine.any():
                out[mine] = fourier.series_of_coordinates(
                    parts[mine, : fourier.coordinate_count(self.steps, kept)], self.steps
                )
        return np.clip(out.reshape(-1, self.features, self.steps), 0.0, 1.0).swapaxes(1, 2)

    def measure(self, values: FloatArray, noise: NoiseSource) -> tuple[IntArray, FloatArray]:
        """Return which number of bins was chosen, and the kept coordinates with noise, then zeros: a series a row."""
        table = np.ascontiguousarray(checked(values, self.steps, self.features).swapaxes(1, 2))
        rows = table.reshape(-1, self.steps)
        choices = fourier.kept_candidates(self.steps)
        cost = np.array([self.expected_noise(k) for k in choices])
        lost = fourier.discarded(rows, choices)
        chosen = fourier.choose_kept(lost, cost, self.share, self._length(self.changed), noise)
        parts = np.zeros((len(rows), fourier.coordinate_count(self.steps, choices[-1])))
        for index, kept in enumerate(choices):
            mine = chosen == index
            if mine.any():
                noisy = self.noisy(fourier.fourier_coordinates(rows[mine], kept), kept, noise)
                parts[mine, : noisy.shape[-1]] = noisy
        return chosen, parts

    def _length(self, changed: int) -> Fraction:
        return root_up(Fraction(changed)) + self.slack


@SERIES_MECHANISMS.register("spa")
@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingPerturbation(EnhancedFourierPerturbation):
    """Chooses privately, for every series, how many bins to keep, and adds one radial noise vector to those."""

    name: ClassVar[str] = "spa"

    def sensitivity(self, kept: int, changed: int) -> Fraction:
        """Return how far a stretch moves the kept coordinates of one feature, in ℓ2."""
        return root_up(changed * Fraction(fourier.slow_share(self.steps, kept, changed))) + self.slack

    def scale(self, kept: int) -> float:
        """Return the scale of the radial noise."""
        return radial_scale(self.share, self.sensitivity(kept, self.changed))

    def expected_noise(self, kept: int) -> float:
        """Return the root of the energy that the noise is expected to have."""
        dimension = fourier.coordinate_count(self.steps, kept)
        return self.scale(kept) * float(np.sqrt(dimension * (dimension + 1)))

    def noisy(self, parts: FloatArray, kept: int, noise: NoiseSource) -> FloatArray:
        """Return coordinates with noise, one series a row."""
        even = fourier.orthonormal(self.steps, kept)
        return add_radial(noise, parts * even, self.scale(kept), lattice_step(self.scale(kept))) / even
