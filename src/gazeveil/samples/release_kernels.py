# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""When private streams release, compiled: on a clock, after a test (Kaleido, BD, BA), by sparse vector.

Tests and releases have a window budget each. A distance is rounded down to whole grains before noise is added, and the
charge of a test covers that (docs/proofs/gaze-stream.md).
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples.stream_kernels import (
    BAD_TIME,
    DONE,
    GRAIN,
    LOSS,
    LOSS_UNIT,
    OWN,
    PERIOD,
    PLAN_OWN,
    SPHERE,
    STEP,
    TEST,
    TICK,
    TICKS,
    TURN,
    angle_between,
    arrived,
    estimate,
    inside,
    is_time,
    left,
    moment,
    noisy_point,
    paced,
    released,
    running,
    shown,
    spend,
    spent,
    taken,
    test_noise,
    used,
    words_of_a_point,
    wrapped_difference,
)


@kernel(STEP, error_model="numpy")
def clock_step(
    clock: IntArray,
    budget: IntArray,
    tests: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    words: WordArray,
    t: float,
    x: float,
    y: float,
) -> tuple[int, float, float]:
    """Take one sample. Whether it ticks depends on times alone, never on gaze, nor on whether there is any."""
    if not is_time(t):
        return BAD_TIME, 0.0, 0.0
    now = moment(clock, t)
    at, loss = paced(clock, now), int(plan[LOSS])
    ticks = (clock[TICKS] == 0 or now - clock[TICK] >= plan[PERIOD]) and left(budget, at) >= loss
    noisy_x = noisy_y = 0.0
    if ticks:
        gaze_x, gaze_y = taken(clock, belief, plan, now, x, y)
        code, noisy_x, noisy_y = noisy_point(clock, plan, words, 0, loss, gaze_x, gaze_y)
        if code != DONE:
            return code, 0.0, 0.0
    arrived(clock, t, now, x, y)
    if ticks:
        used(clock, words, words_of_a_point(plan))
        if spend(budget, at, loss):
            spent(clock, now, at)
            released(clock, belief, past, plan, now, noisy_x, noisy_y, loss)
    shown_x, shown_y = shown(clock, belief, past, plan, now)
    return DONE, shown_x, shown_y


clock_run = running(clock_step)


# --- Tests whether gaze has moved, before a release: Kaleido, BD and BA.


HALVING, ABSORBING, COUNTING = range(3)
"""What a release gets: half of what is left in the window; the shares of slots that were skipped; or, as published,
half of what is left in a window that counts samples."""
KIND, TESTED_LOSS, TESTED_THRESHOLD, NOISES, LEAST_LOSS, SHARE, MOST_SHARES, SAMPLE_US = range(PLAN_OWN, PLAN_OWN + 8)
"""The plan: which of these, what a test costs, the threshold in units of gaze and in mean displacements of the noise
to come, the least release worth making, and for slots their share and how many shares a release may take."""
INDEX, SHARES, LOCKED = range(OWN, OWN + 3)
"""The clock: samples so far, shares at hand, and slots whose shares were taken in advance."""


@kernel(error_model="numpy")
def distance(plan: FloatArray, x: float, y: float, to_x: float, to_y: float) -> int:
    """Return how far gaze, clamped to the space, is from a public point, in whole grains; of directions, the angle."""
    if plan[SPHERE] > 0.0:
        return int(np.floor(angle_between(x, y, to_x, to_y) / plan[GRAIN]))
    across = wrapped_difference(inside(x, plan, 0) - to_x, plan[TURN])
    down = inside(y, plan, 1) - to_y
    return int(np.floor(math.sqrt(across * across + down * down) / plan[GRAIN]))


