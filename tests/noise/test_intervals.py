# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals hold the truth, as mpmath knows it, and are narrow."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.noise.intervals import Interval, Undetermined, cos_sin_turns, erfc_sqrt, exp_minus, ln2, pi

PRECISIONS = st.sampled_from([64, 80, 128, 200, 500])
POSITIVE = st.fractions(min_value=0, max_value=90, max_denominator=2**70)


@pytest.fixture(autouse=True)
def many_digits() -> None:
    mpmath.mp.prec = 1500


def number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def holds(interval: Interval, truth: mpmath.mpf, width: int) -> bool:
    scaled = mpmath.ldexp(truth, interval.bits)
    return bool(interval.lo <= scaled <= interval.hi) and interval.hi - interval.lo <= width


@given(POSITIVE, PRECISIONS)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_exp_and_erfc_are_enclosed(value: Fraction, bits: int) -> None:
    assert holds(exp_minus(value, bits), mpmath.exp(-number(value)), width=2)
    assert holds(erfc_sqrt(value, bits), mpmath.erfc(mpmath.sqrt(number(value))), width=2)


@pytest.mark.parametrize("power", [0, 1, 10**9, 10**90])
def test_powers_far_out_and_at_zero_are_enclosed(power: Fraction | int) -> None:
    value = Fraction(power)
    assert holds(exp_minus(value, 100), mpmath.exp(-number(value)), width=2)
    assert holds(erfc_sqrt(value, 100), mpmath.erfc(mpmath.sqrt(number(value))), width=2)


@given(st.integers(1, 2**64), st.integers(0, 2**20), PRECISIONS)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_logarithms_are_enclosed(low: int, width: int, bits: int) -> None:
    high = min(low + width, 2**64)
    interval = Interval(low << bits - 64, high << bits - 64, bits).minus_log()
    assert holds(interval, -mpmath.log(mpmath.mpf(low) / 2**64), interval.hi)
    assert holds(interval, -mpmath.log(mpmath.mpf(high) / 2**64), interval.hi)
    if width == 0:
        assert interval.hi - interval.lo <= 4


@given(st.integers(0, 2**64 - 1), PRECISIONS, st.floats(0, 1))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_cosine_and_sine_are_enclosed(word: int, bits: int, where: float) -> None:
    turns = Interval(word << bits - 64, (word << bits - 64) + 1, bits)
    angle = 2 * mpmath.pi * mpmath.ldexp(turns.lo + mpmath.mpf(where), -bits)
    cosine, sine = cos_sin_turns(turns)
    assert holds(cosine, mpmath.cos(angle), width=18)
    assert holds(sine, mpmath.sin(angle), width=18)


@given(st.fractions(-50, 50), st.fractions(-50, 50), st.fractions(0, 1), st.fractions(0, 1), PRECISIONS)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_arithmetic_encloses_every_point(a: Fraction, b: Fraction, wide: Fraction, where: Fraction, bits: int) -> None:
    def around(value: Fraction) -> Interval:
        return Interval(Interval.of(value, bits).lo, Interval.of(value + wide, bits).hi, bits)

    def within(interval: Interval, value: Fraction) -> bool:
        return bool(interval.lo <= value * 2**bits <= interval.hi)

    x, y = a + where * wide, b + (1 - where) * wide
    assert within(around(a) + around(b), x + y)
    assert within(around(a) * around(b), x * y)
    assert within(-around(a), -x)
    if a >= 0 and around(b).lo > 0:
        assert within(around(a) / around(b), x / y)
        root = around(a).sqrt()
        assert root.lo**2 <= x * 4**bits <= root.hi**2


@pytest.mark.parametrize("bits", range(20, 700, 31))
def test_pi_and_ln2_are_within_one_unit(bits: int) -> None:
    assert abs(pi(bits) - mpmath.ldexp(mpmath.pi, bits)) <= 1
    assert abs(ln2(bits) - mpmath.ldexp(mpmath.ln2, bits)) <= 1


def test_what_cannot_be_told_is_not_told() -> None:
    with pytest.raises(Undetermined):
        Interval(0, 1, 64).minus_log()
    with pytest.raises(Undetermined):
        Interval.of(1, 64) / Interval(-1, 1, 64)
    assert Interval(3 << 63, (3 << 63) + 1, 64).rounded() == 2
    assert Interval((3 << 63) - 1, 3 << 63, 64).rounded() is None
