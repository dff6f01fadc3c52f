# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bin statistics in which every number depends on nearby samples only, to the last bit: no running sums."""

from __future__ import annotations

import math

from gazeveil._compiled import kernel
from gazeveil.types import FloatArray

TICK = 1e-6
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
