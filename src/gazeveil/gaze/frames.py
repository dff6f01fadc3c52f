# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze from data frames: polars, pandas, or whatever speaks Arrow. Nothing is written to disk on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.errors import InputError
from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import Chunk, ReadOptions, ReadReport
from gazeveil.gaze.formats.parquet import table_chunks

NAME = Path("the data frame")


def is_frame(source: object) -> bool:
    """Return whether something is a data frame rather than a path."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return True
    return hasattr(source, "__arrow_c_stream__") or _is_pandas(source)


def frame_chunks(source: Any, options: ReadOptions, report: ReadReport) -> Iterator[Chunk]:
    """Yield the recordings of a data frame.

    Columns are found by the names of our schema (``observer``, ``t``, ``x``, ``y`` …) or by ``columns=`` of the
    options. Rows of one recording may lie in several places; they keep their order.

    Raises:
        InputError: If columns are missing or hold no numbers, nobody says who looked, or times are hardly in seconds.
    """
    table = as_polars(source)
    found = table.columns
    if options.observer is None and options.columns.get("observer", "observer") not in found:
        raise InputError(
            "the data frame does not say who looked",
            hint="name the column with columns={'observer': 'Participant'}, or the participant with observer='p01'",
        )
    for name in schema.SAMPLES:
        _check_numbers(table, options.columns.get(name, name))
    keys = [name for key in schema.KEYS if (name := options.columns.get(key, key)) in found]
    if keys and len(table):
        table = pl.concat(table.partition_by(keys, maintain_order=True))
    yield from table_chunks(table.lazy(), NAME, options, report)
    report.fraction = 1.0


def _check_numbers(table: pl.DataFrame, name: str) -> None:
    """Refuse a column of texts that are no numbers."""
    if name in table.columns and table[name].dtype == pl.String:
        column = table[name]
        wrong = column.filter(column.is_not_null() & column.cast(pl.Float64, strict=False).is_null())
        if len(wrong):
            raise InputError(
                f"column {name!r} of the data frame has {wrong[0]!r}, which is no number",
                hint="make it a number, or leave it empty where gaze was lost",
            )


def as_polars(source: Any) -> pl.DataFrame:
    """Return a data frame as one of polars."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if _is_pandas(source):  # column by column: polars alone would need pyarrow for it
        columns = {str(name): source[name].to_numpy() for name in source.columns}
        return pl.DataFrame({name: _column(values) for name, values in columns.items()})
    return pl.DataFrame(source)


def _column(values: Any) -> Any:
    if values.dtype == object:  # texts, and numbers with gaps
        return [None if isinstance(item, float) and math.isnan(item) else item for item in values.tolist()]
    return values


def _is_pandas(source: object) -> bool:
    return type(source).__module__.split(".")[0] == "pandas" and hasattr(source, "columns")
