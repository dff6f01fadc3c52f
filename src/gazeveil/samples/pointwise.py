# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The shortest way to a veil of one's own: a plain function that moves a point. Slow beside compiled veils, and safe.

Broken clocks, gaze that is lost or absurd, state and threads are dealt with as in every other veil: where gaze is
missing, the function gets the last that was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.samples.compiled import CompiledVeil, Kernels
from gazeveil.samples.mechanism import SampleMechanism, Veil

Move = Callable[[float, float], tuple[float, float]]
"""What moves a point: x and y in, x and y out, in the unit of the space."""


def pointwise(mechanism: SampleMechanism, noise: NoiseSource, move: Move) -> Veil:
    """Return a veil that moves every point by itself.

    Args:
        mechanism: Whose veil it is.
        noise: Where randomness comes from; the function may draw from it.
        move: What moves a point.

    Raises:
        OptionError: If the space has three axes.
    """
    if mechanism.space.axes != 2:
        raise OptionError("a plain function moves points of two axes", hint="a room of three needs a compiled veil")
    return CompiledVeil(mechanism, noise, Kernels(partial(_step, move), partial(_run, move)))


def _step(
    move: Move, fixed: FloatArray, clock: IntArray, memory: FloatArray, t: float, x: float, y: float, z: float
) -> tuple[float, float]:
    from gazeveil.samples._receive_kernels import receive, send  # noqa: PLC0415  (numba loads on use)

    memory[0], memory[1], memory[2] = x, y, z
    receive(fixed, clock, memory, t)
    memory[0], memory[1] = move(memory.item(0), memory.item(1))
    send(fixed, memory)
    return memory.item(0), memory.item(1)


def _run(
    move: Move,
    fixed: FloatArray,
    clock: IntArray,
    memory: FloatArray,
    t: FloatArray,
    x: FloatArray,
    y: FloatArray,
    z: FloatArray,
    out_x: FloatArray,
    out_y: FloatArray,
    out_z: FloatArray,
) -> None:
    del z, out_z
    for at in range(len(t)):
        out_x[at], out_y[at] = _step(move, fixed, clock, memory, t[at], x[at], y[at], 0.0)
