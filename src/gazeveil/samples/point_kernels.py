# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that move sample by sample, compiled: take a sample in, move it, send a point out.

Three arrays make a compiled veil. ``fixed`` holds the constants of its mechanism, ``clock`` integers and ``memory``
floats that change. Each begins with the places named here; a veil's own places come after.

Missing gaze has one rule: the veil goes on with the last gaze that it saw, or with the centre of the space before any.
So a gap does not show; every sample has a point.
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
    """Return a veil's kernel ``advance`` compiled for one sample, and in a loop over many."""

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


# --- Gaussian noise: gaze is rounded to the lattice that the noise lies on.


GAUSSIAN_LATTICE = FIXED


@kernel(**FAST)
def _gaussian_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    step, per_unit = fixed[GAUSSIAN_LATTICE], 1.0 / fixed[GAUSSIAN_LATTICE]  # powers of two: both are exact
    at = clock[NOISE]
    axes = int(fixed[AXES])
    if at + axes > len(memory):  # two threads at once: better no point than one without noise
        raise ValueError("no noise left")
    for axis in range(axes):
        memory[POINT + axis] = math.floor(memory[POINT + axis] * per_unit + 0.5) * step + memory[at + axis]
        memory[at + axis] = 0.0
    clock[NOISE] = at + axes
    send(fixed, memory)


gaussian_step, gaussian_run = ways(_gaussian_advance)


# --- Spatial downsampling.


GRID_CELL = FIXED
GRID_SHIFT = FIXED + 1


@kernel(**FAST)
def _grid_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    if fixed[PERIOD] > 0.0:  # the grid does not turn with the eye
        memory[POINT] = wrapped(memory[POINT], fixed[PERIOD])
    cell, shift = fixed[GRID_CELL], fixed[GRID_SHIFT]
    for axis in range(int(fixed[AXES])):
        memory[POINT + axis] = math.floor(memory[POINT + axis] / cell) * cell + shift
    send(fixed, memory)


grid_step, grid_run = ways(_grid_advance)


# --- Temporal hold.


HOLD_EVERY = FIXED
HOLD_LEFT = CLOCK
HOLD_POINT = MEMORY


@kernel(**FAST)
def _hold_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    if clock[HOLD_LEFT] == 0:
        clock[HOLD_LEFT] = int(fixed[HOLD_EVERY])
        for axis in range(3):
            memory[HOLD_POINT + axis] = memory[POINT + axis]
    clock[HOLD_LEFT] -= 1
    for axis in range(3):
        memory[POINT + axis] = memory[HOLD_POINT + axis]
    send(fixed, memory)


hold_step, hold_run = ways(_hold_advance)


# --- Linearly weighted smoothing, with constant work per sample. With weights 1 to B on the latest B samples, a new
# sample takes the plain sum of the window from the weighted sum and adds B times itself. Both sums are computed again
# each time the ring comes round, before rounding errors add up.


SMOOTHING_WINDOW = FIXED
SMOOTHING_FILLS = FIXED + 1  # 1 if the window starts full of the first point
SMOOTHING_AT = CLOCK
SMOOTHING_WEIGHTED = MEMORY
SMOOTHING_PLAIN = MEMORY + 3
SMOOTHING_RING = MEMORY + 6


@kernel(**FAST)
def _ring_sums(memory: FloatArray, window: int, width: int, used: int) -> None:
    """Compute the weighted and the plain sums of a ring of samples, ``width`` numbers each, the oldest first."""
    for column in range(used):
        plain, weighted = 0.0, 0.0
        for i in range(window):
            value = memory[MEMORY + 2 * width + width * i + column]
            plain += value
            weighted += (i + 1) * value
        memory[MEMORY + width + column], memory[MEMORY + column] = plain, weighted


@kernel(**FAST)
def _smoothing_fill(memory: FloatArray, window: int) -> None:
    for i in range(window):
        for axis in range(3):
            memory[SMOOTHING_RING + 3 * i + axis] = memory[POINT + axis]
    _ring_sums(memory, window, 3, 3)


@kernel(**FAST)
def _smoothing_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    window, axes = int(fixed[SMOOTHING_WINDOW]), int(fixed[AXES])
    if clock[SEEN] == 1 and fixed[SMOOTHING_FILLS] > 0.0:
        _smoothing_fill(memory, window)
    at = clock[SMOOTHING_AT]
    for axis in range(axes):
        value, place = memory[POINT + axis], SMOOTHING_RING + 3 * at + axis
        memory[SMOOTHING_WEIGHTED + axis] += window * value - memory[SMOOTHING_PLAIN + axis]
        memory[SMOOTHING_PLAIN + axis] += value - memory[place]
        memory[place] = value
    at += 1
    if at == window:
        at = 0
        _ring_sums(memory, window, 3, axes)
    clock[SMOOTHING_AT] = at
    total = 0.5 * window * (window + 1.0)
    for axis in range(axes):
        memory[POINT + axis] = memory[SMOOTHING_WEIGHTED + axis] / total
    send(fixed, memory)


