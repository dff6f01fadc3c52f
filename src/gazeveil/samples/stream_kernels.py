# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private streams, compiled: the filter, directions on a sphere, the window budget, time and exact noise.

A kernel never changes state before its noise is drawn and decided. So it can stop with a code, get more random words
or a settled sample, and be called again with the same gaze; nothing is counted or spent twice.

Releases come on the public clock, whether or not there is gaze. A sample without gaze is replaced by the estimate of
gaze from what was released before it (`taken`). Raw gaze is never held: it would leak after its window.

The filter's arrays: ``model`` holds the public constants; ``belief`` five numbers per axis: the wandering part u, the
slow offset m, and their covariance uu, um, mm; ``past`` the latest points, for the smoother. All of it is computed from
released points and public numbers: post-processing, free of charge.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.noise.parameters import NOISE_PER_DEGREE
from gazeveil.noise.sampling_kernels import UNDECIDED, exponential, nearest, plane_point, radial

VAR_U, VAR_M, CENTRE, LOW, HIGH = range(0, 10, 2)
"""Places of an axis' constants in the model: add the axis, 0 or 1."""
TAU, SLOW, TURN = 10, 11, 12
"""Time constants in microseconds, and the length after which the first axis repeats; 0 if it does not."""
MODEL_WIDTH = 13

AXIS = 5
U, M, UU, UM, MM = range(AXIS)
BELIEF_WIDTH = 2 * AXIS

TICK_WIDTH = 1 + 2 * AXIS + 4
"""A remembered tick: its time, the belief after it, and the smoothed u and m of both axes."""
_SMOOTHED = 1 + 2 * AXIS


@kernel(error_model="numpy")
def forget(belief: FloatArray, model: FloatArray) -> None:
    """Begin with what is known of gaze before any is seen."""
    for axis in range(2):
        at = axis * AXIS
        belief[at + U] = belief[at + M] = belief[at + UM] = 0.0
        belief[at + UU] = model[VAR_U + axis]
        belief[at + MM] = model[VAR_M + axis]


@kernel(error_model="numpy", inline="always")
def wrapped_difference(difference: float, turn: float) -> float:
    """Return a difference on a circle, between minus and plus half a turn; any difference if there is no circle."""
    if turn > 0.0:
        return float(difference - turn * np.rint(difference / turn))
    return difference


@kernel(error_model="numpy", inline="always")
def inside(value: float, model: FloatArray, axis: int) -> float:
    """Clamp a coordinate to the space, or wrap it."""
    if axis == 0 and model[TURN] > 0.0:
        value = wrapped_difference(value, model[TURN])
    return float(min(max(value, model[LOW + axis]), model[HIGH + axis]))


@kernel(error_model="numpy", inline="always")
def predicted(belief: FloatArray, model: FloatArray, elapsed: float) -> tuple[float, float]:
    """Return the estimate of gaze, this many microseconds after the latest tick."""
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    x = model[CENTRE] + (fast * belief[U] + slow * belief[M])
    y = model[CENTRE + 1] + (fast * belief[AXIS + U] + slow * belief[AXIS + M])
    return x, y


@kernel(error_model="numpy")
def advance(belief: FloatArray, model: FloatArray, elapsed: float) -> None:
    """Let time pass."""
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    for axis in range(2):
        at = axis * AXIS
        belief[at + U] *= fast
        belief[at + M] *= slow
        belief[at + UU] = fast * fast * belief[at + UU] + (1.0 - fast * fast) * model[VAR_U + axis]
        belief[at + UM] *= fast * slow
        belief[at + MM] = slow * slow * belief[at + MM] + (1.0 - slow * slow) * model[VAR_M + axis]


@kernel(error_model="numpy")
def learn(belief: FloatArray, model: FloatArray, x: float, y: float, variance: float) -> None:
    """Take in a noisy point, its noise of this variance an axis."""
    for axis in range(2):
        at = axis * AXIS
        seen = x if axis == 0 else y
        surprise = seen - (model[CENTRE + axis] + belief[at + U] + belief[at + M])
        if axis == 0:
            surprise = wrapped_difference(surprise, model[TURN])
        with_u, with_m = belief[at + UU] + belief[at + UM], belief[at + UM] + belief[at + MM]
        total = with_u + with_m + variance
        gain_u, gain_m = with_u / total, with_m / total
        belief[at + U] += gain_u * surprise
        belief[at + M] += gain_m * surprise
        belief[at + UU] -= gain_u * with_u
        belief[at + UM] -= gain_u * with_m
        belief[at + MM] -= gain_m * with_m


