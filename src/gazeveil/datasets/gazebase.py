# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""GazeBase and GazeBaseVR by the path of their folder: the recordings that recognisers of the literature train on.

- **GazeBase** (Griffith et al. 2021): 322 people, 1000 Hz, up to nine rounds of two sessions, seven tasks. Files
  ``S_1001_S1_TEX.csv`` (round 1, person 001, session 1, task TEX) with columns ``n, x, y, val, xT, yT``.
- **GazeBaseVR** (Lohr et al. 2023): 407 people, a headset at 250 Hz, three rounds. Files ``S_1002_S1_4_TEX.csv``, with
  a number before the task, and columns ``n, lx, ly, rx, ry, x, y, …`` without ``val``.

Time is in milliseconds, gaze in degrees. Files may lie at any depth. They are read one after the other, because all of
them do not fit into memory. A sample whose ``val`` is not 0 is missing. The vertical sign stays as in the file: nothing
we measure depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.formats._table import Batch, Table
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.gaze.geometry import headset
from gazeveil.gaze.recording import Recording

_NAME: Final = re.compile(r"S_(?P<round>\d)(?P<person>\d{3})_S(?P<session>\d)(?:_\d+)?_(?P<task>[A-Z][A-Z0-9]*)\.csv")
_MILLISECONDS = 1000.0


@dataclass(frozen=True, slots=True)
class GazeBaseFile:
    """One recording, as its name tells.

    Attributes:
        path: Where it is.
        round: In which round of the study, from 1.
        person: Who.
        session: Which of the two sessions of the round.
        task: What was done, such as TEX for reading.
    """

    path: Path
    round: int
    person: str
    session: int
    task: str

    def recording(self) -> Recording:
        """Read the recording; its session is named by round and session, and the stimulus by its task.

        Raises:
            FileFormatError: If the file is not what its name says, with file, line and column.
        """
        table = Table(self.path, ReadOptions(), ReadReport(), delimiter=",")
        numbers = {
            "n": table.columns.need("'n', milliseconds", "n"),
            "x": table.columns.need("'x', degrees", "x"),
            "y": table.columns.need("'y', degrees", "y"),
        }
        if validity := table.columns.find("val"):
            numbers["val"] = validity
        frame = pl.concat([self._in_order(batch) for batch in table.batches({}, numbers, required=("n",))])
        t, x, y = (frame[name].fill_null(np.nan).to_numpy() for name in ("n", "x", "y"))
        steps = np.diff(t)
        for number in np.flatnonzero(steps <= 0)[:1].tolist():
            raise FileFormatError(
                self.path,
                line=int(frame["line"][number + 1]),
                column=numbers["n"],
                expected=f"a time after {t[number]:g} ms",
                found=f"{t[number + 1]:g}",
                hint="was the file put together from two?",
            )
        if not len(steps):
            raise FileFormatError(self.path, expected="two samples at least", found="one", hint="download it again")
        return Recording(
            t / _MILLISECONDS,
            x,
            y,
            headset(),
            self.person,
            self.task,
            f"round {self.round} session {self.session}",
            "",
            valid=(frame["val"] == 0).fill_null(False).to_numpy() if validity else None,
            rate_hz=_MILLISECONDS / float(np.median(steps)),
        )

    @staticmethod
    def _in_order(batch: Batch) -> pl.DataFrame:
        return batch.frame.with_columns(line=pl.Series(batch.lines))


def gazebase_files(
    folder: Path, *, tasks: Collection[str] = (), rounds: Collection[int] = (), people: Collection[str] = ()
) -> tuple[GazeBaseFile, ...]:
    """Return the recordings under a folder, by person, round, session and task; read none.

    Args:
        folder: Where GazeBase or GazeBaseVR was unpacked.
        tasks: Only these tasks; all if empty.
        rounds: Only these rounds; all if empty.
        people: Only these people, as in the file names (``001``); all if empty.

    Raises:
        InputError: If there is no such folder, or no such recording in it.
    """
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint="unpack GazeBase or GazeBaseVR there")
    every = [_named(path, found) for path in folder.rglob("S_*.csv") if (found := _NAME.fullmatch(path.name))]
    if not every:
        raise InputError(
            f"{folder} holds no recording of GazeBase or GazeBaseVR",
            hint="files are called S_1001_S1_TEX.csv or S_1002_S1_4_TEX.csv; GazeBase has an archive for each person",
        )
    chosen = [
        one
        for one in every
        if (not tasks or one.task in tasks)
        and (not rounds or one.round in rounds)
        and (not people or one.person in people)
    ]
    if not chosen:
        known = ", ".join(sorted({one.task for one in every}))
        raise InputError(f"none of the {len(every):,} recordings in {folder} was asked for", hint=f"tasks: {known}")
    return tuple(sorted(chosen, key=lambda one: (one.person, one.round, one.session, one.task)))


def _named(path: Path, found: re.Match[str]) -> GazeBaseFile:
    return GazeBaseFile(path, int(found["round"]), found["person"], int(found["session"]), found["task"])
