# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What charges come to: the rules, against plain fractions and against independent bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import norm

from gazeveil.errors import LedgerError
from gazeveil.privacy.conversion import zcdp_epsilon
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, Guarantee, PureDP, ZeroConcentratedDP
from gazeveil.privacy.ledger.spending import Conversion, NoPrice, Totals

SMALL = st.fractions(min_value=Fraction(1, 10**6), max_value=10, max_denominator=10**6)
TINY = st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(1, 10**3), max_denominator=10**12)


def spend(budget: Guarantee, *charges: Guarantee) -> Totals:
    totals = Totals().after_grant(budget)
    for charge in charges:
        totals = totals.after_charge(charge)
    return totals


@given(st.lists(SMALL, max_size=20))
@settings(max_examples=60)
def test_pure_charges_add_up_without_losing_a_fraction(parts: list[Fraction]) -> None:
    assert spend(PureDP(1), *(PureDP(part) for part in parts)).spent == (sum(parts),)


@given(st.lists(st.tuples(SMALL, TINY), max_size=20))
@settings(max_examples=60)
def test_approximate_charges_add_up_in_both_numbers(parts: list[tuple[Fraction, Fraction]]) -> None:
    totals = spend(ApproxDP(1, "0.5"), *(ApproxDP(epsilon, delta) for epsilon, delta in parts))
    assert totals.spent == (sum(e for e, _ in parts), sum(d for _, d in parts))


@given(st.lists(st.one_of(SMALL.map(PureDP), SMALL.map(ZeroConcentratedDP)), max_size=20))
@settings(max_examples=60)
def test_a_budget_of_rho_pays_pure_charges_at_half_their_square(charges: list[Guarantee]) -> None:
    expected = Fraction(0)
    for charge in charges:
        (number,) = charge.numbers().values()
        expected += number if isinstance(charge, ZeroConcentratedDP) else min(number**2 / 2, number)
    assert spend(ZeroConcentratedDP(1), *charges).spent == (expected,)


CHARGES = st.one_of(
    SMALL.map(PureDP), st.tuples(SMALL, TINY).map(lambda pair: ApproxDP(*pair)), SMALL.map(ZeroConcentratedDP)
)


