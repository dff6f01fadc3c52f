# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every compiled veil does first and last: take a sample in, send a point out.

Three arrays make a compiled veil. ``fixed`` holds what its mechanism fixes, ``clock`` integers and ``memory`` floats
that change. Each begins with the places named here; what a veil needs beyond comes after.

Missing gaze has one rule: the veil goes on with the last gaze that it saw, with the centre of the space before any.
So a gap is not seen as a gap; every sample has a point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel

# clock
PREVIOUS = 0  # device time of the last sample, µs
SEEN = 1  # samples so far
RAN_BACK = 2
MISSING = 3
NOT_FINITE = 4
TOO_FAR = 5
CLOCK = 6  # a veil's own integers begin here
NOISE = CLOCK  # of a veil with noise, where in ``memory`` the noise of the next sample is

# memory
POINT = 0  # three places: gaze in, veiled point out
LAST = 3  # three places: the last gaze seen, unwrapped
MEMORY = 6  # a veil's own floats begin here

# fixed
AXES = 0
PERIOD = 1
LOWEST = 2  # three places: what lies below is too far off to be gaze
HIGHEST = 5
EDGE_LOW = 8  # the second axis of a space that wraps is cut off here
EDGE_HIGH = 9
FIXED = 10  # a veil's own constants begin here

LATEST = 1e12

FAST: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
"""How kernels are compiled. Without numba's runtime no call counts references, which took most of the time."""

F = types.float64
Floats = types.Array(types.float64, 1, "C")
Integers = types.Array(types.int64, 1, "C")
Given = types.Array(types.float64, 1, "C", readonly=True)
STEP = types.UniTuple(F, 2)(Floats, Integers, Floats, F, F, F, F)
"""fixed, clock, memory, t, x, y, z"""
RUN = types.void(Floats, Integers, Floats, Given, Given, Given, Given, Floats, Floats, Floats)
"""fixed, clock, memory, t, x, y, z, out x, out y, out z; z is empty in spaces with two axes"""


@kernel(**FAST)
def wrapped(value: float, period: float) -> float:
    """Return a value moved by whole periods into [-period / 2, period / 2)."""
    return value - period * math.floor(value / period + 0.5)


@kernel(**FAST)
def keep_time(clock: IntArray, t: float) -> np.int64:
    """Return the time in µs, never before the last one.

    Raises:
        ValueError: If it is no time.
    """
    if not abs(t) <= LATEST:
        raise ValueError("not a time")
    now = np.int64(np.rint(t * 1e6))
    if clock[SEEN] > 0 and now < clock[PREVIOUS]:
        clock[RAN_BACK] += 1
        now = clock[PREVIOUS]
    clock[PREVIOUS] = now
    clock[SEEN] += 1
    return now


@kernel(**FAST)
def _count_fault(clock: IntArray, x: float, y: float, z: float) -> None:
    if math.isnan(x) or math.isnan(y) or math.isnan(z):
        clock[MISSING] += 1
    elif math.isinf(x) or math.isinf(y) or math.isinf(z):
        clock[NOT_FINITE] += 1
    else:
        clock[TOO_FAR] += 1


@kernel(**FAST)
def receive(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> bool:
    """Keep the time, put believable gaze into POINT, and say whether there was any; see the module for gaps.

    All three axes are worked on in every space, the third at zero where there are two: one straight line of code.
    """
    keep_time(clock, t)
    x, y, z = memory[0], memory[1], memory[2]
    if not (
        fixed[LOWEST] <= x <= fixed[HIGHEST]
        and fixed[LOWEST + 1] <= y <= fixed[HIGHEST + 1]
        and fixed[LOWEST + 2] <= z <= fixed[HIGHEST + 2]
    ):
        _count_fault(clock, x, y, z)
        memory[0], memory[1], memory[2] = memory[3], memory[4], memory[5]
        return False
    if fixed[PERIOD] > 0.0:
        x = memory[3] + wrapped(x - memory[3], fixed[PERIOD])
        memory[0] = x
    memory[3], memory[4], memory[5] = x, y, z
    return True


@kernel(**FAST)
def send(fixed: FloatArray, memory: FloatArray) -> None:
    """Bring the veiled point back onto a sphere that comes round; other spaces take it as it is."""
    if fixed[PERIOD] > 0.0:
        memory[POINT] = wrapped(memory[POINT], fixed[PERIOD])
        memory[POINT + 1] = min(max(memory[POINT + 1], fixed[EDGE_LOW]), fixed[EDGE_HIGH])


def ways(advance: Any) -> tuple[Any, Any]:
    """Return the two ways through a veil's kernel ``advance``, compiled: one sample, and many."""

    @kernel(STEP, around=advance, **FAST)
    def step(fixed, clock, memory, t, x, y, z):  # type: ignore[no-untyped-def]
        memory[0], memory[1], memory[2] = x, y, z
        advance(fixed, clock, memory, t)
        return memory[0], memory[1]

    @kernel(RUN, around=advance, **FAST)
    def run(fixed, clock, memory, t, x, y, z, out_x, out_y, out_z):  # type: ignore[no-untyped-def]
        three = len(z) > 0
        for i in range(len(t)):
            memory[0], memory[1], memory[2] = x[i], y[i], z[i] if three else 0.0
            advance(fixed, clock, memory, t[i])
            out_x[i], out_y[i] = memory[0], memory[1]
            if three:
                out_z[i] = memory[2]

    return step, run
