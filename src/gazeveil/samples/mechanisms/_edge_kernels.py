# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of the edge rule, compiled. A missing coordinate stays missing, so that every point stays by itself."""

from __future__ import annotations

import math

from numba import njit

from gazeveil.gaze.geometry import FloatArray
from gazeveil.samples._receive_kernels import (
    FAST,
    FIXED,
    MISSING,
    NOT_FINITE,
    PERIOD,
    RUN,
    STEP,
    IntArray,
    keep_time,
    wrapped,
)

REFLECTS = FIXED
LOW = FIXED + 1
HIGH = FIXED + 4


@njit(**FAST)
def _folded(value: float, low: float, high: float) -> float:
    """Return where a path ends that bounces off both edges."""
    span = high - low
    way = (value - low) - 2.0 * span * math.floor((value - low) / (2.0 * span))
    return low + min(way, 2.0 * span - way)


@njit(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    keep_time(clock, t)
    if math.isnan(memory[0]) or math.isnan(memory[1]) or math.isnan(memory[2]):
        clock[MISSING] += 1
        memory[0] = memory[1] = memory[2] = math.nan
    else:
        if math.isinf(memory[0]) or math.isinf(memory[1]) or math.isinf(memory[2]):
            clock[NOT_FINITE] += 1
        for axis in range(3):
            value, low, high = memory[axis], fixed[LOW + axis], fixed[HIGH + axis]
            if axis == 0 and fixed[PERIOD] > 0.0 and not math.isinf(value):
                memory[axis] = wrapped(value, fixed[PERIOD])
            elif fixed[REFLECTS] > 0.0 and abs(value) < 1e15:
                memory[axis] = min(max(_folded(value, low, high), low), high)
            else:
                memory[axis] = min(max(value, low), high)


@njit(STEP, **FAST)
def step(fixed, clock, memory, t, x, y, z):  # type: ignore[no-untyped-def]
    """Veil one sample."""
    memory[0], memory[1], memory[2] = x, y, z
    _advance(fixed, clock, memory, t)
    return memory[0], memory[1]


@njit(RUN, **FAST)
def run(fixed, clock, memory, t, x, y, z, out_x, out_y, out_z):  # type: ignore[no-untyped-def]
    """Veil many samples."""
    three = len(z) > 0
    for i in range(len(t)):
        memory[0], memory[1], memory[2] = x[i], y[i], z[i] if three else 0.0
        _advance(fixed, clock, memory, t[i])
        out_x[i], out_y[i] = memory[0], memory[1]
        if three:
            out_z[i] = memory[2]
