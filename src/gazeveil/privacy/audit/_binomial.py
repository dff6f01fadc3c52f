# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tails of the binomial distribution, never too small: what confidence bounds are cut from.

A tail is its largest term times a sum of products of ratios. The largest term comes from Loader's saddle-point form
(2000), which keeps its digits where factorials would lose them; the sum has positive terms only. Both carry a bound
on their rounding error, and the tail is enlarged by it. Error analysis: docs/proofs/audit.md.
"""

from __future__ import annotations

import math

import numpy as np

_UNIT = 2.0**-53
_FIRST_TERMS = 256
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def at_least(successes: int, trials: int, chance: float) -> float:
    """Return P(X >= successes) for X from Bin(trials, chance), or slightly more; 1 if that is at least one half."""
    return _tail(successes, trials, chance, 1.0 - chance)


def at_most(successes: int, trials: int, chance: float) -> float:
    """Return P(X <= successes) for X from Bin(trials, chance), or slightly more; 1 if that is at least one half."""
    return _tail(trials - successes, trials, 1.0 - chance, chance)


def _tail(k: int, n: int, p: float, q: float) -> float:
    """Return an upper bound on P(X >= k), where q = 1 - p is given as well, because it may be tiny."""
    if k <= n * p:  # the median is at least floor(n p), so the tail is at least one half
        return 1.0
    log_term, slack = _log_term(k, n, p, q)
    total, rest, terms = 1.0, 1.0, 0
    odds = p / q
    size = _FIRST_TERMS
    while rest > 1e-14 * total and k + terms < n:
        j = terms + np.arange(min(size, n - k - terms), dtype=np.float64)
        ratios = (n - k - j) / (k + 1 + j) * odds
        products = rest * np.cumprod(ratios)
        total += float(products.sum())
        rest = float(products[-1])
        terms += len(j)
        size *= 2
    if k + terms < n:  # the ratios fall, so what was left out is less than a geometric series
        ratio = (n - k - terms) / (k + 1 + terms) * odds
        total += rest * ratio / (1.0 - ratio)
    slack += 8 * (terms + 8) * _UNIT
    return min(1.0, math.exp(log_term) * total * (1.0 + slack))


def _log_term(k: int, n: int, p: float, q: float) -> tuple[float, float]:
    """Return ln P(X = k) and a bound on how far it is off; expects k > n p, so k is at least 1."""
    if k == n:
        log = n * (math.log1p(-q) if q < 0.5 else math.log(p))
        return log, _UNIT * (8 * abs(log) + 8)
    wins, losses = _deviance(k, n * p), _deviance(n - k, n * q)
    log = _stirling(n) - _stirling(k) - _stirling(n - k) - wins - losses
    log += 0.5 * (math.log(n) - math.log(k) - math.log(n - k)) - _HALF_LOG_TWO_PI
    # n p and n q are each off by up to two roundings, and each deviance changes by |k - n p| per unit of that.
    slack = _UNIT * (8 * (k - n * p) + 400 * (wins + losses) + 1000)
    return log, slack


def _deviance(x: float, mean: float) -> float:
    """Return x ln(x / mean) + mean - x, without cancellation where the two are close."""
    if abs(x - mean) < 0.1 * (x + mean):
        v = (x - mean) / (x + mean)
        total, term, j = (x - mean) * v, 2 * x * v, 1
        while True:
            term *= v * v
            if (added := total + term / (2 * j + 1)) == total:
                return total
            total, j = added, j + 1
    return x * math.log(x / mean) + mean - x


def _stirling(n: int) -> float:
    """Return ln n! - (n + 1/2) ln n + n - ln(2 pi)/2, to 2e-14."""
    if n <= 15:
        return math.log(math.factorial(n)) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TWO_PI
    square = 1.0 / (float(n) * n)
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680) * square) * square) * square) / n
