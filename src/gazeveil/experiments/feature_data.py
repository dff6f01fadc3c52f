# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings to extract features from: the EyeTribe runs of Ziman et al., by the path of their Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.gaze._parquet import guarded
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import screen
from gazeveil.gaze.recording import Recording

EYETRIBE_FILE = Path("eyetribe_contextlab") / "eyetribe_runs.parquet"
"""Where the file lies in the folder of shared data."""

PLANE = screen(1920, 1080, 1920 * 0.27, 1080 * 0.27, 600)
"""60 cm from the screen, says the data set; its size is not stated: a usual one with pixels of 0.27 mm is assumed."""

EYETRIBE_PUPIL = (0.0, 600.0)
"""The tracker's pupil size times ten, in an arbitrary unit: a wide, round range."""

_COLUMNS = {
    "user": pl.Int16, "run": pl.Int8, "t_ms": pl.Int32, "x": pl.Int16, "y": pl.Int16, "pupil": pl.Int16,
    "state": pl.Int8,
}  # fmt: skip
_GAZE_VALID = 7


def eyetribe(path: Path | str) -> Iterator[Recording]:
    """Yield the runs, person by person: stimulus ``attention``, one session per run.

    The file states no rate; it is taken from the median step, 34 ms.

    Raises:
        FileFormatError: If the file is missing or lacks a column.
    """
    path = Path(path)
    table = guarded(path, lambda: pl.read_parquet(path))
    for name, dtype in _COLUMNS.items():
        if table.schema.get(name) != dtype:
            raise FileFormatError(
                path, column=name, expected=f"a column of {dtype.__name__}", found=str(table.schema.get(name, "none"))
            )
    for one in table.sort("user", "run", "t_ms").partition_by("user", "run", maintain_order=True):
        user, run = one.row(0, named=True)["user"], one.row(0, named=True)["run"]
        yield Recording(
            one["t_ms"].to_numpy() / 1000.0,
            one["x"].cast(pl.Float64).to_numpy(),
            one["y"].cast(pl.Float64).to_numpy(),
            PLANE,
            f"user-{user:02d}",
            "attention",
            session=str(run),
            valid=(one["state"] == _GAZE_VALID).to_numpy(),
            pupil=one["pupil"].cast(pl.Float64).to_numpy(),
        )


def eyetribe_corpus(path: Path | str) -> Corpus:
    """Return all runs as one corpus in memory."""
    return Corpus.of(eyetribe(path))
