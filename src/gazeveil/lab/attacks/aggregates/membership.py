# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Membership: was it this participant's data that went in, or someone else's?

The attacker is the one that the definition of differential privacy is about: all other participants' data are known to
it, and both candidates for the last place. It works out what the target changes in a release, and how releases scatter
where the target is not in, from releases that it makes itself. Numbers of a release are then weighted by what the
target changes, divided by how much they scatter anyway, and added up. For Gaussian noise of one size that is the most
powerful test there is. A number that never varies without the target decides alone.

No attacker can find more than `most_found` if the guarantee holds: that is the guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.privacy.audit.bounds import epsilon_bound, lower_bound, upper_bound

ALPHA: Final = 0.05
"""How often `proven_epsilon` may say too much."""

_TINY: Final = 1e-9
_CUTS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Suspicion:
    """What the attacker looks at: a weight for every number of a release."""

    weights: FloatArray

    @staticmethod
    def learn(change: FloatArray, without: FloatArray) -> Suspicion:
        """Learn from public knowledge and from releases that the attacker made itself.

        Args:
            change: By how much the target changes every number of a release.
            without: Releases without the target, one row each.

        Raises:
            InputError: If the two do not fit, or there are fewer than two releases.
        """
        if without.ndim != 2 or len(without) < 2 or without.shape[1:] != change.shape:
            raise InputError(f"releases of {change.shape} numbers are needed, two at least, not {without.shape}")
        scatter = without.var(axis=0, ddof=1)
        floor = _TINY * max(float(scatter.max()), float(np.max(change**2, initial=0.0))) or 1.0
        return Suspicion(change / (scatter + floor))

    def scores(self, releases: FloatArray) -> FloatArray:
        """Return how much each release speaks for the target."""
        return np.asarray(releases @ self.weights)


def most_found(epsilon: float, delta: float, false: FloatArray) -> FloatArray:
    """Return the largest share of true targets that any attacker finds who accuses this many falsely."""
    up = math.exp(min(epsilon, 700.0)) * false + delta
    down = 1.0 - math.exp(-min(epsilon, 700.0)) * (1.0 - delta - false)
    return np.asarray(np.clip(np.minimum(up, down), 0.0, 1.0))


def proven_epsilon(inside: FloatArray, outside: FloatArray, delta: float, alpha: float = ALPHA) -> float:
    """Return an ε that the mechanism has at least, at δ: too large with a probability of at most ``alpha``.

    Half of the releases choose which scores to count, the other half is counted.

    Args:
        inside: Scores of releases with the target.
        outside: Scores of releases without.
        delta: The δ that is claimed.
        alpha: How often the answer may be too large.

    Raises:
        InputError: If there are fewer than four of each.
    """
    if min(len(inside), len(outside)) < 4:
        raise InputError("at least four releases with and four without the target are needed")
    halves = [(scores[: len(scores) // 2], scores[len(scores) // 2 :]) for scores in (inside, outside)]
    (choose_in, count_in), (choose_out, count_out) = halves
    pooled = np.unique(np.concatenate([choose_in, choose_out]))
    middles = (pooled[1:] + pooled[:-1]) / 2
    cuts = middles[:: max(1, len(middles) // _CUTS)]
    best: tuple[float, float, bool] = (-1.0, 0.0, True)
    for cut in cuts.tolist():
        for high in (True, False):
            best = max(best, (_bound(choose_in, choose_out, cut, high, delta, alpha), cut, high))
    return _bound(count_in, count_out, best[1], best[2], delta, alpha)


def _bound(inside: FloatArray, outside: FloatArray, cut: float, high: bool, delta: float, alpha: float) -> float:
    """Return ε from how often scores lie above a cut with the target, or below it without."""
    if high:
        here, there = int((inside > cut).sum()), int((outside > cut).sum())
        sizes = len(inside), len(outside)
    else:
        here, there = int((outside < cut).sum()), int((inside < cut).sum())
        sizes = len(outside), len(inside)
    return epsilon_bound(lower_bound(here, sizes[0], alpha / 2), upper_bound(there, sizes[1], alpha / 2), delta)
