# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Confidence bounds must never be too sharp, and should hardly be blunt."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from gazeveil.errors import OptionError
from gazeveil.privacy.audit import delta_bound, epsilon_bound, lower_bound, upper_bound

ALPHAS = (0.4, 0.05, 0.00125, 1e-6, 1e-12)


def counts(runs: int) -> list[int]:
    few = {0, 1, 2, 17, runs // 1000, runs // 10, runs // 2, runs - runs // 10, runs - 2, runs - 1, runs}
    return sorted(k for k in few if 0 <= k <= runs)


def exact_tail(k: int, n: int, p: Fraction) -> Fraction:
    """P(X >= k), in fractions."""
    return sum((math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1)), Fraction(0))


def precise_tail(k: int, n: int, p: mpmath.mpf) -> mpmath.mpf:
    """P(X >= k) for a k above the mean, to thirty digits."""
    q = 1 - p
    log = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
    term = mpmath.exp(log + k * mpmath.log(p) + (n - k) * mpmath.log(q))
    total = mpmath.mpf(0)
    while k <= n and term > total * mpmath.mpf(10) ** -30:
        total += term
        term = term * (n - k) / (k + 1) * p / q
        k += 1
    return total


@pytest.mark.parametrize("runs", [1, 2, 10, 1000, 10**5, 10**8])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_bounds_agree_with_scipy_over_a_wide_grid(runs: int, alpha: float) -> None:
    for seen in counts(runs):
        low = 0.0 if seen == 0 else beta.ppf(alpha, seen, runs - seen + 1)
        # Through the mirror image, because the upper quantile of a tiny chance loses digits there.
        high = 1.0 if seen == runs else 1 - beta.ppf(alpha, runs - seen, seen + 1)
        assert lower_bound(seen, runs, alpha) == pytest.approx(low, rel=1e-9)
        assert upper_bound(seen, runs, alpha) == pytest.approx(high, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_bounds_are_on_the_safe_side_in_exact_arithmetic(alpha: float) -> None:
    limit = Fraction(alpha)
    for runs in (1, 2, 3, 7, 30):
        for seen in range(runs + 1):
            low, high = Fraction(lower_bound(seen, runs, alpha)), Fraction(upper_bound(seen, runs, alpha))
            if seen:
                assert exact_tail(seen, runs, low) <= limit
                assert low == 0 or exact_tail(seen, runs, low * (1 + Fraction(1, 10**10))) > limit
            if seen < runs:
                assert exact_tail(runs - seen, runs, 1 - high) <= limit
                assert exact_tail(runs - seen, runs, 1 - high * (1 - Fraction(1, 10**10))) > limit


@pytest.mark.parametrize("runs", [10**4, 10**6, 10**8, 10**10])
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_bounds_are_on_the_safe_side_for_very_many_runs(runs: int, alpha: float) -> None:
    with mpmath.workdps(40):
        for seen in (1, 3, 40, 5000):
            low, high = (mpmath.mpf(bound(seen, runs, alpha)) for bound in (lower_bound, upper_bound))
            assert 1 - 1e-6 < precise_tail(seen, runs, low) / alpha <= 1
            assert 1 - 1e-6 < precise_tail(runs - seen, runs, 1 - high) / alpha <= 1
        assert 1 - 1e-6 < (1 - mpmath.mpf(upper_bound(0, runs, alpha))) ** runs / alpha <= 1


def test_the_true_chance_is_missed_no_more_often_than_stated() -> None:
    """By enumeration of every possible count: not a simulation."""
    runs, alpha = 60, 0.05
    lows = [lower_bound(seen, runs, alpha) for seen in range(runs + 1)]
    highs = [upper_bound(seen, runs, alpha) for seen in range(runs + 1)]
    worst = 0.0
    for chance in [j / 97 for j in range(1, 97)]:
        weights = [math.comb(runs, k) * chance**k * (1 - chance) ** (runs - k) for k in range(runs + 1)]
        too_high = sum(weight for weight, low in zip(weights, lows, strict=True) if low > chance)
        too_low = sum(weight for weight, high in zip(weights, highs, strict=True) if high < chance)
        assert max(too_high, too_low) <= alpha
        worst = max(worst, too_high, too_low)
    assert worst > 0.8 * alpha  # and hardly less often: the bounds are not blunt


@given(runs=st.integers(1, 10**7), data=st.data(), alpha=st.floats(1e-9, 0.49))
@settings(max_examples=60, deadline=None)
def test_bounds_enclose_the_share_and_grow_with_the_count(runs: int, data: st.DataObject, alpha: float) -> None:
    seen = data.draw(st.integers(0, runs))
    low, high = lower_bound(seen, runs, alpha), upper_bound(seen, runs, alpha)
    assert 0 <= low <= seen / runs <= high <= 1
    if seen < runs:
        assert low < lower_bound(seen + 1, runs, alpha)
        assert high <= upper_bound(seen + 1, runs, alpha)


def test_no_success_and_no_failure_have_closed_forms() -> None:
    assert upper_bound(0, 1000, 0.05) == pytest.approx(1 - 0.05 ** (1 / 1000), rel=1e-10)
    assert lower_bound(1000, 1000, 0.05) == pytest.approx(0.05 ** (1 / 1000), rel=1e-10)
    assert (lower_bound(0, 10, 0.05), upper_bound(10, 10, 0.05)) == (0.0, 1.0)


@given(here=st.floats(1e-9, 1), there=st.floats(1e-9, 1), delta=st.floats(0, 0.5), epsilon=st.floats(0, 20))
@settings(max_examples=200, deadline=None)
def test_epsilon_and_delta_are_rounded_down(here: float, there: float, delta: float, epsilon: float) -> None:
    with mpmath.workdps(60):
        excess = mpmath.mpf(here) - mpmath.mpf(delta)
        true_epsilon = max(mpmath.mpf(0), mpmath.log(excess / there)) if excess > 0 else mpmath.mpf(0)
        true_delta = max(mpmath.mpf(0), here - mpmath.exp(epsilon) * there)
        assert mpmath.mpf(epsilon_bound(here, there, delta)) <= true_epsilon
        assert mpmath.mpf(delta_bound(here, there, epsilon)) <= true_delta
    assert delta_bound(here, there, epsilon) == pytest.approx(float(true_delta), rel=1e-9, abs=1e-13)


def test_epsilon_is_the_logarithm_of_the_ratio() -> None:
    assert epsilon_bound(0.5, 0.1) == pytest.approx(math.log(5), rel=1e-14)
    assert epsilon_bound(0.5, 0.1, 0.3) == pytest.approx(math.log(2), rel=1e-14)
    assert epsilon_bound(0.1, 0.5) == 0.0
    assert epsilon_bound(0.1, 0.05, 0.2) == 0.0
    assert epsilon_bound(0.1, 0.0) == math.inf
    assert delta_bound(0.9, 0.1, 1000.0) == 0.0


@pytest.mark.parametrize(("seen", "runs", "alpha"), [(-1, 5, 0.1), (6, 5, 0.1), (0, 0, 0.1), (1, 5, 0.5), (1, 5, 0.0)])
def test_impossible_counts_are_refused(seen: int, runs: int, alpha: float) -> None:
    with pytest.raises(OptionError):
        lower_bound(seen, runs, alpha)
    with pytest.raises(OptionError):
        upper_bound(seen, runs, alpha)
