# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fixations of 15 participants on 700 images, 3 s of free viewing each (OSIE, Xu et al. 2014).

There are no raw samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.lab.datasets._tables import read_table

OSIE_FILE: Final = "fixations.parquet"
_COLUMNS = ("image", "user", "fix", "x", "y", "dur_ms")


def osie_fixations(path: Path) -> pl.DataFrame:
    """Read image, user, number, place in pixels and duration in ms of every fixation, in this order.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is not the table we expect.
    """
    hint = "it holds the fixations of the OSIE data set; say where it is with --data FOLDER"
    return read_table(path, _COLUMNS, hint=hint).select(_COLUMNS).sort("image", "user", "fix")
