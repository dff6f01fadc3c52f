# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The 52 features as one would write them first: window by window, from the events, with nothing carried over.

Slow and plain on purpose: the tests compare the sliding window with it, and the benchmark races its pandas twin.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.features.extraction import EyeEvents, letters


def one_window(events: EyeEvents, start: float, window: float, large_from: float) -> FloatArray:
    """Return the features of one window."""

    def inside(table: FloatArray) -> FloatArray:
        return table[:, (table[0] >= start) & (table[0] < start + window)]

    fixations, saccades, blinks = inside(events.fixations), inside(events.saccades), inside(events.blinks)
    return features(fixations, saccades, blinks, window, large_from)


def features(
    fixations: FloatArray, saccades: FloatArray, blinks: FloatArray, window: float, large_from: float
) -> FloatArray:
    """Return the features of the events of one window."""
    amplitude = saccades[3]
    large, right = amplitude >= large_from, saccades[1] > 0
    n, rests = len(amplitude), fixations.shape[1]
    counts = [n, int((~large).sum()), int(large.sum()), int(right.sum()), int((~right).sum())]
    row = [rests / window, *(count / window for count in counts)]
    row += [n / rests if rests else np.nan, *(count / n if n else np.nan for count in counts[1:])]
    row += _moments(amplitude, (np.mean, np.var, np.max))
    row += _moments(fixations[1] - fixations[0], (np.mean, np.var, np.max))
    row += _moments(fixations[4], (np.mean,)) + _moments(fixations[5], (np.mean,))
    row += _moments(fixations[4], (np.var,)) + _moments(fixations[5], (np.var,))
    row += _moments(fixations[6], (np.mean, np.var)) + _moments(fixations[7], (np.mean, np.var))
    row += [*_moments(blinks[1], (np.mean, np.var)), blinks.shape[1] / window]
    spelled = letters(saccades[1], saccades[2], large).tolist()
    for length in range(1, 5):
        row += words(spelled, length)
    return np.array(row)


def _moments(values: FloatArray, of: tuple[Any, ...]) -> list[float]:
    values = values[np.isfinite(values)]
    return [float(function(values)) if len(values) else np.nan for function in of]


def words(spelled: list[int], length: int) -> list[float]:
    """Return the six numbers about words of one length, from their whole histogram."""
    found = Counter(tuple(spelled[i : i + length]) for i in range(len(spelled) - length + 1))
    bins = 24**length
    times = np.array(list(found.values()), dtype=np.float64)
    mean, most = times.sum() / bins, times.max(initial=0.0)
    least = times.min() if len(times) == bins else 0.0
    return [len(times), most, least, most - least, mean, (times**2).sum() / bins - mean**2]
