# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fixations and saccades in numbers: one row for each event, or one row of summaries for a window.

The columns of events follow George & Routray 2016 as far as they are published: for a fixation its duration, spread,
path, shape and way from the one before; for a saccade its size, shape, and statistics of velocity and acceleration.
Angles enter as cosine and sine, since -180 and 180 degrees are the same. Absolute position enters nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.gaze.events import VelocityThreshold, velocity
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.lab.attacks.features.motion_features import log_quantiles
from gazeveil.lab.attacks.features.movement import Movement

_MOMENTS = ("mean", "median", "max", "sd", "skew", "kurtosis")
_SERIES = ("speed", "acceleration", "vx", "vy", "ax", "ay")

FIXATION: Final = (
    "duration", "sd x", "sd y", "path", "cos from previous", "sin from previous", "distance from previous", "skew x",
    "skew y", "kurtosis x", "kurtosis y", "dispersion", "mean speed",
)  # fmt: skip
"""Columns of a fixation."""
SACCADE: Final = (
    "duration", "amplitude", "cos", "sin", "dispersion", "sd x", "sd y", "path", "cos from previous",
    "sin from previous", "distance from previous", "peak speed by duration",
    *(f"{moment} {series}" for moment in _MOMENTS for series in _SERIES),
)  # fmt: skip
"""Columns of a saccade."""

_DEGREES = Geometry(Unit.DEGREE)
_LEAST_S, _STEPS = 0.02, 4.2
_TICK = 1e-9
_QUARTERS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
_TYPICAL_DEG = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The events of one stretch, in order of onset.

    Attributes:
        fixations: One row each, columns `FIXATION`.
        saccades: One row each, columns `SACCADE`.
        fixation_onsets: Seconds.
        saccade_onsets: Seconds.
        fixation_places: Mean x, mean y and mean pupil of each fixation, for those who are allowed them.
    """

    fixations: FloatArray
    saccades: FloatArray
    fixation_onsets: FloatArray
    saccade_onsets: FloatArray
    fixation_places: FloatArray


def find_events(movement: Movement, threshold: float = 50.0) -> Events:
    """Find fixations and saccades by velocity (I-VT).

    Args:
        movement: Gaze without repeats.
        threshold: Degrees per second that separate slow from fast. Velocities are fitted over four samples at least,
            since a slow tracker's noise is fast.
    """
    from gazeveil.lab.attacks.features._event_feature_kernels import rows_of_events  # noqa: PLC0415  (compiles)

    window, t = max(_LEAST_S, _STEPS * movement.step), movement.t
    recording = Recording(t, movement.x, movement.y, _DEGREES, "somebody")
    table = VelocityThreshold(threshold=threshold, window=window).detect(recording)
    onset, offset = (table[name].to_numpy() for name in ("onset", "offset"))
    is_saccade = (table["kind"] == "saccade").to_numpy()
    count = len(table)
    fixations, saccades = np.empty((count, len(FIXATION))), np.empty((count, len(SACCADE)))
    places, kept = np.full((count, 3), np.nan), np.zeros(count, dtype=np.bool_)
    samples = np.stack([t, movement.x, movement.y, *velocity(recording, window=window)])
    first, last = np.searchsorted(t, onset - _TICK), np.searchsorted(t, offset + _TICK)
    rests, jumps = rows_of_events(samples, is_saccade, first, last, fixations, saccades, places, kept)
    fixated = kept & ~is_saccade
    places[:rests, 2] = [movement.pupil_between(*span) for span in zip(onset[fixated], offset[fixated], strict=True)]
    return Events(fixations[:rests], saccades[:jumps], onset[fixated], onset[kept & is_saccade], places[:rests])


def events(movement: Movement) -> FloatArray:
    """Summaries of the fixations and saccades of a window: quantiles, rates, and the main sequence."""
    found = find_events(movement)
    fixations = dict(zip(FIXATION, found.fixations.T, strict=True))
    saccades = dict(zip(SACCADE, found.saccades.T, strict=True))
    seconds = max(movement.seconds, movement.step)
    summaries = [
        log_quantiles(column, _QUARTERS)
        for column in (
            *(fixations[name] for name in ("duration", "sd x", "sd y", "path", "dispersion", "mean speed")),
            *(saccades[name] for name in ("duration", "amplitude", "max speed", "sd x", "sd y", "path")),
            *(np.abs(saccades[name]) for name in ("cos", "max acceleration", "max ax", "max ay")),
        )
    ]
    rates = [np.log(len(kind) / seconds + 0.1) for kind in (found.fixations, found.saccades)]
    return np.concatenate([*summaries, rates, _main_sequence(saccades)])


def _main_sequence(saccades: dict[str, FloatArray]) -> FloatArray:
    """Return level and slope of peak speed and of duration over amplitude, and how peak speeds scatter; in logs."""
    amplitude = saccades["amplitude"]
    real = amplitude > 1.0
    if real.sum() < 6:
        return np.full(5, np.nan)
    size = np.log(amplitude[real] / _TYPICAL_DEG)
    design = np.stack([np.ones_like(size), size], axis=1)
    outcomes = np.log(np.stack([saccades["max speed"][real], saccades["duration"][real]], axis=1))
    fit = np.linalg.lstsq(design, outcomes, rcond=None)[0]
    scatter = float((outcomes - design @ fit)[:, 0].std())
    return np.array([*fit[:, 0], *fit[:, 1], np.log(scatter + 1e-3)])
