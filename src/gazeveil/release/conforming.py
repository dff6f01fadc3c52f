# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables in the one schema, whatever columns they came with: no part of a corpus stops a release by how it is typed.

A column that is not there, or of a type that holds no such values, is empty; columns that the schema does not know go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.schema import guarded
from gazeveil.release.study import Study

_LABELS = dict.fromkeys(schema.KEYS, pl.String)
_NEEDED = _LABELS | dict(schema.REQUIRED)
_EVENTS = _LABELS | dict(schema.EVENTS)
_EYES = (("left_x", "left_y"), ("right_x", "right_y"))

UNREADABLE = (Exception, pl.exceptions.PanicException)
"""What reading a part may raise; polars panics at odd damage, and its panics are no usual exceptions."""


def columns_of(part: Part) -> pl.Schema:
    """Return the columns of a part's rows; no row is read.

    Raises:
        FileFormatError: If not even they can be found out.
    """
    return guarded(part.path or Path("in memory"), part.samples.collect_schema)


def are_as_declared(columns: Collection[str], study: Study) -> bool:
    """Return whether rows with these columns are what the study declares them to be: samples, or fixations."""
    return (schema.DURATION in columns) is (study.recordings.fixations is not None)


def conforming(part: Part, found: pl.Schema) -> Part:
    """Return a part with both of its tables in the schema, given the columns of its rows."""
    wanted = _NEEDED | {name: kind for name, kind in schema.OPTIONAL.items() if name in found}
    for across, down in _EYES:
        wanted |= {down: pl.Float64} if across in wanted else {}
    samples = _in_schema(part.samples, found, wanted)
    return replace(part, samples=samples, events=_in_schema(part.events, part.events.collect_schema(), _EVENTS))


def readable(corpus: Corpus) -> tuple[Corpus, tuple[str, ...]]:
    """Return the parts that can be read to their end, and which cannot; one part is in memory at a time."""
    kept, lost = [], []
    for part in corpus.parts:
        try:
            for table in (part.samples, part.events):
                table.collect()
        except UNREADABLE:
            lost.append(name_of(part))
        else:
            kept.append(part)
    return replace(corpus, parts=tuple(kept)), tuple(lost)


def name_of(part: Part) -> str:
    """Return what the holder of the data knows a part by."""
    return f"{part.path.parent.name}/{part.path.name}" if part.path else f"a recording of {part.stimulus!r}"


def _in_schema(table: pl.LazyFrame, found: Mapping[str, Any], wanted: Mapping[str, type[pl.DataType]]) -> pl.LazyFrame:
    """Return exactly these columns; as it is if nothing is wrong with it, so that stretches of it can be read."""
    if dict(found) == dict(wanted):
        return table
    return table.select(_column(name, kind, found) for name, kind in wanted.items())


def _column(name: str, kind: type[pl.DataType], found: Mapping[str, Any]) -> pl.Expr:
    there = found.get(name, pl.Null)
    holds = there in (pl.Null, kind) or there.is_numeric() or there in (pl.Boolean, pl.Categorical, pl.Enum)
    if not (holds or (there == pl.String and kind == pl.Float64)):
        return pl.lit(None, dtype=kind).alias(name)
    column = pl.col(name) if name in found else pl.lit(None)
    return column.cast(kind, strict=False).alias(name)
