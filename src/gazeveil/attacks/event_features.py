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

from gazeveil.attacks.motion_features import log_quantiles
from gazeveil.attacks.movement import Movement
from gazeveil.gaze.events import VelocityThreshold, velocity
from gazeveil.gaze.geometry import FloatArray, Geometry, Unit
from gazeveil.gaze.recording import Recording

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
_FEWEST = {"fixation": 5, "saccade": 3}
_LEAST_S, _STEPS = 0.02, 4.2
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
    window = max(_LEAST_S, _STEPS * movement.step)
    t = movement.t
    recording = Recording(t, movement.x, movement.y, _DEGREES, "somebody")
    table = VelocityThreshold(threshold=threshold, window=window).detect(recording)
    vx, vy = velocity(recording, window=window)
    rows: dict[str, list[FloatArray]] = {"fixation": [], "saccade": []}
    onsets: dict[str, list[float]] = {"fixation": [], "saccade": []}
    places: list[tuple[float, float, float]] = []
    before = (np.nan, np.nan)
    for kind, onset, offset in table.select("kind", "onset", "offset").iter_rows():
        inside = slice(int(np.searchsorted(t, onset - 1e-9)), int(np.searchsorted(t, offset + 1e-9)))
        samples = np.stack([t[inside], movement.x[inside], movement.y[inside], vx[inside], vy[inside]])
        samples = samples[:, np.isfinite(samples).all(axis=0)]
        if samples.shape[1] < _FEWEST[kind]:
            continue
        rows[kind].append((_fixation if kind == "fixation" else _saccade)(samples, before))
        onsets[kind].append(onset)
        before = (float(samples[1].mean()), float(samples[2].mean()))
        if kind == "fixation":
            places.append((*before, movement.pupil_between(onset, offset)))
    return Events(
        np.array(rows["fixation"]).reshape(-1, len(FIXATION)),
        np.array(rows["saccade"]).reshape(-1, len(SACCADE)),
        np.array(onsets["fixation"]),
        np.array(onsets["saccade"]),
        np.array(places).reshape(-1, 3),
    )


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


def _fixation(samples: FloatArray, before: tuple[float, float]) -> FloatArray:
    t, x, y, vx, vy = samples
    shape = _moments(samples[1:3])  # rows mean, median, max, sd, skew, kurtosis; columns x, y
    return np.array(
        [
            t[-1] - t[0], *shape[3], _path(x, y), *_from(before, x, y), *shape[4], *shape[5],
            np.ptp(x) + np.ptp(y), np.hypot(vx, vy).mean(),
        ]
    )  # fmt: skip


def _saccade(samples: FloatArray, before: tuple[float, float]) -> FloatArray:
    t, x, y, vx, vy = samples
    across, down = x[-1] - x[0], y[-1] - y[0]
    amplitude = float(np.hypot(across, down))
    speed, ax, ay = np.hypot(vx, vy), np.gradient(vx, t), np.gradient(vy, t)
    series = _moments(np.stack([speed, np.hypot(ax, ay), vx, vy, ax, ay]))
    duration = t[-1] - t[0]
    return np.array(
        [
            duration, amplitude, across / (amplitude + 1e-9), down / (amplitude + 1e-9), np.ptp(x) + np.ptp(y),
            x.std(), y.std(), _path(x, y), *_from(before, x, y), speed.max() / duration, *series.ravel(),
        ]
    )  # fmt: skip


def _moments(series: FloatArray) -> FloatArray:
    """Return mean, median, maximum, deviation, skewness and excess kurtosis (rows) of each series (columns)."""
    mean, deviation = series.mean(axis=1), series.std(axis=1)
    scaled = (series - mean[:, None]) / np.where(deviation > 0, deviation, 1.0)[:, None]
    return np.stack(
        [
            mean, np.median(series, axis=1), series.max(axis=1), deviation, (scaled**3).mean(axis=1),
            (scaled**4).mean(axis=1) - 3 * (deviation > 0),
        ]
    )  # fmt: skip


def _path(x: FloatArray, y: FloatArray) -> float:
    return float(np.hypot(np.diff(x), np.diff(y)).sum())


def _from(before: tuple[float, float], x: FloatArray, y: FloatArray) -> tuple[float, float, float]:
    """Return direction and distance of an event's centre from that of the event before; NaN for the first."""
    across, down = float(x.mean()) - before[0], float(y.mean()) - before[1]
    distance = float(np.hypot(across, down))
    return across / (distance + 1e-9), down / (distance + 1e-9), distance
