# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all private streams share in compiled form: time, exact noise, and the output between two releases.

A kernel never changes state before its noise is drawn and decided. So it can stop with a code, be helped with words
or with a settled sample, and be called again with the same gaze; nothing is counted or spent twice.

Releases come on the public clock, whether or not there is gaze. A sample without gaze stands for what was thought of
gaze before it, which follows from what was released (`taken`). Raw gaze is never held: it would leak after its window.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.noise.parameters import NOISE_PER_DEGREE
from gazeveil.noise.sampling_kernels import UNDECIDED, exponential, nearest, plane_point
from gazeveil.samples import _filter_kernels as gaze
from gazeveil.samples._sphere_kernels import angles, direction, space_point

DONE, MORE_WORDS, SETTLE_POINT, SETTLE_TEST, BAD_TIME = range(5)
"""What a kernel answers; anything but `DONE` leaves the state as it was."""

NOW, TICK, TICKS, TEST, WALL, ORIGIN, WORD, BACK, MISSING, INFINITE = range(10)
"""The clock: latest time, latest release and how many, latest test, the machine's time if it is known, first time, next
word, and how many samples ran back in time, were missing, or were infinite."""
POINT_IS_SET, POINT_X, POINT_Y, TEST_IS_SET, TEST_VALUE = range(10, 15)
"""Noise that was settled outside; there may be two tests, one after the other."""
ASKED_WORD, ASKED_LOSS, ASKED_TIMES = range(17, 20)
"""Which noise is to be settled: at which word, for what loss, and at how many times the scale."""
SPENT, SPENT_AT, SPENT_WALL = range(20, 23)
"""The latest spend: when, by the ledger's time (`paced`), the stream's and the machine's."""
POINT_Z = 23
"""The third coordinate of settled noise, where there is one."""
OWN = 24
"""From here on a mechanism keeps what is its own."""
CLOCK_WIDTH = 29

NEVER = -(1 << 62)

FILTER, LAG, SPACING, LOSS, PERIOD = range(gaze.MODEL_WIDTH, gaze.MODEL_WIDTH + 5)
"""The plan follows the gaze model: whether to filter, the lag in microseconds, the lattice step of points, what a
release costs in loss units, and the least time between two."""
GRAIN = gaze.MODEL_WIDTH + 5
"""The lattice step of tested distances, in the unit of gaze."""
SPHERE = gaze.MODEL_WIDTH + 6
"""Whether gaze is a direction: noise is then added to its unit vector, on a lattice in space."""
PLAN_OWN = gaze.MODEL_WIDTH + 7
PLAN_WIDTH = PLAN_OWN + 8

SCENE_WIDTH = 5
"""If the scene has changed, the plan is followed by scenes, the latest first: since when each is shown, in microseconds
after the stream's first time; the centre of gaze there; and how far gaze was from it when the scene changed."""

LOSS_UNIT = float(1 << 30)
SPHERE_UNIT = LOSS_UNIT * NOISE_PER_DEGREE
TEST_UNIT = float((1 << 30) + (1 << 20))
"""What a distance costs when it is rounded to the grain: docs/proofs/gaze-stream.md."""
_INTS, _FLOATS = types.int64[::1], types.float64[::1]
_STATE = (_INTS, _INTS, _INTS, _FLOATS, types.float64[:, ::1], _FLOATS, types.uint64[::1])
STEP = types.Tuple((types.int64, types.float64, types.float64))(*_STATE, types.float64, types.float64, types.float64)
"""Clock, releases' ledger, tests' ledger, belief, past, plan, words; then time and gaze. Gives a code and a point."""
_GIVEN = types.Array(types.float64, 1, "C", readonly=True)
RUN = types.UniTuple(types.int64, 2)(*_STATE, _GIVEN, _GIVEN, _GIVEN, _FLOATS, _FLOATS, types.int64)
"""The same with arrays, arrays for the output and where to start. Gives a code and which sample it is about."""

_LATEST = 1e12
_ONE = np.uint64(1)
_ETA = 2.0**-53


@kernel(error_model="numpy", inline="always")
def moment(clock: IntArray, t: float) -> int:
    """Return the time in microseconds, never before the latest one; the caller has checked that it is a time."""
    return int(max(np.int64(np.rint(t * 1e6)), clock[NOW]))


@kernel(error_model="numpy", inline="always")
def is_time(t: float) -> bool:
    """Whether this can be a time at all."""
    return abs(t) <= _LATEST


