# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noise whose density falls with distance, exp(-|z| / scale): in R^d, in the viewing plane (planar Laplace), in space.

Added to a vector whose l2 sensitivity is Δ with scale = Δ / ε, it gives pure ε-differential privacy. Added to a gaze
point with scale = 1 / ε it is the planar Laplace mechanism: two points at distance r cannot be told apart by more than
a factor e^(ε r). The ideal continuous sample plus the vector is rounded to a lattice, exactly, and rounding is
post-processing: the guarantee is that of the continuous mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.arrays import FloatArray, IntArray, WordArray
from gazeveil.errors import OptionError
from gazeveil.noise import exact_rounding
from gazeveil.noise.lattice import lattice_step
from gazeveil.noise.parameters import Number, cached, checked_step, in_steps, positive_fraction, shape
from gazeveil.noise.source import NoiseSource

FARTHEST = 2**52
"""Points lie within this many steps of zero; with the noise allowed, the sum is an exact float."""

_CHUNK_WORDS = 8192


def words_per_point(dimension: int) -> int:
    """Return how many words of a source one point uses: d for the radius and half as many for the direction."""
    return dimension + (dimension + 1) // 2


def radial_noise(source: NoiseSource, dimension: int, scale: Number, size: int = 1, step: Number = 1) -> IntArray:
    """Draw radial noise rounded to the lattice, as multiples of ``step``, one row a sample.

    Args:
        source: Where the random words come from.
        dimension: Length of a row.
        scale: The radius has mean ``dimension * scale``; taken at its exact value.
        size: How many samples.
        step: The lattice step, a power of two.

    Raises:
        OptionError: If a parameter is out of range.
    """
    (rows,) = shape(size)
    (width,) = shape(dimension)
    return _around(source, np.zeros((rows, width)), in_steps(scale, step, "scale"))


def add_radial(source: NoiseSource, points: ArrayLike, scale: Number, step: Number) -> FloatArray:
    """Return points, one a row, plus radial noise, rounded to the lattice: exact multiples of ``step``.

    The points may lie anywhere, not only on the lattice.

    Raises:
        OptionError: If a point is not finite, or too far out for the lattice.
    """
    spacing = float(checked_step(step))
    where = np.asarray(points, dtype=np.float64)
    steps = where / spacing
    if not np.array_equal(steps * spacing, where):  # a power of two divides exactly, short of overflow and underflow
        raise too_far()
    return np.multiply(_around(source, steps, in_steps(scale, step, "scale")), spacing, dtype=np.float64)


def radius_quantile(probability: float, dimension: int, scale: float = 1.0) -> float:
    """Return the radius that radial noise stays within with the given probability.

    For the planar Laplace mechanism, ``dimension`` is 2 and ``scale`` is 1 / ε.

    Raises:
        OptionError: If the probability is not in [0, 1), or the dimension or scale not positive.
    """
    if not 0 <= probability < 1 or dimension < 1 or not 0 < scale < math.inf:
        raise OptionError(f"no such quantile: {probability!r} of dimension {dimension!r} at scale {scale!r}")
    low, high = 0.0, 1.0
    while radius_tail(high, dimension) > 1 - probability:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if radius_tail(middle, dimension) > 1 - probability:
            low = middle
        else:
            high = middle
    return high * scale


def radius_tail(radius: float, dimension: int) -> float:
    """Return the chance that noise of scale 1 falls outside the radius: exp(-r) (1 + r + … + r^(d-1)/(d-1)!)."""
    log_terms = [k * math.log(radius) - math.lgamma(k + 1) for k in range(dimension)] if radius > 0 else [0.0]
    return math.fsum(math.exp(term - radius) for term in log_terms)


def _around(source: NoiseSource, steps: FloatArray, scale: Fraction) -> IntArray:
    """Round points plus noise, both in lattice steps."""
    if steps.ndim != 2 or steps.shape[1] < 1:
        raise OptionError(f"points are rows of at least one coordinate, not an array of shape {steps.shape}")
    if not np.all(np.abs(steps) <= FARTHEST):
        raise too_far()
    from gazeveil.noise import sampling_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    whole = np.rint(steps)
    part = steps - whole  # exact
    out = np.empty(steps.shape, dtype=np.int64)
    per_point = words_per_point(steps.shape[1])
    chunk = max(1, _CHUNK_WORDS // per_point)
    for start in range(0, len(steps), chunk):
        rows = slice(start, start + chunk)
        words = source.words(len(out[rows]) * per_point)
        if kernels.radial(words, float(scale), part[rows], 0.0, out[rows]):
            _settle(source, words, scale, part[rows], out[rows])
    return out + whole.astype(np.int64)


def _settle(source: NoiseSource, words: WordArray, scale: Fraction, part: FloatArray, out: IntArray) -> None:
    from gazeveil.noise.sampling_kernels import UNDECIDED  # noqa: PLC0415

    heads = words.reshape(len(out), -1)
    for row in np.flatnonzero(out[:, 0] == UNDECIDED):
        out[row] = settle_point(source, heads[row].tolist(), scale, part[row].tolist())


def settle_point(source: NoiseSource, heads: Sequence[int], scale: Fraction, steps: Sequence[float]) -> list[int]:
    """Return one noisy point that its words left undecided in doubles."""
    recipe = exact_rounding.radial_recipe(scale, [Fraction(value) for value in steps])
    return exact_rounding.settle(heads, 64, recipe, source.more)


def too_far() -> OptionError:
    """Return the error for points that are missing or off the lattice."""
    return OptionError(
        "points must be finite and within 2**52 steps of zero", hint="drop what is missing, or choose a coarser step"
    )


# --- Planar Laplace noise for a gaze point (Andrés 2013), and its three-dimensional version for points in a room.


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
        return _one_point(source, float(x), float(y), epsilon, spacing)
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


def _one_point(source: NoiseSource, x: float, y: float, epsilon: Number, step: Number) -> tuple[float, float]:
    from gazeveil.noise.sampling_kernels import UNDECIDED, plane_point  # noqa: PLC0415  (numba loads on use)

    scale, spacing = _floats(epsilon, step)
    column, row = x / spacing, y / spacing
    if not (abs(column) <= FARTHEST and abs(row) <= FARTHEST and column * spacing == x and row * spacing == y):
        raise too_far()
    words = source.words(3)
    i, j = plane_point(words, scale, column, row)
    if i == UNDECIDED:
        i, j = settle_point(source, words.tolist(), in_steps(_scale(epsilon), step, "1 / epsilon"), (column, row))
    return i * spacing, j * spacing


@cached
def _scale(epsilon: Number) -> Fraction:
    return 1 / positive_fraction(epsilon, "epsilon")


@cached
def _step(epsilon: Number) -> float:
    return lattice_step(_scale(epsilon))


@cached
def _floats(epsilon: Number, step: Number) -> tuple[float, float]:
    return float(in_steps(_scale(epsilon), step, "1 / epsilon")), float(checked_step(step))
