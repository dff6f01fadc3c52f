# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The slow part of a series as real numbers: the first bins of its one-sided discrete Fourier transform.

Scaling is unitary. `coordinates` are the real and imaginary parts as the transform gives them; `orthonormal` makes
them coordinates in an orthonormal basis (the two parts of a bin count twice, as that bin stands for two frequencies).

For a change u of a series and c its orthonormal coordinates in the first k bins, |coordinates|₁ ≤ √k |c|₂ ≤ √k |u|₂:
erratum B5 in unitary scaling, and tight (docs/proofs/feature-series.md).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gazeveil.types import FloatArray

STABLE = 2.0**-50
"""A transform of n values is off by less than n times this, relative to the values' length: a hundred times more than
rounding errors can amount to (Higham 2002, theorem 24.2)."""


def bins(steps: int) -> int:
    """Return how many bins the one-sided transform of a real series has."""
    return steps // 2 + 1


def numbers(steps: int, kept: int) -> int:
    """Return how many real numbers the first ``kept`` bins are."""
    return min(2 * kept - 1, steps)


def coordinates(series: FloatArray, kept: int) -> FloatArray:
    """Return the first bins of series, which run along the last axis: mean, then cosine and sine of each."""
    steps = series.shape[-1]
    if steps == 1:
        return series
    spectrum = np.fft.rfft(series, axis=-1, norm="ortho")[..., :kept]
    parts = np.empty((*spectrum.shape[:-1], 2 * kept - 1))
    parts[..., 0] = spectrum[..., 0].real
    parts[..., 1::2] = spectrum[..., 1:].real
    parts[..., 2::2] = spectrum[..., 1:].imag
    return parts[..., : numbers(steps, kept)]  # without the sine of the fastest bin of an even length, which is zero


def series(parts: FloatArray, steps: int) -> FloatArray:
    """Return the series of this many steps that has these coordinates, and nothing in the other bins."""
    if steps == 1:
        return parts
    kept = parts.shape[-1] // 2 + 1
    spectrum = np.zeros((*parts.shape[:-1], bins(steps)), dtype=np.complex128)
    spectrum[..., 0] = parts[..., 0]
    spectrum[..., 1:kept].real = parts[..., 1::2]
    sines = parts[..., 2::2]
    spectrum[..., 1 : 1 + sines.shape[-1]].imag = sines
    return np.fft.irfft(spectrum, n=steps, axis=-1, norm="ortho")


def orthonormal(steps: int, kept: int) -> FloatArray:
    """Return the factors that make coordinates orthonormal: √2, but 1 for the mean and the fastest bin."""
    factors = np.full(numbers(steps, kept), math.sqrt(2.0))
    factors[0] = 1.0
    if numbers(steps, kept) == steps and steps % 2 == 0:
        factors[-1] = 1.0
    return factors


@lru_cache(maxsize=256)
def slow_share(steps: int, kept: int, changed: int) -> float:
    """Return how much of the energy of a change of this many consecutive steps the first bins can see, at most.

    It is the largest eigenvalue of the basis restricted to those steps, the same wherever they lie, since a shift in
    time only turns the sines and cosines of a bin into one another. A little is added for rounding.
    """
    if changed >= steps or kept >= bins(steps):
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
