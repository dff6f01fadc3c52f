# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables that hold events: messages as lines among the rows, and on each row the fixation or saccade that it is in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl

from gazeveil.gaze import schema
from gazeveil.gaze.formats._event_files import NO_PLACE, OWN, AmongRows, TimedLine, note_details, with_known_numbers
from gazeveil.gaze.formats._samples import PER_SECOND
from gazeveil.gaze.formats._writing import Losses, Piece, TableFile
from gazeveil.gaze.formats._written_numbers import scaled_times
from gazeveil.types import BoolArray, FloatArray, IntArray

_LABELS: dict[str, type[pl.DataType]] = {
    "kind": pl.String,
    "number": pl.Int64,
    **dict.fromkeys(("onset", "offset", "x", "y"), pl.Float64),
}


class SpokenFile(TableFile):
    """A table with messages among its rows.

    Attributes:
        time_unit: The unit of times.
        said: What a recording's own lines say already, so that it is not said again.
    """

    takes_events = True
    time_unit: ClassVar[str]

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self.among = AmongRows()
        self.said: set[str] = set()

    @abstractmethod
    def message(self, time: str, text: str) -> str:
        """Return a message as a line."""

    @abstractmethod
    def is_read_back(self, text: str) -> bool:
        """Whether a message's text is read as it is."""

    def says_what(self, text: str) -> bool:
        """Whether a message would be taken for something that the file says itself."""
        return False

    def rows(self, piece: Piece) -> str:
        """Return the rows with the messages among them."""
        self.hear(piece.events)
        return self.among.put(super().rows(piece), piece.column("t").to_numpy()) if piece.samples.height else ""

    def end(self) -> str:
        """Return the messages that are left."""
        return self.among.rest()

    def hear(self, events: pl.DataFrame) -> None:
        """Let messages wait for the rows of their time; note what cannot be stated."""
        spoken = with_known_numbers(events).filter(pl.col("kind") == "message")
        fitting = []
        for row, (onset, text) in enumerate(spoken.select("onset", "text").iter_rows()):
            if text in self.said:
                continue
            if onset is None or text is None or any(mark in text for mark in "\n\r\0") or not self.is_read_back(text):
                self.losses.add(NO_PLACE)
            elif self.says_what(text):
                self.losses.add(OWN)
            else:
                fitting.append(row)
        kept = spoken[fitting]
        note_details(kept, ("text",), self.losses)
        self.speak(kept)

    def speak(self, kept: pl.DataFrame) -> None:
        """Let messages that can be stated wait for the rows of their time."""
        times, inexact = scaled_times(kept["onset"].to_numpy(), PER_SECOND[self.time_unit])
        self.losses.add(f"the last digit of the times of events, which {self.time_unit} cannot tell", inexact)
        self.among.add(
            TimedLine(onset, self.message(time, text))
            for onset, time, text in zip(kept["onset"], times, kept["text"], strict=True)
        )


class LabelledFile(SpokenFile):
    """A table on whose rows stands which event they are in. Rows are held back until it is known.

    Attributes:
        kinds: The events that rows can be in, and what they say of them besides start and end.
        numbered: Whether rows say the number of the event, so that two of a kind may follow one another.
    """

    kinds: ClassVar[Mapping[str, tuple[str, ...]]]
    numbered: ClassVar[bool] = False

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._movements = _Movements(self, losses)
        self._held: Piece | None = None
        self.movements = pl.DataFrame(schema=_LABELS)

    def rows(self, piece: Piece) -> str:
        """Return the rows before these, now that it is known which events they are in."""
        self.hear(piece.events)
        self._movements.add(piece.events)
        if not piece.samples.height:
            return ""
        before, self._held = self._held, piece
        return self._labelled(before, piece)

    def end(self) -> str:
        """Return the last rows, and the messages that are left."""
        before, self._held = self._held, None
        text = self._labelled(before, None)
        self._movements.end()
        return text + self.among.rest()

    def _labelled(self, piece: Piece | None, after: Piece | None) -> str:
        if piece is None:
            return ""
        self.movements = self._movements.of(piece.samples, None if after is None else after.samples)
        return self.among.put(TableFile.rows(self, piece), piece.column("t").to_numpy())