smoothing_step, smoothing_run = ways(_smoothing_advance)


# --- Smoothing with random weights: four columns per sample, of which the fourth is its weight; x, y and z are kept
# multiplied by it. So gaze is a quotient of two sums.


RANDOM_SMOOTHING_AT = CLOCK + 1
RANDOM_SMOOTHING_COLUMNS = 4
RANDOM_SMOOTHING_PLAIN = MEMORY + RANDOM_SMOOTHING_COLUMNS
RANDOM_SMOOTHING_RING = MEMORY + 2 * RANDOM_SMOOTHING_COLUMNS


@kernel(**FAST)
def _random_smoothing_fill(memory: FloatArray, window: int) -> None:
    for i in range(window):
        for axis in range(3):
            memory[RANDOM_SMOOTHING_RING + RANDOM_SMOOTHING_COLUMNS * i + axis] = memory[POINT + axis]
        memory[RANDOM_SMOOTHING_RING + RANDOM_SMOOTHING_COLUMNS * i + 3] = 1.0


@kernel(**FAST)
def _random_smoothing_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    window = int(fixed[SMOOTHING_WINDOW])
    if clock[SEEN] == 1:
        if fixed[SMOOTHING_FILLS] > 0.0:
            _random_smoothing_fill(memory, window)
        _ring_sums(memory, window, RANDOM_SMOOTHING_COLUMNS, RANDOM_SMOOTHING_COLUMNS)
    noise = clock[NOISE]
    if noise >= len(memory):  # two threads at once: better no point than one without noise
        raise ValueError("no noise left")
    weight, memory[noise] = memory[noise], 0.0
    clock[NOISE] = noise + 1
    at = clock[RANDOM_SMOOTHING_AT]
    for column in range(RANDOM_SMOOTHING_COLUMNS):
        value = weight * memory[POINT + column] if column < 3 else weight
        place = RANDOM_SMOOTHING_RING + RANDOM_SMOOTHING_COLUMNS * at + column
        memory[SMOOTHING_WEIGHTED + column] += window * value - memory[RANDOM_SMOOTHING_PLAIN + column]
        memory[RANDOM_SMOOTHING_PLAIN + column] += value - memory[place]
        memory[place] = value
    at += 1
    if at == window:
        at = 0
        _ring_sums(memory, window, RANDOM_SMOOTHING_COLUMNS, RANDOM_SMOOTHING_COLUMNS)
    clock[RANDOM_SMOOTHING_AT] = at
    for axis in range(3):
        memory[POINT + axis] = memory[SMOOTHING_WEIGHTED + axis] / memory[SMOOTHING_WEIGHTED + 3]
    send(fixed, memory)


random_smoothing_step, random_smoothing_run = ways(_random_smoothing_advance)


# --- The Kalman filter: gaze is a random walk, measured with errors.


KALMAN_WANDER = FIXED  # variance gained per second
KALMAN_ERROR = FIXED + 1  # variance of one sample
KALMAN_BELIEF = MEMORY
KALMAN_DOUBT = MEMORY + 3  # the belief's variance


@kernel(**FAST)
def _kalman_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    before = clock[PREVIOUS]
    there = receive(fixed, clock, memory, t)
    if clock[SEEN] == 1:
        memory[KALMAN_DOUBT] = fixed[KALMAN_ERROR]
        for axis in range(3):
            memory[KALMAN_BELIEF + axis] = memory[POINT + axis]
    else:
        memory[KALMAN_DOUBT] += fixed[KALMAN_WANDER] * 1e-6 * (clock[PREVIOUS] - before)
        if there:
            gain = memory[KALMAN_DOUBT] / (memory[KALMAN_DOUBT] + fixed[KALMAN_ERROR])
            memory[KALMAN_DOUBT] *= 1.0 - gain
            for axis in range(3):
                memory[KALMAN_BELIEF + axis] += gain * (memory[POINT + axis] - memory[KALMAN_BELIEF + axis])
    for axis in range(3):
        memory[POINT + axis] = memory[KALMAN_BELIEF + axis]
    send(fixed, memory)


kalman_step, kalman_run = ways(_kalman_advance)


# --- Fixation equalising: a running centre finds fixations, a timer shows them.


EQUALISE_RADIUS = FIXED  # how far from its centre a fixation reaches
EQUALISE_SETTLE = FIXED + 1  # µs until gaze that stays is a fixation
EQUALISE_SHOW = FIXED + 2  # µs that it is shown
EQUALISE_HOLDS = FIXED + 3  # 1 if the last one stays in sight until the next, 0 if nothing is shown in between
EQUALISE_SINCE = CLOCK  # when the eye came here, µs
EQUALISE_COUNT = CLOCK + 1  # samples since
EQUALISE_DONE = CLOCK + 2  # whether this stay has settled
EQUALISE_SHOWING = CLOCK + 3
EQUALISE_SHOWN_SINCE = CLOCK + 4
EQUALISE_EVER = CLOCK + 5
EQUALISE_WAITING = CLOCK + 6  # whether one settled while another was shown
EQUALISE_CENTRE = MEMORY
EQUALISE_SHOWN = MEMORY + 3
EQUALISE_NEXT = MEMORY + 6


