# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of fixation equalising, compiled: a running centre finds fixations, a timer shows them."""

from __future__ import annotations

import math

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import CLOCK, FAST, FIXED, MEMORY, POINT, PREVIOUS, receive, send, ways

RADIUS = FIXED  # how far from its centre a fixation reaches
SETTLE = FIXED + 1  # µs until gaze that stays is a fixation
SHOW = FIXED + 2  # µs that it is shown
HOLDS = FIXED + 3  # 1 if the last one stays in sight until the next, 0 if nothing is shown in between
SINCE = CLOCK  # when the eye came here, µs
COUNT = CLOCK + 1  # samples since
DONE = CLOCK + 2  # whether this stay has settled
SHOWING = CLOCK + 3
SHOWN_SINCE = CLOCK + 4
EVER = CLOCK + 5
WAITING = CLOCK + 6  # whether one settled while another was shown
CENTRE = MEMORY
SHOWN = MEMORY + 3
NEXT = MEMORY + 6


@kernel(**FAST)
def _look(fixed: FloatArray, clock: IntArray, memory: FloatArray, now: int) -> None:
    """Follow the eye; a stay that has settled waits to be shown."""
    square = 0.0
    for axis in range(3):
        away = memory[POINT + axis] - memory[CENTRE + axis]
        square += away * away
    if clock[COUNT] > 0 and square <= fixed[RADIUS] * fixed[RADIUS]:
        clock[COUNT] += 1
        for axis in range(3):
            memory[CENTRE + axis] += (memory[POINT + axis] - memory[CENTRE + axis]) / clock[COUNT]
    else:
        clock[COUNT], clock[SINCE], clock[DONE] = 1, now, 0
        for axis in range(3):
            memory[CENTRE + axis] = memory[POINT + axis]
    if not clock[DONE] and now - clock[SINCE] >= int(fixed[SETTLE]):
        clock[DONE] = clock[WAITING] = 1
        for axis in range(3):
            memory[NEXT + axis] = memory[CENTRE + axis]


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    there = receive(fixed, clock, memory, t)
    now = clock[PREVIOUS]
    if there:
        _look(fixed, clock, memory, now)
    if clock[SHOWING] and now - clock[SHOWN_SINCE] >= int(fixed[SHOW]):
        clock[SHOWING] = 0
    if clock[WAITING] and not clock[SHOWING]:
        clock[SHOWING], clock[EVER], clock[WAITING] = 1, 1, 0
        clock[SHOWN_SINCE] = now
        for axis in range(3):
            memory[SHOWN + axis] = memory[NEXT + axis]
    if clock[SHOWING] or (fixed[HOLDS] > 0.0 and clock[EVER]):
        for axis in range(3):
            memory[POINT + axis] = memory[SHOWN + axis]
        send(fixed, memory)
    else:
        memory[0] = memory[1] = memory[2] = math.nan


step, run = ways(_advance)
