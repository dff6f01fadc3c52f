# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of Gaussian noise, compiled: gaze is rounded to the lattice that the noise lies on."""

from __future__ import annotations

import math

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import AXES, FAST, FIXED, NOISE, POINT, receive, send, ways

LATTICE = FIXED


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    step, per_unit = fixed[LATTICE], 1.0 / fixed[LATTICE]  # powers of two: both are exact
    at = clock[NOISE]
    axes = int(fixed[AXES])
    if at + axes > len(memory):  # two threads at once: better no point than one without noise
        raise ValueError("no noise left")
    for axis in range(axes):
        memory[POINT + axis] = math.floor(memory[POINT + axis] * per_unit + 0.5) * step + memory[at + axis]
        memory[at + axis] = 0.0
    clock[NOISE] = at + axes
    send(fixed, memory)


step, run = ways(_advance)
