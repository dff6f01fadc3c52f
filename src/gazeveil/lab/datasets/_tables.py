# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of data sets: read whole, with the columns that are asked for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError, InputError


def read_table(path: Path, columns: Collection[str], *, hint: str) -> pl.DataFrame:
    """Read a Parquet table that has these columns, and maybe others.

    Args:
        path: The file.
        columns: What it must hold.
        hint: Where it comes from, for those who do not have it.

    Raises:
        InputError: If the file is not there.
        FileFormatError: If it is no such table.
    """
    if not path.is_file():
        raise InputError(f"{path} is not there", hint=hint)
    try:
        table = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise FileFormatError(path, expected="a Parquet table", found="something else", hint=hint) from None
    if missing := [name for name in columns if name not in table.columns]:
        found = ", ".join(table.columns) or "no columns"
        raise FileFormatError(path, column=missing[0], expected="a column of that name", found=found)
    return table
