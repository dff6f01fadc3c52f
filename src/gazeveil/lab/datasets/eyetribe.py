# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""30 participants in runs of an attention task (Ziman et al.), a desktop tracker at about 30 Hz, by the file's path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.datasets._tables import read_table

EYETRIBE_FILE = Path("eyetribe_contextlab") / "eyetribe_runs.parquet"
"""Where the file lies in the folder of shared data."""

PLANE = screen(1920, 1080, 1920 * 0.27, 1080 * 0.27, 600)
"""60 cm from the screen, says the data set; its size is not stated: a usual one with pixels of 0.27 mm is assumed."""

EYETRIBE_PUPIL = (0.0, 600.0)
"""The tracker's pupil size times ten, in an arbitrary unit: a wide, round range."""

_COLUMNS = ("user", "run", "t_ms", "x", "y", "pupil", "state")
_GAZE_VALID = 7


def eyetribe(path: Path | str) -> Iterator[Recording]:
    """Yield the runs, participant by participant: stimulus ``attention``, one session per run.

    The file states no rate; it is taken from the median step, 34 ms.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = read_table(Path(path), _COLUMNS, hint="it holds the EyeTribe runs of Ziman et al. as one table")
    table = table.with_columns(pl.col("user", "run").cast(pl.Int64))
    for one in table.sort("user", "run", "t_ms", maintain_order=True).partition_by("user", "run", maintain_order=True):
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
