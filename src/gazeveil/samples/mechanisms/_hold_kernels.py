# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of the temporal hold, compiled."""

from __future__ import annotations

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import CLOCK, FAST, FIXED, MEMORY, POINT, receive, send, ways

EVERY = FIXED
LEFT = CLOCK
HELD = MEMORY


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    if clock[LEFT] == 0:
        clock[LEFT] = int(fixed[EVERY])
        for axis in range(3):
            memory[HELD + axis] = memory[POINT + axis]
    clock[LEFT] -= 1
    for axis in range(3):
        memory[POINT + axis] = memory[HELD + axis]
    send(fixed, memory)


step, run = ways(_advance)
