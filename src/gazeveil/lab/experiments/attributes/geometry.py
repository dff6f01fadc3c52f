# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Identity and attributes from geometry.

18 participants in a headset, ten sessions over days (Schuetz and Fiehler 2022).

Known is how far gaze was off targets, how it jittered, and the distance between the eyes; no samples of gaze. Whoever
was asked about was enrolled from other days alone. Headset and set-up are nearly the same for all sessions of a
participant, so a part of what is recognised may be the device.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from gazeveil.arrays import PlainRow, Tell, silent
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.judging.judge import Judge
from gazeveil.lab.attacks.judging.traits import infer
from gazeveil.lab.attacks.recognisers.geometry import GeometryOfEyes
from gazeveil.lab.datasets.jemr2022 import TargetSession, target_sessions

SEEN: Final = (("error",), ("noise",), ("error", "noise"), ("eyes",), ("error", "noise", "eyes"))
"""What attackers may look at."""
ATTRIBUTES: Final = ("vision", "gender", "age")
LEFT_OUT: Final[tuple[Literal["session", "person"], ...]] = ("session", "person")
"""A day of participants who are known otherwise, or everything of a participant."""


@dataclass(frozen=True, slots=True)
class Row(PlainRow):
    """One question to one attacker.

    Attributes:
        question: ``identity``, ``vision``, ``gender`` or ``age``.
        sees: What the attacker may look at.
        left_out: What was left out of training: a day, or the participant.
        measure: ``accuracy`` for identity, ``macro F1`` for attributes.
        value: How well it is answered.
        value_interval: Where that lies, over participants resampled.
        guessing: What guessing gives.
        people: How many participants were asked about.
        queries: How many sessions.
    """

    question: str
    sees: tuple[str, ...]
    left_out: str
    measure: str
    value: float
    value_interval: tuple[float, float]
    guessing: float
    people: int
    queries: int


def trials(sessions: Sequence[TargetSession]) -> list[Trial]:
    """Return sessions as trials: a sample is a target, a session is a day."""
    return [
        Trial(
            one.person, one.day, one.session, np.arange(len(one.x), dtype=float), one.x, one.y, 1.0, fields=one.fields
        )
        for one in sessions
    ]


def measure(folder: Path, seed: int = 1, tell: Tell = silent) -> list[Row]:
    """Ask who it is on another day, and which attributes the participant has.

    Raises:
        InputError: If the files are not there.
    """
    sessions = target_sessions(folder)
    known = trials(sessions)
    middle = statistics.median({one.person: one.age for one in sessions}.values())
    kinds = {
        "vision": {one.person: one.vision for one in sessions},
        "gender": {one.person: one.gender for one in sessions},
        "age": {one.person: "older" if one.age > middle else "younger" for one in sessions},
    }
    asked = [(question, seen, leave) for question in ATTRIBUTES for seen in (SEEN[2], SEEN[4]) for leave in LEFT_OUT]
    total = len(SEEN) + len(asked)
    rows: list[Row] = []
    for seen in SEEN:
        tell(len(rows), total)
        found = Judge(GeometryOfEyes(seen), known, enrolled="others", seed=seed).judge()
        rows.append(
            Row(
                "identity",
                seen,
                "day",
                "accuracy",
                found.accuracy,
                found.accuracy_interval,
                found.chance,
                found.people,
                found.queries,
            )
        )
    for question, seen, leave in asked:
        tell(len(rows), total)
        guessed = infer(GeometryOfEyes(seen), known, kinds[question], leave=leave, seed=seed)
        left = "day" if leave == "session" else "person"
        numbers = guessed.f1, guessed.f1_interval, guessed.guessing, guessed.people, guessed.queries
        rows.append(Row(question, seen, left, "macro F1", *numbers))
    return rows
