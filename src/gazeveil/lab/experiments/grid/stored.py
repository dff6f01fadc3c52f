# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The grid that comes with the package: measured once, on simulated participants and public data sets, seeds pooled."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import polars as pl

from gazeveil.lab.experiments.grid.standing import pooled
from gazeveil.lab.experiments.grid.table import read_table, write_table

PACKAGED: Final = Path(__file__).with_name("measured.parquet")
GRID: Final = Path(__file__).with_name("measured.toml")
"""What was asked."""


@cache
def measured() -> pl.DataFrame:
    """Return the packaged table, with the columns of a grid (`table.COLUMNS`); ``seed`` is how many seeds there are."""
    return read_table(PACKAGED)


def package(run: Path) -> None:
    """Make the result of a run the packaged one."""
    write_table(pooled(read_table(run)), PACKAGED)