@kernel(error_model="numpy")
def allowance(clock: IntArray, budget: IntArray, plan: FloatArray, at: int) -> int:
    """Return what a release may cost now."""
    unspent = left(budget, at)
    if plan[KIND] == ABSORBING:
        return int(min(unspent, int(plan[SHARE]) * min(clock[SHARES] + 1, int(plan[MOST_SHARES]))))
    return int(min(unspent // 2, int(plan[LOSS])))


@kernel(error_model="numpy")
def is_far(
    clock: IntArray,
    belief: FloatArray,
    plan: FloatArray,
    words: WordArray,
    now: int,
    x: float,
    y: float,
    loss: int,
) -> tuple[int, bool]:
    """Test privately whether gaze is far enough from the latest output for a release of this loss."""
    code, noise = test_noise(clock, plan, words, 0, int(plan[TESTED_LOSS]), 1)
    if code != DONE:
        return code, False
    to_x, to_y = estimate(clock, belief, plan, now)
    limit = plan[TESTED_THRESHOLD] + plan[NOISES] * 2.0 * LOSS_UNIT / loss
    return DONE, distance(plan, x, y, to_x, to_y) > math.floor(limit / plan[GRAIN]) + noise


@kernel(STEP, error_model="numpy")
def tested_step(
    clock: IntArray,
    budget: IntArray,
    tests: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    words: WordArray,
    t: float,
    x: float,
    y: float,
) -> tuple[int, float, float]:
    """Take one sample; test whether gaze is far from the latest output, and publish if so."""
    if not is_time(t):
        return BAD_TIME, 0.0, 0.0
    now = moment(clock, t)
    counting = plan[KIND] == COUNTING
    at = clock[INDEX] * int(plan[SAMPLE_US]) if counting else paced(clock, now)
    slot = clock[TICKS] == 0 or now - clock[TEST] >= plan[PERIOD]
    gaze_x, gaze_y = taken(clock, belief, plan, now, x, y)
    locked = slot and clock[LOCKED] > 0
    loss = allowance(clock, budget, plan, at) if slot and not locked else 0
    tested = loss > 0 and loss >= plan[LEAST_LOSS] and clock[TICKS] > 0
    tested = tested and (counting or left(tests, at) >= plan[TESTED_LOSS])
    publishes = loss > 0 and loss >= plan[LEAST_LOSS] and clock[TICKS] == 0
    if tested:
        code, publishes = is_far(clock, belief, plan, words, now, gaze_x, gaze_y, loss)
        if code != DONE:
            return code, 0.0, 0.0
    noisy_x = noisy_y = 0.0
    if publishes:
        code, noisy_x, noisy_y = noisy_point(clock, plan, words, 1 if tested else 0, loss, gaze_x, gaze_y)
        if code != DONE:
            return code, 0.0, 0.0
    arrived(clock, t, now, x, y)
    clock[INDEX] += 1
    if slot:
        clock[TEST] = now
        clock[LOCKED] -= locked
        clock[SHARES] += not locked
    if tested:
        used(clock, words, 1)
        publishes = (counting or spend(tests, at, int(plan[TESTED_LOSS]))) and publishes
    if publishes:
        used(clock, words, words_of_a_point(plan))
        publishes = spend(budget, at, loss)
    if (tested or publishes) and not counting:
        spent(clock, now, at)
    if publishes:
        released(clock, belief, past, plan, now, noisy_x, noisy_y, loss)
        clock[LOCKED] = -(-loss // int(plan[SHARE])) - 1 if plan[KIND] == ABSORBING else 0
        clock[SHARES] = 0
    shown_x, shown_y = shown(clock, belief, past, plan, now)
    return DONE, shown_x, shown_y


tested_run = running(tested_step)


# --- The sparse vector technique: many tests, and one charge for all up to the next release.


SPARSE_LOSS, SPARSE_THRESHOLD = range(PLAN_OWN, PLAN_OWN + 2)
"""The plan: what an epoch's tests cost together, and how far is far, in the unit of gaze."""
SPARSE_OPEN, SPARSE_BLUR = range(OWN, OWN + 2)
"""The clock: whether an epoch has begun, and the noise of its threshold."""


@kernel(STEP, error_model="numpy")
def sparse_step(
    clock: IntArray,
    budget: IntArray,
    tests: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    words: WordArray,
    t: float,
    x: float,
    y: float,
) -> tuple[int, float, float]:
    """Take one sample; test it only while the window has room for the epoch that the test belongs to."""
    if not is_time(t):
        return BAD_TIME, 0.0, 0.0
    now = moment(clock, t)
    cost, loss = int(plan[SPARSE_LOSS]), int(plan[LOSS])
    at = paced(clock, now)
    due = (clock[TICKS] == 0 or now - clock[TEST] >= plan[PERIOD]) and left(budget, at) >= cost + loss
    gaze_x, gaze_y = taken(clock, belief, plan, now, x, y)
    publishes = due
    tested = due and clock[TICKS] > 0
    drawn, blur = 0, clock[SPARSE_BLUR]
    if tested:
        if not clock[SPARSE_OPEN]:
            code, blur = test_noise(clock, plan, words, 0, cost, 2)
            if code != DONE:
                return code, 0.0, 0.0
            drawn = 1
        code, noise = test_noise(clock, plan, words, drawn, cost, 4)
        if code != DONE:
            return code, 0.0, 0.0
        drawn += 1
        to_x, to_y = estimate(clock, belief, plan, now)
        limit = np.int64(math.floor(plan[SPARSE_THRESHOLD] / plan[GRAIN])) + blur
        publishes = distance(plan, gaze_x, gaze_y, to_x, to_y) + noise > limit
    noisy_x = noisy_y = 0.0
    if publishes:
        code, noisy_x, noisy_y = noisy_point(clock, plan, words, drawn, loss, gaze_x, gaze_y)
        if code != DONE:
            return code, 0.0, 0.0
    arrived(clock, t, now, x, y)
    if tested:
        used(clock, words, drawn)
        clock[SPARSE_OPEN], clock[SPARSE_BLUR] = 1, blur
    if due:
        clock[TEST] = now
    if publishes:
        used(clock, words, words_of_a_point(plan))
        if spend(budget, at, cost + loss):
            spent(clock, now, at)
            released(clock, belief, past, plan, now, noisy_x, noisy_y, loss)
            clock[SPARSE_OPEN] = clock[SPARSE_BLUR] = 0
    shown_x, shown_y = shown(clock, belief, past, plan, now)
    return DONE, shown_x, shown_y


sparse_run = running(sparse_step)
