# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Logarithms and cosines as the nearest doubles, computed with `intervals` on first import."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gazeveil.noise.intervals import Interval, cos_sin_turns, ln2

_BITS = 128


def _middle(interval: Interval) -> float:
    return float(Fraction(interval.lo + interval.hi, 2 << interval.bits))


def _log_halves() -> NDArray[np.float64]:
    """Return (1 + n) ln 2."""
    return np.array([float(Fraction((n + 1) * ln2(_BITS), 1 << _BITS)) for n in range(64)])


def _log_centres(bins: int) -> NDArray[np.float64]:
    """Return ln of the middle of each bin of [1, 2)."""
    middles = [1 + Fraction(2 * n + 1, 2 * bins) for n in range(bins)]
    return np.array([_middle(Interval.of(1 / middle, _BITS).minus_log()) for middle in middles])


def _cos_sin(bins: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cosine and sine of n / bins turns."""
    pairs = [cos_sin_turns(Interval.of(Fraction(n, bins), _BITS)) for n in range(bins)]
    return np.array([_middle(cosine) for cosine, _ in pairs]), np.array([_middle(sine) for _, sine in pairs])


LOG_HALVES = _log_halves()
LOG_CENTRES = _log_centres(128)
COSINES, SINES = _cos_sin(64)
