# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a private stream released, read off its output: compiled.

Between two releases the output is a function of time alone, so any other change is a release. Its cost follows from
the times of releases before it, its noisy point from how far the output moved. All of that is public; nothing here
needs more than the mechanism's parameters.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples import stream_kernels as gaze
from gazeveil.samples.release_kernels import (
    ABSORBING,
    COUNTING,
    INDEX,
    KIND,
    LEAST_LOSS,
    LOCKED,
    SAMPLE_US,
    SHARE,
    SHARES,
    allowance,
)
from gazeveil.samples.stream_kernels import (
    FILTER,
    LOSS,
    PERIOD,
    TEST,
    TICK,
    TICKS,
    arrived,
    estimate,
    left,
    moment,
    released,
    spend,
    variance_of,
)

CLOCK, TESTED, SPARSE = range(3)
"""By which rule a mechanism releases: by the clock, by tests, or by tests that are paid for together."""
_TOLERANCE = 1e-7
BEFORE_U, BEFORE_M, GAIN_U, GAIN_M = range(4)


@kernel(error_model="numpy")
def _gains(belief: FloatArray, plan: FloatArray, elapsed: float, variance: float, kept: FloatArray) -> None:
    """Keep, for both axes, the belief just before a release and how much of a surprise goes into it."""
    ahead = belief.copy()
    gaze.advance(ahead, plan, elapsed)
    for axis in range(2):
        at = axis * gaze.AXIS
        with_u, with_m = ahead[at + gaze.UU] + ahead[at + gaze.UM], ahead[at + gaze.UM] + ahead[at + gaze.MM]
        total = with_u + with_m + variance
        kept[axis, BEFORE_U], kept[axis, BEFORE_M] = ahead[at + gaze.U], ahead[at + gaze.M]
        kept[axis, GAIN_U], kept[axis, GAIN_M] = with_u / total, with_m / total


@kernel(error_model="numpy")
def _surprise(kept: FloatArray, plan: FloatArray, axis: int, shown: float, fast: float, slow: float) -> float:
    """Return by how much a noisy point missed the belief, from what is shown some time after it."""
    expected = plan[gaze.CENTRE + axis] + fast * kept[axis, BEFORE_U] + slow * kept[axis, BEFORE_M]
    moved = shown - expected
    if axis == 0:
        moved = gaze.wrapped(moved, plan[gaze.TURN])
    return float(moved / (fast * kept[axis, GAIN_U] + slow * kept[axis, GAIN_M]))


@kernel(error_model="numpy")
def _cost(rule: int, clock: IntArray, books: IntArray, plan: FloatArray, now: int, at: int, extra: int) -> int:
    """Return what a release would cost now; 0 where none is possible."""
    if clock[TICKS] > 0 and now - clock[TICK] < plan[PERIOD]:
        return 0
    if rule == TESTED:  # never less than the least that is worth a release
        return int(max(allowance(clock, books, plan, at), int(plan[LEAST_LOSS])))
    return int(plan[LOSS]) if left(books, at) >= int(plan[LOSS]) + extra else 0


