# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of linearly weighted smoothing, compiled: constant work per sample, whatever the window.

With weights 1 to B on the latest B samples, a new sample takes the plain sum of the window from the weighted sum and
adds B times itself. Both sums are formed afresh each time the ring comes round, before rounding errors add up.
"""

from __future__ import annotations

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import AXES, CLOCK, FAST, FIXED, MEMORY, POINT, SEEN, receive, send, ways

WINDOW = FIXED
FILLS = FIXED + 1  # 1 if the window starts full of the first point
AT = CLOCK
WEIGHTED = MEMORY
PLAIN = MEMORY + 3
RING = MEMORY + 6


@kernel(**FAST)
def _sum_afresh(memory: FloatArray, window: int, axes: int) -> None:
    """Form both sums from a ring whose oldest sample is the first."""
    for axis in range(axes):
        plain, weighted = 0.0, 0.0
        for i in range(window):
            value = memory[RING + 3 * i + axis]
            plain += value
            weighted += (i + 1) * value
        memory[PLAIN + axis], memory[WEIGHTED + axis] = plain, weighted


@kernel(**FAST)
def _fill(memory: FloatArray, window: int) -> None:
    for i in range(window):
        for axis in range(3):
            memory[RING + 3 * i + axis] = memory[POINT + axis]
    _sum_afresh(memory, window, 3)


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    window, axes = int(fixed[WINDOW]), int(fixed[AXES])
    if clock[SEEN] == 1 and fixed[FILLS] > 0.0:
        _fill(memory, window)
    at = clock[AT]
    for axis in range(axes):
        value, place = memory[POINT + axis], RING + 3 * at + axis
        memory[WEIGHTED + axis] += window * value - memory[PLAIN + axis]
        memory[PLAIN + axis] += value - memory[place]
        memory[place] = value
    at += 1
    if at == window:
        at = 0
        _sum_afresh(memory, window, axes)
    clock[AT] = at
    total = 0.5 * window * (window + 1.0)
    for axis in range(axes):
        memory[POINT + axis] = memory[WEIGHTED + axis] / total
    send(fixed, memory)


step, run = ways(_advance)
