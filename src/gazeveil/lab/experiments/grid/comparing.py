# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What changed between two runs: which numbers, by how much, and whether data, recipe or software did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from gazeveil.lab.experiments.grid.table import KEY

_ROW: Final = (*KEY, "seed")
_WHY: Final = {"corpus_digest": "data", "recipe": "recipe", "software": "software", "status": "status"}


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What is different.

    Attributes:
        same: How many numbers are the same in both.
        changed: Numbers that are not: both values, their difference, and what else changed.
        only_first: Numbers that only the first run has.
        only_second: Numbers that only the second has.
    """

    same: int
    changed: pl.DataFrame
    only_first: pl.DataFrame
    only_second: pl.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "same": self.same,
            "changed": self.changed.to_dicts(),
            "only_first": self.only_first.to_dicts(),
            "only_second": self.only_second.to_dicts(),
        }


def compare(first: pl.DataFrame, second: pl.DataFrame, tolerance: float = 1e-12) -> Changes:
    """Compare two tables, number by number.

    Args:
        first: The table of one run.
        second: That of the other.
        tolerance: By how much a value may differ and still be the same, as a part of itself.
    """
    wanted = [*_ROW, "value", "low", "high", "error", *_WHY]
    both = first.select(wanted).join(second.select(wanted), on=_ROW, how="inner", suffix="_second", nulls_equal=True)
    close = (pl.col("value") - pl.col("value_second")).abs() <= tolerance * pl.col("value").abs().clip(1e-300)
    neither = pl.col("value").is_null() & pl.col("value_second").is_null()
    equal = (close.fill_null(False) | neither) & (pl.col("status") == pl.col("status_second"))
    causes = [
        pl.when(pl.col(column) != pl.col(f"{column}_second")).then(pl.lit(words)) for column, words in _WHY.items()
    ]
    inside = (pl.col("value_second") >= pl.col("low")) & (pl.col("value_second") <= pl.col("high"))
    changed = both.filter(~equal).select(
        *_ROW,
        "value",
        pl.col("value_second").alias("now"),
        (pl.col("value_second") - pl.col("value")).alias("difference"),
        inside.alias("within_interval"),
        pl.concat_list(causes).list.drop_nulls().list.join(", ").alias("because"),
        pl.col("error_second").alias("error"),
    )
    only = [one.join(other, on=_ROW, how="anti", nulls_equal=True).select(*_ROW, "value", "status")
            for one, other in ((first, second), (second, first))]  # fmt: skip
    ranked = changed.sort(pl.col("difference").abs(), descending=True, nulls_last=False)
    return Changes(len(both) - len(changed), ranked, only[0], only[1])
