# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The sparse vector technique for gaze in compiled form: many tests, one charge for all up to the next release."""

from __future__ import annotations

import math

import numpy as np

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._stream_kernels import (
    BAD_TIME,
    DONE,
    GRAIN,
    LOSS,
    OWN,
    PERIOD,
    PLAN_OWN,
    STEP,
    TEST,
    TICKS,
    arrived,
    estimate,
    is_time,
    moment,
    noisy_point,
    paced,
    released,
    running,
    shown,
    spent,
    taken,
    test_noise,
    used,
    words_of_a_point,
)
from gazeveil.samples._window_budget_kernels import left, spend
from gazeveil.samples.mechanisms._tested_kernels import distance

TEST_LOSS, THRESHOLD = range(PLAN_OWN, PLAN_OWN + 2)
"""The plan: what an epoch's tests cost together, and how far is far, in the unit of gaze."""
OPEN, BLUR = range(OWN, OWN + 2)
"""The clock: whether an epoch has begun, and the noise of its threshold."""


@kernel(STEP, error_model="numpy")
def step(
    clock: IntArray,
    books: IntArray,
    tests: IntArray,
    belief: FloatArray,
    past: FloatArray,
    plan: FloatArray,
    words: WordArray,
    t: float,
    x: float,
    y: float,
) -> tuple[int, float, float]:
    """Take one sample; test it only while the window has Space for the epoch that the test belongs to."""
    if not is_time(t):
        return BAD_TIME, 0.0, 0.0
    now = moment(clock, t)
    cost, loss = int(plan[TEST_LOSS]), int(plan[LOSS])
    at = paced(clock, now)
    due = (clock[TICKS] == 0 or now - clock[TEST] >= plan[PERIOD]) and left(books, at) >= cost + loss
    gaze_x, gaze_y = taken(clock, belief, plan, now, x, y)
    publishes = due
    tested = due and clock[TICKS] > 0
    drawn, blur = 0, clock[BLUR]
    if tested:
        if not clock[OPEN]:
            code, blur = test_noise(clock, plan, words, 0, cost, 2)
            if code != DONE:
                return code, 0.0, 0.0
            drawn = 1
        code, noise = test_noise(clock, plan, words, drawn, cost, 4)
        if code != DONE:
            return code, 0.0, 0.0
        drawn += 1
        to_x, to_y = estimate(clock, belief, plan, now)
        limit = np.int64(math.floor(plan[THRESHOLD] / plan[GRAIN])) + blur
        publishes = distance(plan, gaze_x, gaze_y, to_x, to_y) + noise > limit
    noisy_x = noisy_y = 0.0
    if publishes:
        code, noisy_x, noisy_y = noisy_point(clock, plan, words, drawn, loss, gaze_x, gaze_y)
        if code != DONE:
            return code, 0.0, 0.0
    arrived(clock, t, now, x, y)
    if tested:
        used(clock, words, drawn)
        clock[OPEN], clock[BLUR] = 1, blur
    if due:
        clock[TEST] = now
    if publishes:
        used(clock, words, words_of_a_point(plan))
        if spend(books, at, cost + loss):
            spent(clock, now, at)
            released(clock, belief, past, plan, now, noisy_x, noisy_y, loss)
            clock[OPEN] = clock[BLUR] = 0
    shown_x, shown_y = shown(clock, belief, past, plan, now)
    return DONE, shown_x, shown_y


run = running(step)
