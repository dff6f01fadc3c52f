# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops from samples to features: events in one pass, sliding windows, and bins with finite reach."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel

TICK = 1e-6  # times closer than this are equal
ERROR, REPEAT = np.uint8(1), np.uint8(2)

# rows of the tables that are filled in, one column per event
FIXATION_ROWS = 8
ONSET, OFFSET, CENTRE_X, CENTRE_Y, VAR_X, VAR_Y, PUPIL_MEAN, PUPIL_VAR = range(FIXATION_ROWS)
SACCADE_ROWS = 5  # onset, way across, way down, amplitude, peak velocity
BLINK_ROWS = 2  # onset, duration


@kernel()
def _peak_velocity(
    t: FloatArray, x: FloatArray, y: FloatArray, flags: NDArray[np.uint8], last: int, first: int, span: float
) -> float:
    """Return the fastest way from a good sample at least ``span`` earlier to a good one after ``last``.

    Where the samples are further apart than ``span``, that is from one to the next.
    """
    peak = 0.0
    back = last
    while back > 0 and t[last] - t[back] < span:
        back -= 1
    for i in range(last + 1, first + 1):
        if flags[i] & ERROR:
            continue
        while back + 1 < i and t[i] - t[back + 1] >= span:
            back += 1
        j = back
        while j > 0 and flags[j] & ERROR:
            j -= 1
        if t[i] > t[j] and not flags[j] & ERROR:
            peak = max(peak, math.hypot(x[i] - x[j], y[i] - y[j]) / (t[i] - t[j]))
    return peak


@kernel()
def _settle(
    fixations: FloatArray, k: int, sums: FloatArray, onset: float, offset: float, minimum: float, inside: float
) -> bool:
    """Write the open fixation if it lasted and most of it was seen; ``inside`` counts the errors in it."""
    n = sums[0]
    if offset - onset < minimum - TICK or inside >= n:
        return False
    pupils = sums[5]
    fixations[0, k], fixations[1, k], fixations[2, k], fixations[3, k] = onset, offset, sums[1], sums[2]
    fixations[4, k], fixations[5, k] = sums[3] / n, sums[4] / n
    fixations[6, k] = sums[6] if pupils > 0 else math.nan
    fixations[7, k] = sums[7] / pupils if pupils > 0 else math.nan
    return True


@kernel()
def find(  # noqa: PLR0912, PLR0915  (one compiled loop)
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    pupil: FloatArray,
    plane: FloatArray,
    rules: FloatArray,
    flags: NDArray[np.uint8],
    fixations: FloatArray,
    saccades: FloatArray,
    blinks: FloatArray,
) -> tuple[int, int, int]:
    """Fill the tables of events and the flags of the samples; return how many fixations, saccades and blinks.

    ``pupil`` is empty if there is none; ``plane`` is left, top, right, bottom of what is not an error;
    ``rules`` are radius, shortest fixation, longest gap, longest saccade, smallest amplitude, slowest peak velocity,
    span of a velocity, shortest and longest blink.
    """
    radius, shortest, gap, longest, smallest, slowest, span, blink_short, blink_long = rules
    left, top, right, bottom = plane
    reach = radius * radius
    sums = np.zeros(8)  # n, means and squared distances of x and y, then n, mean and squared distances of the pupil
    made = jumped = winked = 0
    first = last = -1  # the open fixation
    inside = pending = 0.0  # errors in it, and since its last good sample
    before = -2  # the last sample of the fixation before; -2: none
    lost_from = -1
    last_seen = -1  # for blinks
    previous_x = previous_y = math.nan
    for i in range(len(t) + 1):
        at_end = i == len(t)
        if not at_end:
            valid = not (math.isnan(x[i]) or math.isnan(y[i]))
            seen = valid and (len(pupil) == 0 or pupil[i] > 0.0)
            if seen:
                if lost_from >= 0:
                    lasts = t[i] - t[last_seen] if last_seen >= 0 else math.inf
                    if blink_short - TICK <= lasts <= blink_long + TICK:
                        blinks[0, winked], blinks[1, winked] = t[lost_from], t[i] - t[lost_from]
                        winked += 1
                    lost_from = -1
                last_seen = i
            elif lost_from < 0:
                lost_from = i
            flags[i] = 0
            if not (valid and left <= x[i] <= right and top <= y[i] <= bottom):
                flags[i] = ERROR
            elif x[i] == previous_x and y[i] == previous_y:
                flags[i] = REPEAT
            if valid:
                previous_x, previous_y = x[i], y[i]
            if flags[i] & ERROR:
                pending += 1.0
                continue
        if first >= 0:
            if not at_end:
                dx, dy = x[i] - sums[1], y[i] - sums[2]
                if dx * dx + dy * dy <= reach and t[i] - t[last] <= gap + TICK:
                    sums[0] += 1.0
                    sums[1] += dx / sums[0]
                    sums[2] += dy / sums[0]
                    sums[3] += dx * (x[i] - sums[1])
                    sums[4] += dy * (y[i] - sums[2])
                    if len(pupil) > 0 and pupil[i] > 0.0:
                        sums[5] += 1.0
                        dp = pupil[i] - sums[6]
                        sums[6] += dp / sums[5]
                        sums[7] += dp * (pupil[i] - sums[6])
                    inside += pending
                    pending = 0.0
                    last = i
                    continue
            if _settle(fixations, made, sums, t[first], t[last], shortest, inside):
                if before >= 0 and t[first] - t[before] <= longest + TICK:
                    wrong = 0.0
                    for j in range(before + 1, first):
                        wrong += 1.0 if flags[j] & ERROR else 0.0
                    across = fixations[2, made] - fixations[2, made - 1]
                    down = fixations[3, made] - fixations[3, made - 1]
                    amplitude = math.hypot(across, down)
                    if amplitude >= smallest and 2.0 * wrong < first - before + 1:
                        peak = _peak_velocity(t, x, y, flags, before, first, span)
                        if peak >= slowest:
                            saccades[0, jumped], saccades[1, jumped], saccades[2, jumped] = t[before], across, down
                            saccades[3, jumped], saccades[4, jumped] = amplitude, peak
                            jumped += 1
                before = last
                made += 1
        if not at_end:
            first = last = i
            inside = pending = 0.0
            sums[:] = 0.0
            sums[0], sums[1], sums[2] = 1.0, x[i], y[i]
            if len(pupil) > 0 and pupil[i] > 0.0:
                sums[5], sums[6] = 1.0, pupil[i]
    return made, jumped, winked


