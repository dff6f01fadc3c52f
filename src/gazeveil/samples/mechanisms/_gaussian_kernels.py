# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of Gaussian noise, compiled: gaze is rounded to the lattice that the noise lies on."""

from __future__ import annotations

import math

from gazeveil._compiled import kernel
from gazeveil.samples._receive_kernels import AXES, CLOCK, FAST, FIXED, POINT, RUN, STEP, receive, send
from gazeveil.types import FloatArray, IntArray

NOISE = CLOCK
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
