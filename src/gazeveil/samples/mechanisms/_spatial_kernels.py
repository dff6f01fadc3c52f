# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of spatial downsampling, compiled."""

from __future__ import annotations

import math

from gazeveil._compiled import kernel
from gazeveil.samples._receive_kernels import (
    AXES,
    FAST,
    FIXED,
    PERIOD,
    POINT,
    RUN,
    STEP,
    receive,
    send,
    wrapped,
)
from gazeveil.types import FloatArray, IntArray

CELL = FIXED
SHIFT = FIXED + 1


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    if fixed[PERIOD] > 0.0:  # the grid does not turn with the eye
        memory[POINT] = wrapped(memory[POINT], fixed[PERIOD])
    cell, shift = fixed[CELL], fixed[SHIFT]
    for axis in range(int(fixed[AXES])):
        memory[POINT + axis] = math.floor(memory[POINT + axis] / cell) * cell + shift
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
