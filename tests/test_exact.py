# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Exact numbers: what is written is what is meant, and rounding never helps the spender."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazeveil import exact as e
from gazeveil.errors import OptionError

FRACTIONS = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**30)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (3, Fraction(3)),
        ("0.1", Fraction(1, 10)),
        (" 1e-6 ", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.10"), Fraction(1, 10)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
        (np.float64(0.5), Fraction(1, 2)),
        (np.int64(7), Fraction(7)),
        (5e-324, Fraction(5e-324)),
    ],
)
def test_a_number_is_kept_as_the_fraction_that_it_is(written: e.Number, meant: Fraction) -> None:
    assert e.exact(written) == meant


def test_a_numpy_integer_does_not_overflow_later() -> None:
    assert e.exact(np.int64(2**62), "x") ** 3 == 2**186  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        *(math.nan, math.inf, -math.inf, "nan", "inf", Decimal("NaN"), True, None, [1], 1j, np.array([1, 2])),
        *("1/0", "", "abc", "1e999999999", "1e-999999999", 10**400, "1" + "0" * 400 + "/1"),
    ],
)
def test_what_is_not_a_number_is_refused_by_name(wrong: object) -> None:
    with pytest.raises(OptionError, match=r"^epsilon"):
        e.exact(wrong, "epsilon")  # type: ignore[arg-type]


def test_limits_are_named_with_the_value() -> None:
    for check, value in [
        (e.at_least_zero, "-1"),
        (e.above_zero, "0"),
        (e.probability, "1.5"),
        (e.chance_of_failure, "1"),
        (e.chance_of_failure, "0"),
    ]:
        with pytest.raises(OptionError, match=f"delta.*'{value}'"):
            check(value, "delta")
    for count in (0, 1.5, True, "2"):
        with pytest.raises(OptionError, match="times"):
            e.whole_number(count, "times", at_least=1)  # type: ignore[arg-type]


@given(FRACTIONS)
def test_floats_are_rounded_to_the_side_that_is_asked_for(number: Fraction) -> None:
    up, down = e.float_up(number), e.float_down(number)
    assert Fraction(down) <= number <= Fraction(up)
    assert up == down or math.nextafter(down, math.inf) == up


@given(FRACTIONS, st.integers(1, 20))
def test_decimals_are_rounded_to_the_side_that_is_asked_for(number: Fraction, digits: int) -> None:
    up, down = e.decimal_up(number, digits), e.decimal_down(number, digits)
    assert down <= number <= up
    assert up - down <= abs(number) * Fraction(10) ** (1 - digits)


@given(st.fractions(min_value=0, max_value=10**9, max_denominator=10**20))
def test_a_root_is_never_too_small(number: Fraction) -> None:
    root = e.root_up(number)
    assert root**2 >= number
    assert root**2 <= number * (1 + Fraction(1, 10**30)) + Fraction(1, 10**60)


def test_roots_of_squares_are_exact() -> None:
    assert e.root_up(Fraction(9, 4)) == Fraction(3, 2)
    assert e.root_up(Fraction(0)) == 0


@given(FRACTIONS | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e200, max_value=1e200).map(Fraction))
def test_what_is_written_down_reads_back_exactly(number: Fraction) -> None:
    assert e.exact(e.as_text(number)) == number
    assert e.exact(eval(e.as_source(number))) == number


def test_numbers_for_people_are_short_and_rounded_against_the_spender() -> None:
    assert e.in_digits(Fraction(1, 3)) == "0.3334"
    assert e.in_digits(Fraction(1, 3), up=False) == "0.3333"
    assert e.in_digits(Fraction(0.1)) == "0.1"
    assert e.in_digits(Fraction(1_000_000)) == "1,000,000"
    assert e.in_digits(Fraction(1, 10**6)) == "1e-6"
    assert e.in_digits(Fraction(0)) == "0"


def test_numbers_beyond_floats_are_neither_zero_nor_endless_for_people() -> None:
    assert e.in_digits(Fraction("1.23456e-329")) == "1.235e-329"
    assert e.in_digits(Fraction(10) ** 320, up=False) == "1e320"
