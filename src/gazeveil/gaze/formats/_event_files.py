# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events as rows of tables of their own, or as lines among the samples; what is not held so is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.formats._writing import Losses
from gazeveil.types import FloatArray

NO_PLACE = "events that such files have no place for"
DETAILS = "details of events that such files do not hold"
DETECTOR = "by which detector events were found: they stand as the tracker's"
OWN = "messages that would be taken for the screen, the rate, the trial or the stimulus: the file says its own"
SINGLE = "of which eye events are: they stand as both eyes'"

_ALWAYS = ("kind", "source", "eye", "onset", "offset")
_NOT_IN_A_FIELD = r"[\n\r\x00]"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of events.

    Attributes:
        kind: Which events it holds; those of one moment are messages.
        holds: Which of `schema.EVENTS` it holds besides start and end.
        columns: Turns events into the columns of the table.
    """

    kind: str
    holds: tuple[str, ...]
    columns: Callable[[pl.DataFrame], Mapping[str, pl.Series]]


def as_tables(tables: Mapping[str, Rows], events: pl.DataFrame, losses: Losses) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the tables that have rows, by the names of their files."""
    events = with_known_numbers(events)
    kept = 0
    for name, rows in tables.items():
        mine = events.filter(pl.col("kind") == rows.kind, pl.col("onset").is_not_null())
        if rows.kind == "message":
            mine = mine.filter(~pl.col("text").fill_null("\n").str.contains(_NOT_IN_A_FIELD))
            mine = mine.with_columns(pl.col("offset").fill_null(pl.col("onset")))
        else:
            mine = mine.filter(pl.col("offset").is_not_null())
        kept += mine.height
        note_details(mine, rows.holds, losses)
        if mine.height:
            yield name, pl.DataFrame(rows.columns(mine))
    losses.add(NO_PLACE, events.height - kept)


def with_known_numbers(events: pl.DataFrame) -> pl.DataFrame:
    """Return events with numbers that are none left out."""
    numbers = pl.col(pl.Float64)
    return schema.event_table(events).with_columns(pl.when(numbers.is_finite()).then(numbers))


def note_details(events: pl.DataFrame, holds: tuple[str, ...], losses: Losses) -> None:
    """Note what is known about events besides their start, their end and what a file holds of them."""
    losses.add(DETECTOR, int((events["source"].fill_null("tracker") != "tracker").sum()))
    losses.add(SINGLE, int((events["eye"].fill_null("both") != "both").sum()))
    others = [name for name in schema.EVENTS if name not in (*_ALWAYS, *holds)]
    losses.add(DETAILS, int(events.select(pl.any_horizontal(pl.col(others).is_not_null())).to_series().sum()))


def lengths_of(onset: FloatArray, offset: FloatArray, per_second: float, losses: Losses) -> FloatArray:
    """Return how long events last, in another unit: numbers that give back the ends with the starts; NaN stays NaN."""
    lengths = offset - onset
    best = lengths * per_second
    for other in (np.nextafter(lengths, -np.inf), np.nextafter(lengths, np.inf)):
        exact = onset + best / per_second == offset
        better = ~exact & (onset + other * per_second / per_second == offset)
        best = np.where(better, other * per_second, best)
    inexact = ~np.isnan(lengths) & (onset + best / per_second != offset)
    losses.add("the last digit of the ends of events, for which there are lengths", int(inexact.sum()))
    return best


class TimedLine(NamedTuple):
    """A line, and the time in seconds after which it stands."""

    time: float
    text: str


class AmongRows:
    """Lines that wait for the rows of their time."""

    def __init__(self) -> None:
        self._waiting: list[TimedLine] = []

    def add(self, lines: Iterable[TimedLine]) -> None:
        """Let lines wait."""
        self._waiting += lines

    def put(self, text: str, times: FloatArray) -> str:
        """Return rows with the lines up to the last of them, each after the rows of its time."""
        if not len(times):
            return text
        so_far = np.maximum.accumulate(times)
        latest = float(so_far[-1])
        now = [line for line in self._waiting if line.time <= latest]
        if not now:
            return text
        self._waiting = [line for line in self._waiting if line.time > latest]
        places = np.searchsorted(so_far, [line.time for line in now], side="right").tolist()
        rows = text.splitlines(keepends=True)
        pieces, done = [], 0
        for place, line in sorted(zip(places, now, strict=True), key=lambda each: each[0]):
            pieces += [*rows[done:place], f"{line.text}\n"]
            done = place
        return "".join([*pieces, *rows[done:]])

    def rest(self) -> str:
        """Return the lines that are left, which wait no longer."""
        rest, self._waiting = self._waiting, []
        return "".join(f"{line.text}\n" for line in rest)
