# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaussian and Laplace noise on a lattice: the ideal continuous sample, rounded to the nearest lattice point.

Rounding is post-processing. So where a value on the lattice gets this noise, the result has exactly the guarantee of
the continuous mechanism; no correction for discreteness is needed. Samples are integers, multiples of ``step``.

Words used per sample: one, except for a Gaussian wider than about 14,500 steps, which uses two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import IntArray, WordArray
from gazeveil.errors import OptionError
from gazeveil.noise import exact_rounding
from gazeveil.noise.exact_rounding import GAUSSIAN, LAPLACE, MOST_ENTRIES, Law, Table, entries, table
from gazeveil.noise.parameters import Number, Size, cached, checked_step, in_steps, positive_fraction, shape
from gazeveil.noise.source import NoiseSource

LARGEST = 2**62
"""Values stay within this and noise within 2**53, so that their sum fits into 64 bits."""

_CHUNK = 8192


def lattice_step(scale: Number) -> float:
    """Return the step that suits a scale: 2**-j with 64 to 128 steps to the scale below 128, and 1 from there on.

    Rounding to it adds at most 1/49,000 to the variance of a Gaussian.
    """
    fraction = positive_fraction(scale, "scale")
    if fraction >= 128:
        return 1.0
    exponent = fraction.numerator.bit_length() - fraction.denominator.bit_length()  # floor(log2) or one above
    if Fraction(2) ** exponent > fraction:
        exponent -= 1
    return float(checked_step(Fraction(2) ** (exponent - 6)))


def gaussian(source: NoiseSource, sigma: Number, size: Size = 1, step: Number = 1) -> IntArray:
    """Draw Gaussian noise rounded to the lattice, as multiples of ``step``.

    Args:
        source: Where the random words come from.
        sigma: Standard deviation before rounding, in the unit of ``step``; taken at its exact value.
        size: How many samples, or the shape of an array of them.
        step: The lattice step, a power of two.

    Raises:
        OptionError: If a parameter is out of range.
    """
    return _draw(source, _sampler(GAUSSIAN, sigma, step, "sigma"), shape(size))


def laplace(source: NoiseSource, scale: Number, size: Size = 1, step: Number = 1) -> IntArray:
    """Draw Laplace noise, density proportional to exp(-|z| / scale), rounded to the lattice.

    Args:
        source: Where the random words come from.
        scale: Mean absolute value before rounding, in the unit of ``step``; taken at its exact value.
        size: How many samples, or the shape of an array of them.
        step: The lattice step, a power of two.

    Raises:
        OptionError: If a parameter is out of range.
    """
    return _draw(source, _sampler(LAPLACE, scale, step, "scale"), shape(size))


def add_gaussian(source: NoiseSource, values: ArrayLike, sigma: Number, step: Number = 1) -> IntArray:
    """Return values, given as integer multiples of ``step``, plus Gaussian noise.

    Raises:
        OptionError: If the values are not integers, or so large that the sum might overflow.
    """
    integers = _integers(values)
    return _sum(integers, gaussian(source, sigma, integers.shape, step))


def add_laplace(source: NoiseSource, values: ArrayLike, scale: Number, step: Number = 1) -> IntArray:
    """Return values, given as integer multiples of ``step``, plus Laplace noise.

    Raises:
        OptionError: If the values are not integers, or so large that the sum might overflow.
    """
    integers = _integers(values)
    return _sum(integers, laplace(source, scale, integers.shape, step))


def to_lattice(values: ArrayLike, step: Number = 1) -> IntArray:
    """Return values as integer multiples of ``step``, rounded toward zero.

    Toward zero, so that no clipping bound (on a value, on the l1 or l2 norm, on the sign) is exceeded by rounding.

    Raises:
        OptionError: If a value is not finite, or beyond 2**62 steps, or not exactly a double.
    """
    given = np.asarray(values)
    if not _are_doubles(given):  # made doubles, they could grow and exceed the bound that they were clipped to
        raise OptionError("values must be numbers that are exactly doubles", hint="round them toward zero first")
    steps = np.trunc(given.astype(np.float64) / float(checked_step(step)))  # a power of two: exact
    if not np.all(np.abs(steps) <= LARGEST):
        raise OptionError("values must be finite and within 2**62 steps", hint="clip them, or choose a coarser step")
    return steps.astype(np.int64)


