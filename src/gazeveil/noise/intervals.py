# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Rigorous arithmetic on Python integers: intervals that are sure to hold the true value, at any precision.

Everything is fixed point: the integer ``n`` at ``bits`` stands for ``n / 2**bits``. Functions round outwards, so the
result encloses every value that the inputs allow. Used to build tables once and to settle the rare sample that
double precision leaves undecided; written for certainty, not for speed. `gazeveil.privacy.decimal_interval` is another
arithmetic: it needs floating point, since an ε or δ may have any magnitude, while samples are drawn in absolute steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache


class Undetermined(Exception):  # noqa: N818  (not an error: the caller draws more bits and tries again)
    """The interval is too wide for the operation, for example division by something that may be zero."""


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers from ``lo / 2**bits`` to ``hi / 2**bits``."""

    lo: int
    hi: int
    bits: int

    @classmethod
    def of(cls, value: Fraction | int, bits: int) -> Interval:
        """Enclose a rational number."""
        numerator, denominator = value.numerator << bits, value.denominator
        return cls(numerator // denominator, _ceil(numerator, denominator), bits)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.lo + other.lo, self.hi + other.hi, self.bits)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.bits)

    def __mul__(self, other: Interval) -> Interval:
        products = (self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi)
        return Interval(min(products) >> self.bits, _up(max(products), self.bits), self.bits)

    def __truediv__(self, other: Interval) -> Interval:
        """Divide a non-negative interval by a positive one.

        Raises:
            Undetermined: If the signs are not certain.
        """
        if self.lo < 0 or other.lo <= 0:
            raise Undetermined
        return Interval((self.lo << self.bits) // other.hi, _ceil(self.hi << self.bits, other.lo), self.bits)

    def sqrt(self) -> Interval:
        """Return the square root; what lies below zero counts as zero."""
        lo, hi = max(self.lo, 0) << self.bits, max(self.hi, 0) << self.bits
        return Interval(math.isqrt(lo), math.isqrt(hi) + 1, self.bits)

    def minus_log(self) -> Interval:
        """Return -ln, for an interval within (0, 1].

        Raises:
            Undetermined: If the interval reaches zero.
        """
        if self.lo <= 0:
            raise Undetermined
        # ln has slope 1/x, at most 1/lo over the interval.
        top = -_log(self.lo, self.bits) + 2
        fall = _ceil((self.hi - self.lo) << self.bits, self.lo)
        return Interval(max(top - 4 - fall, 0), top, self.bits)

    def rounded(self) -> int | None:
        """Return the nearest integer if it is the same for every number in the interval, else None."""
        half = 1 << (self.bits - 1)
        low, high = (self.lo + half) >> self.bits, (self.hi + half) >> self.bits
        return low if low == high else None


def cos_sin_turns(turns: Interval) -> tuple[Interval, Interval]:
    """Return cosine and sine of ``turns`` full turns, for an interval within [0, 1]."""
    bits = turns.bits
    work = bits + 16
    middle = (turns.lo + turns.hi) << 15  # at `work` bits
    quarter = ((middle << 2) + (1 << (work - 1))) >> work
    angle = ((middle - (quarter << (work - 2))) * pi(work)) >> (work - 1)  # within 1/8 turn of zero
    cosine, sine = _cos_sin(angle, work)
    for _ in range(quarter % 4):
        cosine, sine = -sine, cosine
    # Both have slope at most 1 per radian, 7 per turn; 2 units cover all rounding (docs/proofs/radial.md).
    reach = 7 * (turns.hi - turns.lo) + 2
    cosine, sine = cosine >> 16, sine >> 16
    return Interval(cosine - reach, cosine + reach, bits), Interval(sine - reach, sine + reach, bits)


def exp_minus(power: Fraction, bits: int) -> Interval:
    """Enclose exp(-power) for power >= 0."""
    if power * 13 > (bits + 1) * 10:  # ln 2 < 0.7 < 10/13: the value is below half a unit
        return Interval(0, 1, bits)
    work = bits + bits.bit_length() + 8
    halvings = int(power * 1477 // 1024)
    rest = (power.numerator << work) // power.denominator - halvings * ln2(work)
    term = total = 1 << work
    count = 0
    while term:
        count += 1
        term = -(term * rest >> work) // count
        total += term
    # Each term is off by less than 8 units, `rest` by at most halvings + 1.
    error = 8 * count + halvings + 8
    shift = work - bits + halvings
    return Interval((total - error) >> shift, _up(total + error, shift), bits)


def erfc_sqrt(square: Fraction, bits: int) -> Interval:
    """Enclose erfc(sqrt(square)) for square >= 0."""
    if square * 13 > (bits + 1) * 10:  # erfc(x) <= exp(-x**2)
        return Interval(0, 1, bits)
    # erf(x) = 2x/sqrt(pi) exp(-x**2) sum of (2 x**2)**n / (1*3*...*(2n+1)), all terms positive.
    small = max(0, square.denominator.bit_length() - square.numerator.bit_length())
    work = bits + int(2 * square) + small // 2 + 16
    doubled = 2 * (square.numerator << work) // square.denominator
    term = total_low = 1 << work
    odd = 1
    while term or odd < 4 * square:
        odd += 2
        term = (term * doubled >> work) // odd
        total_low += term
    # Rounding down loses less than whole * (whole + odd) units, and what is left out as much again, with `whole` a
    # bound on the sum (docs/proofs/lattice-gaussian.md).
    whole = (total_low >> work) + 2
    total = Interval(total_low, total_low + 2 * whole * (whole + odd), work)
    four_over_pi = Interval.of(4, work) / Interval(pi(work) - 1, pi(work) + 1, work)
    erf = (Interval.of(square, work) * four_over_pi).sqrt() * exp_minus(square, work) * total
    one = 1 << work
    return Interval(max(one - erf.hi, 0) >> (work - bits), _up(one - erf.lo, work - bits), bits)


def pi(bits: int) -> int:
    """Return pi to within one unit."""
    work = _roomy(bits)
    return _nearest(_machin(work), work - bits)


def ln2(bits: int) -> int:
    """Return ln 2 to within one unit."""
    work = _roomy(bits)
    return _nearest(_three_artanh(work), work - bits)


def _roomy(bits: int) -> int:
    """Return a round number of bits with enough guard bits, so that constants are computed once for many precisions."""
    return (bits + bits.bit_length() + 8 | 255) + 1


@lru_cache(maxsize=16)
def _machin(bits: int) -> int:
    """Return pi = 16 arctan(1/5) - 4 arctan(1/239), off by at most 40 units a term."""
    return 16 * _arctan_inverse(5, bits, -1) - 4 * _arctan_inverse(239, bits, -1)


@lru_cache(maxsize=16)
def _three_artanh(bits: int) -> int:
    """Return ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749), off by at most 60 units a term."""
    return sum(weight * _arctan_inverse(n, bits, 1) for weight, n in ((18, 26), (-2, 4801), (8, 8749)))


def _arctan_inverse(n: int, bits: int, sign: int) -> int:
    """Return arctan(1/n) for sign -1 or artanh(1/n) for sign 1, to within two units a term."""
    power = (1 << bits) // n
    total, odd, turn = power, 1, 1
    while power:
        power //= n * n
        odd += 2
        turn *= sign
        total += turn * (power // odd)
    return total


def _log(n: int, bits: int) -> int:
    """Return ln(n / 2**bits) to within one unit, for 0 < n <= 2**bits."""
    work = bits + bits.bit_length() + 8
    exponent = n.bit_length()
    scaled = n << (work - exponent)  # in [1/2, 1)
    if 3 * scaled < 2 << work:
        scaled <<= 1  # now in [2/3, 4/3]
        exponent -= 1
    one = 1 << work
    power = ratio = ((scaled - one) << work) // (scaled + one)
    square = ratio * ratio >> work
    total, odd = ratio, 1
    while power not in (0, -1):
        power = power * square >> work
        odd += 2
        total += power // odd
    return _nearest(2 * total + (exponent - bits) * ln2(work), work - bits)


def _cos_sin(angle: int, bits: int) -> tuple[int, int]:
    """Return cosine and sine of an angle within [-1, 1] radian, each to within 3 units a term."""
    term, sums = 1 << bits, [1 << bits, 0]
    order = 0
    while term not in (0, -1):
        order += 1
        term = (term * angle >> bits) // order
        sums[order % 2] += -term if order % 4 in (2, 3) else term
    return sums[0], sums[1]


def _ceil(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def _up(n: int, shift: int) -> int:
    """Drop ``shift`` bits, rounding up."""
    return -(-n >> shift)


def _nearest(n: int, shift: int) -> int:
    """Drop ``shift`` bits, rounding to the nearest."""
    return (n + (1 << (shift - 1))) >> shift