@kernel(error_model="numpy", inline="always")
def paced(clock: IntArray, now: int) -> int:
    """Return the ledger's time: since the latest spend it passed no faster than the stream's clock or the machine's.

    So what lies within a window on either clock lies within one by the ledger. In a file there is but the one clock.
    """
    if clock[SPENT_AT] == NEVER:
        return now
    passed = now - clock[SPENT_AT]
    if clock[WALL] != NEVER:
        passed = min(passed, clock[WALL] - clock[SPENT_WALL])
    return int(clock[SPENT] + passed)


@kernel(error_model="numpy", inline="always")
def spent(clock: IntArray, now: int, at: int) -> None:
    """Take note of a spend at a time of the stream that the ledger entered at its own."""
    clock[SPENT], clock[SPENT_AT], clock[SPENT_WALL] = at, now, clock[WALL]


@kernel(error_model="numpy", inline="always")
def words_of_a_point(plan: FloatArray) -> int:
    """Return how many words a noisy point takes."""
    return 5 if plan[SPHERE] > 0.0 else 3


@kernel(error_model="numpy", inline="always")
def variance_of(plan: FloatArray, loss: float) -> float:
    """Return the variance along an axis of noise that costs this loss.

    In space it is wider than in the viewing plane.
    """
    scale = LOSS_UNIT / loss
    return (4.0 if plan[SPHERE] > 0.0 else 3.0) * scale * scale


@kernel(error_model="numpy")
def _noisy_direction(
    clock: IntArray, plan: FloatArray, words: WordArray, at: int, loss: int, x: float, y: float
) -> tuple[int, float, float]:
    """Return a direction whose unit vector got noise in space that costs this loss."""
    spacing = plan[SPACING]
    i, j, k = clock[POINT_X], clock[POINT_Y], clock[POINT_Z]
    if not clock[POINT_IS_SET]:
        right, down, ahead = direction(x, y)
        scale = SPHERE_UNIT / loss / spacing
        i, j, k = space_point(words[at : at + 5], scale, right / spacing, down / spacing, ahead / spacing)
        if i == UNDECIDED:
            clock[ASKED_WORD], clock[ASKED_LOSS] = at, loss
            return SETTLE_POINT, 0.0, 0.0
    yaw, pitch = angles(float(i), float(j), float(k))
    return DONE, yaw, pitch


@kernel(error_model="numpy")
def noisy_point(
    clock: IntArray, plan: FloatArray, words: WordArray, skipped: int, loss: int, x: float, y: float
) -> tuple[int, float, float]:
    """Return gaze, clamped to the space, plus planar Laplace noise that costs this loss, from the words after some.

    A direction is not clamped, which could move two of them apart, and gets its noise in space.
    """
    spacing, at = plan[SPACING], clock[WORD] + skipped
    if not clock[POINT_IS_SET] and at + words_of_a_point(plan) > len(words):
        return MORE_WORDS, 0.0, 0.0
    if plan[SPHERE] > 0.0:
        code, yaw, pitch = _noisy_direction(clock, plan, words, at, loss, x, y)
        return code, yaw, pitch
    if clock[POINT_IS_SET]:
        return DONE, clock[POINT_X] * spacing, clock[POINT_Y] * spacing
    column, row = gaze.inside(x, plan, 0) / spacing, gaze.inside(y, plan, 1) / spacing
    i, j = plane_point(words[at : at + 3], LOSS_UNIT / loss / spacing, column, row)
    if i == UNDECIDED:
        clock[ASKED_WORD], clock[ASKED_LOSS] = at, loss
        return SETTLE_POINT, 0.0, 0.0
    return DONE, i * spacing, j * spacing


@kernel(error_model="numpy")
def test_noise(
    clock: IntArray, plan: FloatArray, words: WordArray, skipped: int, loss: int, times: int
) -> tuple[int, int]:
    """Return Laplace noise in grains, at this many times the scale at which a distance costs this loss."""
    if clock[TEST_IS_SET + 2 * skipped]:
        return DONE, clock[TEST_VALUE + 2 * skipped]
    at = clock[WORD] + skipped
    if at + 1 > len(words):
        return MORE_WORDS, 0
    scale = times * TEST_UNIT / loss / plan[GRAIN]
    value, error = exponential(words[at] & ~_ONE)
    rounded = nearest(scale * value, scale * (error + 4.0 * _ETA * value))
    if rounded == UNDECIDED:
        clock[ASKED_WORD], clock[ASKED_LOSS], clock[ASKED_TIMES] = at, loss, times
        return SETTLE_TEST, skipped
    return DONE, -rounded if words[at] & _ONE else rounded


@kernel(error_model="numpy")
def used(clock: IntArray, words: WordArray, count: int) -> None:
    """Erase words that were used, and settled noise with them."""
    for _ in range(count):
        words[clock[WORD]] = 0
        clock[WORD] += 1
    clock[POINT_IS_SET] = clock[TEST_IS_SET] = clock[TEST_IS_SET + 2] = 0


