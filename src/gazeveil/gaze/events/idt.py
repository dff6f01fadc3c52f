# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""I-DT: a fixation is a time in which gaze stays within a small box (Salvucci & Goldberg 2000)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.events.base import detector, require
from gazeveil.gaze.events.online import CHUNK, Stream, events_of
from gazeveil.gaze.events.speed import MAX_STEP
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry

_MOST_SAMPLES = 16_384  # a power of two: the window is a ring


@detector
@dataclass(frozen=True, slots=True, kw_only=True)
class DispersionThreshold:
    """Fixations are windows in which (largest x - smallest x) + (largest y - smallest y) stays within a threshold.

    The window starts as the fewest samples that cover ``min_fixation``. If they are within the threshold it grows
    until the next sample would break it: a fixation. If not, it loses its first sample and is tried again. A
    saccade is what lies between two fixations of one stretch; its velocity is not measured. Each sample enters
    and leaves four monotonic queues once, so the time is linear whatever the window.

    A live stream tells a fixation as soon as a sample breaks it, and a saccade as soon as the next fixation has
    lasted ``min_fixation``.

    Attributes:
        threshold: Degrees; a fixation is at or below it.
        min_fixation: Shortest fixation, in seconds from its first to its last sample.
        max_saccade: Longest time between two fixations that is called a saccade, in seconds.
        max_gap: Longest loss of gaze that an event may span, in seconds; 0 ends events at every lost sample.
        max_step: Longest step in time, without a lost sample, that an event may span.
    """

    name = "idt"

    threshold: float = 1.0
    min_fixation: float = 0.1
    max_saccade: float = 0.1
    max_gap: float = 0.0
    max_step: float = MAX_STEP

    def __post_init__(self) -> None:
        for name in ("threshold", "min_fixation", "max_step"):
            require(self, name, above=0)
        for name in ("max_saccade", "max_gap"):
            require(self, name, at_least=0)

    def detect(self, recording: Recording) -> pl.DataFrame:
        """Return the fixations and saccades of a recording in `schema.EVENTS`."""
        return events_of(recording, _Engine(self, CHUNK), self.name)

    def start(self, geometry: Geometry | None = None) -> Stream:
        """Return a detector for live samples in the geometry's unit (degrees if there is none)."""
        return Stream(_Engine(self, 1), geometry)


class _Engine:
    """The window being searched, or the fixation being followed."""

    __slots__ = ("_out", "_queues", "_rule", "_state", "_window")

    def __init__(self, rule: DispersionThreshold, chunk: int) -> None:
        from gazeveil.gaze.events import _kernels  # noqa: PLC0415

        self._rule = (
            rule.threshold, rule.min_fixation, rule.max_saccade, rule.max_gap, rule.max_step
        )  # fmt: skip
        self._state = np.zeros(_kernels.DISPERSION_STATE)
        self._state[[0, 1, 17, 20]] = -np.inf, np.nan, np.nan, np.nan
        self._window = np.empty((5, _MOST_SAMPLES))
        self._queues = np.empty((4, _MOST_SAMPLES), dtype=np.int64)
        self._out = np.empty((2 * chunk + 2, _kernels.COLUMNS))

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        from gazeveil.gaze.events._kernels import disperse  # noqa: PLC0415

        count = disperse(*self._rule, self._state, self._window, self._queues, t, x, y, finish, self._out)
        if count < 0:
            raise InputError(
                f"more than {_MOST_SAMPLES:,} samples within {self._rule[1]:g} s",
                hint="times must be in seconds; or choose a shorter min_fixation",
            )
        return self._out[:count].copy()

    @property
    def looking(self) -> str:
        if self._state[3]:
            return "fixation"
        return "lost" if np.isnan(self._state[1]) else "unsure"
