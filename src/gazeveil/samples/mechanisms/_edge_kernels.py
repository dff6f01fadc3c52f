# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of the edge rule, compiled. A missing coordinate stays missing, so that every point stays by itself."""

from __future__ import annotations

import math

from gazeveil._compiled import kernel
from gazeveil.samples._receive_kernels import FAST, FIXED, MISSING, NOT_FINITE, PERIOD, keep_time, ways, wrapped
from gazeveil.types import FloatArray, IntArray

REFLECTS = FIXED
LOW = FIXED + 1
HIGH = FIXED + 4
FARTHEST = 8.0  # sizes of the space


@kernel(**FAST)
def _folded(value: float, low: float, high: float) -> float:
    """Return where a path ends that bounces off both edges; one from very far off ends where one from nearer would.

    Cutting off first keeps the arithmetic exact enough, and like folding it moves no two points farther apart.
    """
    span = high - low
    value = min(max(value, low - FARTHEST * span), high + FARTHEST * span)
    way = (value - low) - 2.0 * span * math.floor((value - low) / (2.0 * span))
    return low + min(way, 2.0 * span - way)


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    keep_time(clock, t)
    if not (math.isfinite(memory[0]) and math.isfinite(memory[1]) and math.isfinite(memory[2])):
        missing = math.isnan(memory[0]) or math.isnan(memory[1]) or math.isnan(memory[2])
        clock[MISSING if missing else NOT_FINITE] += 1
        memory[0] = memory[1] = memory[2] = math.nan
    else:
        for axis in range(3):
            value, low, high = memory[axis], fixed[LOW + axis], fixed[HIGH + axis]
            if axis == 0 and fixed[PERIOD] > 0.0:
                half = fixed[PERIOD] / 2.0  # what is so far off that it has no remainder stays within all the same
                memory[axis] = min(max(wrapped(value, fixed[PERIOD]), -half), half)
            elif fixed[REFLECTS] > 0.0:
                memory[axis] = min(max(_folded(value, low, high), low), high)
            else:
                memory[axis] = min(max(value, low), high)


step, run = ways(_advance)
