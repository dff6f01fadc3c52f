# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events as lines among the samples of a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.gaze import schema

DETECTOR = "by which detector events were found: they stand as the tracker's"
OWN = "messages that would be taken for the screen, the rate, the trial or the stimulus: the file says its own"


def with_known_numbers(events: pl.DataFrame) -> pl.DataFrame:
    """Return events with numbers that are none left out."""
    numbers = pl.col(pl.Float64)
    return schema.event_table(events).with_columns(pl.when(numbers.is_finite()).then(numbers))


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
