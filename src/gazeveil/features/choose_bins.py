# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How many bins of a series to keep, chosen privately: the score of EFPA (Ács 2012), paid for with part of ε.

Keeping few bins loses what is in the others, keeping many adds noise. The score of a number of bins is the root of the
energy that it would discard plus the noise that it would add. Only the first part is secret, and a change of the series
moves it by no more than the change is long. Noise is drawn for every candidate, and the best noisy score wins (report
noisy max with one-sided noise); the number alone is released. Trying several numbers on the true series and keeping the
best, as the article does, tells something about the series that nobody paid for (erratum B7).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gazeveil.features import fourier
from gazeveil.features.series import STEP
from gazeveil.noise import NoiseSource, laplace, to_lattice
from gazeveil.privacy.calibrate import laplace_scale
from gazeveil.types import FloatArray, IntArray

ROUNDING = Fraction(1, 1 << 20)
"""More than rounding to the lattice and the rounding errors of a transform can add to a difference of scores."""


def candidates(steps: int) -> tuple[int, ...]:
    """Return the numbers of bins to choose from: 1, 2, 3, 4, 6, 8, 12, … up to all."""
    most = fourier.bins(steps)
    rising = {1, 3} | {1 << j for j in range(20)} | {3 << j for j in range(20)}
    return (*sorted(k for k in rising if k < most), most)


def discarded(series: FloatArray, choices: tuple[int, ...]) -> FloatArray:
    """Return the root of the energy that every choice discards, along a new last axis; raw, not private."""
    steps = series.shape[-1]
    every = fourier.bins(steps)
    parts = fourier.coordinates(series, every) * fourier.orthonormal(steps, every)
    behind = np.cumsum(np.square(parts[..., ::-1]), axis=-1)[..., ::-1]
    behind = np.concatenate([behind, np.zeros((*behind.shape[:-1], 1))], axis=-1)
    return np.asarray(np.sqrt(behind[..., [fourier.numbers(steps, k) for k in choices]]))


def choose(
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
