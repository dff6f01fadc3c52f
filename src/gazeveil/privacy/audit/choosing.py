# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the event to count: the one that, on outputs kept apart for this, makes the largest lower bound.

Nothing here needs to be exact or even right: whatever event is chosen, its counts on fresh runs are bounded with the
stated confidence. Choosing well only makes the bound sharp.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.privacy.audit.events.base import Event, Sample, Score
from gazeveil.privacy.audit.events.likelihood import KnownLogRatio
from gazeveil.types import FloatArray

_CAUTIOUS, _BOLD = 3.0, 1.0
"""How many standard errors to allow for; boldly where no event convinces anyway."""
_READABLE = 0.003
"""What an event that reads more easily may be worse by, in ε or as a share of δ."""
_CUTS = 2_000


@dataclass(frozen=True, slots=True)
class Goal:
    """What an event should show: a large ε at δ, or a large δ at ε, of one input against the other.

    Attributes:
        epsilon: The claimed ε; None if nothing is claimed, or if ε itself is the goal.
        delta: The claimed δ.
        side: Which input the event should be likelier on: 0 the first, 1 the second.
    """

    epsilon: float | None
    delta: float
    side: int

    def values(self, here: FloatArray, there: FloatArray) -> FloatArray:
        """Return how far events with such chances go toward the goal."""
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.epsilon is not None:
                return here - math.exp(min(self.epsilon, 700.0)) * there
            return np.where(here > self.delta, np.log((here - self.delta) / there), -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """An event and what it guarantees to show, cautiously and boldly."""

    event: Event
    cautious: float
    bold: float


def candidates(scores: Iterable[Score], kept: Sample, goals: list[Goal]) -> list[list[Candidate]]:
    """Return, for each goal, the best event of each score on outputs that the scores were not learned from."""
    found: list[list[Candidate]] = [[] for _ in goals]
    for score in scores:
        sides = [np.sort(values[~np.isnan(values)]) for values in (score(kept.first), score(kept.second))]
        sizes = (len(kept.first), len(kept.second))
        for goal, best in zip(goals, found, strict=True):
            best.extend(_cuts(score, sides, sizes, goal))
    return found


def choose(found: list[Candidate], goal: Goal) -> Candidate:
    """Return the event to count: the most readable, that is the first, of those that are about as good as the best."""
    best = max(candidate.cautious for candidate in found)
    if goal.epsilon is None or best > goal.delta:
        slack = _READABLE * (1.0 if goal.epsilon is None else best)
        return next(candidate for candidate in found if candidate.cautious >= best - slack)
    # Too few runs to see δ: the known densities say where to look, else the most promising event must do.
    known = [candidate for candidate in found if isinstance(candidate.event.score, KnownLogRatio)]
    return max(known or found, key=lambda candidate: candidate.bold)


def _cuts(score: Score, sides: list[FloatArray], sizes: tuple[int, int], goal: Goal) -> Iterator[Candidate]:
    pooled = np.sort(np.concatenate(sides))
    if not len(pooled):
        return
    here, there = sides[goal.side], sides[1 - goal.side]
    runs_here, runs_there = sizes[goal.side], sizes[1 - goal.side]
    thresholds = _thresholds(pooled)
    for above in (True, False):
        cuts = thresholds
        if isinstance(score, KnownLogRatio) and goal.epsilon is not None:
            if above == bool(goal.side):
                continue
            cuts = np.array([goal.epsilon if above else -goal.epsilon])  # no other cut shows a larger δ
        seen_here, seen_there = _seen(here, cuts, above), _seen(there, cuts, above)
        cautious, bold = (
            goal.values(_wilson(seen_here, runs_here, -z), _wilson(seen_there, runs_there, z))
            for z in (_CAUTIOUS, _BOLD)
        )
        for index in {int(np.argmax(cautious)), int(np.argmax(bold))}:
            yield Candidate(Event(score, float(cuts[index]), above), float(cautious[index]), float(bold[index]))


def _thresholds(pooled: FloatArray) -> FloatArray:
    """Return where to cut: at every value if they are few, else evenly by rank and finely in both tails."""
    last = len(pooled) - 1
    if last <= 2 * _CUTS:
        return np.unique(pooled)
    even = np.linspace(0, last, _CUTS)
    tail = np.geomspace(1, last / 2, _CUTS // 4)
    ranks = np.unique(np.concatenate([even, tail, last - tail]).astype(np.int64))
    return np.unique(pooled[ranks])


def _seen(values: FloatArray, cuts: FloatArray, above: bool) -> NDArray[np.int64]:
    if above:
        return (len(values) - np.searchsorted(values, cuts, side="left")).astype(np.int64)
    return np.searchsorted(values, cuts, side="right").astype(np.int64)


def _wilson(seen: NDArray[np.int64], runs: int, z: float) -> FloatArray:
    """Return Wilson's bound on a chance, lower for negative z: quick, and good enough for choosing."""
    share = seen / runs
    middle = share + z * z / (2 * runs)
    half = z * np.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return np.asarray(np.clip((middle + half) / (1 + z * z / runs), 0.0, 1.0), dtype=np.float64)