@kernel(error_model="numpy", inline="always")
def arrived(clock: IntArray, t: float, now: int, x: float, y: float) -> None:
    """Take note of a sample: its time, and what was wrong with it."""
    if clock[NOW] == NEVER:
        clock[ORIGIN] = now
    elif np.rint(t * 1e6) < now:
        clock[BACK] += 1
    clock[NOW] = now
    if not (np.isfinite(x) and np.isfinite(y)):
        clock[INFINITE if np.isinf(x) or np.isinf(y) else MISSING] += 1


@kernel(error_model="numpy")
def trailing(plan: FloatArray, at: float) -> tuple[float, float]:
    """Return how far the expected place was from the latest scene's centre, at a time since the origin.

    Gaze follows a change of scene as it follows anything, so the expected place moves on within the filter's own time.
    """
    row = PLAN_WIDTH
    if len(plan) == row:
        return 0.0, 0.0
    while row + SCENE_WIDTH < len(plan) and plan[row] > at:
        row += SCENE_WIDTH
    rest = math.exp(min(0.0, plan[row] - at) / plan[gaze.TAU])
    x = plan[row + 1] - plan[gaze.CENTRE] + rest * plan[row + 3]
    y = plan[row + 2] - plan[gaze.CENTRE + 1] + rest * plan[row + 4]
    return x, y


@kernel(error_model="numpy")
def released(
    clock: IntArray, belief: FloatArray, past: FloatArray, plan: FloatArray, now: int, x: float, y: float, loss: int
) -> None:
    """Learn from a noisy point that was released at this loss."""
    if plan[FILTER] > 0.0:
        if clock[TICKS] > 0:
            gaze.advance(belief, plan, float(now - clock[TICK]))
        across, down = trailing(plan, float(now - clock[ORIGIN]))
        gaze.learn(belief, plan, x - across, y - down, variance_of(plan, loss))
        if plan[LAG] > 0.0:
            gaze.remember(past, belief, plan, float(now - clock[ORIGIN]))
    else:
        belief[gaze.U], belief[gaze.AXIS + gaze.U] = gaze.inside(x, plan, 0), gaze.inside(y, plan, 1)
    clock[TICK] = now
    clock[TICKS] += 1


@kernel(error_model="numpy", inline="always")
def estimate(clock: IntArray, belief: FloatArray, plan: FloatArray, now: int) -> tuple[float, float]:
    """Return where gaze is thought to be now: a function of what was released."""
    if plan[FILTER] > 0.0:
        x, y = gaze.predicted(belief, plan, float(now - clock[TICK]) if clock[TICKS] > 0 else 0.0)
        across, down = trailing(plan, float(now - clock[ORIGIN]))
        return gaze.inside(x + across, plan, 0), gaze.inside(y + down, plan, 1)
    if clock[TICKS] == 0:
        return plan[gaze.CENTRE], plan[gaze.CENTRE + 1]
    return belief[gaze.U], belief[gaze.AXIS + gaze.U]


@kernel(error_model="numpy", inline="always")
def taken(clock: IntArray, belief: FloatArray, plan: FloatArray, now: int, x: float, y: float) -> tuple[float, float]:
    """Return the gaze that a sample stands for: its own; where it has none, the estimate from what was released."""
    if np.isfinite(x) and np.isfinite(y):
        return x, y
    thought_x, thought_y = estimate(clock, belief, plan, now)
    return thought_x, thought_y


@kernel(error_model="numpy", inline="always")
def shown(clock: IntArray, belief: FloatArray, past: FloatArray, plan: FloatArray, now: int) -> tuple[float, float]:
    """Return what goes out for a sample: the estimate of now, or with a lag the better one of a while ago."""
    if plan[LAG] > 0.0:
        then = float(now - clock[ORIGIN]) - plan[LAG]
        x, y = gaze.looking_back(past, plan, then)
        across, down = trailing(plan, then)
        return gaze.inside(x + across, plan, 0), gaze.inside(y + down, plan, 1)
    x, y = estimate(clock, belief, plan, now)
    return x, y


def running(step: Any) -> Any:
    """Return the way of many samples through a mechanism's kernel ``step``, compiled."""

    @kernel(RUN, around=step, error_model="numpy")
    def run(clock, books, tests, belief, past, plan, words, t, x, y, out_x, out_y, start):  # type: ignore[no-untyped-def]
        """Take samples one after the other until one needs help; return why, and which."""
        for i in range(start, len(t)):
            code, out_x[i], out_y[i] = step(clock, books, tests, belief, past, plan, words, t[i], x[i], y[i])
            if code != DONE:
                return code, i
        return DONE, len(t)

    return run
