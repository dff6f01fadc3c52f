# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals hold the true value, whatever is done with them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazeveil.errors import InternalError
from gazeveil.privacy.decimal_interval import Interval, pi

NUMBERS = st.fractions(min_value=-50, max_value=50, max_denominator=10**6)
DIGITS = st.integers(3, 40)


def holds(interval: Interval, truth: Fraction) -> bool:
    return Fraction(interval.low) <= truth <= Fraction(interval.high)


@given(NUMBERS, NUMBERS, DIGITS)
def test_arithmetic_keeps_the_true_value(a: Fraction, b: Fraction, digits: int) -> None:
    left, right = Interval.of(a, digits), Interval.of(b, digits)
    assert holds(left + right, a + b)
    assert holds(left - right, a - b)
    assert holds(left * right, a * b)
    assert holds(3 * left - 1, 3 * a - 1)
    assert holds(1 - left, 1 - a)
    assert holds(left.square(), a * a)
    assert left.square().low >= 0
    if right.low <= 0 <= right.high:
        with pytest.raises(InternalError):
            left / right
    else:
        assert holds(left / right, a / b)
        assert holds(1 / right, 1 / b)


@given(NUMBERS, DIGITS)
def test_functions_keep_the_true_value(a: Fraction, digits: int) -> None:
    with mp.workdps(80):
        truth = mp.mpf(a.numerator) / a.denominator
        pairs = [(Interval.of(a, digits).exp(), mp.exp(truth))]
        if a > 0:
            pairs += [(Interval.of(a, digits).ln(), mp.log(truth)), (Interval.of(a, digits).sqrt(), mp.sqrt(truth))]
        for interval, value in pairs:
            assert mp.mpf(str(interval.low)) <= value <= mp.mpf(str(interval.high))
            assert interval.high - interval.low <= max(abs(interval.high), abs(interval.low)) * Decimal(10) ** (
                6 - digits
            )


def test_far_tails_neither_vanish_nor_overflow() -> None:
    tail = Interval.of(-(10**20), 20).exp()
    assert 0 <= tail.low < tail.high
    assert Interval.of(Fraction(1, 10**300), 20).ln().high < -690


@pytest.mark.parametrize("digits", [5, 20, 50, 200])
def test_pi_is_between_its_bounds_to_the_last_digit(digits: int) -> None:
    bounds = pi(digits)
    with mp.workdps(digits + 30):
        assert mp.mpf(str(bounds.low)) < mp.pi < mp.mpf(str(bounds.high))
    assert bounds.high - bounds.low <= Decimal(10) ** (2 - digits)
