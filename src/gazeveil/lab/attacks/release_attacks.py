# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Attacks on what is released of many participants: membership, reconstruction, and outliers among scanpaths.

The attacker is the one that the definition of differential privacy is about: all other participants' data are known to
it, and both candidates for the last place. It works out what the target changes in a release, and how releases scatter
where the target is not in, from releases that it makes itself. Numbers of a release are then weighted by what the
target changes, divided by how much they scatter anyway, and added up. For Gaussian noise of one size that is the most
powerful test there is. A number that never varies without the target decides alone.

No attacker can find more than `most_found` if the guarantee holds: that is the guarantee.

Liu et al. 2019, section 3.3: whoever has the mean of n and knows n - 1 of them subtracts, and has the last one. The
same holds for anything that adds up over participants: maps of every second, how many went from one area to another.

DBSCAN calls a point a core if at least `FEWEST` points, itself included, lie within a reach of it; what lies within
reach of no core is an outlier. That is all an attacker on outliers needs of it: clusters have no names here.

The paper does not say how far the reach is. Ours is the knee of the curve of distances to the nearest few, sorted: the
value furthest below the straight line from the smallest to the largest. The attacker applies the same rule to what is
released. Truth is what the rule finds in gaze that nobody veiled.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from itertools import combinations
from operator import add
from typing import Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.privacy.audit import epsilon_bound, lower_bound, upper_bound

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


# --- Reconstruction: what one participant did, from what is released of all and what is known of the others.


def left_over(mean: FloatArray, number: int, others: FloatArray) -> FloatArray:
    """Return what is left of a released mean for the last participant.

    Args:
        mean: What was released, a mean over all.
        number: How many took part; public.
        others: What the others have, one row each.

    Raises:
        InputError: If not all but one of them are known.
    """
    if others.shape != (number - 1, *mean.shape):
        raise InputError(f"{number - 1} others with {mean.shape} numbers each must be known, not {others.shape}")
    return np.asarray(number * mean - others.sum(axis=0))


def left_over_of_selection(mean: FloatArray, selected: int, others: FloatArray) -> FloatArray | None:
    """Return the last participant's counts from the mean of a random selection, if they are in it; else None.

    Who was drawn is not known. So every choice of others is tried: if the last one was drawn, what is left by the right
    choice is nowhere below zero. If the mean is that of others alone, nothing is left of it by one of them. Several
    answers that differ are no answer.

    Args:
        mean: The mean of those who were drawn, without noise.
        selected: How many were drawn; public.
        others: The counts of all others, one row each.
    """
    total = np.round(selected * mean)
    if any(np.array_equal(others[list(who)].sum(axis=0), total) for who in combinations(range(len(others)), selected)):
        return None
    rests = [total - others[list(who)].sum(axis=0) for who in combinations(range(len(others)), selected - 1)]
    possible = [rest for rest in rests if rest.min() >= 0]
    return possible[0] if possible and all(np.array_equal(rest, possible[0]) for rest in possible) else None


def all_cells_right(guess: FloatArray, truth: FloatArray) -> float:
    """Return the share of whole numbers that a guess has right, where the truth is not zero or the guess is not."""
    rounded = np.round(guess)
    asked = (truth != 0) | (rounded != 0)
    return float((rounded == truth)[asked].mean()) if asked.any() else 1.0


def likeliest_right(guess: FloatArray, truth: FloatArray) -> float:
    """Return the share of what someone did that is among as many likeliest of a guess; NaN if they did nothing.

    For lists of things that someone did or did not, such as the orders in which areas were visited.
    """
    did = truth > 0.5
    count = int(did.sum())
    if not count:
        return np.nan
    named = np.argsort(-guess, kind="stable")[:count]
    return float(did[named].mean())


# --- Who looks unlike all others: DBSCAN's outliers among scanpaths (Kaleido, section 7.3.1, figure 11).


FEWEST: Final = 4
"""How many points, itself included, make a core; the fewest that DBSCAN's authors recommend in two dimensions."""


def reach_of_the_rest(distances: FloatArray, fewest: int = FEWEST) -> FloatArray:
    """Return for every point how far it must reach to be a core; infinite where a distance is not known.

    Args:
        distances: From everyone to everyone, symmetric, NaN where a point has no distance to others.
        fewest: How many points make a core, itself included.

    Raises:
        InputError: If distances are no square.
        OptionError: If a core needs fewer than two points.
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InputError(f"distances from everyone to everyone are needed, not {distances.shape}")
    if fewest < 2:
        raise OptionError(f"a core needs 2 points at least, not {fewest}")
    if len(distances) < fewest:
        return np.full(len(distances), np.inf)
    known = np.where(np.isfinite(distances), distances, np.inf)
    np.fill_diagonal(known, 0.0)
    return np.asarray(np.sort(known, axis=1)[:, fewest - 1])


def knee(distances: FloatArray, fewest: int = FEWEST) -> float:
    """Return the reach by the rule above; 0 if there are too few points for any core."""
    values = np.sort(reach_of_the_rest(distances, fewest))
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0
    chord = np.linspace(values[0], values[-1], len(values))
    return float(values[int(np.argmax(chord - values))])


def outliers(distances: FloatArray, reach: float | None = None, fewest: int = FEWEST) -> BoolArray:
    """Return who lies within reach of no core; by default the reach is the knee."""
    within = knee(distances, fewest) if reach is None else reach
    core = reach_of_the_rest(distances, fewest) <= within
    known = np.where(np.isfinite(distances), distances, np.inf)
    np.fill_diagonal(known, 0.0)
    return np.asarray(~((known <= within) & core).any(axis=1))


@dataclass(frozen=True, slots=True)
class Found:
    """How well outliers are found, over all scenes.

    Attributes:
        true: Outliers there are.
        flagged: Participants who were called outliers.
        right: Who is both.
        by_chance: How many would be right if as many were called so in every scene, drawn at random.
        people: How many there are.
    """

    true: int = 0
    flagged: int = 0
    right: int = 0
    by_chance: float = 0.0
    people: int = 0

    @staticmethod
    def of(truth: BoolArray, flagged: BoolArray) -> Found:
        """Compare those called outliers in one scene with those who are."""
        true, called, people = int(truth.sum()), int(flagged.sum()), len(truth)
        return Found(true, called, int((truth & flagged).sum()), true * called / people if people else 0.0, people)

    def __add__(self, other: Found) -> Found:
        return Found(*map(add, astuple(self), astuple(other)))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if nobody is one and nobody is called one."""
        return 2 * self.right / (self.true + self.flagged) if self.true + self.flagged else np.nan

    @property
    def random_f1(self) -> float:
        """What calling as many, drawn at random, gives in the mean."""
        return 2 * self.by_chance / (self.true + self.flagged) if self.true + self.flagged else np.nan

    @property
    def everybody_f1(self) -> float:
        """What calling everyone an outlier gives, the best that is open to who knows nothing."""
        return 2 * self.true / (self.true + self.people) if self.people else np.nan
