# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the samples of one recording are like, counted part by part; for the holder's private report alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from gazeveil.aggregate.engine import LONGEST_S
from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Part
from gazeveil.gaze.recording import Key
from gazeveil.gaze.schema import guarded
from gazeveil.gaze.validity import most_common_point, visible
from gazeveil.gaze.validity import outside as outside_of
from gazeveil.geometry import Geometry


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Counts over the samples of a recording, or of a piece of one.

    Attributes:
        rows: How many samples there are.
        tracked: How many have gaze.
        first: The earliest time.
        last: The latest time.
        ends_at: The time of the last sample, as it stands there.
        begins_at: The time of the first sample, as it stands there.
        step: The usual step of time; NaN if there is none.
        backwards: How often time goes back.
        repeated: How often time stands still.
        no_time: How often time is no number.
        parked: How many samples lie on the point that most lie on.
        parked_at: That point.
        outside: How many lie outside the field of view.
        left_lost: How often the left eye alone is lost.
        right_lost: How often the right eye alone is lost.
        odd_durations: How many fixations of a list last no time, a negative one, or longer than any fixation.
    """

    rows: int
    tracked: int
    first: float
    last: float
    begins_at: float
    ends_at: float
    step: float
    backwards: int
    repeated: int
    no_time: int
    parked: int
    parked_at: tuple[float, float]
    outside: int
    left_lost: int
    right_lost: int
    odd_durations: int = 0

    @property
    def seconds(self) -> float:
        """How long the recording is, its last sample included."""
        if not self.last >= self.first:
            return 0.0
        return self.last - self.first + (0.0 if np.isnan(self.step) else self.step)

    @property
    def rate(self) -> float | None:
        """Samples a second; None if time does not say."""
        return None if np.isnan(self.step) else 1 / self.step

    @property
    def clock_faults(self) -> int:
        """How often something is wrong with time."""
        return self.backwards + self.repeated + self.no_time

    def then(self, more: Seen) -> Seen:
        """Return the counts of this piece and the one that follows it."""
        larger = max(self, more, key=lambda piece: piece.parked)
        same = self.parked_at == more.parked_at
        return Seen(
            rows=self.rows + more.rows,
            tracked=self.tracked + more.tracked,
            first=float(np.fmin(self.first, more.first)),
            last=float(np.fmax(self.last, more.last)),
            begins_at=self.begins_at,
            ends_at=more.ends_at,
            step=more.step if np.isnan(self.step) else self.step,
            backwards=self.backwards + more.backwards + (more.begins_at < self.ends_at),
            repeated=self.repeated + more.repeated + (more.begins_at == self.ends_at),
            no_time=self.no_time + more.no_time,
            parked=self.parked + more.parked if same else larger.parked,
            parked_at=larger.parked_at,
            outside=self.outside + more.outside,
            left_lost=self.left_lost + more.left_lost,
            right_lost=self.right_lost + more.right_lost,
            odd_durations=self.odd_durations + more.odd_durations,
        )


def part_keys(part: Part) -> list[Key]:
    """Return the recordings that have samples in a part; stretches of one count once, so few are compared."""
    stretches = part.samples.select(pl.struct(schema.KEYS).rle().struct.field("value"))
    table = guarded(part.path or Path("in memory"), stretches.collect).unnest("value")
    return [_key(row) for row in dict.fromkeys(table.iter_rows())]


def seen_in(part: Part, screen: Geometry, wanted: Collection[Key]) -> list[tuple[Key, Seen]]:
    """Return the counts of the wanted recordings that have samples in a part."""
    table = guarded(part.path or Path("in memory"), part.samples.collect)
    extent = visible(screen)
    groups = table.partition_by(schema.KEYS, maintain_order=True, include_key=False, as_dict=True)
    return [(key, _seen(rows, extent)) for row, rows in groups.items() if (key := _key(row)) in wanted]


def _seen(rows: pl.DataFrame, extent: tuple[float, float, float, float] | None) -> Seen:
    t, x, y = (_numbers(rows, name) for name in ("t", "x", "y"))
    stated = rows["valid"].fill_null(False).to_numpy()
    tracked = stated & np.isfinite(x) & np.isfinite(y)
    times = t[np.isfinite(t)]
    steps = np.diff(t)
    forward = steps[steps > 0]
    ends, odd_durations = times, 0
    if schema.DURATION in rows.columns:  # fixations have no rate, and the last one ends when it has lasted
        lasted = _numbers(rows, schema.DURATION)
        ends = (t + np.where(np.isfinite(lasted), lasted, 0.0))[np.isfinite(t)]
        odd_durations = int((~(lasted > 0) | (lasted > LONGEST_S)).sum())
        forward = forward[:0]
    at, parked = most_common_point(x[tracked], y[tracked])
    left, right = _eye(rows, "left"), _eye(rows, "right")
    lost = (0, 0) if left is None or right is None else (int((~left & right).sum()), int((left & ~right).sum()))
    outside = (
        0
        if extent is None
        else int(outside_of(x[tracked], y[tracked], extent).sum()) + int((stated & _infinite(x, y)).sum())
    )
    return Seen(
        rows=len(t),
        tracked=int(tracked.sum()),
        first=float(times.min()) if times.size else np.nan,
        last=float(ends.max()) if ends.size else np.nan,
        begins_at=float(t[0]) if len(t) else np.nan,
        ends_at=float(t[-1]) if len(t) else np.nan,
        step=float(np.median(forward)) if forward.size else np.nan,
        backwards=int((steps < 0).sum()),
        repeated=int((steps == 0).sum()),
        no_time=int((~np.isfinite(t)).sum()),
        parked=parked,
        parked_at=at,
        outside=outside,
        left_lost=lost[0],
        right_lost=lost[1],
        odd_durations=odd_durations,
    )


def _infinite(x: FloatArray, y: FloatArray) -> BoolArray:
    return np.isinf(x) | np.isinf(y)


def _eye(rows: pl.DataFrame, side: str) -> BoolArray | None:
    if f"{side}_x" not in rows.columns:
        return None
    seen = np.isfinite(_numbers(rows, f"{side}_x")) & np.isfinite(_numbers(rows, f"{side}_y"))
    stated = f"{side}_valid"
    return seen & rows[stated].fill_null(False).to_numpy() if stated in rows.columns else seen


def _numbers(rows: pl.DataFrame, name: str) -> FloatArray:
    return rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _key(row: tuple[object, ...]) -> Key:
    return Key(*("" if label is None else str(label) for label in row))
