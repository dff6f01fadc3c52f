# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Settle samples that double precision leaves undecided: the same draw, with more digits and, if need be, more bits.

A draw is a list of uniform numbers. Their first words stay their leading bits however often the draw is refined;
otherwise the samples near a rounding boundary would be resampled, and the law would be biased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import add

from gazeveil.noise._parameters import believable
from gazeveil.noise.intervals import Interval, Undetermined, cos_sin_turns

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
            return [believable(value) for value in decided]
        heads = [head << 64 | more() for head in heads]
        known += 64


def laplace_magnitude(scale: Fraction) -> Recipe:
    """Return scale * -ln U: the magnitude of a Laplace sample."""

    def recipe(uniforms: Sequence[Interval]) -> list[Interval]:
        (uniform,) = uniforms
        return [Interval.of(scale, uniform.bits) * uniform.minus_log()]

    return recipe


def gaussian(scale: Fraction) -> Recipe:
    """Return scale * sqrt(-2 ln U) cos(2 pi V): the Box-Muller transform."""

    def recipe(uniforms: Sequence[Interval]) -> list[Interval]:
        first, turns = uniforms
        half = first.minus_log()
        return [Interval.of(scale, first.bits) * (half + half).sqrt() * cos_sin_turns(turns)[0]]

    return recipe


def radial(scale: Fraction, centre: Sequence[Fraction]) -> Recipe:
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