@given(st.lists(CHARGES, min_size=1, max_size=12), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_charges_does_not_matter(charges: list[Guarantee], random: object) -> None:
    shuffled = list(charges)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    budget = ApproxDP(5, "1e-6")
    assert spend(budget, *charges) == spend(budget, *shuffled)


@given(st.lists(CHARGES, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_every_charge_costs_something_and_never_gives_back(charges: list[Guarantee]) -> None:
    totals = spend(ApproxDP(5, "1e-6"))
    for charge in charges:
        after = totals.after_charge(charge)
        assert all(new >= old for new, old in zip(after.spent, totals.spent, strict=True))
        assert after.spent != totals.spent
        totals = after


@given(SMALL, TINY, st.lists(SMALL, min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_converted_charges_are_never_below_the_best_proven_bound(
    epsilon: Fraction, delta: Fraction, parts: list[Fraction]
) -> None:
    totals = spend(ApproxDP(epsilon, delta), *(ZeroConcentratedDP(part) for part in parts))
    spent, failure = totals.spent
    assert failure == delta / 2
    assert spent >= zcdp_epsilon(sum(parts), failure)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), ("1", "1e-6"), ("3", "1e-5"), ("10", "1e-3")])
def test_who_spends_all_in_rho_loses_next_to_nothing_by_the_fixed_terms(epsilon: str, delta: str) -> None:
    budget = ApproxDP(epsilon, delta)
    terms = Conversion.on(budget)
    most = (budget.epsilon - terms.fee) / terms.order
    assert not spend(budget, ZeroConcentratedDP(most)).overspent
    assert spend(budget, ZeroConcentratedDP(most + Fraction(1, 10**30))).overspent
    assert zcdp_epsilon(most, budget.delta / 2) > budget.epsilon * Fraction(999, 1000)


@given(st.fractions(min_value=Fraction(101, 100), max_value=10**6, max_denominator=1000), TINY)
@settings(max_examples=40, deadline=None)
def test_the_fee_is_the_textbook_one_rounded_up(order: Fraction, delta: Fraction) -> None:
    with mp.workdps(60):
        alpha, failure = mpf(order.numerator) / order.denominator, mpf(delta.numerator) / delta.denominator
        true = mp.log(1 - 1 / alpha) - mp.log(alpha * failure) / (alpha - 1)
        fee = Conversion.least_fee(order, delta)
        paid = mpf(fee.numerator) / fee.denominator
        assert paid >= true
        assert paid <= max(mpf(0), true) * (1 + mpf(10) ** -15) + mpf(10) ** -35


def failure_of_a_steering_spender(epsilon: float, rho: float, left: Callable[[int], float | None]) -> float:
    """Return the true δ at ε of somebody who steers by the privacy loss, which can be worked out from the releases.

    They make Gaussian releases of ρ each. After every one they may go on, or stop and spend all that ``left`` allows on
    one pure release, or leave it. The best rule is found backwards, on a grid of losses (dynamic programming).
    """
    step = 0.01
    loss = np.arange(-1400, 1401) * step
    reach = int(8 * math.sqrt(2 * rho) / step)
    moves = np.arange(-reach, reach + 1) * step
    likely = np.diff(norm.cdf(np.append(moves - step / 2, moves[-1] + step / 2), rho, math.sqrt(2 * rho)))

    def excess(at: Any) -> Any:
        return np.maximum(0, 1 - np.exp(np.minimum(epsilon - at, 50)))

    count = next(count for count in range(10_000) if left(count + 1) is None)
    value = np.zeros_like(loss)
    for made in range(count, -1, -1):
        pure = left(made)
        assert pure is not None
        true = 1 / (1 + math.exp(-pure))  # a coin that tells the truth this often is the worst pure release
        stop = true * excess(loss + pure) + (1 - true) * excess(loss - pure)
        padded = np.pad(value, reach, mode="edge")
        value = np.maximum(stop, np.convolve(padded, likely[::-1], "valid") if made < count else 0)
    return float(value[len(loss) // 2])


def test_fixed_terms_bound_somebody_who_steers_by_what_is_seen() -> None:
    epsilon, delta, rho = 6, 0.01, 0.05
    terms = Conversion.on(ApproxDP(epsilon, str(2 * delta)))

    def on_fixed_terms(made: int) -> float | None:
        left = epsilon - (float(terms.fee + terms.order * Fraction(str(rho)) * made) if made else 0.0)
        return left if left >= 0 else None

    def on_the_best_terms_afterwards(made: int) -> float | None:
        left = epsilon - (float(zcdp_epsilon(Fraction(str(rho)) * made, str(delta))) if made else 0.0)
        return left if left >= 0 else None

    assert failure_of_a_steering_spender(epsilon, rho, on_fixed_terms) < 0.7 * delta
    assert failure_of_a_steering_spender(epsilon, rho, on_the_best_terms_afterwards) > 1.4 * delta


def test_a_promise_between_other_neighbours_is_restated_first() -> None:
    assert spend(PureDP(9), PureDP(1, neighbours="add-remove")).spent == (Fraction(2),)
    with pytest.raises(NoPrice):
        spend(PureDP(9, neighbours="add-remove"), PureDP(1))


def test_a_stream_with_a_shorter_window_costs_as_often_as_it_fits() -> None:
    budget = GazeStreamDP(9, 2, 60)
    assert spend(budget, GazeStreamDP(1, 2, 60)).spent == (Fraction(1),)
    assert spend(budget, GazeStreamDP(1, 4, 120)).spent == (Fraction(1),)
    assert spend(budget, GazeStreamDP(1, 1, 60)).spent == (Fraction(2),)
    assert spend(budget, PureDP(1)).spent == (Fraction(1),)


@given(CHARGES)
@settings(max_examples=30, deadline=None)
def test_totals_are_written_and_read_without_loss(charge: Guarantee) -> None:
    totals = spend(ApproxDP(5, "1e-6"), charge, charge)
    assert Totals.from_text(totals.to_text()) == totals
    assert Totals.from_text("") == Totals()


@pytest.mark.parametrize("text", ["{}", "[]", "null", "x", '{"budget":{"kind":"gold"}}'])
def test_totals_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(LedgerError):
        Totals.from_text(text)


def test_terms_that_are_too_cheap_are_not_sound() -> None:
    terms = Conversion.on(ApproxDP(1, "1e-6"))
    assert terms.is_sound()
    assert not Conversion(terms.order, terms.fee * Fraction(999, 1000), terms.delta).is_sound()
    assert not Conversion(Fraction(1), terms.fee, terms.delta).is_sound()
    assert not Conversion(terms.order, terms.fee, Fraction(0)).is_sound()