@kernel(error_model="numpy")
def remember(past: FloatArray, belief: FloatArray, model: FloatArray, now: float) -> None:
    """Append the belief after a tick to the latest ones, and smooth them backwards (Rauch, Tung and Striebel)."""
    ticks = past.shape[0]
    for row in range(ticks - 1):
        past[row] = past[row + 1]
    last = ticks - 1
    past[last, 0] = now
    past[last, 1:_SMOOTHED] = belief
    for axis in range(2):
        past[last, _SMOOTHED + 2 * axis] = belief[axis * AXIS + U]
        past[last, _SMOOTHED + 2 * axis + 1] = belief[axis * AXIS + M]
    for row in range(ticks - 2, -1, -1):
        if past[row, 0] < 0.0:
            break
        _smooth(past[row], past[row + 1], model)


@kernel(error_model="numpy")
def _smooth(here: FloatArray, after: FloatArray, model: FloatArray) -> None:
    elapsed = after[0] - here[0]
    fast, slow = math.exp(-elapsed / model[TAU]), math.exp(-elapsed / model[SLOW])
    for axis in range(2):
        at, to = 1 + axis * AXIS, _SMOOTHED + 2 * axis
        uu, um, mm = here[at + UU], here[at + UM], here[at + MM]
        ahead_uu = fast * fast * uu + (1.0 - fast * fast) * model[VAR_U + axis]
        ahead_um = fast * slow * um
        ahead_mm = slow * slow * mm + (1.0 - slow * slow) * model[VAR_M + axis]
        determinant = ahead_uu * ahead_mm - ahead_um * ahead_um
        news_u = after[to] - fast * here[at + U]
        news_m = after[to + 1] - slow * here[at + M]
        share_u = (ahead_mm * news_u - ahead_um * news_m) / determinant
        share_m = (ahead_uu * news_m - ahead_um * news_u) / determinant
        here[to] = here[at + U] + uu * fast * share_u + um * slow * share_m
        here[to + 1] = here[at + M] + um * fast * share_u + mm * slow * share_m


@kernel(error_model="numpy")
def looking_back(past: FloatArray, model: FloatArray, then: float) -> tuple[float, float]:
    """Return the estimate of gaze at an earlier time, from the ticks before and after it."""
    ticks = past.shape[0]
    row = ticks - 1
    while row >= 0 and past[row, 0] >= 0.0 and past[row, 0] > then:
        row -= 1
    before, after = row >= 0 and past[row, 0] >= 0.0, row + 1 < ticks
    x, y = model[CENTRE], model[CENTRE + 1]
    for part in range(2):
        constant = model[TAU + part]
        if before:
            weight = math.exp((past[row, 0] - then) / constant)
            if after:
                weight *= math.expm1(2.0 * (then - past[row + 1, 0]) / constant)
                weight /= math.expm1(2.0 * (past[row, 0] - past[row + 1, 0]) / constant)
            x += weight * past[row, _SMOOTHED + part]
            y += weight * past[row, _SMOOTHED + 2 + part]
        if after:
            weight = math.exp((then - past[row + 1, 0]) / constant)
            if before:
                weight *= math.expm1(2.0 * (past[row, 0] - then) / constant)
                weight /= math.expm1(2.0 * (past[row, 0] - past[row + 1, 0]) / constant)
            x += weight * past[row + 1, _SMOOTHED + part]
            y += weight * past[row + 1, _SMOOTHED + 2 + part]
    return x, y


# --- Directions as points of the unit sphere: where gaze is in degrees, noise is added to them. Near a pole a small
# angle is a large step in yaw; unit vectors are never farther apart than their angle in radians, wherever they point.
# Proof: docs/proofs/gaze-stream.md.


_DEGREE = math.pi / 180.0


@kernel(error_model="numpy")
def direction(yaw: float, pitch: float) -> tuple[float, float, float]:
    """Return the unit vector of a direction in degrees: right, down, ahead."""
    across = _DEGREE * _half_turn(yaw)
    down = _DEGREE * _half_turn(pitch)
    return math.cos(down) * math.sin(across), math.sin(down), math.cos(down) * math.cos(across)


@kernel(error_model="numpy")
def angles(right: float, down: float, ahead: float) -> tuple[float, float]:
    """Return yaw, from -180 to below 180, and pitch of a vector of any length; straight ahead for none."""
    yaw = math.atan2(right, ahead) / _DEGREE
    pitch = math.atan2(down, math.sqrt(right * right + ahead * ahead)) / _DEGREE
    return yaw - 360.0 if yaw >= 180.0 else yaw, pitch


