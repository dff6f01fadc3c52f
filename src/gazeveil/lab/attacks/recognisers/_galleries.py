# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Participants enrolled by a rule that scores rows of features: what statistical recognisers have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.attacks.contract import Gallery, Trial

Describe = Callable[[Trial], FloatArray]
"""What turns a trial into rows of features, one for every window."""
Score = Callable[[FloatArray], FloatArray]
"""What turns rows into scores, a column for everyone."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Features of the windows of known participants.

    Attributes:
        people: Who they are, sorted; everyone has a row.
        values: One row for every window.
        owner: The number of the participant of each row.
        session: The session of each row.
    """

    people: tuple[str, ...]
    values: FloatArray
    owner: NDArray[np.int64]
    session: NDArray[np.str_]

    def occasions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the number of each row's occasion (a participant in a session), and each occasion's participant."""
        pairs = list(zip(self.owner.tolist(), self.session.tolist(), strict=True))
        met = sorted(set(pairs))
        number = {pair: at for at, pair in enumerate(met)}
        return np.array([number[pair] for pair in pairs]), np.array([person for person, _ in met])


Learn = Callable[[Rows], Score]
"""What learns from rows."""


class ScoredGallery(Gallery):
    """Participants, and the rule that scores the windows of a query. Who has no usable window is not enrolled."""

    def __init__(self, people: Sequence[str], score: Callable[[Trial], FloatArray]) -> None:
        self._people = tuple(people)
        self._score = score

    @property
    def people(self) -> tuple[str, ...]:
        """Everyone who is enrolled, sorted."""
        return self._people

    def windows(self, query: Trial) -> FloatArray:
        """Return the scores of every window."""
        return self._score(query)


def described(reference: Sequence[Trial], describe: Describe, learn: Learn) -> ScoredGallery:
    """Enrol participants by rows of features.

    Raises:
        InputError: If no reference trial has a usable window.
    """
    rows = rows_of(reference, describe)
    score = learn(rows)

    def of_trial(query: Trial) -> FloatArray:
        asked = describe(query)
        return score(asked) if len(asked) else np.empty((0, len(rows.people)))

    return ScoredGallery(rows.people, of_trial)


def rows_of(reference: Sequence[Trial], describe: Describe) -> Rows:
    """Return the rows of all usable windows.

    Raises:
        InputError: If there are none.
    """
    parts = [(trial.person, trial.session, found) for trial in reference if len(found := describe(trial))]
    if not parts:
        raise InputError("no reference trial has a usable window", hint="are the trials long enough?")
    people = tuple(sorted({person for person, _, _ in parts}))
    number = {person: at for at, person in enumerate(people)}
    lengths = [len(found) for _, _, found in parts]
    return Rows(
        people,
        np.concatenate([found for _, _, found in parts]),
        np.repeat([number[person] for person, _, _ in parts], lengths),
        np.repeat([session for _, session, _ in parts], lengths),
    )
