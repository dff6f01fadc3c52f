# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions: upper bounds that are as low as they can be, checked with mpmath and with mechanisms known exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.privacy import conversion
from gazeveil.privacy.calibration import gaussian_epsilon
from gazeveil.privacy.decimal_interval import Interval

RHOS = st.fractions(min_value=Fraction(1, 10**6), max_value=50, max_denominator=10**9)
FAILURES = st.integers(1, 40).map(lambda power: Fraction(1, 10**power))


def best_epsilon(rho: float, delta: float) -> mp.mpf:
    """The same minimum, found by mpmath's root of the derivative."""

    def bound(log: mp.mpf) -> mp.mpf:
        order = 1 + mp.exp(log)
        return order * rho + mp.log(1 - 1 / order) - mp.log(order * delta) / (order - 1)

    start = mp.log(mp.sqrt(mp.log(1 / delta) / rho))
    return bound(mp.findroot(lambda log: mp.diff(bound, log), start))


@pytest.mark.parametrize("rho", ["1e-4", "0.01", "0.5", "3"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
def test_zcdp_is_converted_at_the_best_order(rho: str, delta: str) -> None:
    with mp.workdps(40):
        best = best_epsilon(mp.mpf(rho), mp.mpf(delta))
        ours = conversion.zcdp_epsilon(rho, delta)
        value = mp.mpf(ours.numerator) / ours.denominator
        assert best <= value * (1 + mp.mpf("1e-30"))
        assert value <= best * (1 + mp.mpf("1e-14"))


def test_known_conversions() -> None:
    assert float(conversion.zcdp_epsilon("0.5", "1e-6")) == pytest.approx(5.2215, abs=1e-4)
    assert conversion.gaussian_zcdp(2, 3) == Fraction(9, 8)
    assert conversion.pure_zcdp(1) == Fraction(1, 2)
    assert conversion.pure_zcdp(5) == 5
    assert conversion.zcdp_epsilon(0, "1e-6") == 0


@settings(max_examples=30, deadline=None)
@given(RHOS, FAILURES)
def test_the_zcdp_bound_is_tight_and_never_beats_the_gaussian_that_attains_it(rho: Fraction, delta: Fraction) -> None:
    epsilon = conversion.zcdp_epsilon(rho, delta)
    assert float(epsilon) <= float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / delta))  # the bound on a napkin
    sigma = 1 / math.sqrt(2 * float(rho))  # a Gaussian with very nearly this ρ
    assert epsilon >= Fraction(gaussian_epsilon(sigma * 1.000001, 1, delta))


@settings(max_examples=15, deadline=None)
@given(RHOS, FAILURES, st.fractions(min_value="1.000001", max_value=3))
def test_conversions_are_monotone(rho: Fraction, delta: Fraction, factor: Fraction) -> None:
    epsilon = conversion.zcdp_epsilon(rho, delta)
    assert conversion.zcdp_epsilon(rho * factor, delta) >= epsilon
    assert conversion.zcdp_epsilon(rho, delta / factor) >= epsilon
    assert conversion.pure_zcdp(rho * factor) >= conversion.pure_zcdp(rho)
    assert conversion.group_delta(rho, delta, 3) >= conversion.group_delta(rho, delta, 2) >= delta


@pytest.mark.parametrize("order", [1.5, 2, 8])
def test_renyi_curves_are_those_of_the_mechanisms(order: float) -> None:
    at = Interval.of(order, 40)
    # Laplace noise of scale 2 around 0 and around 1, by numerical integration.
    integral = mp.quad(
        lambda x: mp.exp(-order * abs(x) / 2 + (order - 1) * abs(x - 1) / 2) / 4, [-mp.inf, -3, 0, 1, 4, mp.inf]
    )
    laplace = mp.log(integral) / (order - 1)
    assert float(conversion.laplace_renyi(2, 1)(at).high) == pytest.approx(float(laplace), rel=1e-8)
    assert float(conversion.gaussian_renyi(2, 1)(at).high) == pytest.approx(order / 8, rel=1e-12)
    p = mp.e / (1 + mp.e)
    response = mp.log(p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)) / (order - 1)
    assert float(conversion.pure_renyi(1)(at).high) == pytest.approx(float(response), rel=1e-12)


