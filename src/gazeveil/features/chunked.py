# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noise on the slow part of every chunk of a series: what the Fourier perturbation family (Bozkir 2020) shares.

A chunk of one step is the Laplace perturbation algorithm; one chunk as long as the series is Fourier perturbation.
The sensitivities and why they hold are in docs/proofs/feature-series.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gazeveil.errors import OptionError
from gazeveil.exact import exact, root_up, whole_number
from gazeveil.features import fourier
from gazeveil.features.series import STEP, SeriesMechanism, checked, gaussian_scale
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, from_lattice, to_lattice
from gazeveil.options import setting
from gazeveil.privacy.calibrate import gaussian_epsilon, laplace_scale, pure_epsilon
from gazeveil.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkedSeries(SeriesMechanism):
    """Cuts series into chunks, keeps the first bins of each chunk's transform, and adds noise to those.

    Attributes:
        chunk: Steps of a chunk; the last one may have fewer.
        kept: Bins that are kept of every chunk.
    """

    chunk: int = setting(1)
    kept: int = setting(1)

    def __post_init__(self) -> None:
        super(ChunkedSeries, self).__post_init__()
        object.__setattr__(self, "chunk", whole_number(self.chunk, "chunk", at_least=1))
        object.__setattr__(self, "kept", whole_number(self.kept, "kept", at_least=1))
        if self.chunk > self.steps:
            raise OptionError(f"a chunk of {self.chunk:,} steps is longer than the series, {self.steps:,}")
        if self.kept > fourier.bins(self.chunk):
            raise OptionError(
                f"a chunk of {self.chunk:,} steps has {fourier.bins(self.chunk):,} bins, of which {self.kept:,} "
                "cannot be kept"
            )

    @property
    def chunks(self) -> int:
        """How many chunks a series has."""
        return -(-self.steps // self.chunk)

    @property
    def is_gaussian(self) -> bool:
        """Whether the noise is Gaussian."""
        return exact(self.delta) > 0

    @property
    def scale(self) -> float:
        """The scale of the noise on every coordinate: of Laplace noise, or the σ of Gaussian noise."""
        change = self.sensitivity(self.changed)
        if self.is_gaussian:
            return gaussian_scale(self.epsilon, self.delta, change)
        return laplace_scale(self.epsilon, change)

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise guarantees for a stretch of this many steps, at the same δ."""
        if changed == self.changed:
            return exact(self.epsilon)
        change = self.sensitivity(changed)
        if self.is_gaussian:
            return Fraction(gaussian_epsilon(self.scale, change, self.delta))
        return pure_epsilon(self.scale, change)

    def touched(self, changed: int) -> int:
        """Return how many chunks a stretch of this many steps meets at most: one more than fit in (erratum B11)."""
        return min(self.chunks, -(-(changed - 1) // self.chunk) + 1)

    def squared_change(self, changed: int) -> Fraction:
        """Return the squared length by which a stretch moves the kept coordinates of one feature, at most."""
        lengths = {self.chunk, self.steps - (self.chunks - 1) * self.chunk}
        seen = max(
            fourier.slow_share(length, min(self.kept, fourier.bins(length)), min(changed, length)) for length in lengths
        )
        return changed * Fraction(seen)

    def sensitivity(self, changed: int) -> Fraction:
        """Return how far a stretch moves all coordinates of all features: in ℓ2 for Gaussian noise, else in ℓ1."""
        touched, square = self.touched(changed), self.squared_change(changed)
        numbers = touched * fourier.numbers(self.chunk, self.kept)
        rounding = root_up(Fraction(self.chunk)) * self.chunk * Fraction(2 * fourier.STABLE)
        if self.is_gaussian:
            slack = root_up(Fraction(numbers)) * Fraction(STEP) + root_up(Fraction(touched)) * rounding
            return root_up(Fraction(self.features)) * (root_up(square) + 2 * slack)
        slack = numbers * Fraction(STEP) + touched * root_up(Fraction(2 * self.kept)) * rounding
        return self.features * (root_up(self.kept * touched * square) + slack)

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        table = np.ascontiguousarray(checked(values, self.steps, self.features).swapaxes(1, 2))
        return np.clip(self.read(self.measure(table, noise)), 0.0, 1.0).swapaxes(1, 2)

    def measure(self, table: FloatArray, noise: NoiseSource) -> list[FloatArray]:
        """Return noisy coordinates of series along the last axis: of the whole chunks, and of the last, shorter one."""
        return [self._noisy(self.prepare(part), noise) for part in self._parts(table)]

    def read(self, measured: list[FloatArray]) -> FloatArray:
        """Return the series that noisy coordinates stand for."""
        rows = []
        for part, length in zip(measured, self._lengths(), strict=True):
            chunks = self.restore(fourier.series(part, length))
            rows.append(chunks.reshape(*chunks.shape[:-2], -1))
        return np.concatenate(rows, axis=-1)

    def prepare(self, chunks: FloatArray) -> FloatArray:
        """Return what is transformed of chunks, which lie along the last axis."""
        return chunks

    def restore(self, chunks: FloatArray) -> FloatArray:
        """Return chunks from what was transformed."""
        return chunks

    def _lengths(self) -> list[int]:
        whole, rest = divmod(self.steps, self.chunk)
        return ([self.chunk] if whole else []) + ([rest] if rest else [])

    def _parts(self, table: FloatArray) -> list[FloatArray]:
        whole = self.steps // self.chunk * self.chunk
        parts = [table[..., :whole].reshape(*table.shape[:-1], -1, self.chunk)]
        return parts + ([table[..., None, whole:]] if whole < self.steps else [])

    def _noisy(self, chunks: FloatArray, noise: NoiseSource) -> FloatArray:
        length = chunks.shape[-1]
        kept = min(self.kept, fourier.bins(length))
        parts = fourier.coordinates(chunks, kept)
        if self.is_gaussian:
            even = fourier.orthonormal(length, kept)
            return from_lattice(add_gaussian(noise, to_lattice(parts * even, STEP), self.scale, STEP), STEP) / even
        return from_lattice(add_laplace(noise, to_lattice(parts, STEP), self.scale, STEP), STEP)
