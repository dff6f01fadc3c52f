# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of smoothing with random weights, compiled: as `_smoothing_kernels`, with four columns a sample.

The fourth column is the sample's random weight; x, y and z are kept already multiplied by it. So its sums are those
of the weights, and gaze is a quotient of two sums.
"""

from __future__ import annotations

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.kernel_compiler import kernel
from gazeveil.samples._receive_kernels import CLOCK, FAST, FIXED, MEMORY, NOISE, POINT, SEEN, receive, send, ways

WINDOW = FIXED
FILLS = FIXED + 1  # 1 if the window starts full of the first point
AT = CLOCK + 1
WEIGHTED = MEMORY
PLAIN = MEMORY + 4
RING = MEMORY + 8
COLUMNS = 4


@kernel(**FAST)
def _sum_afresh(memory: FloatArray, window: int) -> None:
    """Form both sums from a ring whose oldest sample is the first."""
    for column in range(COLUMNS):
        plain, weighted = 0.0, 0.0
        for i in range(window):
            value = memory[RING + COLUMNS * i + column]
            plain += value
            weighted += (i + 1) * value
        memory[PLAIN + column], memory[WEIGHTED + column] = plain, weighted


@kernel(**FAST)
def _fill(memory: FloatArray, window: int) -> None:
    for i in range(window):
        for axis in range(3):
            memory[RING + COLUMNS * i + axis] = memory[POINT + axis]
        memory[RING + COLUMNS * i + 3] = 1.0


@kernel(**FAST)
def _advance(fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float) -> None:
    receive(fixed, clock, memory, t)
    window = int(fixed[WINDOW])
    if clock[SEEN] == 1:
        if fixed[FILLS] > 0.0:
            _fill(memory, window)
        _sum_afresh(memory, window)
    noise = clock[NOISE]
    if noise >= len(memory):  # two threads at once: better no point than one without noise
        raise ValueError("no noise left")
    weight, memory[noise] = memory[noise], 0.0
    clock[NOISE] = noise + 1
    at = clock[AT]
    for column in range(COLUMNS):
        value = weight * memory[POINT + column] if column < 3 else weight
        place = RING + COLUMNS * at + column
        memory[WEIGHTED + column] += window * value - memory[PLAIN + column]
        memory[PLAIN + column] += value - memory[place]
        memory[place] = value
    at += 1
    if at == window:
        at = 0
        _sum_afresh(memory, window)
    clock[AT] = at
    for axis in range(3):
        memory[POINT + axis] = memory[WEIGHTED + axis] / memory[WEIGHTED + 3]
    send(fixed, memory)


step, run = ways(_advance)
