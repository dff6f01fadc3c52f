# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The slow part of a series as Fourier bins, a private choice of how many to keep, and noise on those of every chunk.

Scaling is unitary. `coordinates` are the real and imaginary parts as the transform gives them; `orthonormal` makes
them coordinates in an orthonormal basis (the two parts of a bin count twice, as that bin stands for two frequencies).

For a change u of a series and c its orthonormal coordinates in the first k bins, |coordinates|₁ ≤ √k |c|₂ ≤ √k |u|₂:
erratum B5 in unitary scaling, and tight (docs/proofs/feature-series.md).

Keeping few bins loses what is in the others, keeping many adds noise. The score of a number of bins is the root of the
energy that it would discard plus the noise that it would add. Only the first part is secret, and a change of the series
moves it by no more than the change is long. Noise is drawn for every candidate, and the best noisy score wins (report
noisy max with one-sided noise); the number alone is released. Trying several numbers on the true series and keeping the
best, as the article does, is a release that nothing pays for (erratum B7).

A chunk of one step is the Laplace perturbation algorithm; one chunk as long as the series is Fourier perturbation.
The sensitivities and why they hold are in docs/proofs/feature-series.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import OptionError
from gazeveil.exact import exact, root_up, whole_number
from gazeveil.features.series import STEP, SeriesMechanism, checked, gaussian_scale
from gazeveil.noise import NoiseSource, add_gaussian, add_laplace, from_lattice, laplace, to_lattice
from gazeveil.options import setting
from gazeveil.privacy.calibration import gaussian_epsilon, laplace_scale, pure_epsilon

STABLE = 2.0**-50
"""A transform of n values is off by less than n times this, relative to the values' length: a hundred times more than
rounding errors can amount to (Higham 2002, theorem 24.2)."""


def bin_count(steps: int) -> int:
    """Return how many bins the one-sided transform of a real series has."""
    return steps // 2 + 1


def coordinate_count(steps: int, kept: int) -> int:
    """Return how many real numbers the first ``kept`` bins are."""
    return min(2 * kept - 1, steps)


def fourier_coordinates(series: FloatArray, kept: int) -> FloatArray:
    """Return the first bins of series, which run along the last axis: mean, then cosine and sine of each."""
    steps = series.shape[-1]
    if steps == 1:
        return series
    spectrum = np.fft.rfft(series, axis=-1, norm="ortho")[..., :kept]
    parts = np.empty((*spectrum.shape[:-1], 2 * kept - 1))
    parts[..., 0] = spectrum[..., 0].real
    parts[..., 1::2] = spectrum[..., 1:].real
    parts[..., 2::2] = spectrum[..., 1:].imag
    return parts[
        ..., : coordinate_count(steps, kept)
    ]  # without the sine of the fastest bin of an even length, which is zero


def series_of_coordinates(parts: FloatArray, steps: int) -> FloatArray:
    """Return the series of this many steps that has these coordinates, and nothing in the other bins."""
    if steps == 1:
        return parts
    kept = parts.shape[-1] // 2 + 1
    spectrum = np.zeros((*parts.shape[:-1], bin_count(steps)), dtype=np.complex128)
    spectrum[..., 0] = parts[..., 0]
    spectrum[..., 1:kept].real = parts[..., 1::2]
    sines = parts[..., 2::2]
    spectrum[..., 1 : 1 + sines.shape[-1]].imag = sines
    return np.fft.irfft(spectrum, n=steps, axis=-1, norm="ortho")


def orthonormal(steps: int, kept: int) -> FloatArray:
    """Return the factors that make coordinates orthonormal: √2, but 1 for the mean and the fastest bin."""
    factors = np.full(coordinate_count(steps, kept), math.sqrt(2.0))
    factors[0] = 1.0
    if coordinate_count(steps, kept) == steps and steps % 2 == 0:
        factors[-1] = 1.0
    return factors