def from_lattice(multiples: ArrayLike, step: Number = 1) -> NDArray[np.float64]:
    """Return integer multiples of ``step`` as floats; exact up to 2**53 steps."""
    return np.asarray(multiples, dtype=np.float64) * float(checked_step(step))


Sampler = Callable[[NoiseSource, IntArray], None]


@cached
def _sampler(law: Law, scale: Number, step: Number, name: str) -> Sampler:
    steps = in_steps(scale, step, name)
    return _by_table(law, steps) if entries(law, steps) <= MOST_ENTRIES else _by_refining(law, steps)


def _draw(source: NoiseSource, sampler: Sampler, sides: tuple[int, ...]) -> IntArray:
    samples = np.empty(math.prod(sides), dtype=np.int64)
    for start in range(0, len(samples), _CHUNK):  # a chunk of words stays in the cache
        sampler(source, samples[start : start + _CHUNK])
    return samples.reshape(sides)


def _by_table(law: Law, scale: Fraction) -> Sampler:
    from gazeveil.noise.sampling_kernels import walk  # noqa: PLC0415  (numba loads on use)

    boundaries = table(law, scale)

    def sample(source: NoiseSource, out: IntArray) -> None:
        words = source.words(len(out))
        if walk(words, boundaries.tails, boundaries.guide, boundaries.shift, boundaries.width, out):
            _settle_by_table(boundaries, source, words, out)

    return sample


def _settle_by_table(boundaries: Table, source: NoiseSource, words: WordArray, out: IntArray) -> None:
    from gazeveil.noise.sampling_kernels import UNDECIDED_BY_TABLE  # noqa: PLC0415

    for k in np.flatnonzero(out == UNDECIDED_BY_TABLE):
        word = int(words[k])
        near = int(np.count_nonzero(boundaries.tails > np.uint64(word >> 1)))
        out[k] = _signed(boundaries.settle(word >> 1, source.more, near=near), word)


def _by_refining(law: Law, scale: Fraction) -> Sampler:
    from gazeveil.noise import sampling_kernels as kernels  # noqa: PLC0415

    factor = float(scale)

    def sample_laplace(source: NoiseSource, out: IntArray) -> None:
        words = source.words(len(out))
        if kernels.laplace(words, factor, 0.0, out):
            for k in np.flatnonzero(out == kernels.UNDECIDED):
                word = int(words[k])
                recipe = exact_rounding.laplace_recipe(scale)
                out[k] = _signed(exact_rounding.settle([word >> 1], 63, recipe, source.more)[0], word)

    def sample_gaussian(source: NoiseSource, out: IntArray) -> None:
        words = source.words(2 * len(out))
        if kernels.gaussian(words, factor, 0.0, out):
            for k in np.flatnonzero(out == kernels.UNDECIDED):
                heads = words[2 * k : 2 * k + 2].tolist()
                out[k] = exact_rounding.settle(heads, 64, exact_rounding.gaussian_recipe(scale), source.more)[0]

    return sample_gaussian if law is GAUSSIAN else sample_laplace


def _signed(magnitude: int, word: int) -> int:
    return -magnitude if word & 1 else magnitude


def _are_doubles(array: NDArray[np.generic]) -> bool:
    if array.dtype.kind in "iu":
        return array.size == 0 or max(int(array.max()), -int(array.min())) <= 2**53
    return array.dtype.kind == "b" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)


def _integers(values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise OptionError(
            f"noise on a lattice is added to integers, not {array.dtype}",
            hint="turn values into multiples of the step first, see gazeveil.noise.to_lattice",
        )
    if array.size and max(int(array.max()), -int(array.min())) > LARGEST:
        raise OptionError("a value beyond 2**62 steps might overflow with noise", hint="choose a coarser step")
    return array.astype(np.int64, copy=False)


def _sum(values: IntArray, noise: IntArray) -> IntArray:
    return np.add(values, noise, out=noise)
