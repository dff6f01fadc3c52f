# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Device time in whole microseconds, never running back: for veils that keep time in Python.

Compiled veils do the same in `_receive_kernels.keep_time`. The numbers are the first three of a veil's integers.
"""

from __future__ import annotations

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.samples.mechanism import LATEST

PREVIOUS, SEEN, RAN_BACK = range(3)
PLACES = 3


def in_microseconds(t: float) -> int:
    """Return a time in whole microseconds.

    Raises:
        ValueError: If it is no time.
    """
    if not abs(t) <= LATEST:
        raise ValueError("not a time")
    return round(t * 1e6)


def moment(numbers: IntArray, t: float) -> int:
    """Return the time of one sample, and remember it.

    Raises:
        ValueError: If it is no time.
    """
    now = in_microseconds(t)
    previous = numbers.item(PREVIOUS)
    if now < previous and numbers.item(SEEN):
        numbers[RAN_BACK] += 1
        return previous
    numbers[PREVIOUS] = now
    numbers[SEEN] = 1
    return now


def moments(numbers: IntArray, t: FloatArray) -> IntArray:
    """Return the times of many samples, as `moment` would one by one.

    Raises:
        ValueError: If one is no time.
    """
    if not np.all(np.abs(t) <= LATEST):
        raise ValueError("not a time")
    now: IntArray = np.rint(t * 1e6).astype(np.int64)
    if not len(now):
        return now
    first = numbers[PREVIOUS] if numbers[SEEN] else now[0]
    kept: IntArray = np.maximum.accumulate(np.maximum(now, first))
    before = np.concatenate([[first], kept[:-1]])
    numbers[RAN_BACK] += np.count_nonzero(now < before)
    numbers[PREVIOUS], numbers[SEEN] = kept[-1], 1
    return kept
