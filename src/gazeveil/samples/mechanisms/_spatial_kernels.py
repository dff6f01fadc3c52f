# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of spatial downsampling, compiled."""

from __future__ import annotations

import math

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import AXES, FAST, FIXED, PERIOD, POINT, receive, send, ways, wrapped

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


step, run = ways(_advance)
