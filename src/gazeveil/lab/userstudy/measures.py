# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a user study measures, and which way is better. Numbers come as a tidy table: a row for each number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from gazeveil.errors import FileFormatError

COLUMNS = ("participant", "control", "mechanism", "strength", "measure", "value")
BASELINE = "none"
"""The mechanism of the condition without any, which the others are compared with."""


@dataclass(frozen=True)
class Measure:
    """A number about one trial or one condition."""

    name: str
    words: str
    unit: str
    higher_is_better: bool


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("destroyed", "targets destroyed", "share", True),
        Measure("distance", "distance at which targets were destroyed", "share of the way", True),
        Measure("false-selections", "distractors selected", "share", False),
        Measure(
            "selection-time",
            "time from a target's appearance to its selection, of targets that were destroyed",
            "s",
            False,
        ),
        Measure("throughput", "throughput after ISO 9241-411, of targets that were destroyed", "bit/s", True),
        Measure(
            "path", "length of the shown gaze's path over the shortest one, of targets that were destroyed", "", False
        ),
        Measure("latency", "time from a look to its effect", "s", False),
        Measure(
            "identified",
            "trials from which the participant was identified (guessing: one in the number of participants)",
            "share",
            False,
        ),
        Measure("sysuse", "PSSUQ system use, 7 is best", "1 to 7", True),
        Measure("tlx", "NASA-TLX workload", "0 to 100", False),
        Measure("sus", "SUS score", "0 to 100", True),
        Measure("enjoyment", "enjoyment", "1 to 7", True),
    )
}


def measure_of(name: str) -> Measure:
    """Return a measure by its name; one that is not known counts as better if it is higher."""
    return MEASURES.get(name) or Measure(name, name, "", True)


def read_measures(path: Path) -> pl.DataFrame:
    """Return a tidy table of measures from a CSV or Parquet file.

    Raises:
        FileFormatError: If it cannot be read, or a column is missing or of another kind.
    """
    try:
        table = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(path, expected="a table as CSV or Parquet", found="something else") from error
    if missing := [column for column in COLUMNS if column not in table.columns]:
        raise FileFormatError(
            path,
            expected=f"the columns {', '.join(COLUMNS)}",
            found=f"no {', '.join(missing)}",
            hint="one row for each number: who, under which condition, which measure, how much",
        )
    labels = [pl.col(column).cast(pl.String) for column in COLUMNS[:-1]]
    tidy = table.select(*labels, pl.col("value").cast(pl.Float64, strict=False))
    for line, (kept, given) in enumerate(zip(tidy["value"], table["value"], strict=True), start=2):
        if kept is None and given is not None:
            raise FileFormatError(path, expected="a number", found=repr(given), line=line, column="value")
    for column in COLUMNS[:-1]:
        if tidy[column].null_count():
            line = int(tidy[column].is_null().arg_true()[0]) + 2
            raise FileFormatError(path, expected="a label", found="nothing", line=line, column=column)
    return tidy.drop_nulls("value")
