# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The window slides over samples and events: each enters once and leaves once, and words are counted as they pass."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil._compiled import kernel
from gazeveil.types import FloatArray

WORDS = 28  # the first column about words
_PER_LENGTH = 6


@kernel()
def _moments(values: FloatArray, low: int, high: int) -> tuple[float, float, float]:
    """Return mean, variance and maximum of the values that are numbers; NaN if there are none."""
    n = total = 0.0
    most = -math.inf
    for i in range(low, high):
        if not math.isnan(values[i]):
            n += 1.0
            total += values[i]
            most = max(most, values[i])
    if n == 0.0:
        return math.nan, math.nan, math.nan
    mean = total / n
    squares = 0.0
    for i in range(low, high):
        if not math.isnan(values[i]):
            squares += (values[i] - mean) * (values[i] - mean)
    return mean, squares / n, most


@kernel(inline="always")
def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0.0 else math.nan


@kernel()
def _count_word(
    counts: NDArray[np.int64], times: NDArray[np.int64], tally: NDArray[np.int64], word: int, by: int
) -> None:
    """Let one word enter (+1) or leave (-1).

    ``times`` says how many words occur once, twice, …; ``tally`` how many are different, the largest count, and the
    sum of squared counts.
    """
    old = counts[word]
    new = old + by
    counts[word] = new
    tally[2] += new * new - old * old
    if old > 0:
        times[old] -= 1
    else:
        tally[0] += 1
    if new > 0:
        times[new] += 1
    else:
        tally[0] -= 1
    if new > tally[1] or (old == tally[1] and times[old] == 0):
        tally[1] = new


@kernel()
def slide(  # noqa: PLR0912, PLR0915  (one compiled loop)
    starts: FloatArray,
    length: float,
    rate: float,
    limits: FloatArray,
    t: FloatArray,
    errors: NDArray[np.bool_],
    repeats: NDArray[np.bool_],
    fixations: FloatArray,
    saccades: FloatArray,
    blinks: FloatArray,
    large_from: float,
    words: NDArray[np.int64],
    different: NDArray[np.int64],
    symbols: int,
    quality: FloatArray,
    out: FloatArray,
) -> None:
    """Fill in the features (windows x 52) and the quality of each window: samples, covered, errors, repeats, usable.

    ``limits`` are the least and most covered, the share of errors a window must stay below, the fewest samples and
    the largest share of repeats. ``words`` (4 x saccades) numbers the word that begins at each saccade.
    """
    least, most, wrong, fewest, same = limits
    samples = np.zeros(2, dtype=np.int64)  # first in the window, first after it; so below
    fixed, jumped, winked = np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(2, dtype=np.int64)
    bad = still = large = right = 0
    longest = words.shape[0]
    counts = np.zeros((longest, max(different.max(), 1)), dtype=np.int64)
    times = np.zeros((longest, words.shape[1] + 2), dtype=np.int64)
    tally = np.zeros((longest, 3), dtype=np.int64)
    for k in range(len(starts)):
        begin, end = starts[k], starts[k] + length
        while samples[1] < len(t) and t[samples[1]] < end:
            bad += errors[samples[1]]
            still += repeats[samples[1]]
            samples[1] += 1
        while samples[0] < samples[1] and t[samples[0]] < begin:
            bad -= errors[samples[0]]
            still -= repeats[samples[0]]
            samples[0] += 1
        while fixed[1] < fixations.shape[1] and fixations[0, fixed[1]] < end:
            fixed[1] += 1
        while fixed[0] < fixed[1] and fixations[0, fixed[0]] < begin:
            fixed[0] += 1
        while winked[1] < blinks.shape[1] and blinks[0, winked[1]] < end:
            winked[1] += 1
        while winked[0] < winked[1] and blinks[0, winked[0]] < begin:
            winked[0] += 1
        while jumped[1] < saccades.shape[1] and saccades[0, jumped[1]] < end:
            i = jumped[1]
            large += saccades[3, i] >= large_from
            right += saccades[1, i] > 0.0
            jumped[1] += 1
            for n in range(1, longest + 1):
                if i - n + 1 >= jumped[0]:  # the word that ends here is now inside
                    _count_word(counts[n - 1], times[n - 1], tally[n - 1], words[n - 1, i - n + 1], 1)
        while jumped[0] < jumped[1] and saccades[0, jumped[0]] < begin:
            i = jumped[0]
            large -= saccades[3, i] >= large_from
            right -= saccades[1, i] > 0.0
            for n in range(1, longest + 1):
                if i + n <= jumped[1]:  # the word that begins here was inside
                    _count_word(counts[n - 1], times[n - 1], tally[n - 1], words[n - 1, i], -1)
            jumped[0] += 1

        here = samples[1] - samples[0]
        covered = here / (rate * length)
        quality[k, 0], quality[k, 1] = here, covered
        quality[k, 2] = bad / here if here > 0 else 1.0
        quality[k, 3] = still / here if here > 0 else 0.0
        usable = least <= covered <= most and here >= fewest and quality[k, 2] < wrong and quality[k, 3] <= same
        quality[k, 4] = 1.0 if usable else 0.0
        row = out[k]
        if not usable:
            row[:] = math.nan
            continue
        rests, jumps, winks = float(fixed[1] - fixed[0]), float(jumped[1] - jumped[0]), float(winked[1] - winked[0])
        row[0], row[1] = rests / length, jumps / length
        row[2], row[3] = (jumps - large) / length, large / length
        row[4], row[5] = right / length, (jumps - right) / length
        row[6] = _share(jumps, rests)
        row[7], row[8] = _share(jumps - large, jumps), _share(large, jumps)
        row[9], row[10] = _share(right, jumps), _share(jumps - right, jumps)
        row[11], row[12], row[13] = _moments(saccades[3], jumped[0], jumped[1])
        row[14], row[15], row[16] = _moments(fixations[-1], fixed[0], fixed[1])
        row[17], row[19], _ = _moments(fixations[4], fixed[0], fixed[1])
        row[18], row[20], _ = _moments(fixations[5], fixed[0], fixed[1])
        row[21], row[22], _ = _moments(fixations[6], fixed[0], fixed[1])
        row[23], row[24], _ = _moments(fixations[7], fixed[0], fixed[1])
        row[25], row[26], _ = _moments(blinks[1], winked[0], winked[1])
        row[27] = winks / length
        bins = 1.0
        for n in range(longest):
            bins *= symbols
            column = WORDS + _PER_LENGTH * n
            fewest_times = 0
            if tally[n, 0] == bins:  # every possible word occurs
                fewest_times = tally[n, 1]
                for c in range(different[n]):
                    fewest_times = min(fewest_times, counts[n, c])
            mean = max(jumps - n, 0.0) / bins
            row[column], row[column + 1], row[column + 2] = tally[n, 0], tally[n, 1], fewest_times
            row[column + 3], row[column + 4] = tally[n, 1] - fewest_times, mean
            row[column + 5] = tally[n, 2] / bins - mean * mean
