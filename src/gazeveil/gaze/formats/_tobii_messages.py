# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which recording does a message belong to? In Tobii exports, messages are rows between the samples."""

from __future__ import annotations

import polars as pl

from gazeveil.gaze.formats._runs import placed_messages
from gazeveil.gaze.formats._table import Batch
from gazeveil.gaze.formats.base import ReadReport

_LABELS = ("observer", "stimulus", "session")
_Labels = tuple[str, str, str]


class Messages:
    """Gives each message to the recording around it: of the same participant, and where possible the same stimulus."""

    def __init__(self, report: ReadReport) -> None:
        self._report = report
        self._waiting: list[tuple[_Labels, float, str]] = []
        self._last: _Labels | None = None

    def place(self, rows: Batch, samples: Batch, scale: float) -> pl.DataFrame:
        """Return the messages of a batch as events with ``at``, the sample whose recording they belong to."""
        placed: list[tuple[int, float, str]] = []
        count = len(samples.lines)
        labels = samples.frame.select(_LABELS)
        waiting, self._waiting = self._waiting, []
        for held, held_time, held_text in waiting:
            self._put(placed, held, held_time, held_text, labels, 0)
        for line, observer, stimulus, session, time, text in _spoken(rows):
            if time is None:
                self._report.remark("messages without a time were left out")
                continue
            before = int(samples.lines.searchsorted(line))
            is_sample = before < count and int(samples.lines[before]) == line
            if is_sample:
                placed.append((before, time / scale, text))
            else:
                self._put(placed, (observer, stimulus, session), time / scale, text, labels, before)
        if count:
            last = labels.row(count - 1)
            self._last = (last[0], last[1], last[2])
        return placed_messages(placed)

    def rest(self) -> pl.DataFrame:
        """Return the messages after the last sample."""
        mine = [(-1, time, text) for labels, time, text in self._waiting if self._last and _same(labels, self._last)]
        self._drop(len(self._waiting) - len(mine))
        return placed_messages(mine)

    def _put(
        self,
        placed: list[tuple[int, float, str]],
        mine: _Labels,
        time: float,
        text: str,
        labels: pl.DataFrame,
        before: int,
    ) -> None:
        previous = labels.row(before - 1) if before else self._last
        if previous == mine:
            placed.append((before - 1, time, text))
        elif before >= labels.height:
            self._waiting.append((mine, time, text))
        elif _same(mine, labels.row(before)):
            placed.append((before, time, text))
        elif previous is not None and _same(mine, previous):
            placed.append((before - 1, time, text))
        else:
            self._drop(1)

    def _drop(self, count: int) -> None:
        if count:
            self._report.remark("messages outside any recording were left out", count)


def _same(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether both are of one participant in one recording."""
    return mine[0] == other[0] and mine[2] == other[2]


def _spoken(rows: Batch) -> list[tuple[int, str, str, str, float | None, str]]:
    """Return line, labels, time and text of the rows that say something."""
    if "event" not in rows.frame.columns:
        return []
    text = [name for name in ("event", "event_value") if name in rows.frame.columns]
    speaks = rows.frame["event"].is_not_null()
    said = rows.frame.select(*_LABELS, "t", *text).filter(speaks)
    said = said.select(*_LABELS, "t", pl.concat_str(text, separator=": ", ignore_nulls=True).alias("text"))
    return [(line, *row) for line, row in zip(rows.lines[speaks.to_numpy()].tolist(), said.iter_rows(), strict=True)]
