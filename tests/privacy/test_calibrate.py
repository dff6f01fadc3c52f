# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration: never below the truth, and not a float above it; checked with 60 digits and more of mpmath."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.privacy.calibration import (
    expected_radius,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
    laplace_scale,
    pure_epsilon,
    radial_beats_gaussian,
    radial_scale,
)

# Multipliers σ/Δ of the analytic Gaussian mechanism at δ = 10^-3, 10^-5, 10^-6, 10^-8, to four digits.
MULTIPLIERS = {
    "0.1": (17.40, 30.75, 36.30, 45.94),
    "0.5": (4.610, 7.032, 8.058, 9.864),
    "1": (2.575, 3.731, 4.225, 5.100),
    "2": (1.445, 1.994, 2.231, 2.653),
    "3": (1.037, 1.391, 1.544, 1.819),
    "5": (0.690, 0.892, 0.980, 1.139),
}
DELTAS = ("1e-3", "1e-5", "1e-6", "1e-8")

EPSILONS = st.floats(1e-4, 60) | st.just(0.0)
FAILURES = st.floats(-60, -0.01).map(lambda power: 10**power)


def true_delta(sigma: float, sensitivity: Fraction | float, epsilon: Fraction | float) -> mp.mpf:
    """The formula of Balle and Wang as they print it, with digits to spare for what cancels in it."""
    mu = mp.mpf(Fraction(sensitivity).numerator) / Fraction(sensitivity).denominator / mp.mpf(sigma)
    bound = mp.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
    return mp.ncdf(mu / 2 - bound / mu) - mp.exp(bound) * mp.ncdf(-mu / 2 - bound / mu)


def fraction(number: str | float | Fraction) -> mp.mpf:
    return mp.mpf(Fraction(number).numerator) / Fraction(number).denominator


@pytest.mark.parametrize(("epsilon", "known"), MULTIPLIERS.items())
def test_the_multipliers_that_are_known(epsilon: str, known: tuple[float, ...]) -> None:
    for delta, multiplier in zip(DELTAS, known, strict=True):
        assert gaussian_sigma(epsilon, delta) == pytest.approx(multiplier, abs=6e-4 if multiplier < 10 else 6e-3)


@pytest.mark.parametrize("epsilon", ["0", "1e-6", "0.01", "0.1", "1", "3", "10", "48", "400"])
@pytest.mark.parametrize("delta", ["0.9", "0.1", "1e-3", "1e-6", "1e-12", "1e-40", "1e-200"])
def test_sigma_is_the_first_float_that_is_enough(epsilon: str, delta: str) -> None:
    sigma = gaussian_sigma(epsilon, delta)
    with mp.workdps(500):
        assert true_delta(sigma, 1, Fraction(epsilon)) <= fraction(delta)
        assert true_delta(math.nextafter(sigma, 0), 1, Fraction(epsilon)) > fraction(delta)


@settings(max_examples=40, deadline=None)
@given(EPSILONS, FAILURES, st.floats(1e-6, 1e6))
def test_sigma_is_enough_and_tight_whatever_is_asked(epsilon: float, delta: float, sensitivity: float) -> None:
    sigma = gaussian_sigma(epsilon, delta, sensitivity)
    with mp.workdps(250):
        assert true_delta(sigma, sensitivity, epsilon) <= fraction(delta)
        assert true_delta(math.nextafter(sigma, 0), sensitivity, epsilon) > fraction(delta)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 500), st.floats(0.01, 10), EPSILONS)
def test_delta_is_an_upper_bound_within_one_float(sigma: float, sensitivity: float, epsilon: float) -> None:
    delta = gaussian_delta(sigma, sensitivity, epsilon)
    with mp.workdps(600):
        truth = true_delta(sigma, sensitivity, epsilon)
        assert truth <= mp.mpf(delta)
        assert mp.mpf(math.nextafter(math.nextafter(delta, 0), 0)) < truth or delta <= 5e-324


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 200), FAILURES)
def test_epsilon_is_the_first_float_that_is_enough(sigma: float, delta: float) -> None:
    epsilon = gaussian_epsilon(sigma, 1, delta)
    with mp.workdps(600):
        assert true_delta(sigma, 1, epsilon) <= fraction(delta)
        if epsilon > 0:
            assert true_delta(sigma, 1, math.nextafter(epsilon, 0)) > fraction(delta)