@kernel(error_model="numpy")
def angle_between(yaw: float, pitch: float, to_yaw: float, to_pitch: float) -> float:
    """Return the visual angle between two directions, in degrees; accurate for small and for large ones."""
    a, b, c = direction(yaw, pitch)
    d, e, f = direction(to_yaw, to_pitch)
    apart = math.sqrt((a - d) ** 2 + (b - e) ** 2 + (c - f) ** 2)
    along = math.sqrt((a + d) ** 2 + (b + e) ** 2 + (c + f) ** 2)
    return 2.0 * math.atan2(apart, along) / _DEGREE


@kernel(error_model="numpy")
def space_point(words: WordArray, scale: float, x: float, y: float, z: float) -> tuple[np.int64, np.int64, np.int64]:
    """Round one point of space plus noise, all in lattice steps; for live use, where a call must be short."""
    fractions, out = np.empty((1, 3)), np.empty((1, 3), np.int64)
    fractions[0, 0], fractions[0, 1], fractions[0, 2] = x - np.rint(x), y - np.rint(y), z - np.rint(z)
    if radial(words, scale, fractions, 0.0, out):
        return UNDECIDED, UNDECIDED, UNDECIDED
    return out[0, 0] + np.int64(np.rint(x)), out[0, 1] + np.int64(np.rint(y)), out[0, 2] + np.int64(np.rint(z))


@kernel(error_model="numpy", inline="always")
def _half_turn(angle: float) -> float:
    """Return an angle above -180 and up to 180 degrees, so that one direction has one vector."""
    angle -= 360.0 * np.rint(angle / 360.0)
    return angle + 360.0 if angle <= -180.0 else angle


# --- The window budget as one array of integers, for live steps and compiled loops alike: a header of four, then
# `MOST_RULES` rules of five, then a ring of spends of two. Spends are numbered from the first one ever; the ring holds
# the latest. Callers see to it that times never run back.


RULES, NEXT, OLDEST, SLOTS = range(4)
"""Header: how many rules are in force, the number of the next spend, of the oldest kept, and the ring's size."""
CAP, WINDOW, UNTIL, FIRST, RULE_SPENT = range(5)
"""A rule: what a closed window may hold, its length, until when the rule binds, its first spend, their sum."""
MOST_RULES = 8
RULE_WIDTH = 5
RULES_AT = 4
RING_AT = RULES_AT + MOST_RULES * RULE_WIDTH

KEPT_US = 10_000_002
FOREVER = np.iinfo(np.int64).max


@kernel(error_model="numpy")
def left(budget: IntArray, now: int) -> int:
    """Return what may still be spent at this time under every rule in force; it can be negative."""
    least = FOREVER
    slots = budget[SLOTS]
    rule = 0
    while rule < budget[RULES]:
        at = RULES_AT + rule * RULE_WIDTH
        if now > budget[at + UNTIL]:
            last = RULES_AT + (budget[RULES] - 1) * RULE_WIDTH
            for field in range(RULE_WIDTH):
                budget[at + field] = budget[last + field]
            budget[RULES] -= 1
            continue
        start = now - budget[at + WINDOW]
        first = budget[at + FIRST]
        while first < budget[NEXT] and budget[RING_AT + 2 * (first % slots)] < start:
            budget[at + RULE_SPENT] -= budget[RING_AT + 2 * (first % slots) + 1]
            first += 1
        budget[at + FIRST] = first
        unspent = budget[at + CAP] - budget[at + RULE_SPENT]
        least = min(least, unspent)
        rule += 1
    return least


@kernel(error_model="numpy")
def spend(budget: IntArray, now: int, amount: int) -> bool:
    """Enter a spend if every rule and the ring have room for it; otherwise change nothing and return False."""
    if amount <= 0 or left(budget, now) < amount:
        return False
    slots = budget[SLOTS]
    while budget[OLDEST] < budget[NEXT] and budget[RING_AT + 2 * (budget[OLDEST] % slots)] < now - KEPT_US:
        budget[OLDEST] += 1
    if budget[NEXT] - budget[OLDEST] >= slots:
        return False
    slot = RING_AT + 2 * (budget[NEXT] % slots)
    budget[slot] = now
    budget[slot + 1] = amount
    budget[NEXT] += 1
    for rule in range(budget[RULES]):
        budget[RULES_AT + rule * RULE_WIDTH + RULE_SPENT] += amount
    return True


# --- What all private streams share: time, exact noise, and the output between two releases.


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
"""The latest spend: when, on the clock of the budget (`paced`), of the stream and of the machine."""
POINT_Z = 23
"""The third coordinate of settled noise, where there is one."""
OWN = 24
"""From here on a mechanism keeps what is its own."""
CLOCK_WIDTH = 29

NEVER = -(1 << 62)