@kernel(**FAST)
def _equalise_look(fixed: FloatArray, clock: IntArray, memory: FloatArray, now: int) -> None:
    """Follow the eye; a stay that has settled waits to be shown."""
    square = 0.0
    for axis in range(3):
        away = memory[POINT + axis] - memory[EQUALISE_CENTRE + axis]
        square += away * away
    if clock[EQUALISE_COUNT] > 0 and square <= fixed[EQUALISE_RADIUS] * fixed[EQUALISE_RADIUS]:
        clock[EQUALISE_COUNT] += 1
        for axis in range(3):
            memory[EQUALISE_CENTRE + axis] += (memory[POINT + axis] - memory[EQUALISE_CENTRE + axis]) / clock[
                EQUALISE_COUNT
            ]
    else:
        clock[EQUALISE_COUNT], clock[EQUALISE_SINCE], clock[EQUALISE_DONE] = 1, now, 0
        for axis in range(3):
            memory[EQUALISE_CENTRE + axis] = memory[POINT + axis]
    if not clock[EQUALISE_DONE] and now - clock[EQUALISE_SINCE] >= int(fixed[EQUALISE_SETTLE]):
        clock[EQUALISE_DONE] = clock[EQUALISE_WAITING] = 1
        for axis in range(3):
            memory[EQUALISE_NEXT + axis] = memory[EQUALISE_CENTRE + axis]


@kernel(**FAST)
def _equalise_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    there = receive(fixed, clock, memory, t)
    now = clock[PREVIOUS]
    if there:
        _equalise_look(fixed, clock, memory, now)
    if clock[EQUALISE_SHOWING] and now - clock[EQUALISE_SHOWN_SINCE] >= int(fixed[EQUALISE_SHOW]):
        clock[EQUALISE_SHOWING] = 0
    if clock[EQUALISE_WAITING] and not clock[EQUALISE_SHOWING]:
        clock[EQUALISE_SHOWING], clock[EQUALISE_EVER], clock[EQUALISE_WAITING] = 1, 1, 0
        clock[EQUALISE_SHOWN_SINCE] = now
        for axis in range(3):
            memory[EQUALISE_SHOWN + axis] = memory[EQUALISE_NEXT + axis]
    if clock[EQUALISE_SHOWING] or (fixed[EQUALISE_HOLDS] > 0.0 and clock[EQUALISE_EVER]):
        for axis in range(3):
            memory[POINT + axis] = memory[EQUALISE_SHOWN + axis]
        send(fixed, memory)
    else:
        memory[0] = memory[1] = memory[2] = math.nan


equalise_step, equalise_run = ways(_equalise_advance)


# --- The edge rule. A missing coordinate stays missing, so that every point is moved by itself.


EDGE_REFLECTS = FIXED
EDGE_LOWEST = FIXED + 1
EDGE_HIGHEST = FIXED + 4
EDGE_FARTHEST = 8.0  # sizes of the space


@kernel(**FAST)
def _folded(value: float, low: float, high: float) -> float:
    """Return where a path ends that bounces off both edges; one from very far off ends where one from nearer would.

    Cutting off first keeps the arithmetic exact enough, and like folding it moves no two points farther apart.
    """
    span = high - low
    value = min(max(value, low - EDGE_FARTHEST * span), high + EDGE_FARTHEST * span)
    way = (value - low) - 2.0 * span * math.floor((value - low) / (2.0 * span))
    return low + min(way, 2.0 * span - way)


@kernel(**FAST)
def _edge_advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    keep_time(clock, t)
    if not (math.isfinite(memory[0]) and math.isfinite(memory[1]) and math.isfinite(memory[2])):
        missing = math.isnan(memory[0]) or math.isnan(memory[1]) or math.isnan(memory[2])
        clock[MISSING if missing else NOT_FINITE] += 1
        memory[0] = memory[1] = memory[2] = math.nan
    else:
        for axis in range(3):
            value, low, high = memory[axis], fixed[EDGE_LOWEST + axis], fixed[EDGE_HIGHEST + axis]
            if axis == 0 and fixed[PERIOD] > 0.0:
                half = fixed[PERIOD] / 2.0  # what is so far off that it has no remainder stays within all the same
                memory[axis] = min(max(wrapped(value, fixed[PERIOD]), -half), half)
            elif fixed[EDGE_REFLECTS] > 0.0:
                memory[axis] = min(max(_folded(value, low, high), low), high)
            else:
                memory[axis] = min(max(value, low), high)


edge_step, edge_run = ways(_edge_advance)