# --- The window slides over samples and events: each enters once and leaves once, and words are counted as they pass.


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


# --- Bin statistics in which every number depends on nearby samples only, to the last bit: no running sums.


(
    X, Y, PUPIL, LOG_PATH, SEEN, SACCADES, RIGHT_SACCADES, SACCADE_PATH, FIXATIONS, FIXATION_S, BLINKS,
) = range(11)  # fmt: skip
CHANNELS = 11


@kernel()
def fill(  # noqa: PLR0912, PLR0915  (one compiled loop)
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    pupil: FloatArray,
    plane: FloatArray,
    rules: FloatArray,
    out: FloatArray,
    samples: FloatArray,
) -> None:
    """Fill in the channels of each bin (bins x 11) and what it was made of (samples, seen, pupils; bins x 3).

    ``rules`` are the bin, the threshold of velocity, the least and the most time a velocity is taken over, the
    shortest fixation, the shortest and the longest blink.
    """
    width, threshold, span, step, shortest, blink_short, blink_long = rules
    left, top, right, bottom = plane
    out[:] = 0.0
    samples[:] = 0.0
    back = 0
    fast_at = -math.inf  # when gaze was fast last
    slow_from = math.nan  # when the run of slow samples began; NaN if there is none
    confirmed = False
    last_seen = math.nan
    for i in range(len(t)):
        k = math.floor((t[i] - t[0]) / width)
        inside = k < out.shape[0]
        if inside:
            samples[k, 0] += 1.0
        seen = left <= x[i] <= right and top <= y[i] <= bottom  # false for NaN
        while back + 1 < i and t[i] - t[back + 1] >= span - TICK:
            back += 1
        if not seen:
            slow_from, confirmed = math.nan, False
            continue
        if inside:
            samples[k, 1] += 1.0
            out[k, X] += x[i]
            out[k, Y] += y[i]
            if len(pupil) > 0 and pupil[i] > 0.0:
                samples[k, 2] += 1.0
                out[k, PUPIL] += pupil[i]
        if i > 0 and not (left <= x[i - 1] <= right and top <= y[i - 1] <= bottom):
            lasts = t[i] - last_seen  # NaN if the eye was never seen before
            if blink_short - TICK <= lasts <= blink_long + TICK and inside:
                out[k, BLINKS] += 1.0
        last_seen = t[i]
        # the latest good sample far enough back, but not too far: what the velocity is taken from
        j = back
        while j >= 0 and t[i] - t[j] <= step + TICK and not (left <= x[j] <= right and top <= y[j] <= bottom):
            j -= 1
        near = 0 <= j < i and span - TICK <= t[i] - t[j] <= step + TICK and t[i] > t[j]
        if not near or t[i] - t[i - 1] > step + TICK:
            slow_from, confirmed = math.nan, False
            continue
        across, down = x[i] - x[j], y[i] - y[j]
        velocity = math.hypot(across, down) / (t[i] - t[j])
        lasts = t[i] - t[i - 1]
        if inside:
            out[k, LOG_PATH] += velocity * lasts
        if velocity >= threshold:
            if inside:
                out[k, SACCADE_PATH] += velocity * lasts
                if t[i] - fast_at > step + TICK:  # the swing after a saccade is no saccade
                    out[k, SACCADES] += 1.0
                    out[k, RIGHT_SACCADES] += 1.0 if across > 0.0 else 0.0
            fast_at, slow_from, confirmed = t[i], math.nan, False
            continue
        if math.isnan(slow_from):
            slow_from = t[i]
        if confirmed:
            if inside:
                out[k, FIXATION_S] += lasts
        elif t[i] - slow_from >= shortest - TICK:
            confirmed = True
            if inside:
                out[k, FIXATIONS] += 1.0
                out[k, FIXATION_S] += t[i] - slow_from
    for k in range(out.shape[0]):
        n, good, pupils = samples[k]
        out[k, X] = out[k, X] / good if good > 0 else math.nan
        out[k, Y] = out[k, Y] / good if good > 0 else math.nan
        out[k, PUPIL] = out[k, PUPIL] / pupils if pupils > 0 else math.nan
        out[k, SEEN] = good / n if n > 0 else 0.0
        out[k, LOG_PATH] = math.log1p(out[k, LOG_PATH])