@settings(max_examples=30, deadline=None)
@given(EPSILONS, FAILURES, st.floats(1.0001, 3))
def test_stronger_promises_need_more_noise(epsilon: float, delta: float, factor: float) -> None:
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_sigma(epsilon * factor, delta) <= sigma
    assert gaussian_sigma(epsilon, delta / factor) >= sigma
    assert gaussian_sigma(epsilon, delta, factor) >= sigma
    assert gaussian_delta(sigma * factor, 1, epsilon) <= gaussian_delta(sigma, 1, epsilon)
    assert gaussian_epsilon(sigma * factor, 1, delta) <= gaussian_epsilon(sigma, 1, delta)


def test_noise_of_the_textbook_gaussian_is_more_than_enough() -> None:
    # √(2 ln(1.25/δ))/ε, for ε below 1: a sanity check from outside.
    for epsilon in (0.1, 0.5, 0.9):
        for delta in (1e-3, 1e-6, 1e-9):
            assert gaussian_sigma(epsilon, delta) < math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def test_without_noise_or_without_a_change_the_answer_is_plain() -> None:
    assert gaussian_delta(1, 0, 1) == 0
    assert gaussian_epsilon(1, 0, "1e-6") == 0
    assert gaussian_epsilon(10**8, 1, "1e-6") == 0
    assert gaussian_delta("1e-6", 1, 1) == 1
    assert 0 < gaussian_delta(1000, 1, 100) <= 5e-324


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity", "named"),
    [
        (1, 0, 1, "delta"),
        (1, 1, 1, "delta"),
        (1, "nan", 1, "delta"),
        (-1, "1e-6", 1, "epsilon"),
        ("1e10", "1e-6", 1, "epsilon"),
        (1, "1e-6", 0, "sensitivity"),
        (1, "1e-6", "inf", "sensitivity"),
    ],
)
def test_what_no_noise_can_promise_is_refused(epsilon: str, delta: str, sensitivity: str, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        gaussian_sigma(epsilon, delta, sensitivity)


def test_a_promise_that_needs_infinite_noise_is_refused() -> None:
    with pytest.raises(OptionError, match="no noise"):
        gaussian_sigma(0, "1e-20", "1e299")
    with pytest.raises(OptionError, match="sigma"):
        gaussian_epsilon("1e-12", 1, "1e-6")
    for scale in (laplace_scale, radial_scale):
        with pytest.raises(OptionError, match="no noise"):
            scale("1e-300", "1e300")


@given(st.fractions(min_value="1/1000", max_value=1000), st.fractions(min_value="1/1000", max_value=1000))
def test_laplace_and_radial_scales_are_the_first_floats_that_are_enough(
    epsilon: Fraction, sensitivity: Fraction
) -> None:
    for scale in (laplace_scale(epsilon, sensitivity), radial_scale(epsilon, sensitivity)):
        assert pure_epsilon(scale, sensitivity) <= epsilon
        assert pure_epsilon(math.nextafter(scale, 0), sensitivity) > epsilon


def test_radial_noise_moves_as_far_as_gamma_says() -> None:
    # Mean radius of planar Laplace noise is 2/ε (in units of the radius): 4.44 at ε = 0.45, as in Kaleido's budget.
    assert expected_radius(radial_scale("0.45")) == pytest.approx(4.444, abs=1e-3)
    assert expected_radius(3, dimensions=5) == 15
    for wrong in (0, 1.5):
        with pytest.raises(OptionError, match="dimensions"):
            expected_radius(1, wrong)  # type: ignore[arg-type]


def test_where_radial_noise_wins() -> None:
    # Largest dimension at which pure radial noise has less spread than Gaussian noise at δ = 10^-5.
    for epsilon, largest in (("0.5", 11), ("1", 12), ("3", 16), ("10", 23), ("48", 53)):
        assert radial_beats_gaussian(largest, epsilon, "1e-5")
        assert not radial_beats_gaussian(largest + 1, epsilon, "1e-5")