@lru_cache(maxsize=256)
def slow_share(steps: int, kept: int, changed: int) -> float:
    """Return how much of the energy of a change of this many consecutive steps the first bins can see, at most.

    It is the largest eigenvalue of the basis restricted to those steps, the same wherever they lie, since a shift in
    time only turns the sines and cosines of a bin into one another. A little is added for rounding.
    """
    if changed >= steps or kept >= bin_count(steps):
        return 1.0
    t = np.arange(changed)[:, None]
    frequencies = 2 * math.pi * np.arange(1, kept) / steps
    waves = np.concatenate(
        [
            np.full((changed, 1), 1 / math.sqrt(steps)),
            np.sqrt(2 / steps) * np.cos(t * frequencies),
            np.sqrt(2 / steps) * np.sin(t * frequencies),
        ],
        axis=1,
    )
    return min(1.0, float(np.linalg.norm(waves, ord=2)) ** 2 * (1 + 1e-9))


# --- The private choice of how many bins to keep, by the score of EFPA (Ács 2012), paid for with part of ε.


ROUNDING = Fraction(1, 1 << 20)
"""More than rounding to the lattice and the rounding errors of a transform can add to a difference of scores."""


def kept_candidates(steps: int) -> tuple[int, ...]:
    """Return the numbers of bins to choose from: 1, 2, 3, 4, 6, 8, 12, … up to all."""
    most = bin_count(steps)
    rising = {1, 3} | {1 << j for j in range(20)} | {3 << j for j in range(20)}
    return (*sorted(k for k in rising if k < most), most)


def discarded(series: FloatArray, choices: tuple[int, ...]) -> FloatArray:
    """Return the root of the energy that every choice discards, along a new last axis; raw, not private."""
    steps = series.shape[-1]
    every = bin_count(steps)
    parts = fourier_coordinates(series, every) * orthonormal(steps, every)
    behind = np.cumsum(np.square(parts[..., ::-1]), axis=-1)[..., ::-1]
    behind = np.concatenate([behind, np.zeros((*behind.shape[:-1], 1))], axis=-1)
    return np.asarray(np.sqrt(behind[..., [coordinate_count(steps, k) for k in choices]]))


def choose_kept(
    lost: FloatArray, cost: FloatArray, epsilon: Fraction, sensitivity: Fraction, noise: NoiseSource
) -> IntArray:
    """Return which choice has the least noisy score, for every series: an index along the last axis.

    Args:
        lost: The secret part of the scores, one column a choice.
        cost: The public part.
        epsilon: The ε that one series pays.
        sensitivity: How far a change of the series moves the secret part.
        noise: Where the noise comes from.
    """
    scale = laplace_scale(epsilon, 2 * (sensitivity + ROUNDING))
    bonus = np.abs(laplace(noise, scale, lost.shape, STEP))
    return np.asarray(np.argmax(bonus - to_lattice(lost, STEP) - to_lattice(cost, STEP), axis=-1), dtype=np.int64)


# --- Noise on the slow part of every chunk: what the Fourier perturbation family (Bozkir 2020) shares.


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
        if self.kept > bin_count(self.chunk):
            raise OptionError(
                f"a chunk of {self.chunk:,} steps has {bin_count(self.chunk):,} bins, of which {self.kept:,} "
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
        seen = max(slow_share(length, min(self.kept, bin_count(length)), min(changed, length)) for length in lengths)
        return changed * Fraction(seen)

    def sensitivity(self, changed: int) -> Fraction:
        """Return how far a stretch moves all coordinates of all features: in ℓ2 for Gaussian noise, else in ℓ1."""
        touched, square = self.touched(changed), self.squared_change(changed)
        numbers = touched * coordinate_count(self.chunk, self.kept)
        rounding = root_up(Fraction(self.chunk)) * self.chunk * Fraction(2 * STABLE)
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
            chunks = self.restore(series_of_coordinates(part, length))
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
        kept = min(self.kept, bin_count(length))
        parts = fourier_coordinates(chunks, kept)
        if self.is_gaussian:
            even = orthonormal(length, kept)
            return from_lattice(add_gaussian(noise, to_lattice(parts * even, STEP), self.scale, STEP), STEP) / even
        return from_lattice(add_laplace(noise, to_lattice(parts, STEP), self.scale, STEP), STEP)
