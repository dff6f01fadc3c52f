# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the eye turns: a straight line fitted to the samples around each sample, on the device's own times.

On even steps this is the Savitzky–Golay derivative of order one or two; on uneven steps it stays right, because the
fit uses the times as they are. Nothing is resampled and nothing is filled in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Unit

WINDOW = 0.02
"""Seconds a velocity is taken over: twice the shortest saccade (Nyström & Holmqvist 2010)."""
MAX_STEP = 0.1
"""Seconds between two samples beyond which nothing is stated about what the eye did in between."""

_MOST_SAMPLES = 2048


@dataclass(frozen=True, slots=True)
class Steps:
    """Which steps between samples an event may span.

    Attributes:
        max_gap: Longest loss of gaze that is bridged, in seconds between the good samples on both sides; 0 for none.
        max_step: Longest step in time between two samples with none lost in between.
    """

    max_gap: float = 0.0
    max_step: float = MAX_STEP


class VelocityStream:
    """Turns samples into rows (t, x, y, vx, vy, sample number), a row of NaN after each stretch; bounded memory."""

    __slots__ = ("_buffer", "_half", "_place", "_rows", "_seen", "_state", "_steps")

    def __init__(self, window: float, steps: Steps, chunk: int) -> None:
        from gazeveil.gaze.events import _kernels  # noqa: PLC0415

        self._half, self._steps, self._seen = window / 2, steps, 0
        self._state = np.zeros(_kernels.VELOCITY_STATE)
        self._state[:2] = -np.inf, np.nan
        self._place = np.zeros(4, dtype=np.int64)
        self._buffer = np.empty((4, _MOST_SAMPLES + chunk))
        # every sample pushed or waiting gives at most one row, and every sample pushed may end a stretch
        self._rows = np.empty((6, 2 * chunk + _MOST_SAMPLES + 1))

    @property
    def capacity(self) -> int:
        """The most rows one call returns."""
        return self._rows.shape[1]

    def advance(self, t: FloatArray, x: FloatArray, y: FloatArray, *, finish: bool) -> FloatArray:
        """Take samples in degrees and return the rows decided by them: a view that the next call overwrites."""
        from gazeveil.gaze.events._kernels import velocities  # noqa: PLC0415

        count = velocities(
            self._half, self._steps.max_gap, self._steps.max_step, self._state, self._place, self._buffer,
            t, x, y, self._seen, finish, self._rows,
        )  # fmt: skip
        if self._place[0] > _MOST_SAMPLES:
            raise InputError(
                f"more than {_MOST_SAMPLES:,} samples within {2 * self._half:g} s",
                hint="times must be in seconds; or choose a shorter window",
            )
        self._seen += len(t)
        rows: FloatArray = self._rows[:, :count]
        return rows


def velocity(
    recording: Recording, *, window: float = WINDOW, steps: Steps | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the velocity of gaze across and down at each sample in degrees per second; NaN where there is none.

    Args:
        recording: Any recording whose geometry knows degrees.
        window: Seconds the line is fitted over, half before and half after the sample.
        steps: Which steps between samples are bridged.
    """
    samples = np.stack([recording.t, *recording.geometry.convert(recording.x, recording.y, Unit.DEGREE)])
    rows = VelocityStream(window, steps or Steps(), len(recording)).advance(*samples, finish=True)
    rows = rows[:, ~np.isnan(rows[5])]
    across, down = np.full(len(recording), np.nan), np.full(len(recording), np.nan)
    numbers = rows[5].astype(np.int64)
    across[numbers], down[numbers] = rows[3], rows[4]
    return across, down
