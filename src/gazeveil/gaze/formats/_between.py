# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Messages between the rows of a table: events of the recordings around them, names, and where a new one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import IntArray
from gazeveil.gaze.formats._runs import placed_messages


class Message(NamedTuple):
    """What was stated, when, and on which line it stood."""

    line: int
    time: float
    text: str


class Labels(NamedTuple):
    """What messages said about the rows that follow: names (empty if none did), and how often anything began."""

    stimulus: str = ""
    trial: str = ""
    part: int = 0


class Between:
    """Follows the messages of a file batch by batch."""

    def __init__(
        self,
        stimulus: Callable[[str], str] = lambda text: "",
        trial: Callable[[str], str] = lambda text: "",
        begins: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """Begin.

        Args:
            stimulus: Finds the stimulus that a message names, or nothing. It is shown until the next one.
            trial: Finds the trial that a message names, or nothing.
            begins: Whether a message begins a recording without naming it.
        """
        self._stimulus = stimulus
        self._trial = trial
        self._begins = begins
        self._now = Labels()
        self._waiting: list[Message] = []
        self._seen_rows = False

    def place(self, said: Sequence[Message], lines: IntArray) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the messages as events with ``at`` (as `Recorder.feed` takes them), and the labels of every row.

        A message that begins something belongs to what follows, others to the recording they stand in.
        """
        count = len(lines)
        placed = [(0, message.time, message.text) for message in self._waiting if count]
        waiting = [] if count else self._waiting
        begun_at = 0 if self._waiting or not self._seen_rows else -1
        labels, starts = [self._now], [0]
        for message in said:
            row = int(np.searchsorted(lines, message.line))
            if self._hear(message.text):
                labels.append(self._now)
                starts.append(row)
                begun_at = row
            if begun_at == row == count:
                waiting.append(message)
            else:
                placed.append((row if begun_at == row else row - 1, message.time, message.text))
        self._waiting = waiting
        self._seen_rows = self._seen_rows or count > 0
        lengths = np.diff([*starts, count])
        rows = pl.DataFrame(labels, schema=["stimulus", "trial", "part"], orient="row")
        return placed_messages(placed), rows[np.repeat(np.arange(len(labels)), lengths)]

    def rest(self, said: Sequence[Message] = ()) -> pl.DataFrame:
        """Return the messages after the last row."""
        return placed_messages([(-1, message.time, message.text) for message in [*self._waiting, *said]])

    def _hear(self, text: str) -> bool:
        """Take what a message says; whether it begins something."""
        stimulus, trial = self._stimulus(text), self._trial(text)
        if not (stimulus or trial or self._begins(text)):
            return False
        self._now = Labels(stimulus or self._now.stimulus, trial or self._now.trial, self._now.part + 1)
        return True
