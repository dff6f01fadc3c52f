# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""63 participants walk through a virtual museum, once each (EDVAM, Zhou et al.), a headset at about 31 Hz.

Gaze is in the view, as fractions of it, whatever the head does. The tracker's confidence is low (its median is 0.38)
and is not looked at. A third of the rows repeat the time before them: they stay, as no row says which one is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.gaze.recording import Recording
from gazeveil.geometry import normalised
from gazeveil.lab.datasets._tables import read_table

EDVAM_FILE: Final = Path("edvam_vr_museum") / "edvam.parquet"
"""Where the file lies in the folder of shared data."""

_COLUMNS = ("user", "time", "gx", "gy")


def edvam(path: Path | str) -> Iterator[Recording]:
    """Yield the walks, one a participant: stimulus ``museum``, rows in the order of the file.

    Gaze outside the view is not valid: a tenth of it is, some of it by millions of views.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    table = read_table(Path(path), _COLUMNS, hint="it holds the walks of github.com/YunzhanZHOU/EDVAM as one table")
    table = table.select(pl.col("user").cast(pl.Int64), pl.col("time", "gx", "gy").cast(pl.Float64))
    for one in table.sort("user", maintain_order=True).partition_by("user", maintain_order=True):
        x, y = one["gx"].to_numpy(), one["gy"].to_numpy()
        yield Recording(
            one["time"].to_numpy(),
            x,
            y,
            normalised(),
            f"user-{one['user'][0]:02d}",
            "museum",
            valid=(x >= 0) & (x < 1) & (y >= 0) & (y < 1),
        )
