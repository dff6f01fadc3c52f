# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of samplers' parameters: positive scales, lattice steps that are powers of two, sizes; degrees as lengths."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, wraps
from numbers import Real
from typing import ParamSpec, TypeVar

import numpy as np

from gazeveil.errors import InternalError, OptionError

P = ParamSpec("P")
T = TypeVar("T")

Number = int | float | Fraction
Size = int | tuple[int, ...]

LEAST_STEPS = Fraction(1, 1 << 20)
MOST_STEPS = Fraction(1 << 40)


def positive_fraction(value: Number, name: str) -> Fraction:
    """Return a positive number as the fraction that it is; floats are taken at their exact value.

    Raises:
        OptionError: If it is not a finite, positive number.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise OptionError(f"{name} must be a number, not {value!r}")
    try:
        top, bottom = value.as_integer_ratio() if hasattr(value, "as_integer_ratio") else (int(value), 1)
    except (OverflowError, ValueError):  # infinite, or not a number
        top, bottom = 0, 1
    if top <= 0:
        raise OptionError(f"{name} must be positive and finite, not {value!r}")
    return Fraction(int(top), int(bottom))


def checked_step(step: Number) -> Fraction:
    """Return the lattice step as a fraction.

    Raises:
        OptionError: If it is not a power of two that a float can hold.
    """
    fraction = positive_fraction(step, "step")
    if fraction.numerator.bit_count() != 1 or fraction.denominator.bit_count() != 1:
        raise OptionError(
            f"step must be a power of two, not {step!r}",
            hint="so that every lattice point is an exact float; see gazeveil.noise.lattice_step",
        )
    if not Fraction(2) ** -1000 <= fraction <= Fraction(2) ** 1000:
        raise OptionError(f"step must lie between 2**-1000 and 2**1000, not {step!r}")
    return fraction


def cached(function: Callable[P, T]) -> Callable[P, T]:
    """Keep the latest results; arguments without a hash go to the function, which then refuses them."""
    cached = lru_cache(maxsize=64, typed=True)(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return cached(*args, **kwargs)  # type: ignore[arg-type]
        except TypeError:
            return function(*args, **kwargs)

    return call


@cached
def in_steps(scale: Number, step: Number, name: str) -> Fraction:
    """Return the scale in lattice steps.

    Raises:
        OptionError: If scale or step is out of range, or their ratio is.
    """
    steps = positive_fraction(scale, name) / checked_step(step)
    if not LEAST_STEPS <= steps <= MOST_STEPS:
        raise OptionError(
            f"{name} must be between 2**-20 and 2**40 lattice steps, not {scale!r} at step {step!r}",
            hint="choose a finer or coarser step",
        )
    return steps


def shape(size: Size) -> tuple[int, ...]:
    """Return a size as a shape.

    Raises:
        OptionError: If it is not a non-negative integer or a tuple of them.
    """
    sides = size if isinstance(size, tuple) else (size,)
    try:
        whole = tuple(operator.index(side) for side in sides)
    except TypeError:
        whole = (-1,)
    if any(side < 0 for side in whole):
        raise OptionError(f"size must be a non-negative integer or a tuple of them, not {size!r}")
    return whole


def checked_sample(sample: int) -> int:
    """Return a sample if it lies within 2**53 steps; at the scales allowed, no other ever comes up.

    Raises:
        InternalError: If it is beyond, where sums and floats would no longer be exact.
    """
    if abs(sample) > 2**53:
        raise InternalError("a noise sample beyond 2**53 steps")
    return sample


# --- Compiled into kernels.


NOISE_PER_DEGREE = math.pi / 180.0 * (1.0 + 2.0**-10)
"""How far apart the unit vectors of two directions a degree apart are at most, with ample room for rounding."""
