# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What an audit could have found: a verdict of "consistent" is worth what the audit would have caught."""

from __future__ import annotations

import math

from gazeveil.privacy.audit.bounds import epsilon_bound, lower_bound, upper_bound


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
