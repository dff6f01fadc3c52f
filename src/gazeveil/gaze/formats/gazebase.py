# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of GazeBase (Griffith et al. 2021) and GazeBaseVR (Lohr et al. 2023), one per participant, session and task.

Time is in milliseconds, gaze in degrees. GazeBase marks lost samples (``val`` is not 0), GazeBaseVR leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.gaze.fileio.columns import Columns, first_line
from gazeveil.gaze.fileio.row_assembly import PER_SECOND, combined, completed, expect_unit, in_seconds
from gazeveil.gaze.fileio.tables import Table
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport, file_format
from gazeveil.geometry import headset

_NAME: Final = re.compile(
    r"S_(?P<round>\d)(?P<person>\d{3})_S(?P<session>\d)(?:_\d+)?_(?P<task>[A-Z][A-Z0-9]*)\.csv(?:\.gz)?"
)
_ALWAYS = {"n", "x", "y", "xT", "yT"}
_EYES = {"lx", "ly", "rx", "ry"}


@dataclass(frozen=True, slots=True)
class GazeBaseName:
    """What a file's name tells: round of the study, participant, session of the round, task (TEX is reading)."""

    round: int
    person: str
    session: int
    task: str

    @property
    def session_in_words(self) -> str:
        """The session among all of a participant's."""
        return f"round {self.round} session {self.session}"


def parse_file_name(name: str) -> GazeBaseName | None:
    """Return what ``S_1001_S1_TEX.csv`` or ``S_1002_S1_4_TEX.csv`` tells; None for other names."""
    found = _NAME.fullmatch(name)
    return found and GazeBaseName(int(found["round"]), found["person"], int(found["session"]), found["task"])


@file_format("gazebase")
class GazeBase:
    """One file is one recording; participant, session and task are in its name."""

    title = "GazeBase or GazeBaseVR recording"
    suffixes = (".csv",)

    def sniff(self, path: Path, head: bytes) -> bool:
        """Whether the header is that of GazeBase or of GazeBaseVR."""
        names = {name.strip('" ') for name in first_line(head).removeprefix("\ufeff").split(",")}
        return names >= _ALWAYS and ("val" in names or names >= _EYES)

    def read(self, path: Path, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
        """Yield the recording."""
        table = Table(path, options, report, delimiter=",")
        numbers = _numbers(table.columns, options)
        told = parse_file_name(path.name)
        key = options.key(path)
        if told:
            key = options.key(
                path,
                observer=options.observer or told.person,
                stimulus=options.stimulus or told.task,
                session=options.session or told.session_in_words,
            )
        geometry = completed(headset(), options.geometry)
        if not options.y_up:
            report.remark("GazeBase's y is taken as it is in the file; --y-up turns it if it grows upwards")
        unit: str | None = options.time_unit
        for batch in table.batches({}, numbers, required=("t",)):
            unit = unit or expect_unit(path, batch.frame["t"].to_numpy(), numbers["t"], "ms")
            frame = in_seconds(batch.frame, PER_SECOND[unit], "t")
            if "valid" in numbers:
                frame = frame.with_columns(pl.col("valid") == 0)
            if "pupil" in numbers:
                frame = frame.with_columns(pl.when(pl.col("pupil") > 0).then(pl.col("pupil")))
            if options.y_up:
                frame = frame.with_columns(-pl.col(name) for name in ("y", "left_y", "right_y") if name in numbers)
            for piece in combined(frame, options.eye).iter_slices(options.chunk_rows):
                yield Chunk(key, piece, geometry)


def _numbers(columns: Columns, options: ReadOptions) -> dict[str, str]:
    numbers = {
        "t": columns.need("'n', milliseconds", "n"),
        "x": columns.need("'x', degrees", "x"),
        "y": columns.need("'y', degrees", "y"),
    }
    spellings = {"valid": "val", "pupil": "dp", "left_x": "lx", "left_y": "ly", "right_x": "rx", "right_y": "ry"}
    numbers |= columns.find_each(spellings)
    if options.eye != "both" and not {f"{options.eye}_x", f"{options.eye}_y"} <= numbers.keys():
        raise columns.missing(f"'{options.eye[0]}x' and '{options.eye[0]}y', the {options.eye} eye's gaze")
    return numbers
