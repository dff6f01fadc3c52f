# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Exactly rounded samples: tables of a law's tail, and more digits for draws that doubles leave undecided.

The sample is sign times magnitude. With ``T(m) = P(|Z| > m + 1/2)`` and U uniform on [0, 1), the magnitude of the
rounded sample is the number of m with ``U < T(m)``. A table holds T(0) > T(1) > … in units of 2**-63, each as a lower
bound that is less than `WIDTH` units below the truth. A word that falls into such a gap is settled by `Table.settle`
with exact arithmetic and, if need be, more bits; so is everything beyond the end of the table. Nothing is cut off.

A draw is a list of uniform numbers. Their first words stay their leading bits however often the draw is refined;
otherwise the samples near a rounding boundary would be resampled, and the law would be biased.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from gazeveil.noise.intervals import Interval, Undetermined, cos_sin_turns, erfc_sqrt, exp_minus, pi
from gazeveil.noise.parameters import checked_sample

UNIFORM_BITS = 63
WIDTH = 32
MOST_ENTRIES = 1 << 17

_FRACTION_BITS = 62  # entries are computed one bit coarser, so that 1 fits into a signed integer
_ERROR = 5  # units of 2**-62 by which a computed entry may be off; docs/proofs/lattice-gaussian.md
_DEGREE = 12
_EXACT_BITS = 96


class Law(ABC):
    """A symmetric law, known by its two-sided tail.

    Attributes:
        name: What it is called.
        reach: A multiple of the scale beyond which the tail is below 2**-59.
    """

    name: str
    reach: int

    @abstractmethod
    def tail(self, position: Fraction, bits: int) -> Interval:
        """Enclose P(|Z| > position) at scale 1."""

    @abstractmethod
    def taylor(self, centre: Fraction, stretch: Fraction) -> list[int]:
        """Return T(centre + stretch * r) as a polynomial in r, coefficients in units of 2**-62, each within one."""


