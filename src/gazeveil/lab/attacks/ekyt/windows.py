# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From gaze to what the network sees: a constant rate, and windows of two velocities with one scale for all.

Decimation bridges gaps with monotone cubics (PCHIP), filters without delay (Chebyshev, order 8, as scipy does),
keeps every q-th sample, and puts back as missing what was missing at exactly those samples.

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

Array = NDArray[np.float64]

LARGEST_FACTOR: Final = 8
GAP_PERIODS: Final = 2.5
"""Samples farther apart than this many periods have a gap between them."""
_ORDER: Final = 8
_RIPPLE_DB: Final = 0.05
_CUTOFF: Final = 0.8
_ON_SAMPLE: Final = 1e-3


def at_rate(t: Array, gaze: Array, recorded_hz: float, rate_hz: float) -> Array:
    """Return gaze (channels, samples) at a constant rate from the first sample on; missing samples are NaN.

    Args:
        t: Seconds, growing.
        gaze: One row per channel; NaN where it is missing.
        recorded_hz: Nominal rate of the recording.
        rate_hz: The rate to bring it to.
    """
    for name, rate in (("recorded", recorded_hz), ("wanted", rate_hz)):
        if not (math.isfinite(rate) and rate > 0):
            raise OptionError(f"the {name} rate must be above 0 Hz, not {rate!r}")
    if not np.isfinite(t).all() or (np.diff(t) < 0).any():
        raise InputError("times must be finite and must not go back")
    factor = math.floor(recorded_hz / rate_hz + 1e-6)
    if factor < 2:
        return interpolated(t, gaze, recorded_hz, rate_hz)
    even = interpolated(t, gaze, recorded_hz, recorded_hz)
    slow = decimated(even, factor)
    slow_hz = recorded_hz / factor
    if math.isclose(slow_hz, rate_hz, rel_tol=1e-6):
        return slow
    return interpolated(np.arange(slow.shape[1]) / slow_hz, slow, slow_hz, rate_hz)


def interpolated(t: Array, gaze: Array, recorded_hz: float, rate_hz: float) -> Array:
    """Return gaze on a regular grid by straight lines between neighbours; unknown if either neighbour is."""
    if len(t) == 0:
        return gaze.copy()
    count = max(1, round((t[-1] - t[0] + 1.0 / recorded_hz) * rate_hz))
    moments = t[0] + np.arange(count) / rate_hz
    right = np.clip(np.searchsorted(t, moments), 1, len(t) - 1) if len(t) > 1 else np.zeros(count, dtype=np.int64)
    left = np.maximum(right - 1, 0)
    gap = t[right] - t[left]
    share = np.clip((moments - t[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)
    # on a sample, its neighbour does not matter, missing or not
    share[np.abs(moments - t[left]) < _ON_SAMPLE / recorded_hz] = 0.0
    share[np.abs(moments - t[right]) < _ON_SAMPLE / recorded_hz] = 1.0
    low, high = gaze[:, left], gaze[:, right]
    result = np.where(share == 0.0, low, np.where(share == 1.0, high, low + share * (high - low)))
    result[:, (gap > GAP_PERIODS / recorded_hz) & (share > 0.0) & (share < 1.0)] = np.nan
    return result


def decimated(gaze: Array, factor: int) -> Array:
    """Return every ``factor``-th sample of what passes a low-pass filter; what was missing there is missing again."""
    if factor < 1:
        raise OptionError(f"gaze is decimated by a whole number from 1 up, not by {factor}")
    kept = np.isfinite(gaze[:, ::factor])
    result = np.stack([bridged(channel) for channel in gaze])
    for part in _in_parts(factor):
        result = _low_pass(result, part)[:, ::part]
    return np.where(kept, result, np.nan)


def bridged(signal: Array) -> Array:
    """Return a signal whose gaps are bridged by monotone cubics and whose ends are held; all 0 if nothing is there."""
    there = np.flatnonzero(np.isfinite(signal))
    if len(there) == 0:
        return np.zeros_like(signal)
    result = np.interp(np.arange(len(signal)), there, signal[there])
    if len(there) < 3 or len(there) == len(signal):
        return result
    width = np.diff(there).astype(np.float64)
    slope = np.diff(signal[there]) / width
    tangent = _tangents(width, slope)
    for index in np.flatnonzero(width > 1):
        u = np.arange(1, int(width[index])) / width[index]
        bend = tangent[index] * (1 - u) - tangent[index + 1] * u + slope[index] * (2 * u - 1)
        line = signal[there[index]] + u * width[index] * slope[index]
        result[there[index] + 1 : there[index + 1]] = line + width[index] * u * (1 - u) * bend
    return result


def _tangents(width: Array, slope: Array) -> Array:
    """Return the slopes at the knots: weighted harmonic means inside, 0 at turning points, three-point at the ends."""
    before, after = slope[:-1], slope[1:]
    w1, w2 = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    rising = before * after > 0
    inner = np.zeros_like(before)
    inner[rising] = ((w1 + w2)[rising]) / (w1[rising] / before[rising] + w2[rising] / after[rising])
    first = _end_tangent(width[0], width[1], slope[0], slope[1])
    last = _end_tangent(width[-1], width[-2], slope[-1], slope[-2])
    return np.concatenate(([first], inner, [last]))


def _end_tangent(near: float, far: float, slope: float, next_slope: float) -> float:
    tangent = ((2 * near + far) * slope - near * next_slope) / (near + far)
    if tangent * slope <= 0:
        return 0.0
    if slope * next_slope <= 0 and abs(tangent) > 3 * abs(slope):
        return 3 * slope
    return float(tangent)


def _low_pass(signal: Array, factor: int) -> Array:
    """Filter there and back with a Chebyshev filter of order 8: its squared gain, applied in the frequency domain."""
    samples = signal.shape[1]
    if samples < 2:
        return signal
    pad = min(samples - 1, 30 * factor)
    begin = 2 * signal[:, :1] - signal[:, pad:0:-1]
    end = 2 * signal[:, -1:] - signal[:, -2 : -pad - 2 : -1]
    longer = np.concatenate((begin, signal, end), axis=1)
    length = longer.shape[1]
    # a straight line through the ends is set aside, so that the two ends of the circle meet
    line = np.linspace(longer[:, 0], longer[:, -1], length, axis=1)
    angle = np.minimum(np.pi * np.fft.rfftfreq(length), np.pi / 2 - 1e-9)
    over = np.tan(angle) / math.tan(math.pi * _CUTOFF / factor / 2)
    chebyshev = np.where(
        over <= 1, np.cos(_ORDER * np.arccos(np.minimum(over, 1))), np.cosh(_ORDER * np.arccosh(np.maximum(over, 1)))
    )
    ripple = 10 ** (_RIPPLE_DB / 10) - 1
    gain = 1.0 / (1.0 + ripple * chebyshev**2)
    filtered = np.fft.irfft(np.fft.rfft(longer - line, axis=1) * gain, length, axis=1) + gain[0] * line
    return np.asarray(filtered[:, pad : pad + samples])


def _in_parts(factor: int) -> list[int]:
    """Return factors of at most 8 where there are any, whose product is ``factor``: 20 is 5 times 4."""
    parts = []
    while factor > 1:
        part = next((size for size in range(LARGEST_FACTOR, 1, -1) if factor % size == 0), factor)
        parts.append(part)
        factor //= part
    return parts


# --- From gaze to what the network sees: windows of two velocities at a constant rate, with one scale for all.


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
