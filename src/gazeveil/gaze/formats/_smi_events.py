# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events in SMI's text: what a message says, and the fixation, saccade or blink that each sample is in."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from gazeveil.gaze.formats._event_files import NO_PLACE, note_details, with_known_numbers
from gazeveil.gaze.formats._writing import Losses
from gazeveil.types import BoolArray, FloatArray, IntArray

_KINDS: Final = ("", "fixation", "saccade", "blink")
_WORDS: Final = pl.Series(["-", "Fixation", "Saccade", "Blink"])
_BLINK: Final = _KINDS.index("blink")


def said_in(text: str) -> str:
    """Return what a message says, without SMI's own words before it (``# Message: …``); ``-`` is nothing."""
    words = text.strip().removeprefix("#").lstrip().removeprefix("Message:").strip()
    return "" if words == "-" else words


class Movements:
    """Labels the samples of a recording with the event that each is in, one table of samples after another.

    An event is written if it is read back with the same start and end: where it begins and ends with a sample, where
    no other event is, and not next to another of its kind. A blink is only where gaze is lost, because it marks a loss.
    """

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._waiting: list[dict[str, Any]] = []
        self._begun: IntArray = np.zeros(0, dtype=np.int64)
        self._last = 0

    def add(self, events: pl.DataFrame) -> None:
        """Let events wait for their samples."""
        mine = with_known_numbers(events).filter(pl.col("kind") != "message")
        self._waiting += mine.iter_rows(named=True)

    def labels(self, samples: pl.DataFrame, after: pl.DataFrame | None) -> pl.Series:
        """Return the labels of samples; those after them are needed for events that go on."""
        both = pl.concat([samples, samples.clear() if after is None else after], how="diagonal")
        times = both["t"].to_numpy()
        count = samples.height
        labels = np.zeros(len(times), dtype=np.int64)
        labels[: len(self._begun)] = self._begun
        is_lost = both.select(~pl.any_horizontal(pl.col(r"^(?:|left_|right_)x$").is_not_null())).to_series().to_numpy()
        in_order = bool((np.diff(times) > 0).all())
        now = [event for event in self._waiting if event["onset"] is None or event["onset"] <= times[count - 1]]
        self._waiting = [event for event in self._waiting if event not in now]
        written = [event for event in now if in_order and self._place(event, times, labels, is_lost)]
        self._losses.add(NO_PLACE, len(now) - len(written))
        note_details(with_known_numbers(pl.DataFrame(written)), (), self._losses) if written else None
        self._begun, self._last = labels[count:], int(labels[count - 1])
        return _WORDS[labels[:count].astype(np.uint32)]

    def end(self) -> None:
        """End a recording; events after its samples are not written."""
        self._losses.add(NO_PLACE, len(self._waiting))
        self._waiting, self._begun, self._last = [], np.zeros(0, dtype=np.int64), 0

    def _place(self, event: dict[str, Any], times: FloatArray, labels: IntArray, is_lost: BoolArray) -> bool:
        """Label the samples of an event; whether it could be."""
        onset, offset = event["onset"], event["offset"]
        if event["kind"] not in _KINDS[1:] or onset is None or offset is None:
            return False
        kind = _KINDS.index(event["kind"])
        start, stop = int(np.searchsorted(times, onset)), int(np.searchsorted(times, offset, side="right"))
        if start >= stop or times[start] != onset or times[stop - 1] != offset or labels[start:stop].any():
            return False
        before = self._last if start == 0 else labels[start - 1]
        next_one = labels[stop] if stop < len(labels) else 0
        if kind in (before, next_one) or (kind == _BLINK and not is_lost[start:stop].all()):
            return False
        labels[start:stop] = kind
        return True
