# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The columns of gaze tables: the one schema that readers produce, Parquet files hold and engines read.

`SAMPLES` holds one row per tracker sample, `EVENTS` one row per fixation, saccade, blink or message. Both are
keyed by `KEYS`. Optional columns are absent when a tracker does not give them; the others are always there.

A table with the column `DURATION` is a list of fixations: each row is one of them, ``t`` is when it began, and either
is empty where a list does not say it. Nothing else tells lists from samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import polars as pl

VERSION: Final = 1

KEYS: Final[tuple[str, ...]] = ("observer", "stimulus", "session", "trial")

REQUIRED: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {"t": pl.Float64, "x": pl.Float64, "y": pl.Float64, "valid": pl.Boolean}
)

OPTIONAL: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "pupil": pl.Float64,
        "left_x": pl.Float64,
        "left_y": pl.Float64,
        "left_valid": pl.Boolean,
        "left_pupil": pl.Float64,
        "right_x": pl.Float64,
        "right_y": pl.Float64,
        "right_valid": pl.Boolean,
        "right_pupil": pl.Float64,
        "duration": pl.Float64,
    }
)

DURATION: Final = "duration"
"""How long a fixation lasted, in seconds: the column that makes a table a list of fixations."""

SAMPLES: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType({**REQUIRED, **OPTIONAL})

EVENTS: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "kind": pl.String,  # fixation, saccade, blink, message, …
        "source": pl.String,  # tracker, or the name of our detector
        "eye": pl.String,  # left, right, both
        "onset": pl.Float64,  # s
        "offset": pl.Float64,  # s
        "x": pl.Float64,  # fixation centre or saccade start, in the recording's unit
        "y": pl.Float64,
        "end_x": pl.Float64,  # saccade end
        "end_y": pl.Float64,
        "amplitude": pl.Float64,  # deg
        "peak_velocity": pl.Float64,  # deg/s
        "pupil": pl.Float64,
        "text": pl.String,  # of a message
    }
)


def units(gaze_unit: str, pupil_unit: str = "") -> dict[str, str]:
    """Return the unit of every column, for a file's metadata."""
    unit = {"t": "s", DURATION: "s", "onset": "s", "offset": "s", "amplitude": "deg", "peak_velocity": "deg/s"}
    for column in (*SAMPLES, *EVENTS):
        if column.endswith("pupil"):
            unit[column] = pupil_unit or "arbitrary"
        elif column in {"x", "y"} or column.endswith(("_x", "_y")):
            unit[column] = gaze_unit
    return unit


def keyed(columns: Mapping[str, type[pl.DataType]]) -> dict[str, type[pl.DataType]]:
    """Return the keys and these columns, for tables of many recordings."""
    return dict.fromkeys(KEYS, pl.String) | dict(columns)


def no_events() -> pl.DataFrame:
    """Return an event table without rows."""
    return pl.DataFrame(schema=dict(EVENTS))


def event_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ``rows`` with all event columns, in order and typed; missing ones are null."""
    return conform(rows, EVENTS)


def conform(table: pl.DataFrame, columns: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return a table with exactly these columns, in order and typed; those it lacks are null."""
    return table.select(
        (pl.col(name) if name in table.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in columns.items()
    )
