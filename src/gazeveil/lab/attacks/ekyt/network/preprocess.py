# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From gaze to what the network sees: windows of two velocities at a constant rate, with one scale for all.

Gaze angles are unwrapped, brought to the model's rate, differentiated (Savitzky–Golay, 7 samples, order 2), and clamped
to ±1000 deg/s. Then one mean and one standard deviation, pooled over both channels of the whole training set, scale
them, and only then missing samples become 0. Needs numpy alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.ekyt.network.resample import at_rate

Floats = NDArray[np.floating[Any]]

HALF_WINDOW: Final = 3
FASTEST: Final = 1000.0
"""Velocities are clamped to ± this, in deg/s."""
PRESENT: Final = 0.5
"""A window counts if at least this share of its samples is there."""
SHORT_BY: Final = 0.02
"""A recording that lacks up to this share of a window at its end still has it: clocks jitter."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The one mean and standard deviation of a training set, in deg/s."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.sd) and self.sd > 0):
            raise InputError(f"velocities cannot be scaled by mean {self.mean!r} and standard deviation {self.sd!r}")

    def apply(self, velocities: Floats) -> NDArray[np.float32]:
        """Return z-scores, with 0 where a velocity is missing."""
        scaled = (np.asarray(velocities, dtype=np.float32) - np.float32(self.mean)) / np.float32(self.sd)
        return np.asarray(np.nan_to_num(scaled, copy=False, nan=0.0))


def velocities(t: Floats, x: Floats, y: Floats, recorded_hz: float, rate_hz: float) -> NDArray[np.float32]:
    """Return the velocities of one recording in deg/s, horizontal and vertical, at a constant rate.

    Args:
        t: Seconds, growing.
        x: Degrees; NaN where gaze is missing.
        y: Degrees.
        recorded_hz: The recording's nominal rate.
        rate_hz: The rate to bring it to.

    Returns:
        (2, samples); NaN where gaze is missing or within three samples of where it is.
    """
    if not len(t) == len(x) == len(y):
        raise InputError(f"times and gaze have different lengths: {len(t)}, {len(x)}, {len(y)}")
    gaze = np.stack([unwrapped(np.asarray(axis, dtype=np.float64)) for axis in (x, y)])
    gaze[:, ~np.isfinite(gaze).all(axis=0)] = np.nan
    even = at_rate(np.asarray(t, dtype=np.float64), gaze, recorded_hz, rate_hz)
    return np.clip(derivative(even) * rate_hz, -FASTEST, FASTEST).astype(np.float32)


def unwrapped(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return an angle that runs on past ±180 degrees instead of jumping; missing samples stay missing."""
    result = degrees.copy()
    there = np.isfinite(degrees)
    result[there] = np.unwrap(degrees[there], period=360.0)
    return result


def derivative(signal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slope per sample of the parabola fitted to the 7 samples around each; ends repeat the end value."""
    samples = signal.shape[-1]
    if samples == 0:
        return signal.copy()
    ends = [(0, 0)] * (signal.ndim - 1) + [(HALF_WINDOW, HALF_WINDOW)]
    padded = np.pad(signal, ends, mode="edge")
    slope = np.zeros_like(signal)
    for lag in range(1, HALF_WINDOW + 1):
        after = padded[..., HALF_WINDOW + lag : HALF_WINDOW + lag + samples]
        before = padded[..., HALF_WINDOW - lag : HALF_WINDOW - lag + samples]
        slope += lag * (after - before)
    # the middle sample has no weight in the slope, but a missing one still makes the fit unknown
    slope += 0.0 * signal
    return slope / (2 * sum(lag * lag for lag in range(1, HALF_WINDOW + 1)))


def window_samples(seconds: float, rate_hz: float) -> int:
    """Return how many samples a window of this many seconds has."""
    samples = round(seconds * rate_hz) if math.isfinite(seconds) and math.isfinite(rate_hz) else 0
    if samples < 2 * HALF_WINDOW + 1:
        raise OptionError(f"a window of {seconds!r} s at {rate_hz!r} Hz is shorter than 7 samples")
    return samples


def windows(velocity: Floats, samples: int, step: int) -> Floats:
    """Return the windows of a recording that are at least half there, (n, 2, samples), in order.

    Args:
        velocity: What `velocities` gave.
        samples: Length of a window.
        step: Samples from one window's start to the next one's; `samples` gives windows that do not overlap.
    """
    return np.asarray(_cut(completed(velocity, samples), samples, step)[usable(velocity, samples, step)])


def usable(velocity: Floats, samples: int, step: int) -> NDArray[np.bool_]:
    """Return for every window of a recording whether at least half of it is there."""
    return np.asarray(
        np.isfinite(_cut(completed(velocity, samples), samples, step)).all(axis=1).mean(axis=1) >= PRESENT
    )


def completed(velocity: Floats, samples: int) -> Floats:
    """Return a recording that is just short of one window with the missing samples added as missing."""
    short = samples - velocity.shape[-1]
    if 0 < short <= SHORT_BY * samples:
        return np.pad(velocity, ((0, 0), (0, short)), constant_values=np.nan)
    return velocity


def _cut(velocity: Floats, samples: int, step: int) -> Floats:
    if samples < 1 or step < 1:
        raise OptionError(f"windows have at least 1 sample and a step of at least 1, not {samples} and {step}")
    if velocity.shape[-1] < samples:
        return np.empty((0, 2, samples), dtype=velocity.dtype)
    every = np.lib.stride_tricks.sliding_window_view(velocity, samples, axis=1)
    return np.asarray(every[:, ::step].transpose(1, 0, 2))


def pooled_scale(many: Iterable[Floats]) -> Scale:
    """Return the mean and standard deviation over all velocities that are there, of all arrays together."""
    count, total, squares = 0, 0.0, 0.0
    for values in many:
        there = values[np.isfinite(values)].astype(np.float64)
        count += there.size
        total += float(there.sum())
        squares += float(there @ there)
    if count == 0:
        raise InputError("there is no velocity to scale by: every sample is missing")
    mean = total / count
    return Scale(mean, math.sqrt(max(squares / count - mean * mean, 0.0)))
