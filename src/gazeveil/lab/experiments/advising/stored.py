# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""All measurements that advice rests on: the grid that comes with the package, and single experiments before it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

from gazeveil.errors import FileFormatError
from gazeveil.lab.experiments.grid.stored import PACKAGED, measured

EARLIER: Final = Path(__file__).with_name("earlier.json")
"""Attacks of `gazeveil lab experiment membership` and `attributes`, as on the page about other attacks."""

COLUMNS: Final[dict[str, Any]] = {
    **dict.fromkeys(
        ("use", "corpus", "data", "mechanism", "level", "recipe", "role", "measure", "harm", "threat"), pl.String
    ),
    **dict.fromkeys(("metric", "status"), pl.String),
    **dict.fromkeys(("proven", "headline"), pl.Boolean),
    **dict.fromkeys(("epsilon", "value", "low", "high", "chance"), pl.Float64),
    "n": pl.Int64,
}
"""What advice reads of a row of the grid."""


@cache
def measurements() -> pl.DataFrame:
    """Return all rows.

    Raises:
        FileFormatError: If a file is not what it should be.
    """
    try:
        rows = json.loads(EARLIER.read_text(encoding="utf-8"))["rows"]
        earlier = pl.DataFrame([{name: row[name] for name in COLUMNS} for row in rows], schema=COLUMNS)
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(EARLIER, expected="a table of measurements", found=str(error)) from None
    if not PACKAGED.is_file():
        return earlier
    return pl.concat([measured().select(list(COLUMNS)).cast(pl.Schema(COLUMNS)), earlier])
