# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops of the samplers: double-precision recipes with error bounds, and the walk through a table.

Only + - * / and sqrt are used, which IEEE 754 rounds correctly, and constants that are the nearest doubles to the
truth; so the bounds hold on every machine, whatever its mathematical library. docs/proofs/radial.md derives them.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gazeveil.kernel_compiler import kernel
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


# --- Textbook recipes in doubles, each with a bound on its error: decided samples are rounded, the others are marked.


UNDECIDED = np.int64(np.iinfo(np.int64).min)

_ETA = 2.0**-53
_ONE = np.uint64(1)
_TOP = np.uint64(1 << 63)
_BIN_SHIFT = np.uint64(56)
_BIN_MASK = np.uint64(127)
_TURN_SHIFT = np.uint64(58)
_TURN_HALF = np.uint64(1 << 57)
_TURN_MASK = np.uint64(63)
_RADIANS = 2.0 * math.pi * 2.0**-64


@kernel(error_model="numpy")
def exponential(word: np.uint64) -> tuple[float, float]:
    """Return -ln U and how far it may be off, for U between word and word + 2 in units of 2**-64."""
    if word == np.uint64(0):
        return math.inf, math.inf
    zeros = 0
    scaled = word
    while scaled < _TOP:
        scaled <<= _ONE
        zeros += 1
    # scaled * 2**-63 = c (1 + r) with c the middle of its bin and |r| at most 2**-8; both are exact as integers
    bin_ = np.int64((scaled >> _BIN_SHIFT) & _BIN_MASK)
    offset = np.int64(scaled - _TOP) - ((2 * bin_ + 1) << 55)
    r = (np.float64(offset) * 2.0**-63) / (1.0 + (2 * bin_ + 1) * 2.0**-8)
    log1p = r * (1.0 - r * (0.5 - r * (1.0 / 3.0 - r * (0.25 - r * (0.2 - r * (1.0 / 6.0))))))
    value = (LOG_HALVES[zeros] - LOG_CENTRES[bin_]) - log1p
    return value, 4.0 * _ETA * (value + 1.0) + 2.1 / np.float64(word)


@kernel(error_model="numpy")
def cos_sin(word: np.uint64) -> tuple[float, float]:
    """Return cosine and sine of a random angle, each off by at most 6 eta."""
    bin_ = (word + _TURN_HALF) >> _TURN_SHIFT
    angle = np.float64(np.int64(word - (bin_ << _TURN_SHIFT))) * _RADIANS
    square = angle * angle
    sine = angle * (1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0)))
    cosine = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0))))
    c, s = COSINES[bin_ & _TURN_MASK], SINES[bin_ & _TURN_MASK]
    return c * cosine - s * sine, s * cosine + c * sine


@kernel(error_model="numpy")
def nearest(value: float, error: float) -> np.int64:
    """Round to the nearest integer, or say that the error does not allow it."""
    whole = np.floor(value)
    part = value - whole
    if not abs(part - 0.5) > 1.01 * error + 4.0 * _ETA * (abs(value) + 1.0):
        return UNDECIDED
    return np.int64(whole) + np.int64(part > 0.5)


@kernel(error_model="numpy")
def laplace(words: NDArray[np.uint64], scale: float, slack: float, out: NDArray[np.int64]) -> int:
    """Round scale * -ln U with the lowest bit as the sign; return how many stay undecided."""
    undecided = 0
    for k in range(len(words)):
        value, error = exponential(words[k] & ~_ONE)
        rounded = nearest(scale * value, scale * (error + 4.0 * _ETA * value) + slack)
        if rounded == UNDECIDED:
            undecided += 1
        elif words[k] & _ONE:
            rounded = -rounded
        out[k] = rounded
    return undecided


@kernel(error_model="numpy")
def gaussian(words: NDArray[np.uint64], scale: float, slack: float, out: NDArray[np.int64]) -> int:
    """Round scale * sqrt(-2 ln U) cos(2 pi V), two words a sample; return how many stay undecided."""
    undecided = 0
    for k in range(len(out)):
        value, error = exponential(words[2 * k])
        cosine, _ = cos_sin(words[2 * k + 1])
        radius = math.sqrt(2.0 * value)
        fuzz = 2.0 * error / radius + 16.0 * _ETA * radius
        out[k] = nearest(scale * radius * cosine, scale * fuzz + slack)
        undecided += out[k] == UNDECIDED
    return undecided