@given(st.floats(1.01, 1e6), st.fractions(min_value="1/100", max_value=20))
def test_no_pure_curve_exceeds_its_epsilon_nor_its_zcdp(order: float, epsilon: Fraction) -> None:
    at = Interval.of(order, 60)
    slack = Fraction(1, 10**30)
    for curve in (conversion.pure_renyi(epsilon), conversion.laplace_renyi(1, epsilon)):
        assert Fraction(curve(at).low) <= epsilon + slack
        assert Fraction(curve(at).low) <= conversion.pure_zcdp(epsilon) * Fraction(order) + slack
    assert conversion.laplace_renyi(1, epsilon)(at).low <= conversion.pure_renyi(epsilon)(at).high


def test_groups_pay_for_each_other() -> None:
    assert conversion.group_delta(1, "1e-6", 1) == Fraction(1, 10**6)
    assert conversion.group_delta(0, "1e-6", 3) == Fraction(3, 10**6)
    assert conversion.group_delta("1e-12", "1e-6", 3) >= Fraction(3, 10**6)
    assert float(conversion.group_delta("1e-12", "1e-6", 3)) == pytest.approx(3e-6, rel=1e-9)
    assert conversion.group_delta(10_000, "1e-6", 3) == 1
    assert conversion.group_delta(1, 0, 10) == 0


# Optimal composition of equal releases


def dominating_delta(epsilon: float, times: int, target: mp.mpf) -> mp.mpf:
    """δ at a target ε of `times` randomised responses, from the definition."""
    p = mp.exp(epsilon) / (1 + mp.exp(epsilon))
    total = mp.mpf(0)
    for wrong in range(times + 1):
        here = mp.binomial(times, wrong) * p ** (times - wrong) * (1 - p) ** wrong
        there = mp.binomial(times, wrong) * p**wrong * (1 - p) ** (times - wrong)
        total += max(mp.mpf(0), here - mp.exp(target) * there)
    return total


@pytest.mark.parametrize("times", [1, 2, 7, 50])
@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "2"])
@pytest.mark.parametrize("delta", ["0.1", "1e-3", "1e-9"])
def test_equal_pure_releases_cost_what_randomised_response_shows(times: int, epsilon: str, delta: str) -> None:
    total = conversion.repeated_epsilon(epsilon, 0, times, delta)
    with mp.workdps(60):
        target = mp.mpf(total.numerator) / total.denominator
        assert dominating_delta(mp.mpf(epsilon), times, target) <= mp.mpf(delta)
        if total > 0:
            assert dominating_delta(mp.mpf(epsilon), times, target * (1 - mp.mpf("1e-15"))) > mp.mpf(delta)
    assert total <= times * Fraction(epsilon)


def test_equal_approximate_releases_also_add_up_their_failures() -> None:
    pure = conversion.repeated_epsilon("0.1", 0, 30, "1e-6")
    approx = conversion.repeated_epsilon("0.1", "1e-8", 30, "1e-6")
    assert pure < approx < 3
    # What the failures leave of δ is 1 - (1 - 10^-6)/(1 - 10^-8)^30.
    left = 1 - (1 - Fraction(1, 10**6)) / (1 - Fraction(1, 10**8)) ** 30
    assert approx == conversion.repeated_epsilon("0.1", 0, 30, left)
    with pytest.raises(OptionError, match="fail more often"):
        conversion.repeated_epsilon("0.1", "1e-6", 30, "1e-6")
    with pytest.raises(OptionError, match="fail more often"):
        conversion.repeated_epsilon("0.1", 1, 2, "1e-6")


def test_releases_that_promise_nothing_are_added_up_plainly() -> None:
    assert conversion.repeated_epsilon("1e20", 0, 2, "1e-6") == 2 * 10**20
