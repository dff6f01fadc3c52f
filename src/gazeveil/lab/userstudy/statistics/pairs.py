# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two conditions of the same participants: mean difference, Cohen's d with its interval, and a Bayes factor.

The Bayes factor is Rouder's (2009): how much more likely the t of the differences is if there is none than if d is
Cauchy-distributed with scale r. Intervals of d come from the non-central t distribution (Cumming and Finch 2001).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.userstudy.statistics._tails import distributions, root
from gazeveil.lab.userstudy.statistics.ranks import paired

USUAL_SCALE = math.sqrt(2) / 2
_NODES = 300
_FARTHEST_SDS = 6.0


@dataclass(frozen=True)
class PairedDifference:
    """How two conditions differ over participants."""

    participants: int
    mean: float
    t: float
    p: float
    d: float
    """Cohen's d of differences: their mean in their own standard deviations. Infinite if all are equal and not zero."""
    low: float
    high: float
    """The 95 % interval of d."""
    for_none: float
    """The Bayes factor: how much likelier these differences are if there is no difference. Above 1 speaks for none."""


def paired_difference(first: FloatArray, second: FloatArray, scale: float = USUAL_SCALE) -> PairedDifference:
    """Compare second - first.

    Raises:
        InputError: If there are not as many of both, fewer than two, or not finite.
    """
    differences = paired(first, second)
    people, mean, sd = len(differences), float(differences.mean()), float(differences.std(ddof=1))
    if sd <= 1e-12 * max(1.0, abs(mean)):
        if abs(mean) <= 1e-300:
            return PairedDifference(
                people, 0.0, 0.0, 1.0, 0.0, *interval_of_d(0.0, people), bayes_for_none(0.0, people, scale)
            )
        far = math.copysign(math.inf, mean)
        return PairedDifference(people, mean, far, 0.0, far, far, far, 0.0)
    d = mean / sd
    t = d * math.sqrt(people)
    p = 2 * float(distributions().t.sf(abs(t), people - 1))
    return PairedDifference(people, mean, t, p, d, *interval_of_d(d, people), bayes_for_none(t, people, scale))


def interval_of_d(d: float, people: int, level: float = 0.95) -> tuple[float, float]:
    """Return the values of d under which this one is not among the rarest."""
    law, t, outside = distributions().nct, d * math.sqrt(people), (1 - level) / 2

    def below(middle: float) -> float:
        found = float(law.cdf(t, people - 1, middle))
        return float(middle < t) if math.isnan(found) else found  # scipy gives up where it is all but certain

    def bound(chance: float) -> float:
        far = _FARTHEST_SDS * math.sqrt(1 + t**2 / (2 * (people - 1)))  # t spreads the more the farther it is from zero
        return root(lambda middle: below(middle) - chance, t - far, t + far) / math.sqrt(people)

    return bound(1 - outside), bound(outside)


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def bayes_for_none(t: float, people: int, scale: float = USUAL_SCALE) -> float:
    """Return the Bayes factor for no difference, from t of the differences of this many participants."""
    degrees = people - 1
    none = -(degrees + 1) / 2 * math.log1p(t**2 / degrees)
    # g = tan²: the integral over all g becomes one over a quarter of a circle, smooth at both of its ends
    nodes, weights = _legendre()
    angle = (nodes + 1) * math.pi / 4
    g = np.tan(angle) ** 2
    spread = 1 + people * g * scale**2
    log = (
        -0.5 * np.log(spread)
        - (degrees + 1) / 2 * np.log1p(t**2 / (spread * degrees))
        - 0.5 * math.log(2 * math.pi)
        - 1.5 * np.log(g)
        - 1 / (2 * g)
        + np.log(2 * np.tan(angle) / np.cos(angle) ** 2)
    )
    top = float(log.max())
    some = top + math.log(float((weights * np.exp(log - top)).sum()) * math.pi / 4)
    return math.exp(none - some)
