# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""18 participants who looked at targets in a headset in ten sessions each, over days (Schuetz and Fiehler 2022).

There are no samples: every row is a target, with how far gaze was off on each eye, how it jittered, and the distance
between the eyes. Contact lenses, glasses, gender and age are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import FileFormatError
from gazeveil.lab.datasets._tables import read_table

JEMR_FOLDER: Final = "jemr2022_vr"
"""How its folder is called among the data sets."""
TARGETS_FILE, SESSIONS_FILE = "targets.parquet", "sessions.parquet"

_EYES = {"L": "left", "R": "right"}
FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{f"off{axis}_{eye}": f"error/{side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        **{f"acc_{eye}": f"error/{side}" for eye, side in _EYES.items()},
        **{f"sd{axis}_{eye}": f"noise/spread {side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        **{f"rmsi{axis}_{eye}": f"noise/steps {side} {axis.lower()}" for eye, side in _EYES.items() for axis in "XY"},
        "ipd": "eyes/ipd",
    }
)
"""Columns of the table, by the names that they have here."""

_HINT = "it holds the results of github.com/ischtz/jemr2022-vr-eyetracking as tables"


@dataclass(frozen=True, slots=True, eq=False)
class TargetSession:
    """One session of one participant.

    Attributes:
        person: Who.
        session: Which of the ten.
        day: On which day, as YYYYMMDD.
        vision: ``contacts``, ``glasses`` or ``uncorrected``.
        gender: As the data set has it.
        age: In years.
        x: How far gaze of both eyes was off each target to the right, in degrees.
        y: The same downwards.
        fields: Error, noise and distance of the eyes at each target, by the names of `FIELDS`.
    """

    person: str
    session: str
    day: str
    vision: str
    gender: str
    age: int
    x: FloatArray
    y: FloatArray
    fields: Mapping[str, FloatArray]


def target_sessions(folder: Path) -> list[TargetSession]:
    """Read all sessions, participant by participant; targets that the authors left out for glitches are in.

    Raises:
        InputError: If a file is not there.
        FileFormatError: If it is not the table we expect, or a session is not in both tables.
    """
    own = ("user", "session", "offX", "offY", *FIELDS)
    targets = read_table(Path(folder) / TARGETS_FILE, own, hint=_HINT)
    about = read_table(Path(folder) / SESSIONS_FILE, ("user", "session", "day", "vision", "gender", "age"), hint=_HINT)
    known = {(row["user"], row["session"]): row for row in about.iter_rows(named=True)}
    found = []
    for (user, session), rows in targets.sort("user", "session", maintain_order=True).group_by(
        "user", "session", maintain_order=True
    ):
        if (row := known.get((user, session))) is None:
            raise FileFormatError(
                Path(folder) / SESSIONS_FILE, expected=f"session {session} of user {user}", found="no such row"
            )
        values = {name: rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in ("offX", "offY", *FIELDS)}
        found.append(
            TargetSession(
                person=f"user-{int(str(user)):02d}",
                session=str(session),
                day=str(row["day"]),
                vision=str(row["vision"]),
                gender=str(row["gender"]),
                age=int(row["age"]),
                x=values["offX"],
                y=values["offY"],
                fields={words: values[name] for name, words in FIELDS.items()},
            )
        )
    return found