class Gaussian(Law):
    """The normal law: T(x) = erfc(x / sqrt 2)."""

    name = "gaussian"
    reach = 9

    def tail(self, position: Fraction, bits: int) -> Interval:
        """Enclose P(|Z| > position) at scale 1."""
        return erfc_sqrt(position * position / 2, bits)

    def taylor(self, centre: Fraction, stretch: Fraction) -> list[int]:
        """Return the Taylor polynomial: the (n+1)-th derivative of T is (-1)**(n+1) 2 phi(x) He_n(x)."""
        first = self.tail(centre, _EXACT_BITS).lo >> (_EXACT_BITS - _FRACTION_BITS)
        bits = _EXACT_BITS + _DEGREE * 5  # He_n(x) < 2**(5 n) for x up to 12 and n up to 12
        twice_phi = exp_minus(centre * centre / 2, bits) * _sqrt_two_over_pi(bits)
        # He_n(p/q) q**n stays an integer: h' = p h - n q² h''.
        p, q = centre.numerator, centre.denominator
        a, b = stretch.numerator, stretch.denominator
        hermite, before = 1, 0
        top, bottom = twice_phi.lo * -a, b
        coefficients = [first]
        for n in range(_DEGREE):
            coefficients.append((top * hermite // bottom) >> (bits - _FRACTION_BITS))
            hermite, before = p * hermite - n * q * q * before, hermite
            top, bottom = top * -a, bottom * b * q * (n + 2)
        return coefficients


class Laplace(Law):
    """The two-sided exponential law: T(x) = exp(-x)."""

    name = "laplace"
    reach = 41

    def tail(self, position: Fraction, bits: int) -> Interval:
        """Enclose P(|Z| > position) at scale 1."""
        return exp_minus(position, bits)

    def taylor(self, centre: Fraction, stretch: Fraction) -> list[int]:
        """Return the Taylor polynomial of exp(-x)."""
        term = self.tail(centre, _EXACT_BITS).lo
        coefficients = [term >> (_EXACT_BITS - _FRACTION_BITS)]
        for n in range(1, _DEGREE + 1):
            term = -term * stretch.numerator // (stretch.denominator * n)
            coefficients.append(term >> (_EXACT_BITS - _FRACTION_BITS))
        return coefficients


@lru_cache(maxsize=4)
def _sqrt_two_over_pi(bits: int) -> Interval:
    return (Interval.of(2, bits) / Interval(pi(bits) - 1, pi(bits) + 1, bits)).sqrt()


GAUSSIAN = Gaussian()
LAPLACE = Laplace()


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The tail of a law at half-integers, ready for `gazeveil.noise.sampling_kernels.walk`.

    Attributes:
        law: Which law.
        scale: Its scale in lattice steps, exact.
        tails: Lower bounds of T(m) in units of 2**-63, falling to a last entry of zero.
        guide: For every value of a word's leading bits, how many entries lie above all words that start so.
        shift: How many bits of the 63 are not leading bits.
        width: How far the truth may lie above an entry, in units.
    """

    law: Law
    scale: Fraction
    tails: NDArray[np.uint64] = field(repr=False)
    guide: NDArray[np.int32] = field(repr=False)
    shift: np.uint64
    width: np.uint64

    def settle(self, head: int, more: Callable[[], int], *, known: int = UNIFORM_BITS, near: int = 0) -> int:
        """Return the magnitude that belongs to a uniform number, drawing further bits as long as they matter.

        Args:
            head: The leading bits of the uniform number.
            more: Gives 64 further bits.
            known: How many leading bits there are.
            near: Where to look first.
        """
        number = _RefinedUniform(head, known, more)

        def above(m: int) -> bool:  # whether the magnitude is above m
            return number.is_below(lambda bits: self.law.tail((m + Fraction(1, 2)) / self.scale, bits))

        low, stride = near, 1  # find low <= magnitude <= high, then halve
        while low > 0 and not above(low - 1):
            low, stride = max(low - stride, 0), 2 * stride
        high, stride = low, 1
        while above(high):
            low, high, stride = high + 1, high + stride, 2 * stride
        while low < high:
            middle = (low + high) // 2
            if above(middle):
                low = middle + 1
            else:
                high = middle
        return checked_sample(low)


class _RefinedUniform:
    """A uniform number of which the leading bits are known; the bits in use always stay the leading ones."""

    __slots__ = ("bits", "head", "more")

    def __init__(self, head: int, bits: int, more: Callable[[], int]) -> None:
        self.head, self.bits, self.more = head, bits, more

    def is_below(self, threshold: Callable[[int], Interval]) -> bool:
        """Compare with a real number that can be enclosed to any precision."""
        while True:
            bound = threshold(self.bits + 32)
            if (self.head + 1) << 32 <= bound.lo:
                return True
            if self.head << 32 >= bound.hi:
                return False
            self.head, self.bits = self.head << 64 | self.more(), self.bits + 64


def entries(law: Law, scale: Fraction) -> int:
    """Return how many entries a table needs before the tail is below 2**-59."""
    return max(1, math.ceil(law.reach * scale))


@lru_cache(maxsize=32)
def table(law: Law, scale: Fraction) -> Table:
    """Build the table for a law at a scale, given in lattice steps."""
    units = 2 * _tails(law, scale, entries(law, scale))
    lower = np.maximum(units - 2 * _ERROR, 0)
    # A lower bound of T(m + 1) is one of T(m) too; so the entries can be made to fall.
    lower = np.maximum.accumulate(lower[::-1])[::-1]
    count = int(np.searchsorted(-lower, 0))
    tails = np.append(lower[:count], 0).astype(np.uint64)
    leading = min(max(count.bit_length() + 1, 4), 17)
    shift = UNIFORM_BITS - leading
    bucket_ends = np.arange(1, (1 << leading) + 1, dtype=np.uint64) << np.uint64(shift)
    guide = len(tails) - np.searchsorted(tails[::-1], bucket_ends)
    tails.flags.writeable = False
    return Table(law, scale, tails, guide.astype(np.int32), np.uint64(shift), np.uint64(WIDTH))


def _tails(law: Law, scale: Fraction, count: int) -> NDArray[np.int64]:
    """Return T(0), T(1), … in units of 2**-62, each off by at most `_ERROR`.

    The entries are cut into blocks at most 1/8 of a scale wide; each block is one Taylor polynomial about its centre,
    evaluated in integers.
    """
    block = max(1, math.floor(scale / 8))
    span_bits = (block - 1).bit_length()
    offsets = np.arange(block, dtype=np.int64) - block // 2
    rows = []
    for start in range(0, count, block):
        centre = (start + block // 2 + Fraction(1, 2)) / scale
        if block == 1:
            rows.append([law.tail(centre, _FRACTION_BITS).lo])
        else:
            rows.append(law.taylor(centre, (1 << span_bits) / scale))
    coefficients = np.array(rows, dtype=np.int64)
    value = np.repeat(coefficients[:, -1:], block, axis=1)
    for order in range(coefficients.shape[1] - 2, -1, -1):
        # value * offset / 2**span_bits, rounded down, without leaving 64 bits
        upper, under = value >> 32, value & 0xFFFFFFFF
        value = ((upper * offsets) << (32 - span_bits)) + ((under * offsets) >> span_bits)
        value += coefficients[:, order : order + 1]
    return value.ravel()[:count]


# --- Settle samples that double precision leaves undecided: the same draw, with more digits and, if need be, more bits.


Recipe = Callable[[Sequence[Interval]], list[Interval]]


def settle(heads: Sequence[int], known: int, recipe: Recipe, more: Callable[[], int]) -> list[int]:
    """Return the rounded coordinates of a draw.

    Args:
        heads: The leading bits of each uniform number.
        known: How many leading bits there are.
        recipe: Turns uniform numbers into coordinates, in lattice steps.
        more: Gives 64 further bits.
    """
    heads = list(heads)
    while True:
        uniforms = [Interval(head << 64, (head + 1) << 64, known + 64) for head in heads]
        try:
            rounded = [coordinate.rounded() for coordinate in recipe(uniforms)]
        except Undetermined:
            rounded = [None]
        decided = [value for value in rounded if value is not None]
        if len(decided) == len(rounded):
            return [checked_sample(value) for value in decided]
        heads = [head << 64 | more() for head in heads]
        known += 64


def laplace_recipe(scale: Fraction) -> Recipe:
    """Return scale * -ln U: the magnitude of a Laplace sample."""

    def recipe(uniforms: Sequence[Interval]) -> list[Interval]:
        (uniform,) = uniforms
        return [Interval.of(scale, uniform.bits) * uniform.minus_log()]

    return recipe


def gaussian_recipe(scale: Fraction) -> Recipe:
    """Return scale * sqrt(-2 ln U) cos(2 pi V): the Box-Muller transform."""

    def recipe(uniforms: Sequence[Interval]) -> list[Interval]:
        first, turns = uniforms
        half = first.minus_log()
        return [Interval.of(scale, first.bits) * (half + half).sqrt() * cos_sin_turns(turns)[0]]

    return recipe


def radial_recipe(scale: Fraction, centre: Sequence[Fraction]) -> Recipe:
    """Return centre + scale * radius * direction; see docs/proofs/radial.md."""
    dimension = len(centre)
    pairs = (dimension + 1) // 2

    def recipe(uniforms: Sequence[Interval]) -> list[Interval]:
        bits = uniforms[0].bits
        exponentials = [uniform.minus_log() for uniform in uniforms[:dimension]]
        angles = [cos_sin_turns(turns) for turns in uniforms[dimension:]]
        length = Interval.of(scale, bits) * reduce(add, exponentials)
        if dimension == 2:
            shares = [Interval.of(1, bits)]
        else:
            squares = exponentials[:pairs]
            if dimension % 2:
                cosine = angles[-1][0]
                squares[-1] = squares[-1] * _square(cosine)
            norm = reduce(add, squares)
            shares = [(exponential / norm).sqrt() for exponential in exponentials[:pairs]]
        return [
            Interval.of(centre[i], bits) + length * shares[i // 2] * angles[i // 2][i % 2] for i in range(dimension)
        ]

    return recipe


def _square(value: Interval) -> Interval:
    """Square; unlike a product of two intervals, never below zero."""
    product = value * value
    return Interval(max(product.lo, 0), product.hi, product.bits)
