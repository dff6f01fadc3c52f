# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Exact numbers for guarantees and budgets, and the few places where they are rounded.

A number that a user writes is kept as the fraction that it is: ``"0.1"`` is one tenth, ``Decimal("0.1")`` too, and
the float ``0.1`` is the binary value it stands for, 0.1000000000000000055. Write budgets as strings if three times 0.1
is to fit into 0.3.

A number that must be rounded is rounded against the spender: what is guaranteed or spent goes up, what may still be
spent goes down.
"""

from __future__ import annotations

import math
import operator
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import SupportsIndex, TypeAlias

from gazeveil.errors import OptionError

Number: TypeAlias = int | float | str | Fraction | Decimal

_LARGEST_EXPONENT, _SMALLEST_EXPONENT = 300, -330
"""Numbers beyond these powers of ten are refused: no guarantee needs them, and 10**(10**9) would never end."""

_FLOATS_REACH = 300
"""Powers of ten beyond this are written without floats, which would make 0 or infinity of them."""


def exact(value: Number, name: str = "the number") -> Fraction:
    """Return a number as the fraction that it is.

    Raises:
        OptionError: If it is not a finite number.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OptionError(f"{name} must be a finite number, not {value!r}")
        return _in_proportion(Fraction(float(value)), value, name)
    if isinstance(value, Decimal):
        return _from_decimal(value, value, name)
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise OptionError(f"{name} must be a number, not {value!r}")
    try:
        return _in_proportion(Fraction(operator.index(value)), value, name)
    except TypeError:  # an array of several numbers
        raise OptionError(f"{name} must be a number, not {value!r}") from None


def at_least_zero(value: Number, name: str) -> Fraction:
    """Return a number as a fraction, or say that it may not be negative."""
    number = exact(value, name)
    if number < 0:
        raise OptionError(f"{name} must not be negative, not {value!r}")
    return number


def above_zero(value: Number, name: str) -> Fraction:
    """Return a number as a fraction, or say that it must be positive."""
    number = exact(value, name)
    if number <= 0:
        raise OptionError(f"{name} must be greater than 0, not {value!r}")
    return number


def probability(value: Number, name: str) -> Fraction:
    """Return a number from 0 to 1 as a fraction."""
    number = exact(value, name)
    if not 0 <= number <= 1:
        raise OptionError(f"{name} is a probability and lies between 0 and 1, not {value!r}")
    return number


def chance_of_failure(value: Number, name: str) -> Fraction:
    """Return a number strictly between 0 and 1 as a fraction."""
    number = exact(value, name)
    if not 0 < number < 1:
        raise OptionError(f"{name} must be greater than 0 and less than 1, not {value!r}")
    return number


def whole_number(value: int, name: str, *, at_least: int) -> int:
    """Return a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise OptionError(f"{name} must be a whole number, not {value!r}")
    number = operator.index(value)
    if number < at_least:
        raise OptionError(f"{name} must be at least {at_least}, not {value!r}")
    return number


def float_up(number: Fraction) -> float:
    """Return the smallest float that is not below a number."""
    near = _nearest(number)
    return near if math.isinf(near) or Fraction(near) >= number else math.nextafter(near, math.inf)


def float_down(number: Fraction) -> float:
    """Return the largest float that is not above a number."""
    return -float_up(-number)


def decimal_up(number: Fraction, digits: int = 17) -> Fraction:
    """Round a number up to this many significant decimal digits."""
    if number == 0:
        return number
    step = Fraction(10) ** (_magnitude(number) - digits + 1)
    return math.ceil(number / step) * step


def decimal_down(number: Fraction, digits: int = 17) -> Fraction:
    """Round a number down to this many significant decimal digits."""
    return -decimal_up(-number, digits)


def root_up(number: Fraction, digits: int = 40) -> Fraction:
    """Return the square root, rounded up to this many significant digits; exact where it can be."""
    over, under = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if over * over == number.numerator and under * under == number.denominator:
        return Fraction(over, under)
    scale = 10 ** max(0, digits - _magnitude(number) // 2)
    return Fraction(math.isqrt(math.ceil(number * scale * scale)) + 1, scale)


def in_digits(number: Fraction, digits: int = 4, *, up: bool = True) -> str:
    """Write a number for readers, in few digits, rounded up (a guarantee) or down (what is left).

    A float that is off by less than its precision is not rounded away from fewer digits: 0.1 reads 0.1.
    """
    slack = abs(number) / 10**15
    rounded = decimal_up(number - slack, digits) if up else decimal_down(number + slack, digits)
    if rounded.denominator == 1 and abs(rounded) < 10**9:
        return f"{int(rounded):,}"
    power = _magnitude(rounded)
    if abs(power) > _FLOATS_REACH:
        return f"{float(rounded / Fraction(10) ** power):.{digits}g}e{power}"
    text = f"{float(rounded):.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else text


def as_source(number: Fraction) -> str:
    """Write a number as Python source that means exactly this number to `exact`."""
    if number.denominator == 1:
        return str(number.numerator)
    near = _nearest(number)
    if math.isfinite(near) and Fraction(near) == number:
        return repr(near)
    decimal = _finite_decimal(number)
    return repr(decimal if decimal is not None else str(number))


def as_text(number: Fraction) -> str:
    """Write a number as the shortest text that means exactly this number to `exact`."""
    decimal = _finite_decimal(number)
    return decimal if decimal is not None and len(decimal) <= 24 else str(number)


def _from_text(text: str, name: str) -> Fraction:
    try:
        if "/" in text:
            return _in_proportion(Fraction(text.strip()), text, name)
        return _from_decimal(Decimal(text.strip()), text, name)
    except (InvalidOperation, ValueError, ZeroDivisionError) as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"{name} must be a number, not {text!r}", hint="for example 0.5, 1e-6 or 1/3") from None


def _from_decimal(number: Decimal, written: object, name: str) -> Fraction:
    if not number.is_finite():
        raise OptionError(f"{name} must be a finite number, not {written!r}")
    if number and not _SMALLEST_EXPONENT <= number.adjusted() <= _LARGEST_EXPONENT:
        raise _out_of_proportion(written, name)
    return Fraction(number)


def _in_proportion(number: Fraction, written: object, name: str) -> Fraction:
    if number and not _SMALLEST_EXPONENT <= _magnitude(number) <= _LARGEST_EXPONENT:
        raise _out_of_proportion(written, name)
    return number


def _out_of_proportion(written: object, name: str) -> OptionError:
    text = repr(written) if len(repr(written)) <= 60 else f"{repr(written)[:57]}…"
    return OptionError(f"{name} is out of all proportion: {text}", hint="numbers from 1e-330 to 1e300 are understood")


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _magnitude(number: Fraction) -> int:
    """Return the power of ten of the leading digit."""
    guess = math.floor((abs(number.numerator).bit_length() - number.denominator.bit_length()) * math.log10(2))
    while abs(number) < Fraction(10) ** guess:
        guess -= 1
    while abs(number) >= Fraction(10) ** (guess + 1):
        guess += 1
    return guess


def _finite_decimal(number: Fraction) -> str | None:
    """Write a number in decimal digits, where it has finitely many."""
    rest, places = number.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1:
        return None
    digits = str(abs(number.numerator) * 10**places // number.denominator)
    return str(Decimal((int(number < 0), tuple(map(int, digits)), -places)))
