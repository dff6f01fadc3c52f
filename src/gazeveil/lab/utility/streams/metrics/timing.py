# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a mechanism does to time: how late it follows, and how much it trembles from sample to sample."""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.geometry import Unit
from gazeveil.lab.utility.streams.metrics.distance import root_mean_square
from gazeveil.lab.utility.streams.pair import METRICS, Pair

LONGEST_LAG_S = 2.0
_MOST_STEPS = 1 << 24
_MAX_STEP = 0.1
"""Seconds between two samples beyond which the step between them is no tremble."""


@METRICS.register("lag_s")
def lag_s(pair: Pair) -> float:
    """Return by how many seconds the veiled stream follows the raw one: where their correlation is highest.

    Both are put on an even clock of the raw stream's median step; gaps stay empty. Lags of 0 to 2 s are tried; NaN if
    either stands still, or if there is nothing to compare.
    """
    return _best_lag(pair)[0]


@METRICS.register("lag_correlation")
def lag_correlation(pair: Pair) -> float:
    """Return the correlation of the two streams at `lag_s`, both axes together."""
    return _best_lag(pair)[1]


@METRICS.register("jitter")
def jitter(pair: Pair) -> float:
    """Return the root mean square step of the veiled stream between samples (RMS-S2S), in the viewing plane's unit.

    Only steps between neighbouring samples that are both compared, at most 0.1 s apart, count; NaN if there are none.
    """
    return steps_of(pair, pair.veiled.x, pair.veiled.y)


@METRICS.register("raw_jitter")
def raw_jitter(pair: Pair) -> float:
    """Return the same of the raw stream, on the same steps."""
    return steps_of(pair, pair.raw.x, pair.raw.y)


def steps_of(pair: Pair, x: FloatArray, y: FloatArray) -> float:
    """Return the root mean square step of one of the two streams."""
    passed = np.diff(pair.raw.t)
    near = pair.both[1:] & pair.both[:-1] & (passed >= 0) & (passed <= _MAX_STEP + 1e-6)
    across = np.diff(x)[near]
    if pair.raw.geometry.unit is Unit.DEGREE:
        across = (across + 180) % 360 - 180
    return root_mean_square(np.hypot(across, np.diff(y)[near]))


def _best_lag(pair: Pair) -> tuple[float, float]:
    t = pair.raw.t[pair.both]
    forward = np.diff(t)
    forward = forward[forward > 0]
    if not forward.size:
        return math.nan, math.nan
    step = float(np.median(forward))
    place = np.round((t - t.min()) / step).astype(np.int64)
    length = int(place.max()) + 1
    if length > _MOST_STEPS:
        return math.nan, math.nan
    lags = min(round(LONGEST_LAG_S / step), length - 1) + 1
    size = 1 << (length + lags).bit_length()
    present = np.zeros(length)
    present[place] = 1.0
    covariance, raw_energy, veiled_energy = np.zeros(lags), np.zeros(lags), np.zeros(lags)
    for raw, veiled in ((pair.raw.x, pair.veiled.x), (pair.raw.y, pair.veiled.y)):
        one, other = (_centred(values[pair.both], place, length) for values in (raw, veiled))
        covariance += _products(one, other, size, lags)
        # only where both are there, so that gaps do not favour a lag
        raw_energy += _products(one * one, present, size, lags)
        veiled_energy += _products(present, other * other, size, lags)
    floor = 1e-9 * max(raw_energy[0], veiled_energy[0])
    if not (raw_energy[0] > floor and veiled_energy[0] > floor):
        return math.nan, math.nan
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = covariance / np.sqrt(raw_energy * veiled_energy)
    correlation[(raw_energy <= floor) | (veiled_energy <= floor)] = -np.inf
    best = int(np.argmax(correlation))
    return best * step, float(np.clip(correlation[best], -1, 1))


def _centred(values: FloatArray, place: FloatArray, length: int) -> FloatArray:
    placed = np.zeros(length)
    centred = values - values.mean()
    placed[place] = centred if np.abs(centred).max() > 1e-9 * (1 + np.abs(values).max()) else 0.0
    return placed


def _products(early: FloatArray, late: FloatArray, size: int, lags: int) -> FloatArray:
    """Return the sum over i of early[i] * late[i + lag] for each lag."""
    spectrum = np.conj(np.fft.rfft(early, size)) * np.fft.rfft(late, size)
    return np.fft.irfft(spectrum, size)[:lags]
