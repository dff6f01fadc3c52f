# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From counts to bounds that hold with stated confidence: Clopper and Pearson 1934, rounded outward.

An event was seen k times in n independent runs. How rare, how frequent can it be in truth? And if it was seen more
often on one input than on its neighbour: how large must ε, or δ at ε, at least be? Proof: docs/proofs/audit.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gazeveil.errors import OptionError
from gazeveil.privacy.audit._binomial import at_least, at_most

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
