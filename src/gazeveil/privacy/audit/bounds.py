# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From counts to bounds that hold with stated confidence (Clopper and Pearson 1934), and the power of an audit.

An event was seen k times in n independent runs. How rare, how frequent can it be in truth? And if it was seen more
often on one input than on its neighbour: how large must ε, or δ at ε, at least be? Proof: docs/proofs/audit.md.

A binomial tail is its largest term times a sum of products of ratios. The largest term comes from Loader's saddle-point
form (2000), which keeps its digits where factorials would lose them; the sum has positive terms only. Both carry a
bound on their rounding error, and the tail is enlarged by it. Error analysis: docs/proofs/audit.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gazeveil.errors import OptionError

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


# --- Bounds on chances, ε and δ, rounded outward.


MOST_RUNS = 10**12
"""Up to here the error bounds of the binomial tails are proven to be tiny."""

_WIDTH = 1e-12


def lower_bound(seen: int, runs: int, alpha: float) -> float:
    """Return the chance that an event has at least; too large with a probability of at most ``alpha``.

    Raises:
        OptionError: If the counts are impossible or ``alpha`` is not between 0 and 1/2.
    """
    _check(seen, runs, alpha)
    if seen == 0:
        return 0.0
    # Any of n runs succeeds with a chance of at most n p, so alpha / n is a bound, if a poor one.
    return _narrow(alpha / runs * (1 - _WIDTH), seen / runs, lambda chance: at_least(seen, runs, chance) <= alpha)


def upper_bound(seen: int, runs: int, alpha: float) -> float:
    """Return the chance that an event has at most; too small with a probability of at most ``alpha``.

    Raises:
        OptionError: If the counts are impossible or ``alpha`` is not between 0 and 1/2.
    """
    _check(seen, runs, alpha)
    if seen == runs:
        return 1.0
    return _narrow(1.0, max(seen, 0.5) / runs, lambda chance: at_most(seen, runs, chance) <= alpha)


def epsilon_bound(here_at_least: float, there_at_most: float, delta: float = 0.0) -> float:
    """Return the ε that a mechanism with such chances of one event on two neighbours has at least, at δ.

    By definition P(here) <= e^ε P(there) + δ. The answer is rounded down and never below zero.
    """
    excess = _down(here_at_least - delta)
    if excess <= there_at_most:
        return 0.0
    if there_at_most <= 0:
        return math.inf
    return max(0.0, _down(_down(math.log(_down(excess / there_at_most)))))


def delta_bound(here_at_least: float, there_at_most: float, epsilon: float) -> float:
    """Return the δ that a mechanism with such chances of one event on two neighbours has at least, at ε."""
    if epsilon > 700:
        return 0.0
    explained = _up(_up(_up(math.exp(epsilon))) * there_at_most)
    return max(0.0, _down(here_at_least - explained))


def _narrow(safe: float, unsafe: float, is_safe: Callable[[float], bool]) -> float:
    """Return a safe chance next to the unsafe ones, by halving; on a logarithmic scale while they are far apart."""
    while abs(safe - unsafe) > _WIDTH * min(safe, unsafe):
        low, high = min(safe, unsafe), max(safe, unsafe)
        middle = math.sqrt(low) * math.sqrt(high) if high > 2 * low else (low + high) / 2
        if not low < middle < high:
            break
        if is_safe(middle):
            safe = middle
        else:
            unsafe = middle
    return safe


def _check(seen: int, runs: int, alpha: float) -> None:
    if not 0 <= seen <= runs or not 1 <= runs <= MOST_RUNS:
        raise OptionError(f"an event cannot be seen {seen:,} times in {runs:,} runs", hint=f"up to {MOST_RUNS:,} runs")
    if not 0 < alpha < 0.5:
        raise OptionError(f"the chance of error must lie between 0 and 1/2, not {alpha!r}")


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


# --- The power: a verdict of "consistent" is worth as much as the violations that the audit would have caught.


def smallest_caught(claimed: float, delta: float, runs: int, alpha: float) -> float:
    """Return the smallest ε that counts of this many runs would have shown to lie above the claim.

    It is the ε of a mechanism that one event shows fully, which happens in half of the runs on one input, with counts
    as expected. Laplace noise at too small a scale is such a mechanism. Rarer events take more runs.

    Args:
        claimed: The claimed ε.
        delta: The claimed δ.
        runs: How many runs on each input were counted.
        alpha: The chance of error of each of the two bounds.

    Returns:
        The smallest ε; infinity if no event in half of the runs could have shown any violation.
    """
    half = runs // 2
    here = lower_bound(half, runs, alpha)

    def caught(there: int) -> bool:
        return epsilon_bound(here, upper_bound(there, runs, alpha), delta) > claimed

    if not caught(0):
        return math.inf
    most, too_many = 0, half
    while too_many - most > 1:
        middle = (most + too_many) // 2
        most, too_many = (middle, too_many) if caught(middle) else (most, middle)
    return math.log((half / runs - delta) * runs / max(most, 0.5))
