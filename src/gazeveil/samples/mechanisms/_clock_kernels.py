# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The clock in compiled form: one step, and the loop over it."""

from __future__ import annotations

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._stream_kernels import (
    BAD_TIME,
    DONE,
    LOSS,
    PERIOD,
    STEP,
    TICK,
    TICKS,
    arrived,
    is_time,
    moment,
    noisy_point,
    paced,
    released,
    running,
    shown,
    spent,
    taken,
    used,
    words_of_a_point,
)
from gazeveil.samples._window_budget_kernels import left, spend


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
    """Take one sample. Whether it ticks depends on times alone, never on gaze, nor on whether there is any."""
    if not is_time(t):
        return BAD_TIME, 0.0, 0.0
    now = moment(clock, t)
    at, loss = paced(clock, now), int(plan[LOSS])
    ticks = (clock[TICKS] == 0 or now - clock[TICK] >= plan[PERIOD]) and left(books, at) >= loss
    noisy_x = noisy_y = 0.0
    if ticks:
        gaze_x, gaze_y = taken(clock, belief, plan, now, x, y)
        code, noisy_x, noisy_y = noisy_point(clock, plan, words, 0, loss, gaze_x, gaze_y)
        if code != DONE:
            return code, 0.0, 0.0
    arrived(clock, t, now, x, y)
    if ticks:
        used(clock, words, words_of_a_point(plan))
        if spend(books, at, loss):
            spent(clock, now, at)
            released(clock, belief, past, plan, now, noisy_x, noisy_y, loss)
    shown_x, shown_y = shown(clock, belief, past, plan, now)
    return DONE, shown_x, shown_y


run = running(step)
