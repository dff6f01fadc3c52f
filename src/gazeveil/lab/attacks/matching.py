# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From windows to names and to error rates: matching by votes, and scores of true pairs against pairs of strangers.

Each window of a query gets the name of the nearest reference window by cosine; the windows of a trial then vote.
Who has as many votes is ordered by the mean score over all windows, and who is as high there too by name.

Everything takes weights, so that a bootstrap over participants is the same sum with other weights. A stranger's score
belongs to two participants, the one asked about and the one compared with; it weighs their product.

The equal error rate is read off the ROC curve, whose points are joined by straight lines: where as many strangers
pass as true owners are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, InternalError, OptionError
from gazeveil.lab.attacks.contract import Gallery, Trial
from gazeveil.simulate.population import Purpose, generator


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What the windows of one query say.

    Attributes:
        people: Everyone who is enrolled.
        votes: How many windows each got; a window that cannot decide is shared.
        similarity: The mean score of each over all windows.
        windows: How many windows there were; without any, no one is identified.
    """

    people: tuple[str, ...]
    votes: FloatArray
    similarity: FloatArray
    windows: int

    @property
    def ranking(self) -> tuple[str, ...]:
        """Everyone, most likely first; nobody without windows."""
        if not self.windows:
            return ()
        order = np.lexsort((np.arange(len(self.people)), -self.similarity, -self.votes))
        return tuple(self.people[number] for number in order)

    @property
    def highest(self) -> str | None:
        """Who has the highest mean score, whatever the votes; nobody without windows."""
        return self.people[int(np.argmax(self.similarity))] if self.windows else None

    def rank(self, person: str) -> int:
        """Return the rank of a participant from 1, or 0 without windows."""
        return self.ranking.index(person) + 1 if self.windows else 0


def vote(scores: FloatArray, people: Sequence[str]) -> Verdict:
    """Let the windows of a query vote, by the scores that `Gallery.windows` gives for these participants.

    Raises:
        InternalError: If a score is not a number, or there are not as many columns as participants.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(people) or np.isnan(scores).any():
        raise InternalError(
            f"a recogniser gave scores of shape {scores.shape} for {len(people)} participants, or not all are numbers"
        )
    if not len(scores):
        return Verdict(tuple(people), np.zeros(len(people)), np.full(len(people), np.nan), 0)
    best = scores == scores.max(axis=1, keepdims=True)
    votes = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    return Verdict(tuple(people), votes, scores.mean(axis=0), len(scores))


def directions(embeddings: FloatArray) -> FloatArray:
    """Return embeddings at length 1, one row each; one without any length stays zero."""
    lengths = np.linalg.norm(embeddings, axis=1, keepdims=True)
    return np.asarray(np.divide(embeddings, lengths, out=np.zeros_like(embeddings), where=lengths > 0))


def nearest_by_person(
    query: FloatArray, reference: FloatArray, owner: NDArray[np.int64], people: int, block: int = 4096
) -> FloatArray:
    """Return the cosine of each query embedding with the nearest reference embedding of each participant.

    All pairs come from one matrix product, in blocks of query windows, so that memory stays small.

    Args:
        query: One row for every window.
        reference: One row for every window of the reference, sorted by participant.
        owner: The number of each reference row's participant.
        people: How many participants there are; everyone has at least one row.
        block: How many windows are compared at a time.

    Raises:
        InputError: If reference rows are not sorted by participant, or someone has none.
    """
    if (np.diff(owner) < 0).any() or not np.array_equal(np.unique(owner), np.arange(people)):
        raise InputError("reference windows must be sorted by participant, with at least one per participant")
    begins = np.searchsorted(owner, np.arange(people))
    known, asked = directions(reference), directions(query)
    found = np.empty((len(query), people))
    for begin in range(0, len(query), block):
        cosines = asked[begin : begin + block] @ known.T
        found[begin : begin + block] = np.maximum.reduceat(cosines, begins, axis=1)
    return found


Embed = Callable[[Trial], FloatArray]
"""What turns a trial into embeddings, one row for every window."""


