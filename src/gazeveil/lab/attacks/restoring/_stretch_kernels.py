# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The best division of a stream into stretches of constant gaze, compiled (PELT: Killick et al. 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.kernel_compiler import kernel


@kernel(error_model="numpy")
def stretches(x: FloatArray, y: FloatArray, penalty: float) -> NDArray[np.int64]:
    """Return where stretches begin, so that squared error plus a penalty for each is least."""
    count = len(x)
    sums = np.zeros((3, count + 1))  # of x, of y, of both squared; about the middle, so that no digits are lost
    middle_x, middle_y = np.median(x), np.median(y)
    for i in range(count):
        across, down = x[i] - middle_x, y[i] - middle_y
        sums[0, i + 1] = sums[0, i] + across
        sums[1, i + 1] = sums[1, i] + down
        sums[2, i + 1] = sums[2, i] + across * across + down * down
    best = np.zeros(count + 1)
    best[0] = -penalty
    begun = np.zeros(count + 1, np.int64)
    open_ = np.zeros(count + 1, np.int64)
    value = np.zeros(count + 1)
    many = 1
    for end in range(1, count + 1):
        least = np.inf
        for k in range(many):
            start = open_[k]
            n = end - start
            a, b = sums[0, end] - sums[0, start], sums[1, end] - sums[1, start]
            value[k] = best[start] + (sums[2, end] - sums[2, start]) - (a * a + b * b) / n
            if value[k] < least:
                least, begun[end] = value[k], start
        best[end] = least + penalty
        kept = 0
        for k in range(many):
            if value[k] <= best[end]:  # otherwise a stretch that began there can never be best again
                open_[kept] = open_[k]
                kept += 1
        open_[kept] = end
        many = kept + 1
    found = np.zeros(count, np.int64)
    at, end = count, count
    while end > 0:
        end = begun[end]
        at -= 1
        found[at] = end
    return found[at:].copy()
