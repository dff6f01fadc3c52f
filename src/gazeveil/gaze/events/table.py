# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events as tables: from a detector's rows, from a list of events, and back onto the samples they cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.gaze import schema
from gazeveil.geometry import Geometry, Unit


class Event(NamedTuple):
    """One finished event of a live stream; NaN where a value does not apply.

    Times in seconds, positions in the stream's unit, amplitude in degrees, peak velocity in degrees per second.
    """

    kind: str
    onset: float
    offset: float
    x: float
    y: float
    end_x: float
    end_y: float
    amplitude: float
    peak_velocity: float


KINDS = ("fixation", "saccade")
"""What the first column of a kernel's rows means."""


def in_unit(rows: FloatArray, geometry: Geometry | None) -> FloatArray:
    """Return a kernel's rows with positions in the geometry's own unit instead of degrees."""
    if geometry is None or geometry.unit is Unit.DEGREE or not len(rows):
        return rows
    rows, degrees = rows.copy(), geometry.in_unit(Unit.DEGREE)
    for across, down in ((3, 4), (5, 6)):
        rows[:, across], rows[:, down] = degrees.convert(rows[:, across], rows[:, down], geometry.unit)
    return rows


def from_rows(rows: FloatArray, source: str) -> pl.DataFrame:
    """Return a kernel's rows as a table in `schema.EVENTS`."""
    count = len(rows)
    columns = {
        "kind": pl.Series("kind", KINDS)[rows[:, 0].astype(np.uint32)],
        "source": pl.Series("source", [source]).new_from_index(0, count),
        "eye": pl.Series("eye", ["both"]).new_from_index(0, count),
    }
    for name, values in zip(Event._fields[1:], np.ascontiguousarray(rows.T[1:]), strict=True):
        columns[name] = pl.Series(name, values, nan_to_null=True)
    for name, dtype in schema.EVENTS.items():
        if name not in columns:
            columns[name] = pl.Series(name, [None], dtype=dtype).new_from_index(0, count)
    return pl.DataFrame([columns[name] for name in schema.EVENTS])


def from_events(events: Sequence[Event], source: str) -> pl.DataFrame:
    """Return events of a live stream as a table in `schema.EVENTS`."""
    rows = np.array([(KINDS.index(event.kind), *event[1:]) for event in events], dtype=np.float64)
    return from_rows(rows.reshape(-1, len(Event._fields)), source)


def covered(t: FloatArray, events: pl.DataFrame, kind: str) -> NDArray[np.bool_]:
    """Return which samples lie within an event of one kind, both ends included.

    Args:
        t: Times of the samples; where they go backwards, a sample can be covered by an event of another pass.
        events: A table in `schema.EVENTS`.
        kind: fixation, saccade, blink, …
    """
    chosen = events.filter((pl.col("kind") == kind) & pl.col("onset").is_not_null()).sort("onset")
    inside = np.zeros(len(t), dtype=np.bool_)
    if not len(chosen):
        return inside
    onset = chosen["onset"].to_numpy()
    # events of one kind may overlap (two eyes), so a sample asks for the latest end of all that began before it
    latest = np.maximum.accumulate(chosen.select(pl.coalesce("offset", "onset")).to_series().to_numpy())
    begun = np.searchsorted(onset, t, side="right")
    known = np.isfinite(t) & (begun > 0)
    inside[known] = t[known] <= latest[begun[known] - 1]
    return inside
