# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers between two bounds: every result holds the true value, however it was rounded on the way.

Decimals do the work, because Python's are correctly rounded in any number of digits, exponential and logarithm too.
A bound that must not be missed is then one end of an interval, and there is no error analysis to get wrong. These are
floating point, for an ε or δ of any magnitude; `gazeveil.noise.intervals` is fixed point, for bits of samples.
"""

from __future__ import annotations

from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache

from gazeveil.errors import InternalError


class Interval:
    """A real number known to lie between two decimals."""

    __slots__ = ("digits", "high", "low")

    def __init__(self, low: Decimal, high: Decimal, digits: int) -> None:
        self.low = low
        self.high = high
        self.digits = digits

    @classmethod
    def of(cls, number: int | float | Decimal | Fraction, digits: int) -> Interval:
        """Return the interval of this many digits around an exact number."""
        down, up = _contexts(digits)
        number = Fraction(number) if isinstance(number, float) else number
        if isinstance(number, Fraction):
            over, under = Decimal(number.numerator), Decimal(number.denominator)
            return cls(down.divide(over, under), up.divide(over, under), digits)
        return cls(down.create_decimal(number), up.create_decimal(number), digits)

    def __add__(self, other: Interval | int) -> Interval:
        other, (down, up) = self._pair(other)
        return Interval(down.add(self.low, other.low), up.add(self.high, other.high), self.digits)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return Interval(self.high.copy_negate(), self.low.copy_negate(), self.digits)

    def __sub__(self, other: Interval | int) -> Interval:
        other, (down, up) = self._pair(other)
        return Interval(down.subtract(self.low, other.high), up.subtract(self.high, other.low), self.digits)

    def __rsub__(self, other: int) -> Interval:
        return -self + other

    def __mul__(self, other: Interval | int) -> Interval:
        other, (down, up) = self._pair(other)
        if self.low >= 0 and other.low >= 0:
            return Interval(down.multiply(self.low, other.low), up.multiply(self.high, other.high), self.digits)
        corners = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(down.multiply(*c) for c in corners), max(up.multiply(*c) for c in corners), self.digits)

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | int) -> Interval:
        other, (down, up) = self._pair(other)
        if other.low <= 0 <= other.high:
            raise InternalError("division by an interval that holds zero")
        if self.low >= 0 and other.low > 0:
            return Interval(down.divide(self.low, other.high), up.divide(self.high, other.low), self.digits)
        corners = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(down.divide(*c) for c in corners), max(up.divide(*c) for c in corners), self.digits)

    def __rtruediv__(self, other: int) -> Interval:
        return Interval.of(other, self.digits) / self

    def exp(self) -> Interval:
        """Return e to this power."""
        down, up = _contexts(self.digits)
        low, high = down.exp(self.low), up.exp(self.high)
        return Interval(max(down.next_minus(low), Decimal(0)), up.next_plus(high), self.digits)

    def ln(self) -> Interval:
        """Return the natural logarithm."""
        down, up = _contexts(self.digits)
        return Interval(down.next_minus(down.ln(self.low)), up.next_plus(up.ln(self.high)), self.digits)

    def sqrt(self) -> Interval:
        """Return the square root."""
        down, up = _contexts(self.digits)
        low, high = down.sqrt(self.low), up.sqrt(self.high)
        return Interval(max(down.next_minus(low), Decimal(0)), up.next_plus(high), self.digits)

    def square(self) -> Interval:
        """Return the square, which unlike a product of two intervals is never negative."""
        square = self * self
        return Interval(max(square.low, Decimal(0)), square.high, self.digits)

    def _pair(self, other: Interval | int) -> tuple[Interval, tuple[Context, Context]]:
        if not isinstance(other, Interval):
            other = Interval.of(other, self.digits)
        return other, _contexts(self.digits)


@lru_cache(maxsize=64)
def pi(digits: int) -> Interval:
    """Return π by Machin's formula, 16 atan(1/5) - 4 atan(1/239), in integers."""
    one: int = 10 ** (digits + 10)

    def arctangent_of_inverse(x: int) -> int:
        total = term = one // x
        step, sign = 1, -1
        while term:
            term //= x * x
            step += 2
            total += sign * (term // step)
            sign = -sign
        return total

    value = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)
    # Each of the fewer than `digits` + 20 terms is off by at most 2 units, and is taken up to 20 times.
    slack = 50 * (digits + 20)
    low, high = Fraction(value - slack, one), Fraction(value + slack, one)
    return Interval(Interval.of(low, digits).low, Interval.of(high, digits).high, digits)


@lru_cache(maxsize=64)
def _contexts(digits: int) -> tuple[Context, Context]:
    return _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)


def _context(digits: int, rounding: str) -> Context:
    traps = [DivisionByZero, InvalidOperation, Overflow]
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, traps=traps)
