# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of the Kalman filter, compiled: gaze is a random walk, seen with errors."""

from __future__ import annotations

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import FAST, FIXED, MEMORY, POINT, PREVIOUS, SEEN, receive, send, ways

WANDER = FIXED  # variance gained per second
ERROR = FIXED + 1  # variance of one sample
BELIEF = MEMORY
DOUBT = MEMORY + 3  # the belief's variance


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    before = clock[PREVIOUS]
    there = receive(fixed, clock, memory, t)
    if clock[SEEN] == 1:
        memory[DOUBT] = fixed[ERROR]
        for axis in range(3):
            memory[BELIEF + axis] = memory[POINT + axis]
    else:
        memory[DOUBT] += fixed[WANDER] * 1e-6 * (clock[PREVIOUS] - before)
        if there:
            gain = memory[DOUBT] / (memory[DOUBT] + fixed[ERROR])
            memory[DOUBT] *= 1.0 - gain
            for axis in range(3):
                memory[BELIEF + axis] += gain * (memory[POINT + axis] - memory[BELIEF + axis])
    for axis in range(3):
        memory[POINT + axis] = memory[BELIEF + axis]
    send(fixed, memory)


step, run = ways(_advance)