class EmbeddedGallery(Gallery):
    """Participants enrolled as embeddings of their windows. Who has no usable window is not enrolled."""

    def __init__(self, embed: Embed, reference: Sequence[Trial]) -> None:
        found: dict[str, list[FloatArray]] = {}
        for trial in reference:
            embeddings = embed(trial)
            if len(embeddings):
                found.setdefault(trial.person, []).append(embeddings)
        if not found:
            raise InputError("no reference trial has a usable window", hint="are the trials long enough?")
        self._embed = embed
        self._people = tuple(sorted(found))
        each = [np.concatenate(found[person]) for person in self._people]
        self._reference = np.concatenate(each)
        self._owner = np.repeat(np.arange(len(each)), [len(rows) for rows in each])

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone who is enrolled, sorted."""
        return self._people

    def windows(self, query: Trial) -> FloatArray:
        """Return the cosine of every window with the nearest of each participant."""
        embeddings = self._embed(query)
        if not len(embeddings):
            return np.empty((0, len(self._people)))
        return nearest_by_person(embeddings, self._reference, self._owner, len(self._people))


# --- How well participants are told apart, from scores of true pairs and of pairs of strangers; higher means more
# alike.


LEVEL = 0.95
"""How often an interval holds the truth."""


@dataclass(frozen=True, slots=True, eq=False)
class Roc:
    """Shares that pass as the threshold falls, from nobody to everyone.

    Attributes:
        strangers: Share of strangers who pass (false positives).
        owners: Share of true owners who pass (true positives).
        thresholds: The score from which on one passes; infinite at the first point.
    """

    strangers: FloatArray
    owners: FloatArray
    thresholds: FloatArray

    @property
    def equal_error_rate(self) -> float:
        """The error where strangers who pass and owners who are refused are equally many."""
        refused = 1.0 - self.owners
        after = int(np.argmax(self.strangers >= refused))  # the last point has strangers = 1 and refused = 0
        before = after - 1  # the first point has strangers = 0 and refused = 1, so it is never the crossing itself
        gap_before = refused[before] - self.strangers[before]
        gap_after = self.strangers[after] - refused[after]
        share = gap_before / (gap_before + gap_after)
        return float(self.strangers[before] + share * (self.strangers[after] - self.strangers[before]))

    @property
    def area(self) -> float:
        """Area under the curve: how often an owner's score beats a stranger's, ties counting half."""
        return float(np.trapezoid(self.owners, self.strangers))


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Scores of pairs, each with its two participants.

    Attributes:
        score: How alike the pair is.
        asked: Number of the participant asked about.
        compared: Number of the participant compared with; the same for a true pair.
        people: How many participants there are.
    """

    score: FloatArray
    asked: NDArray[np.int64]
    compared: NDArray[np.int64]
    people: int

    def __post_init__(self) -> None:
        if not len(self.score) == len(self.asked) == len(self.compared):
            raise InputError("scores and participants of pairs have different lengths")
        if np.isnan(self.score).any():
            raise InputError("a score of a pair is not a number")

    @property
    def true(self) -> NDArray[np.bool_]:
        """Which pairs are of one participant."""
        return np.asarray(self.asked == self.compared)

    def weights(self, of_people: FloatArray) -> FloatArray:
        """Return the weight of every pair where participants weigh so much."""
        return np.where(self.true, of_people[self.asked], of_people[self.asked] * of_people[self.compared])

    def roc(self, of_people: FloatArray | None = None) -> Roc:
        """Return the ROC curve, with participants weighing all the same or as given.

        Raises:
            InputError: If there are no true pairs or no pairs of strangers, of participants who weigh anything.
        """
        weight = np.ones(len(self.score)) if of_people is None else self.weights(of_people)
        return roc(self.score[self.true], self.score[~self.true], weight[self.true], weight[~self.true])

    def equal_error_rates(self, of_people: FloatArray) -> FloatArray:
        """Return the equal error rate for every row of weights; NaN where nobody is left to compare."""
        rates = np.full(len(of_people), np.nan)
        for row, weights in enumerate(of_people):
            there = self.weights(weights) > 0
            if (there & self.true).any() and (there & ~self.true).any():
                rates[row] = self.roc(weights).equal_error_rate
        return rates

    def d_prime(self, of_people: FloatArray | None = None) -> float:
        """Return by how many standard deviations true pairs lie above pairs of strangers; NaN if none spreads."""
        weight = np.ones(len(self.score)) if of_people is None else self.weights(of_people)
        moments = []
        for side in (self.true, ~self.true):
            total = weight[side].sum()
            if not total > 0:
                return np.nan
            mean = float(np.dot(weight[side], self.score[side]) / total)
            moments.append((mean, float(np.dot(weight[side], (self.score[side] - mean) ** 2) / total)))
        (mean, variance), (other_mean, other_variance) = moments
        spread = np.sqrt((variance + other_variance) / 2)
        return float((mean - other_mean) / spread) if spread > 0 else np.nan


def roc(
    owners: FloatArray,
    strangers: FloatArray,
    owner_weights: FloatArray | None = None,
    stranger_weights: FloatArray | None = None,
) -> Roc:
    """Return the ROC curve of some scores; equal scores pass together.

    Raises:
        InputError: If one of the two has no weight at all.
    """
    scores = np.concatenate((owners, strangers))
    true = np.arange(len(scores)) < len(owners)
    weights = np.concatenate(
        (
            np.ones(len(owners)) if owner_weights is None else owner_weights,
            np.ones(len(strangers)) if stranger_weights is None else stranger_weights,
        )
    )
    order = np.argsort(-scores, kind="stable")
    scores, true, weights = scores[order], true[order], weights[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)  # the last of each run of equal scores
    passed = np.cumsum(np.where(true, weights, 0.0))[last], np.cumsum(np.where(true, 0.0, weights))[last]
    if not len(scores) or not passed[0][-1] > 0 or not passed[1][-1] > 0:
        raise InputError("an error rate needs scores of true pairs and of strangers")
    return Roc(
        strangers=np.concatenate(([0.0], passed[1] / passed[1][-1])),
        owners=np.concatenate(([0.0], passed[0] / passed[0][-1])),
        thresholds=np.concatenate(([np.inf], scores[last])),
    )


def cumulative_matches(ranks: NDArray[np.int64], people: int) -> FloatArray:
    """Return the share of queries whose participant is among the first 1, 2, … guesses (the CMC curve).

    Args:
        ranks: The rank of the right participant, from 1; 0 where there was no answer at all.
        people: How many are enrolled.
    """
    if not len(ranks):
        return np.full(people, np.nan)
    counts = np.bincount(ranks, minlength=people + 1)[1 : people + 1]
    return np.asarray(np.cumsum(counts) / len(ranks))


def resampled_people(people: int, draws: int, seed: int) -> FloatArray:
    """Return how often each participant is drawn when as many are drawn with replacement: a row for each time.

    Raises:
        OptionError: If there is nobody to draw, or it is never done.
    """
    if people < 1 or draws < 1:
        raise OptionError(f"at least one participant and one draw are needed, not {people} and {draws}")
    rng = generator(seed, Purpose.RESAMPLING, people)
    return rng.multinomial(people, np.full(people, 1.0 / people), size=draws).astype(np.float64)


def interval(values: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """Return the middle of resampled values (percentile interval); NaN are left out."""
    kept = values[np.isfinite(values)]
    if not len(kept):
        return np.nan, np.nan
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