@kernel(error_model="numpy")
def radial(
    words: NDArray[np.uint64], scale: float, fractions: NDArray[np.float64], slack: float, out: NDArray[np.int64]
) -> int:
    """Round fraction + scale * radius * direction in every row; return how many rows stay undecided.

    The radius is the sum of d exponentials. The first half of them, with an angle each, are Gaussian pairs that make
    the direction; in odd dimensions the last Gaussian is left out. See docs/proofs/radial.md.
    """
    rows, dimension = out.shape
    pairs = (dimension + 1) // 2
    per_row = dimension + pairs
    squares, errors = np.empty(pairs), np.empty(pairs)
    cosines, sines = np.empty(pairs), np.empty(pairs)
    undecided = 0
    for row in range(rows):
        start = row * per_row
        radius = radius_error = norm = norm_error = 0.0
        for j in range(dimension):
            value, error = exponential(words[start + j])
            radius += value
            radius_error += error
            if j < pairs:
                squares[j], errors[j] = value, error
                cosines[j], sines[j] = cos_sin(words[start + dimension + j])
                if 2 * j + 1 < dimension:
                    norm += value
                else:
                    norm += value * cosines[j] * cosines[j]
                norm_error += error + 16.0 * _ETA * value
        radius_error += dimension * _ETA * radius
        norm_error += pairs * _ETA * norm
        open_ = not norm_error < 0.25 * norm
        for i in range(dimension):
            j = i // 2
            share, share_error = 1.0, 0.0
            if dimension != 2:
                ratio = squares[j] / norm
                share = math.sqrt(ratio)
                share_error = 2.0 * (errors[j] + ratio * norm_error) / (norm * share)
            offset = scale * radius * share * (cosines[j] if i % 2 == 0 else sines[j])
            fuzz = scale * (radius_error * (share + share_error) + radius * (share_error + 16.0 * _ETA * share))
            out[row, i] = nearest(fractions[row, i] + offset, fuzz + 2.0 * _ETA * abs(offset) + slack)
            open_ |= out[row, i] == UNDECIDED
        if open_:
            undecided += 1
            out[row, 0] = UNDECIDED
    return undecided


@kernel(error_model="numpy")
def plane_point(words: NDArray[np.uint64], scale: float, x: float, y: float) -> tuple[np.int64, np.int64]:
    """Round one point plus noise, all in lattice steps; for live use, where a call must be short."""
    fractions, out = np.empty((1, 2)), np.empty((1, 2), np.int64)
    fractions[0, 0], fractions[0, 1] = x - np.rint(x), y - np.rint(y)
    if radial(words, scale, fractions, 0.0, out):
        return UNDECIDED, UNDECIDED
    return out[0, 0] + np.int64(np.rint(x)), out[0, 1] + np.int64(np.rint(y))


# --- The walk through a `gazeveil.noise.exact_rounding.Table`: one word in, one lattice sample out.


UNDECIDED_BY_TABLE = np.iinfo(np.int64).min


@kernel()
def walk(
    words: NDArray[np.uint64],
    tails: NDArray[np.uint64],
    guide: NDArray[np.int32],
    shift: np.uint64,
    width: np.uint64,
    out: NDArray[np.int64],
) -> int:
    """Turn words into samples; mark those the table cannot decide and return how many there are.

    The lowest bit of a word is the sign, the other 63 are the uniform number. The guide leads to the last entry that
    is above all numbers with the same leading bits; the next entry is tried without a branch, which settles most
    words, and a binary search does the rest, so that a walk is never long.
    """
    undecided = 0
    for k in range(len(words)):
        number = words[k] >> _ONE
        bucket = np.int64(number >> shift)
        at = np.int64(guide[bucket])
        at += np.int64(number < tails[at])
        if number < tails[at]:
            low = at + 1
            high = np.int64(guide[bucket - 1]) if bucket > 0 else np.int64(len(tails) - 1)
            while low < high:
                middle = (low + high) >> 1
                if number < tails[middle]:
                    low = middle + 1
                else:
                    high = middle
            at = low
        if number - tails[at] < width:
            undecided += 1
            out[k] = UNDECIDED_BY_TABLE
        else:
            negative = -np.int64(words[k] & _ONE)
            out[k] = (at ^ negative) - negative
    return undecided
