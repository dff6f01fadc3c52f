# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tests by ranks: Wilcoxon's signed ranks, Friedman's test, and Holm's correction for several tests.

Exact probabilities count all ways to sign the ranks, ties included; they need no normal approximation.
Sources: Wilcoxon (1945), Pratt (1959) for differences of zero, Friedman (1937), Kendall and Babington Smith (1939) for
W, Holm (1979), Hodges and Lehmann (1963), Kerby (2014) for the rank-biserial correlation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.userstudy.statistics._tails import above_chi_square

LEAST_PAIRS = 2
LEAST_CONDITIONS = 3
_DIGITS = 12
"""Differences count to this many digits of the largest number."""


def average_ranks(values: FloatArray) -> FloatArray:
    """Return ranks from 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[place.reshape(values.shape)]


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's test of paired differences."""

    pairs: int
    """Pairs with a difference other than zero."""
    positive: float
    """The sum of ranks of differences above zero."""
    z: float
    """By the normal approximation, with correction for ties and none for continuity, as papers print it."""
    p: float
    """Two-sided and exact."""
    rank_biserial: float
    """From -1 (every difference is negative) to 1."""
    shift: float
    """Hodges and Lehmann's estimate of the difference."""
    low: float
    high: float
    """The exact 95 % interval of the shift; infinite where so few pairs allow none."""


def signed_ranks(first: FloatArray, second: FloatArray) -> SignedRanks:
    """Compare pairs by the signed ranks of second - first. Differences of zero are left out, as Wilcoxon did.

    Raises:
        InputError: If there are not as many of both, fewer than two, or not finite.
    """
    differences = paired(first, second)
    kept = differences[differences != 0]
    if not len(kept):
        return SignedRanks(0, 0.0, 0.0, 1.0, 0.0, 0.0, *_interval(differences))
    ranks = average_ranks(np.abs(kept))
    positive, total = float(ranks[kept > 0].sum()), float(ranks.sum())
    spread = math.sqrt(float((ranks**2).sum())) / 2  # of the sum of signed ranks, ties included
    chances = _sums_of_signed(ranks)
    at = round(2 * positive)
    p = min(1.0, 2 * min(float(chances[: at + 1].sum()), float(chances[at:].sum())))
    walsh = _walsh_averages(differences)
    return SignedRanks(
        len(kept), positive, (positive - total / 2) / spread, p, 2 * positive / total - 1, float(np.median(walsh)),
        *_interval(differences),
    )  # fmt: skip


def paired(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return second - first, checked."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1 or len(one) < LEAST_PAIRS:
        raise InputError(f"pairs of numbers are needed, at least {LEAST_PAIRS}; found {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("a participant lacks a number in one of two compared conditions", hint="leave them out")
    differences = other - one
    # what is equal must stay so: 2/15 - 1/15 is not 3/15 - 2/15 in floating point, and ranks would follow from rounding
    size = float(max(np.abs(one).max(), np.abs(other).max()))
    return np.round(differences / size, _DIGITS) * size if size else differences


def _sums_of_signed(ranks: FloatArray) -> FloatArray:
    """Return the chance of each sum of twice the ranks, if each has its sign by a fair coin."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    chances = np.zeros(int(doubled.sum()) + 1)
    chances[0] = 1.0
    for rank in doubled:
        moved = np.zeros_like(chances)
        moved[rank:] = chances[: len(chances) - rank]
        chances = (chances + moved) / 2
    return chances


def _walsh_averages(differences: FloatArray) -> FloatArray:
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def _interval(differences: FloatArray, level: float = 0.95) -> tuple[float, float]:
    """Return the values of the shift that the exact test does not refuse."""
    chances = np.cumsum(_sums_of_signed(np.arange(1.0, len(differences) + 1))[::2])
    cut = int(np.searchsorted(chances, (1 - level) / 2, side="right"))  # so many averages may lie outside
    walsh = _walsh_averages(differences)
    return (float(walsh[cut - 1]), float(walsh[-cut])) if cut else (-math.inf, math.inf)


@dataclass(frozen=True)
class Friedman:
    """Friedman's test of conditions that every participant met."""

    participants: int
    conditions: int
    chi_square: float
    p: float
    """By the chi-square approximation."""
    agreement: float
    """Kendall's W: 0 if participants rank conditions by chance, 1 if all rank them alike."""
    mean_ranks: tuple[float, ...]


def friedman(table: FloatArray) -> Friedman:
    """Compare the columns of a table with one row a participant.

    Raises:
        InputError: If there are fewer than three columns or two rows, or numbers are missing.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < LEAST_CONDITIONS or values.shape[0] < LEAST_PAIRS:
        raise InputError(f"Friedman's test needs 3 conditions and 2 participants or more; found {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("a participant lacks a number in one of the conditions", hint="leave them out")
    people, conditions = values.shape
    ranks = np.stack([average_ranks(row) for row in values])
    between = people * float(((ranks.mean(axis=0) - (conditions + 1) / 2) ** 2).sum())
    within = float(((ranks - (conditions + 1) / 2) ** 2).sum()) / (people * (conditions - 1))
    chi_square = between / within if within else 0.0
    return Friedman(
        people, conditions, chi_square, above_chi_square(chi_square, conditions - 1),
        chi_square / (people * (conditions - 1)), tuple(float(mean) for mean in ranks.mean(axis=0)),
    )  # fmt: skip


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values corrected for their number, in the same order, by Holm's steps."""
    order = np.argsort(chances, kind="stable")
    corrected, largest = [0.0] * len(order), 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - step) * float(chances[place])))
        corrected[int(place)] = largest
    return corrected