@kernel(error_model="numpy")
def recovered(
    rule: int,
    extra: int,
    clock: IntArray,
    books: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    which: IntArray,
    points: FloatArray,
) -> int:
    """Find all releases; write their samples and, for each, the noisy point and the variance of its noise.

    Args:
        rule: `CLOCK`, `TESTED` or `SPARSE`.
        extra: What a release costs besides its noise.
        clock: The state of a new stream, as are books, belief and past.
        books: The ledger of releases.
        belief: The filter's belief.
        past: Not used; the stream must not look back.
        plan: The mechanism's numbers.
        t: Times.
        x: What was shown.
        y: The other coordinate.
        which: Space for the numbers of samples.
        points: Space for x, y and variance.
    """
    found = 0
    kept = np.zeros((2, 4))
    hidden = np.zeros(2, np.bool_)  # the output is at the edge: the point lies at least so far out
    shown, shown_before, moment_before = np.zeros(2), np.zeros(2), 0
    for i in range(len(t)):
        now = moment(clock, t[i])
        counting = rule == TESTED and plan[KIND] == COUNTING
        at = clock[INDEX] * int(plan[SAMPLE_US]) if counting else now
        arrived(clock, t[i], now, 0.0, 0.0)
        shown[0], shown[1] = x[i], y[i]
        expected_x, expected_y = estimate(clock, belief, plan, now)
        moved = abs(gaze.wrapped(x[i] - expected_x, plan[gaze.TURN])) > _TOLERANCE and not hidden[0]
        moved = moved or (abs(y[i] - expected_y) > _TOLERANCE and not hidden[1])
        slot = rule == TESTED and (clock[TICKS] == 0 or now - clock[TEST] >= plan[PERIOD])
        locked = slot and clock[LOCKED] > 0
        loss = _cost(rule, clock, books, plan, now, at, extra) if moved else 0
        if moved and loss > 0:
            elapsed = float(now - clock[TICK]) if clock[TICKS] > 0 else 0.0
            variance = variance_of(plan, loss)
            _gains(belief, plan, elapsed, variance, kept)
            which[found], points[found, 2] = i, variance
            for axis in range(2):
                points[found, axis] = shown[axis]
                hidden[axis] = False
                if plan[FILTER] > 0.0:
                    before = plan[gaze.CENTRE + axis] + kept[axis, BEFORE_U] + kept[axis, BEFORE_M]
                    points[found, axis] = before + _surprise(kept, plan, axis, shown[axis], 1.0, 1.0)
                    wraps = axis == 0 and plan[gaze.TURN] > 0.0
                    at_edge = shown[axis] <= plan[gaze.LOW + axis] or shown[axis] >= plan[gaze.HIGH + axis]
                    hidden[axis] = at_edge and not wraps
            released(clock, belief, past, plan, now, points[found, 0], points[found, 1], loss)
            spend(books, at, loss + extra)
            found += 1
        elif hidden.any():
            _uncover(clock, belief, plan, now, shown, kept, hidden, points[found - 1])
        elif moved and i > 0 and plan[FILTER] > 0.0 and which[max(found, 1) - 1] < i - 1:
            before = float(moment_before - clock[TICK])
            _read(belief, plan, before, shown_before, float(now - clock[TICK]), shown)
        moment_before, shown_before[0], shown_before[1] = now, x[i], y[i]
        if slot:
            clock[TEST] = now
            clock[LOCKED] -= locked
            clock[SHARES] += not locked
        if moved and loss > 0 and rule == TESTED:
            clock[TEST], clock[SHARES] = now, 0
            clock[LOCKED] = -(-loss // int(plan[SHARE])) - 1 if plan[KIND] == ABSORBING else 0
        if rule == TESTED:
            clock[INDEX] += 1
    return found


@kernel(error_model="numpy")
def _read(
    belief: FloatArray, plan: FloatArray, before: float, shown_before: FloatArray, elapsed: float, shown: FloatArray
) -> None:
    """Read the belief off two points that were shown after the same release: wandering and offset fade differently."""
    fast_0, slow_0 = math.exp(-before / plan[gaze.TAU]), math.exp(-before / plan[gaze.SLOW])
    fast_1, slow_1 = math.exp(-elapsed / plan[gaze.TAU]), math.exp(-elapsed / plan[gaze.SLOW])
    determinant = fast_0 * slow_1 - fast_1 * slow_0
    for axis in range(2):
        low, high = plan[gaze.LOW + axis], plan[gaze.HIGH + axis]
        if determinant != 0.0 and low < shown[axis] < high and low < shown_before[axis] < high:
            first, second = shown_before[axis] - plan[gaze.CENTRE + axis], shown[axis] - plan[gaze.CENTRE + axis]
            belief[axis * gaze.AXIS + gaze.U] = (first * slow_1 - second * slow_0) / determinant
            belief[axis * gaze.AXIS + gaze.M] = (second * fast_0 - first * fast_1) / determinant


@kernel(error_model="numpy")
def _uncover(
    clock: IntArray,
    belief: FloatArray,
    plan: FloatArray,
    now: int,
    shown: FloatArray,
    kept: FloatArray,
    hidden: NDArray[np.bool_],
    point: FloatArray,
) -> None:
    """Learn where a point beyond the edge was, as soon as the output has come back from there."""
    elapsed = float(now - clock[TICK])
    fast, slow = math.exp(-elapsed / plan[gaze.TAU]), math.exp(-elapsed / plan[gaze.SLOW])
    for axis in range(2):
        if hidden[axis] and plan[gaze.LOW + axis] < shown[axis] < plan[gaze.HIGH + axis]:
            surprise = _surprise(kept, plan, axis, shown[axis], fast, slow)
            belief[axis * gaze.AXIS + gaze.U] = kept[axis, BEFORE_U] + kept[axis, GAIN_U] * surprise
            belief[axis * gaze.AXIS + gaze.M] = kept[axis, BEFORE_M] + kept[axis, GAIN_M] * surprise
            point[axis] = plan[gaze.CENTRE + axis] + kept[axis, BEFORE_U] + kept[axis, BEFORE_M] + surprise
            hidden[axis] = False
