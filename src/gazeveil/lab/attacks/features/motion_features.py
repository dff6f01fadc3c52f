# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How someone's gaze moves, in numbers that need no events and no absolute position.

Each group turns the movement of a window into a fixed number of values; NaN where the window has too little for one.

- ``steps``: quantiles of how far gaze moves within 1, 2, 3, … samples, across and down, with and without sign.
- ``bends``: quantiles of second and third differences: the tracker's noise on this eye, tremor, braking.
- ``echoes``: how a velocity is like the one some samples before, for slow, middle and fast movement.
- ``directions``: where gaze moves to at four ranges of speed, and how often it is that fast.
- ``losses``: how often and how long gaze is lost; blinks are most of it.
- ``position`` and ``pupil``: where gaze rests and how wide the pupil is; for attackers who are allowed them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.features.movement import Movement

LAGS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 144, 216, 324)
_UNSIGNED = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
_SIGNED = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98])
_RESTING = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
_PUPIL_LAGS = (1, 3, 9, 27, 81)
_CHANGES = np.array([0.25, 0.5, 0.75, 0.9])
_FEWEST = 8
_TINY_DEG = 1e-3


def quantiles(values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return quantiles of finite values by straight lines between them; NaN if there are fewer than eight."""
    if len(values) < _FEWEST:
        return np.full(len(shares), np.nan)
    ordered = np.sort(values)
    return np.interp(shares * (len(ordered) - 1), np.arange(len(ordered)), ordered)


def log_quantiles(values: FloatArray, shares: FloatArray = _UNSIGNED) -> FloatArray:
    """Return logarithms of quantiles of values from 0 up."""
    return np.asarray(np.log(quantiles(values, shares) + _TINY_DEG))


def steps(movement: Movement) -> FloatArray:
    """Quantiles of how far gaze moves within some samples."""
    found = []
    for lag in LAGS:
        for way in movement.ways(lag):
            signed = quantiles(way, _SIGNED)
            found += [log_quantiles(np.abs(way)), np.sign(signed) * np.log1p(10 * np.abs(signed))]
    return np.concatenate(found)


def bends(movement: Movement) -> FloatArray:
    """Quantiles of second differences over 1, 2, 3 and 5 samples, and of third differences."""
    found = []
    for lag in (1, 2, 3, 5):
        whole = movement.t[2 * lag :] - movement.t[: -2 * lag] <= (4 * lag + 1) * movement.step
        for gaze in (movement.x, movement.y):
            bend = (gaze[2 * lag :] - 2 * gaze[lag:-lag] + gaze[: -2 * lag])[whole]
            found.append(log_quantiles(np.abs(bend[np.isfinite(bend)])))
    for gaze in (movement.x, movement.y):
        jolt = np.diff(gaze, 3)
        found.append(log_quantiles(np.abs(jolt[np.isfinite(jolt)])))
    return np.concatenate(found)


def echoes(movement: Movement) -> FloatArray:
    """How velocities go on: mean products with earlier ones, bounded at three scales of speed."""
    velocities = movement.velocities()
    found: list[float] = []
    for scale in (5.0, 20.0, 80.0):
        across, down = (np.tanh(velocity / scale) for velocity in velocities)
        for lag in range(1, 11):
            for one, other in ((across, across), (down, down), (across, down)):
                found.append(_mean(one[lag:] * other[:-lag]))
        found += [_mean(part) for part in (across * down, across, down, across * across, down * down)]
    return np.array(found)


def directions(movement: Movement) -> FloatArray:
    """Where gaze moves to, in eight directions at four ranges of speed."""
    across, down = movement.velocities()
    there = np.isfinite(across)
    speed, angle = np.hypot(across, down)[there], np.arctan2(down, across)[there]
    eighth = np.floor(angle / (np.pi / 4) + 0.5).astype(np.int64) % 8
    found = []
    for low, high in ((0.0, 8.0), (8.0, 30.0), (30.0, 100.0), (100.0, np.inf)):
        inside = (speed >= low) & (speed < high)
        count = int(inside.sum())
        shares = (np.bincount(eighth[inside], minlength=8) + 1) / (count + 8)
        turns = [np.cos(2 * angle[inside]), np.sin(2 * angle[inside]), np.cos(4 * angle[inside])]
        slant = [turn.sum() / max(count, 1) for turn in turns]
        found.append(np.concatenate((np.sqrt(shares), [np.sqrt(count / max(len(speed), 1))], slant)))
    return np.concatenate(found)


def losses(movement: Movement) -> FloatArray:
    """How often and how long gaze is lost."""
    lost = np.isnan(movement.window.x)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], lost.astype(np.int8), [0]))))
    lengths = (edges[1::2] - edges[::2]) * movement.step
    seconds = max(movement.seconds, movement.step)
    blinks = ((lengths > 0.05) & (lengths < 0.5)).sum()
    return np.array(
        [
            np.log(lost.mean() + 0.003),
            np.log(len(lengths) / seconds + 0.05),
            np.log(np.median(lengths) if len(lengths) else movement.step),
            np.sqrt((lengths < 0.03).sum() / seconds),
            np.sqrt(blinks / seconds),
        ]
    )


def position(movement: Movement) -> FloatArray:
    """Where gaze rests."""
    return np.concatenate([quantiles(gaze[np.isfinite(gaze)], _RESTING) for gaze in (movement.x, movement.y)])


def pupil(movement: Movement) -> FloatArray:
    """How wide the pupil is, and how much it changes within some samples; NaN where it is denied."""
    size = movement.window.pupil
    if size is None:
        return np.full(len(_SIGNED) + len(_PUPIL_LAGS) * len(_CHANGES), np.nan)
    found = [log_quantiles(size[np.isfinite(size)], _SIGNED)]
    for lag in _PUPIL_LAGS:
        change = np.abs(size[lag:] - size[:-lag])
        found.append(log_quantiles(change[change > 0], _CHANGES))  # repeats are no change
    return np.concatenate(found)


MOTION: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType(
    {"steps": steps, "bends": bends, "echoes": echoes, "directions": directions, "losses": losses}
)
"""Groups that any attacker may use."""
ALLOWED: Final[Mapping[str, Callable[[Movement], FloatArray]]] = MappingProxyType(
    {"position": position, "pupil": pupil}
)
"""Groups that an attacker must be allowed."""


def _mean(values: FloatArray) -> float:
    there = np.isfinite(values)
    count = int(there.sum())
    return float(values[there].sum() / count) if count >= _FEWEST else np.nan
