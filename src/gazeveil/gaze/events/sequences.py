# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The main sequence: how the peak velocity of saccades grows with their size, in one line per participant.

Two laws are fitted to the same saccades: the saturating ``peak = eta (1 - exp(-amplitude / c))`` (Bahill 1975 and
later) and the square root ``peak = gain sqrt(amplitude)`` (Lebedev 1996). Both fits are robust: saccades far from
the curve (blinks, wrong detections) weigh less (Huber). Both numbers tell participants apart, so they are biometric:
see the concept page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
import polars as pl

from gazeveil.arrays import FloatArray
from gazeveil.gaze.events.base import Detector
from gazeveil.gaze.recording import Recording

_CURVATURES = np.geomspace(0.05, 500.0, 97)  # degrees; human c is about 3 to 15
_HUBER = 1.345
"""Residuals beyond this many robust standard deviations weigh less; 95 % efficient on normal data (Huber 1981)."""


@dataclass(frozen=True, slots=True)
class MainSequence:
    """What someone's saccades and fixations are like. NaN where there is too little to say.

    Attributes:
        n: Saccades with an amplitude and a peak velocity.
        eta: Velocity that large saccades approach, deg/s; NaN if the saccades are too alike to show a bend.
        c: Amplitude over which it is approached, deg.
        r2: Share of the variance of peak velocity that the saturating law explains.
        gain: Factor of the square-root law, deg/s at 1 degree.
        gain_r2: The same share for the square-root law.
        median_amplitude: deg.
        median_peak_velocity: deg/s.
        fixations: How many.
        median_fixation: s.
    """

    n: int
    eta: float
    c: float
    r2: float
    gain: float
    gain_r2: float
    median_amplitude: float
    median_peak_velocity: float
    fixations: int
    median_fixation: float

    def to_dict(self) -> dict[str, float]:
        """Return the summary as plain values."""
        return asdict(self)


def main_sequence(events: pl.DataFrame) -> MainSequence:
    """Summarise the saccades and fixations of an event table (`schema.EVENTS`): of one recording, or of many."""
    measured = pl.col("amplitude").is_finite() & pl.col("peak_velocity").is_finite() & (pl.col("amplitude") > 0)
    saccades = events.filter((pl.col("kind") == "saccade") & measured)
    lasting = events.filter(pl.col("kind") == "fixation").select(pl.col("offset") - pl.col("onset")).to_series()
    amplitude, peak = saccades["amplitude"].to_numpy(), saccades["peak_velocity"].to_numpy()
    eta, c, r2 = _fit_saturating(amplitude, peak)
    gain, gain_r2 = _fit_root(amplitude, peak)
    return MainSequence(
        len(saccades), eta, c, r2, gain, gain_r2, _median(amplitude), _median(peak), len(lasting), _median(lasting)
    )


def main_sequence_by_observer(recordings: Iterable[Recording], detector: Detector) -> dict[str, MainSequence]:
    """Detect events in each recording and summarise them observer by observer, over all of an observer's recordings."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for recording in recordings:
        tables.setdefault(recording.observer, []).append(detector.detect(recording))
    return {observer: main_sequence(pl.concat(found)) for observer, found in tables.items()}


def _median(values: FloatArray | pl.Series) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _fit_saturating(amplitude: FloatArray, peak: FloatArray) -> tuple[float, float, float]:
    """Return eta, c and r2. For a given c the best eta is a ratio of sums, so only c is searched."""
    if len(amplitude) < 3 or np.ptp(amplitude) == 0:
        return math.nan, math.nan, math.nan
    weights = np.ones(len(amplitude))
    c = math.nan
    for _ in range(50):
        previous, c = c, _best_curvature(amplitude, peak, weights)
        shape = -np.expm1(-amplitude / c)
        residuals = peak - _scale(shape, peak, weights) * shape
        weights = _huber_weights(residuals)
        if abs(c - previous) <= 1e-9 * c:
            break
    eta = _scale(shape, peak, weights)
    r2 = _explained(peak, eta * shape)
    if c >= _CURVATURES[-2] or c <= _CURVATURES[1]:
        return math.nan, math.nan, r2
    return eta, c, r2


def _best_curvature(amplitude: FloatArray, peak: FloatArray, weights: FloatArray) -> float:
    """Return the c with the least weighted squared error: a grid, then golden sections around its best point."""

    def error(c: float) -> float:
        shape = -np.expm1(-amplitude / c)
        return float((weights * (peak - _scale(shape, peak, weights) * shape) ** 2).sum())

    best = int(np.argmin([error(c) for c in _CURVATURES]))
    low = math.log(_CURVATURES[max(best - 1, 0)])
    high = math.log(_CURVATURES[min(best + 1, len(_CURVATURES) - 1)])
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    left_error, right_error = error(math.exp(left)), error(math.exp(right))
    while high - low > 1e-10:
        if left_error < right_error:
            high, right, right_error = right, left, left_error
            left = high - ratio * (high - low)
            left_error = error(math.exp(left))
        else:
            low, left, left_error = left, right, right_error
            right = low + ratio * (high - low)
            right_error = error(math.exp(right))
    return math.exp((low + high) / 2)


def _fit_root(amplitude: FloatArray, peak: FloatArray) -> tuple[float, float]:
    if not len(amplitude):
        return math.nan, math.nan
    shape, weights, gain = np.sqrt(amplitude), np.ones(len(amplitude)), math.nan
    for _ in range(50):
        previous, gain = gain, _scale(shape, peak, weights)
        weights = _huber_weights(peak - gain * shape)
        if abs(gain - previous) <= 1e-12 * abs(gain):
            break
    return gain, _explained(peak, gain * shape)


def _scale(shape: FloatArray, peak: FloatArray, weights: FloatArray) -> float:
    """Return the factor that brings ``shape`` nearest to ``peak``."""
    return float((weights * shape * peak).sum() / (weights * shape * shape).sum())


def _huber_weights(residuals: FloatArray) -> FloatArray:
    size = np.abs(residuals)
    limit = _HUBER * 1.4826 * float(np.median(size))
    return np.where(size <= limit, 1.0, limit / np.maximum(size, np.finfo(float).tiny))


def _explained(peak: FloatArray, fitted: FloatArray) -> float:
    spread = float(((peak - peak.mean()) ** 2).sum())
    return 1.0 - float(((peak - fitted) ** 2).sum()) / spread if spread > 0 else math.nan