class AnnotatedFile(LabelledFile):
    """A table on whose rows messages stand, too: each on the row of its time."""

    def __init__(self, losses: Losses) -> None:
        super().__init__(losses)
        self._unsaid: list[tuple[float, str]] = []
        self._last_said: str | None = None
        self.spoken = pl.Series(dtype=pl.String)

    def message(self, time: str, text: str) -> str:
        """Return what stands on a row."""
        return text

    def speak(self, kept: pl.DataFrame) -> None:
        """Let messages wait for the row of their time."""
        self._unsaid += kept.select("onset", "text").iter_rows()

    def end(self) -> str:
        """Return the last rows; messages after them are not written."""
        text = super().end()
        self.losses.add(NO_PLACE, len(self._unsaid))
        self._unsaid, self._last_said = [], None
        return text

    def _labelled(self, piece: Piece | None, after: Piece | None) -> str:
        if piece is not None:
            self.spoken = self._said_on(piece)
        return super()._labelled(piece, after)

    def _said_on(self, piece: Piece) -> pl.Series:
        """Return the messages of rows. One row says one, and not what the row before says."""
        times = piece.column("t").to_list()
        row_of = {time: row for row, time in reversed(list(enumerate(times)))}
        texts = piece.said().to_list()
        latest = max(times)
        for onset, text in [each for each in self._unsaid if each[0] <= latest]:
            row = row_of.get(onset, -1)
            around = (texts[row - 1] if row > 0 else self._last_said, texts[row + 1] if row + 1 < len(texts) else None)
            if row < 0 or texts[row] is not None or text in around:
                self.losses.add(NO_PLACE)
            else:
                texts[row] = text
        self._unsaid = [each for each in self._unsaid if each[0] > latest]
        self._last_said = texts[-1]
        return pl.Series(texts, dtype=pl.String)


class _Movements:
    """Finds for the samples of a recording the event that each is in, one table of samples after another.

    An event is written if it is read back with the same start and end: where it begins and ends with a sample and no
    other event is. A blink is only where gaze is lost, because it marks a loss.
    """

    def __init__(self, file: LabelledFile, losses: Losses) -> None:
        self._file = file
        self._losses = losses
        self._count = 0
        self._waiting: list[dict[str, Any]] = []
        self._placed: list[dict[str, Any]] = [dict.fromkeys(_LABELS)]
        self._begun: IntArray = np.zeros(0, dtype=np.int64)
        self._before = 0

    def add(self, events: pl.DataFrame) -> None:
        """Let events wait for their samples."""
        self._waiting += with_known_numbers(events).filter(pl.col("kind") != "message").iter_rows(named=True)

    def of(self, samples: pl.DataFrame, after: pl.DataFrame | None) -> pl.DataFrame:
        """Return the events of samples; those after them are needed for events that go on."""
        both = pl.concat([samples, samples.clear() if after is None else after], how="diagonal")
        times, count = both["t"].to_numpy(), samples.height
        labels = np.zeros(len(times), dtype=np.int64)
        labels[: len(self._begun)] = self._begun
        is_lost = both.select(~pl.any_horizontal(pl.col(r"^(?:|left_|right_)x$").is_not_null())).to_series().to_numpy()
        in_order = bool((np.diff(times) > 0).all())
        latest = float(times[count - 1])
        now = [event for event in self._waiting if event["onset"] is None or event["onset"] <= latest]
        self._waiting = [event for event in self._waiting if event["onset"] is not None and event["onset"] > latest]
        written = [event for event in now if in_order and self._place(event, times, labels, is_lost)]
        self._losses.add(NO_PLACE, len(now) - len(written))
        for kind, holds in self._file.kinds.items():
            mine = [event for event in written if event["kind"] == kind]
            if mine:
                note_details(schema.event_table(pl.DataFrame(mine, infer_schema_length=None)), holds, self._losses)
        rows = [[self._placed[label][name] for label in labels[:count].tolist()] for name in _LABELS]
        self._begun, self._before = labels[count:], int(labels[count - 1])
        return pl.DataFrame(dict(zip(_LABELS, rows, strict=True)), schema=_LABELS)

    def end(self) -> None:
        """End a recording; events after its samples are not written."""
        self._losses.add(NO_PLACE, len(self._waiting))
        self._waiting, self._placed = [], self._placed[:1]
        self._begun, self._before = np.zeros(0, dtype=np.int64), 0

    def _place(self, event: dict[str, Any], times: FloatArray, labels: IntArray, is_lost: BoolArray) -> bool:
        """Label the samples of an event; whether it could be."""
        onset, offset, kind = event["onset"], event["offset"], event["kind"]
        if kind not in self._file.kinds or onset is None or offset is None:
            return False
        start, stop = int(np.searchsorted(times, onset)), int(np.searchsorted(times, offset, side="right"))
        if start >= stop or times[start] != onset or times[stop - 1] != offset or labels[start:stop].any():
            return False
        around = (self._before if start == 0 else labels[start - 1], labels[stop] if stop < len(labels) else 0)
        joins = not self._file.numbered and kind in [self._placed[label]["kind"] for label in around]
        if joins or (kind == "blink" and not is_lost[start:stop].all()):
            return False
        self._count += 1
        labels[start:stop] = len(self._placed)
        self._placed.append({**event, "number": self._count})
        return True
