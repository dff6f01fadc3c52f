# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of the temporal hold, compiled."""

from __future__ import annotations

from gazeveil._compiled import kernel
from gazeveil.samples._receive_kernels import CLOCK, FAST, FIXED, MEMORY, POINT, RUN, STEP, receive, send
from gazeveil.types import FloatArray, IntArray

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


@kernel(STEP, **FAST)
def step(fixed, clock, memory, t, x, y, z):  # type: ignore[no-untyped-def]
    """Veil one sample."""
    memory[0], memory[1], memory[2] = x, y, z
    _advance(fixed, clock, memory, t)
    return memory[0], memory[1]


@kernel(RUN, **FAST)
def run(fixed, clock, memory, t, x, y, z, out_x, out_y, out_z):  # type: ignore[no-untyped-def]
    """Veil many samples."""
    three = len(z) > 0
    for i in range(len(t)):
        memory[0], memory[1], memory[2] = x[i], y[i], z[i] if three else 0.0
        _advance(fixed, clock, memory, t[i])
        out_x[i], out_y[i] = memory[0], memory[1]
        if three:
            out_z[i] = memory[2]
