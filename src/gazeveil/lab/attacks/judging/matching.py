# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From windows to a name (Wilson et al. 2024, section 3.3, as erratum W8 reads it).

Each window of a query gets the name of the nearest reference window by cosine; the windows of a trial then vote.
Who has as many votes is ordered by the mean score over all windows, and who is as high there too by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, InternalError
from gazeveil.lab.attacks.contract import Gallery, Trial


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
