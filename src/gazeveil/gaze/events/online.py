# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Detectors fed sample by sample: causal, constant work per sample, bounded memory, no clock and no I/O.

A stream and `Detector.detect` run the same compiled state machine, so they find the same events on the same data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.events.table import KINDS, Event, from_rows, in_unit
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit

CHUNK = 8192
"""How many samples of a file go through a state machine at once: enough to be fast, small enough to stay in cache."""


class Engine(Protocol):
    """The state machine of a detector; works in degrees."""

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        """Take samples (at most as many as it was made for) and return the rows of the events they finish."""
        ...

    @property
    def looking(self) -> str:
        """What the eye does at the last sample that is decided."""
        ...


class Stream:
    """Events of live gaze. Push samples as they come; each push returns the events it finishes.

    What is found, and when, depends only on the samples pushed. `finish` ends the last events.
    """

    __slots__ = ("_engine", "_finished", "_geometry", "_sample")

    def __init__(self, engine: Engine, geometry: Geometry | None = None) -> None:
        self._engine = engine
        self._geometry = None if geometry is None or geometry.unit is Unit.DEGREE else geometry
        self._sample = np.empty((3, 1))
        self._finished = False

    def push(self, t: float, x: float, y: float) -> list[Event]:
        """Take one sample (NaN where gaze is lost) and return the events that are over now, oldest first.

        Args:
            t: Device time in seconds.
            x: Gaze in the unit of the geometry the stream was started with; degrees if there was none.
            y: Gaze, growing downwards.
        """
        if self._finished:
            raise InputError("the stream is finished", hint="start a new one for more samples")
        self._sample[:, 0] = t, x, y
        return self._events(*self._sample, finish=False)

    def finish(self) -> list[Event]:
        """End the stream and return the events that were still open."""
        if self._finished:
            return []
        self._finished = True
        return self._events(*np.empty((3, 0)), finish=True)

    @property
    def looking(self) -> str:
        """What the eye does at the last sample that is decided: fixation, saccade, unsure or lost."""
        return self._engine.looking

    def _events(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> list[Event]:
        if self._geometry is not None:
            x, y = self._geometry.convert(x, y, Unit.DEGREE)
        rows = self._engine.advance(t, x, y, finish=finish)
        return [Event(KINDS[int(row[0])], *row[1:]) for row in in_unit(rows, self._geometry).tolist()]


def events_of(recording: Recording, engine: Engine, source: str) -> pl.DataFrame:
    """Run a whole recording through a state machine and return its events in the recording's own unit.

    Raises:
        InputError: If it is a list of fixations.
    """
    recording.need_samples(f"the detector {source}")
    rows = list(_advance_through(recording, engine))
    return from_rows(in_unit(np.concatenate(rows), recording.geometry), source)


def _advance_through(recording: Recording, engine: Engine) -> Iterator[FloatArray]:
    # a copy, because kernels are compiled for writeable arrays in one piece
    samples = np.stack([recording.t, *recording.geometry.convert(recording.x, recording.y, Unit.DEGREE)])
    for begin in range(0, len(recording), CHUNK):
        yield engine.advance(*samples[:, begin : begin + CHUNK], finish=False)
    yield engine.advance(*np.empty((3, 0)), finish=True)
