# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loops behind `event_features`: rows of fixations and saccades from their samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel

MOMENTS = 6
_FEWEST_FIXATION, _FEWEST_SACCADE = 5, 3


@kernel()
def _moments(values: FloatArray, out: FloatArray) -> None:
    """Write mean, median, maximum, deviation, skewness and excess kurtosis; the last two are 0 without deviation."""
    count = len(values)
    mean = values.mean()
    second = third = fourth = 0.0
    for value in values:
        away = value - mean
        second += away * away
        third += away * away * away
        fourth += away * away * away * away
    second /= count
    out[0], out[1], out[2], out[3] = mean, np.median(values), values.max(), np.sqrt(second)
    out[4], out[5] = 0.0, 0.0
    if second > 1e-18:
        out[4] = third / count / second**1.5
        out[5] = fourth / count / second**2 - 3.0


@kernel()
def _slopes(values: FloatArray, t: FloatArray) -> FloatArray:
    """Return the derivative over uneven times: the parabola through three neighbours, straight lines at the ends."""
    count = len(values)
    found = np.empty(count)
    found[0] = (values[1] - values[0]) / (t[1] - t[0])
    found[-1] = (values[-1] - values[-2]) / (t[-1] - t[-2])
    for at in range(1, count - 1):
        before, after = t[at] - t[at - 1], t[at + 1] - t[at]
        rise = values[at + 1] * before * before + values[at] * (after * after - before * before)
        rise -= values[at - 1] * after * after
        found[at] = rise / (before * after * (before + after))
    return found


@kernel()
def _from_previous(x: float, y: float, before_x: float, before_y: float, out: FloatArray) -> None:
    """Write cosine, sine and length of the way from the event before; NaN if there was none."""
    across, down = x - before_x, y - before_y
    distance = np.hypot(across, down)
    out[0], out[1], out[2] = across / (distance + 1e-9), down / (distance + 1e-9), distance


@kernel()
def _path(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for at in range(1, len(x)):
        total += np.hypot(x[at] - x[at - 1], y[at] - y[at - 1])
    return total


@kernel()
def rows_of_events(
    samples: FloatArray,
    is_saccade: NDArray[np.bool_],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    fixations: FloatArray,
    saccades: FloatArray,
    places: FloatArray,
    kept: NDArray[np.bool_],
) -> tuple[int, int]:
    """Write one row for each event with enough samples; return how many fixations and saccades there are.

    Args:
        samples: Rows t, x, y, vx and vy.
        is_saccade: The kind of each event.
        first: The first sample of each event.
        last: The sample after its last one.
        fixations: Where rows of fixations go.
        saccades: Where rows of saccades go.
        places: Where centres of fixations go.
        kept: Set for every event that has a row.
    """
    t, x, y, vx, vy = samples
    before_x, before_y = np.nan, np.nan
    fixation_count = saccade_count = 0
    shape = np.empty(MOMENTS)
    for event in range(len(first)):
        span = slice(first[event], last[event])
        good = np.isfinite(x[span]) & np.isfinite(y[span]) & np.isfinite(vx[span]) & np.isfinite(vy[span])
        times, across, down = t[span][good], x[span][good], y[span][good]
        speed_x, speed_y = vx[span][good], vy[span][good]
        if len(times) < (_FEWEST_SACCADE if is_saccade[event] else _FEWEST_FIXATION):
            continue
        kept[event] = True
        duration, path = times[-1] - times[0], _path(across, down)
        dispersion = across.max() - across.min() + down.max() - down.min()
        centre_x, centre_y = across.mean(), down.mean()
        speed = np.hypot(speed_x, speed_y)
        if is_saccade[event]:
            row = saccades[saccade_count]
            saccade_count += 1
            way_x, way_y = across[-1] - across[0], down[-1] - down[0]
            amplitude = np.hypot(way_x, way_y)
            row[0], row[1] = duration, amplitude
            row[2], row[3] = way_x / (amplitude + 1e-9), way_y / (amplitude + 1e-9)
            row[4], row[5], row[6], row[7] = dispersion, across.std(), down.std(), path
            _from_previous(centre_x, centre_y, before_x, before_y, row[8:11])
            row[11] = speed.max() / duration
            gain_x, gain_y = _slopes(speed_x, times), _slopes(speed_y, times)
            for number, series in enumerate((speed, np.hypot(gain_x, gain_y), speed_x, speed_y, gain_x, gain_y)):
                _moments(series, shape)
                for moment in range(MOMENTS):
                    row[12 + 6 * moment + number] = shape[moment]
        else:
            row = fixations[fixation_count]
            row[0], row[3], row[11], row[12] = duration, path, dispersion, speed.mean()
            _from_previous(centre_x, centre_y, before_x, before_y, row[4:7])
            for number, series in enumerate((across, down)):
                _moments(series, shape)
                row[1 + number], row[7 + number], row[9 + number] = shape[3], shape[4], shape[5]
            places[fixation_count, 0], places[fixation_count, 1] = centre_x, centre_y
            fixation_count += 1
        before_x, before_y = centre_x, centre_y
    return fixation_count, saccade_count