FILTER, LAG, SPACING, LOSS, PERIOD = range(MODEL_WIDTH, MODEL_WIDTH + 5)
"""The plan follows the gaze model: whether to filter, the lag in microseconds, the lattice step of points, what a
release costs in loss units, and the least time between two."""
GRAIN = MODEL_WIDTH + 5
"""The lattice step of tested distances, in the unit of gaze."""
SPHERE = MODEL_WIDTH + 6
"""Whether gaze is a direction: noise is then added to its unit vector, on a lattice in space."""
PLAN_OWN = MODEL_WIDTH + 7
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
"""Clock, budgets of releases and of tests, belief, past, plan, words; then time and gaze. Gives a code and a point."""
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
    """Return the budget's time: since the latest spend it passed no faster than the stream's clock or the machine's.

    So what lies within a window on either clock lies within one of the budget. A file has one clock only.
    """
    if clock[SPENT_AT] == NEVER:
        return now
    passed = now - clock[SPENT_AT]
    if clock[WALL] != NEVER:
        passed = min(passed, clock[WALL] - clock[SPENT_WALL])
    return int(clock[SPENT] + passed)


@kernel(error_model="numpy", inline="always")
def spent(clock: IntArray, now: int, at: int) -> None:
    """Record a spend: its time on the stream's clock, and on the budget's."""
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
    column, row = inside(x, plan, 0) / spacing, inside(y, plan, 1) / spacing
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
    """Record a sample: its time, and what was wrong with it."""
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
    rest = math.exp(min(0.0, plan[row] - at) / plan[TAU])
    x = plan[row + 1] - plan[CENTRE] + rest * plan[row + 3]
    y = plan[row + 2] - plan[CENTRE + 1] + rest * plan[row + 4]
    return x, y


@kernel(error_model="numpy")
def released(
    clock: IntArray, belief: FloatArray, past: FloatArray, plan: FloatArray, now: int, x: float, y: float, loss: int
) -> None:
    """Learn from a noisy point that was released at this loss."""
    if plan[FILTER] > 0.0:
        if clock[TICKS] > 0:
            advance(belief, plan, float(now - clock[TICK]))
        across, down = trailing(plan, float(now - clock[ORIGIN]))
        learn(belief, plan, x - across, y - down, variance_of(plan, loss))
        if plan[LAG] > 0.0:
            remember(past, belief, plan, float(now - clock[ORIGIN]))
    else:
        belief[U], belief[AXIS + U] = inside(x, plan, 0), inside(y, plan, 1)
    clock[TICK] = now
    clock[TICKS] += 1


@kernel(error_model="numpy", inline="always")
def estimate(clock: IntArray, belief: FloatArray, plan: FloatArray, now: int) -> tuple[float, float]:
    """Return the estimate of gaze now: a function of what was released."""
    if plan[FILTER] > 0.0:
        x, y = predicted(belief, plan, float(now - clock[TICK]) if clock[TICKS] > 0 else 0.0)
        across, down = trailing(plan, float(now - clock[ORIGIN]))
        return inside(x + across, plan, 0), inside(y + down, plan, 1)
    if clock[TICKS] == 0:
        return plan[CENTRE], plan[CENTRE + 1]
    return belief[U], belief[AXIS + U]


@kernel(error_model="numpy", inline="always")
def taken(clock: IntArray, belief: FloatArray, plan: FloatArray, now: int, x: float, y: float) -> tuple[float, float]:
    """Return a sample's gaze; where it has none, the estimate from what was released."""
    if np.isfinite(x) and np.isfinite(y):
        return x, y
    thought_x, thought_y = estimate(clock, belief, plan, now)
    return thought_x, thought_y


@kernel(error_model="numpy", inline="always")
def shown(clock: IntArray, belief: FloatArray, past: FloatArray, plan: FloatArray, now: int) -> tuple[float, float]:
    """Return what goes out for a sample: the estimate of now, or with a lag the better one of a while ago."""
    if plan[LAG] > 0.0:
        then = float(now - clock[ORIGIN]) - plan[LAG]
        x, y = looking_back(past, plan, then)
        across, down = trailing(plan, then)
        return inside(x + across, plan, 0), inside(y + down, plan, 1)
    x, y = estimate(clock, belief, plan, now)
    return x, y


def running(step: Any) -> Any:
    """Return a compiled loop of a mechanism's kernel ``step`` over many samples."""

    @kernel(RUN, around=step, error_model="numpy")
    def run(  # type: ignore[no-untyped-def]
        clock, budget, tests, belief, past, plan, words, t, x, y, out_x, out_y, start
    ):
        """Take samples one after the other until one needs help; return why, and which."""
        for i in range(start, len(t)):
            code, out_x[i], out_y[i] = step(clock, budget, tests, belief, past, plan, words, t[i], x[i], y[i])
            if code != DONE:
                return code, i
        return DONE, len(t)

    return run
