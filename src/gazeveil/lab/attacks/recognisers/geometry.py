# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who it is, from what a tracker gives away beside gaze: the distance of the eyes, its error and its noise on them.

Calibration leaves an error that differs from eye to eye, lenses and lids add noise of their own, and the distance
between the pupils hardly changes in a lifetime. None of that is about where a participant looks.

A trial is one row: mean and spread of every field (`Trial.fields`). Where a trial has no fields, as gaze alone, where
gaze lies and how it jitters from sample to sample take their place: both hold the same error and noise, mixed with
where a participant looked. Each group of fields has a discriminant analysis of its own, and their scores are added: in
one analysis the many numbers of error and noise drown the distance of the eyes. How far a covariance is pulled towards
the same in all directions is chosen inside the reference, on sessions of the same participants that are left out in
turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError, OptionError, closest
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import Discriminant, Rows, Score, ScoredGallery, rows_of

GROUPS: Final = ("error", "noise", "eyes", "head", "gaze")
"""Groups of fields: how far gaze is off, how it jitters, where the eyes are, and how head and eyes turn."""
SHRINKAGES: Final = (0.3, 0.1, 0.03, 0.01)
"""What is tried, the most cautious first: it wins where nothing tells them apart."""
_SESSIONS = 1.0
_FEWEST = 3
_TINY = 1e-6


@RECOGNISERS.register("geometry")
@dataclass(frozen=True, slots=True)
class GeometryOfEyes(Recogniser):
    """Error, noise, distance of the eyes, head and gaze, each told apart by linear discriminant analysis.

    Attributes:
        parts: Which groups of fields it may look at.
    """

    name: ClassVar[str] = "geometry"

    parts: tuple[str, ...] = GROUPS

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.parts) - set(GROUPS)):
            raise OptionError(f"no group of fields is called {unknown[0]!r}", hint=closest(unknown[0], GROUPS))
        if not self.parts:
            raise OptionError("an attacker who uses no fields can identify no one", hint="choose at least one group")

    @property
    def sees(self) -> frozenset[str]:
        """Position, because errors of calibration move it, and geometry."""
        return frozenset({"position", "geometry"})

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials; nothing is drawn, so the seed changes nothing.

        Raises:
            InputError: If there is too little to learn from, or some trials have other fields than others.
        """
        names = {self._names(trial) for trial in reference}
        if len(names) > 1:
            raise InputError("reference trials have different fields", hint="leave out what not all of them have")
        fields = next(iter(names), ())
        groups = [group for group in self.parts if any(_is_of(name, group) for name in fields)] or [""]
        every = [rows_of(reference, partial(_row, group=group)) for group in groups]
        rules = [_learnt(rows) for rows in every]
        people = every[0].people

        def of_trial(query: Trial) -> FloatArray:
            asked = [_row(query, group) for group in groups] if self._names(query) == fields else []
            if not asked or not all(len(row) for row in asked):
                return np.empty((0, len(people)))
            return np.asarray(np.sum([rule(row) for rule, row in zip(rules, asked, strict=True)], axis=0))

        return ScoredGallery(people, of_trial)

    def _names(self, trial: Trial) -> tuple[str, ...]:
        return tuple(sorted(name for name in trial.fields if any(_is_of(name, group) for group in self.parts)))


def _is_of(name: str, group: str) -> bool:
    return name.startswith(f"{group}/")


def _row(trial: Trial, group: str) -> FloatArray:
    """Return the one row of a trial for a group of fields, or for gaze alone; none if it has too few samples."""
    names = sorted(name for name in trial.fields if _is_of(name, group))
    columns = [trial.fields[name] for name in names] if group else _of_gaze(trial)
    if not all(np.isfinite(column).sum() >= _FEWEST for column in columns):
        return np.empty((0, 0))
    means = [np.nanmean(column) for column in columns]
    spreads = [np.log(np.nanstd(column) + _TINY) for column in columns]
    return np.array([[*means, *spreads]])


def _learnt(rows: Rows) -> Score:
    found = [_right(rows, shrinkage) for shrinkage in SHRINKAGES]
    return Discriminant.fit(rows, SHRINKAGES[int(np.argmax(found))], _SESSIONS).scores


def _of_gaze(trial: Trial) -> list[FloatArray]:
    jumps = [np.abs(np.append(np.diff(gaze), np.nan)) for gaze in (trial.x, trial.y)]
    return [trial.x, trial.y, *jumps]


def _right(rows: Rows, shrinkage: float) -> float:
    """Return how often participants are identified in left-out sessions, half of each participant's at a time."""
    occasion, of_person = rows.occasions()
    turn = np.zeros(len(of_person), np.int64)  # every other session of a person
    for person in range(len(rows.people)):
        mine = np.flatnonzero(of_person == person)
        turn[mine] = np.arange(len(mine)) % 2
    right = asked = 0
    for half in (0, 1):
        kept = turn[occasion] != half
        if kept.all() or not _enough(rows, kept):
            continue
        inside = np.unique(rows.owner[kept])
        number = {person: at for at, person in enumerate(inside.tolist())}
        part = Rows(
            tuple(rows.people[person] for person in inside.tolist()),
            rows.values[kept],
            np.array([number[person] for person in rows.owner[kept].tolist()]),
            rows.session[kept],
        )
        known = ~kept & np.isin(rows.owner, inside)
        if known.any():
            best = Discriminant.fit(part, shrinkage, _SESSIONS).scores(rows.values[known]).argmax(axis=1)
            right += int((inside[best] == rows.owner[known]).sum())
            asked += int(known.sum())
    return right / asked if asked else 0.0


def _enough(rows: Rows, kept: BoolArray) -> bool:
    people = len(np.unique(rows.owner[kept]))
    return people > 1 and int(kept.sum()) > people
