# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze as one Ornstein-Uhlenbeck process an axis, seen through noise: likelihood and smoother, compiled."""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel


@kernel(error_model="numpy")
def likelihood(
    elapsed: FloatArray, seen: FloatArray, noise: FloatArray, variance: float, settle: float, doubt: float
) -> tuple[float, float]:
    """Return the log likelihood of noisy points, and the likeliest mean of gaze.

    Args:
        elapsed: Seconds since the point before; the first is not used.
        seen: The points, relative to where the mean is expected.
        noise: Their variances.
        variance: Of gaze around its mean.
        settle: Seconds after which gaze has moved on.
        doubt: The variance of the mean itself.
    """
    state, share, spread = (
        0.0,
        0.0,
        variance,
    )  # the belief for a mean of 0, what a mean of 1 takes from it, its variance
    squares, cross, ones, logs = 0.0, 0.0, 0.0, 0.0
    for i in range(len(seen)):
        if i > 0:
            stays = math.exp(-elapsed[i] / settle)
            state, share = stays * state, stays * share
            spread = stays * stays * spread + (1.0 - stays * stays) * variance
        total = spread + noise[i]
        news, one = seen[i] - state, 1.0 - share
        squares += news * news / total
        cross += news * one / total
        ones += one * one / total
        logs += math.log(total)
        gain = spread / total
        state += gain * news
        share += gain * one
        spread *= 1.0 - gain
    mean = cross / (ones + 1.0 / doubt)
    fit = squares - 2.0 * mean * cross + mean * mean * ones + mean * mean / doubt
    return -0.5 * (fit + logs + math.log(1.0 + doubt * ones)), mean


@kernel(error_model="numpy")
def smoothed(
    elapsed: FloatArray, seen: FloatArray, noise: FloatArray, variance: float, settle: float
) -> tuple[FloatArray, FloatArray]:
    """Return what gaze was expected to be at every sample, given all points (Rauch, Tung and Striebel), and how surely.

    Args:
        elapsed: Seconds since the sample before; the first is not used.
        seen: The points, relative to the mean of gaze.
        noise: Their variances; infinite where there is no point.
        variance: Of gaze around its mean.
        settle: Seconds after which gaze has moved on.
    """
    count = len(seen)
    mean, spread = np.zeros(count), np.zeros(count)
    state, doubt = 0.0, variance
    for i in range(count):
        if i > 0:
            stays = math.exp(-elapsed[i] / settle)
            state, doubt = stays * state, stays * stays * doubt + (1.0 - stays * stays) * variance
        if noise[i] < np.inf:
            gain = doubt / (doubt + noise[i])
            state, doubt = state + gain * (seen[i] - state), (1.0 - gain) * doubt
        mean[i], spread[i] = state, doubt
    for i in range(count - 2, -1, -1):
        stays = math.exp(-elapsed[i + 1] / settle)
        ahead = stays * stays * spread[i] + (1.0 - stays * stays) * variance
        back = stays * spread[i] / ahead if ahead > 0.0 else 0.0
        mean[i] += back * (mean[i + 1] - stays * mean[i])
        spread[i] += back * back * (spread[i + 1] - ahead)
    return mean, spread
