# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Planar Laplace noise for a gaze point (Andrés 2013), and its three-dimensional version for points in a room.

With density proportional to exp(-ε |z|), two points at distance r cannot be told apart by more than a factor e^(ε r).
The ideal sample plus the point is rounded to a lattice, exactly; `gazeveil.noise.radial` does the work.
"""

from __future__ import annotations

from fractions import Fraction
from typing import overload

import numpy as np

from gazeveil.noise._parameters import Number, exact, in_steps, lattice, remembered
from gazeveil.noise.lattice import lattice_step
from gazeveil.noise.radial import FARTHEST, add_radial, settle_point, too_far
from gazeveil.noise.source import NoiseSource
from gazeveil.types import FloatArray


@overload
def planar_laplace(
    source: NoiseSource, x: float, y: float, epsilon: Number, step: Number | None = None
) -> tuple[float, float]: ...
@overload
def planar_laplace(
    source: NoiseSource, x: FloatArray, y: FloatArray, epsilon: Number, step: Number | None = None
) -> tuple[FloatArray, FloatArray]: ...
def planar_laplace(
    source: NoiseSource,
    x: float | FloatArray,
    y: float | FloatArray,
    epsilon: Number,
    step: Number | None = None,
) -> tuple[float, float] | tuple[FloatArray, FloatArray]:
    """Return gaze points plus planar Laplace noise, rounded to the lattice.

    Single points and arrays use the words of the source alike, so a file and a live stream get the same noise from
    equal sources.

    Args:
        source: Where the random words come from: three a point.
        x: Where the gaze is, any finite float or an array of them.
        y: The other coordinate.
        epsilon: Privacy loss per unit of distance; taken at its exact value.
        step: The lattice step, a power of two; by default 64 to 128 steps to 1 / epsilon, and 1 if that is coarser.

    Raises:
        OptionError: If a parameter is out of range or a point not finite.
    """
    spacing = _step(epsilon) if step is None else step
    if isinstance(x, float | int) and isinstance(y, float | int):
        return _live(source, float(x), float(y), epsilon, spacing)
    noisy = _add(source, (x, y), epsilon, spacing)
    return noisy[..., 0], noisy[..., 1]


def ball_laplace(
    source: NoiseSource,
    x: float | FloatArray,
    y: float | FloatArray,
    z: float | FloatArray,
    epsilon: Number,
    step: Number | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return points in space plus three-dimensional Laplace noise, rounded to the lattice; five words a point.

    The arguments are those of `planar_laplace`, with a third coordinate.

    Raises:
        OptionError: If a parameter is out of range or a point not finite.
    """
    noisy = _add(source, (x, y, z), epsilon, _step(epsilon) if step is None else step)
    return noisy[..., 0], noisy[..., 1], noisy[..., 2]


def _add(source: NoiseSource, axes: tuple[float | FloatArray, ...], epsilon: Number, step: Number) -> FloatArray:
    points = np.stack(np.broadcast_arrays(*axes), axis=-1).astype(np.float64)
    noisy = add_radial(source, points.reshape(-1, len(axes)), _scale(epsilon), step)
    return noisy.reshape(points.shape)


def _live(source: NoiseSource, x: float, y: float, epsilon: Number, step: Number) -> tuple[float, float]:
    from gazeveil.noise._refine_kernels import UNDECIDED, plane_point  # noqa: PLC0415  (numba loads on use)

    scale, spacing = _floats(epsilon, step)
    column, row = x / spacing, y / spacing
    if not (abs(column) <= FARTHEST and abs(row) <= FARTHEST and column * spacing == x and row * spacing == y):
        raise too_far()
    words = source.words(3)
    i, j = plane_point(words, scale, column, row)
    if i == UNDECIDED:
        i, j = settle_point(source, words.tolist(), in_steps(_scale(epsilon), step, "1 / epsilon"), (column, row))
    return i * spacing, j * spacing


@remembered
def _scale(epsilon: Number) -> Fraction:
    return 1 / exact(epsilon, "epsilon")


@remembered
def _step(epsilon: Number) -> float:
    return lattice_step(_scale(epsilon))


@remembered
def _floats(epsilon: Number, step: Number) -> tuple[float, float]:
    return float(in_steps(_scale(epsilon), step, "1 / epsilon")), float(lattice(step))
