# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""I-VT: slow samples are fixations, fast ones saccades (Salvucci & Goldberg 2000)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.events.base import detector, require
from gazeveil.gaze.events.online import CHUNK, Stream, events_of
from gazeveil.gaze.events.speed import MAX_STEP, WINDOW, Steps, VelocityStream
from gazeveil.gaze.events.table import from_rows
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry

_LOOKING = ("lost", "fixation", "saccade")


@detector
@dataclass(frozen=True, slots=True, kw_only=True)
class VelocityThreshold:
    """Fixations are runs of samples slower than a threshold; saccades are the fast runs between slow samples.

    A fast run that touches lost data is no saccade: where it began or ended is not known, and eyelids make such
    runs. A live stream decides a sample once a later one lies beyond its window: half a window plus one sample
    (11 ms at 1000 Hz) after it was pushed.

    Attributes:
        threshold: Degrees per second that separate slow from fast; slow is strictly below.
        min_fixation: Shortest fixation, in seconds from its first to its last sample.
        min_saccade: Shortest saccade, in seconds from the slow sample before to the slow sample after.
        window: Seconds the velocity is fitted over, half before and half after the sample.
        merge_gap: Fixations at most this many seconds apart are merged if they are also near; 0 merges none.
        merge_distance: How near, in degrees between their centres.
        max_gap: Longest loss of gaze that an event may span, in seconds; 0 ends events at every lost sample.
        max_step: Longest step in time, without a lost sample, that an event may span.
    """

    name = "ivt"

    threshold: float = 20.0
    min_fixation: float = 0.1
    min_saccade: float = 0.01
    window: float = WINDOW
    merge_gap: float = 0.0
    merge_distance: float = 0.5
    max_gap: float = 0.0
    max_step: float = MAX_STEP

    def __post_init__(self) -> None:
        for name in ("threshold", "max_step"):
            require(self, name, above=0)
        for name in ("min_fixation", "min_saccade", "window", "merge_gap", "merge_distance", "max_gap"):
            require(self, name, at_least=0)

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the fixations and saccades of a recording in `schema.EVENTS`."""
        return events_of(recording, _Engine(self, CHUNK), self.name)

    def start(self, geometry: Geometry | None = None) -> Stream:
        """Return a detector for live samples in the geometry's unit (degrees if there is none)."""
        return Stream(_Engine(self, 1), geometry)

    def detect_in_velocities(self, t: FloatArray, vx: FloatArray, vy: FloatArray) -> pl.DataFrame:
        """Return the events of samples of which only the velocity is known: no positions, nothing merged.

        Args:
            t: Times in seconds; they must not go backwards.
            vx: Velocity across in degrees per second, as `velocity` gives it; NaN ends an event.
            vy: Velocity down.
        """
        t, vx, vy = (np.ascontiguousarray(values, dtype=np.float64) for values in (t, vx, vy))
        if not t.shape == vx.shape == vy.shape == (len(t),):
            raise InputError(f"t, vx and vy must be lists of one length, found {t.shape}, {vx.shape} and {vy.shape}")
        nothing, chunk = np.empty(0), 16 * CHUNK
        runs = _Runs(self, chunk)
        rows = [
            runs.advance(t[at : at + chunk], nothing, nothing, vx[at : at + chunk], vy[at : at + chunk])
            for at in range(0, len(t), chunk)
        ]
        return from_rows(np.concatenate([*rows, runs.advance(*np.full((5, 1), np.nan))]), self.name)


class _Runs:
    """The run being looked at, and the one held back for merging."""

    __slots__ = ("_out", "_rule", "state")

    def __init__(self, rule: VelocityThreshold, rows: int) -> None:
        from gazeveil.gaze.events import _kernels  # noqa: PLC0415

        merge_gap = rule.merge_gap if rule.merge_gap > 0 else -1.0
        rules = (rule.threshold, rule.min_fixation, rule.min_saccade, merge_gap, rule.merge_distance)
        self._rule = tuple(map(float, rules))  # for a whole number it would be compiled again
        self.state = np.zeros(_kernels.CLASSIFY_STATE)
        self.state[8] = np.nan
        # an event has a row of its own; three may wait from before
        self._out = np.empty((rows + 3, _kernels.COLUMNS))

    def advance(self, *rows: FloatArray) -> FloatArray:
        from gazeveil.gaze.events._kernels import classify  # noqa: PLC0415

        count = classify(*self._rule, self.state, *rows, self._out)
        return self._out[:count].copy()


class _Engine:
    """Velocities, then runs."""

    __slots__ = ("_runs", "_velocities")

    def __init__(self, rule: VelocityThreshold, chunk: int) -> None:
        self._velocities = VelocityStream(rule.window, Steps(rule.max_gap, rule.max_step), chunk)
        self._runs = _Runs(rule, self._velocities.capacity)

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        rows = self._velocities.advance(t, x, y, finish=finish)
        return self._runs.advance(*rows[:5])

    @property
    def looking(self) -> str:
        return _LOOKING[int(self._runs.state[0])]
