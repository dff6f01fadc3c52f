# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bring gaze to a constant rate: decimate what is much faster, interpolate the rest, never invent what is missing.

Decimation bridges gaps with monotone cubics (PCHIP), filters without delay (Chebyshev, order 8, as scipy does),
keeps every q-th sample, and puts back as missing what was missing at exactly those samples.
"""

from __future__ import annotations

import math
from typing import Final

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
