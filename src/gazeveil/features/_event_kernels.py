# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One pass over the samples: fixations with what happens inside them, the saccades between, and blinks."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil._compiled import kernel
from gazeveil.types import FloatArray

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
