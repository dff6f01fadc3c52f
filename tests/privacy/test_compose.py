# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Several releases together: sound, tight where that is claimed, in any order."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import CannotCompose, MissingExtra, OptionError
from gazeveil.privacy import (
    ApproxDP,
    GazeStreamDP,
    Guarantee,
    Neighbours,
    Observer,
    PureDP,
    StretchOfGaze,
    Unproven,
    ZeroConcentratedDP,
    conversion,
)
from gazeveil.privacy.calibration import gaussian_epsilon
from gazeveil.privacy.composition import (
    GaussianEvent,
    LaplaceEvent,
    MechanismEvent,
    PureEvent,
    compose,
    compose_disjoint,
    compose_events,
)

SMALL = st.fractions(min_value=Fraction(1, 1000), max_value=2, max_denominator=1000)
PARTS = st.one_of(
    SMALL.map(PureDP),
    SMALL.map(lambda epsilon: PureDP(epsilon, neighbours="add-remove")),
    SMALL.map(lambda epsilon: ApproxDP(epsilon, "1e-9")),
    SMALL.map(ZeroConcentratedDP),
)
EVENTS = st.one_of(
    st.builds(GaussianEvent, st.fractions(min_value=1, max_value=30, max_denominator=100), st.integers(1, 9)),
    st.builds(LaplaceEvent, st.fractions(min_value=1, max_value=30, max_denominator=100), st.integers(1, 9)),
    st.builds(PureEvent, SMALL, st.integers(1, 9)),
)


def test_promises_add_up_as_they_are() -> None:
    assert compose([PureDP("0.1")] * 3) == PureDP("0.3")
    assert compose([PureDP(1), ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6")]) == ApproxDP(3, "2e-6")
    assert compose([ZeroConcentratedDP("0.1")] * 2) == ZeroConcentratedDP("0.2")
    assert compose([GazeStreamDP(1, 1, 60)] * 2) == GazeStreamDP(2, 1, 60)


def test_pure_among_concentrated_promises_are_concentrated_one_by_one() -> None:
    parts = [PureDP(1), ZeroConcentratedDP("0.1"), PureDP(1)]
    assert compose(parts) == compose(parts[::-1]) == ZeroConcentratedDP("1.1")


def test_add_remove_promises_are_restated_one_by_one() -> None:
    both = compose([ApproxDP(1, "1e-6", neighbours="add-remove")] * 2 + [PureDP(1)])
    assert isinstance(both, ApproxDP)
    assert both.epsilon == 5
    assert float(both.delta) == pytest.approx(2e-6 * (1 + math.e), rel=1e-14)
    assert both.neighbours is Neighbours.REPLACE_ONE


def test_a_target_delta_buys_a_smaller_epsilon() -> None:
    hundred = compose([PureDP("0.1")] * 100, target_delta="1e-6")
    assert isinstance(hundred, ApproxDP)
    assert hundred.delta == Fraction(1, 10**6)
    assert hundred.epsilon == conversion.repeated_epsilon("0.1", 0, 100, "1e-6")
    assert float(hundred.epsilon) == pytest.approx(4.775, abs=1e-3)
    mixed = compose([PureDP("0.1")] * 60 + [PureDP("0.2")] * 20, target_delta="1e-6")
    assert isinstance(mixed, ApproxDP)
    assert mixed.epsilon < 10


def test_a_few_pure_promises_stay_pure() -> None:
    assert compose([PureDP(1), PureDP(2)], target_delta="1e-9") == PureDP(3)


def test_all_kinds_meet_at_a_target_delta() -> None:
    parts = [PureDP("0.1"), ZeroConcentratedDP("0.1"), ApproxDP("0.5", "1e-7")]
    both = compose(parts, target_delta="1e-6")
    assert isinstance(both, ApproxDP)
    alone = conversion.zcdp_epsilon("0.1", Fraction(9, 10**7))
    assert alone < both.epsilon <= alone + Fraction("0.6")
    half = compose([ZeroConcentratedDP("0.1"), ApproxDP(0, "5e-7")], target_delta="1e-6")
    assert half == ApproxDP(conversion.zcdp_epsilon("0.1", "5e-7"), "1e-6")  # the other half of δ is spent
    with pytest.raises(CannotCompose, match="target_delta"):
        compose(parts)


def test_a_target_that_the_releases_use_up_is_refused() -> None:
    with pytest.raises(OptionError, match="leaves nothing"):
        compose([ApproxDP(1, "1e-6"), ZeroConcentratedDP(1)], target_delta="1e-6")
    with pytest.raises(OptionError, match="leaves nothing"):
        compose([ApproxDP(1, "1e-6"), ApproxDP(2, "1e-6")], target_delta="1e-6")
    assert compose([ApproxDP(1, "1e-6"), PureDP(1)], target_delta="1e-6") == ApproxDP(2, "1e-6")
    with pytest.raises(OptionError, match="nothing to compose"):
        compose([])


def test_unproven_and_foreign_units_are_not_lost_on_the_way() -> None:
    parts: list[Guarantee] = [PureDP(1), Unproven("L1"), ZeroConcentratedDP(1), PureDP(1, unit=StretchOfGaze(1))]
    assert compose(parts) == compose(parts[::-1], target_delta="1e-6") == Unproven("L1")
    with pytest.raises(CannotCompose, match="do not add up"):
        compose([PureDP(1), PureDP(1, unit=StretchOfGaze(1))], target_delta="1e-6")


@settings(max_examples=30, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_composition_does_not_depend_on_the_order(parts: list[Guarantee], shuffler: Any) -> None:
    together = compose(parts, target_delta="1e-6")
    shuffler.shuffle(parts)
    assert compose(parts, target_delta="1e-6") == together


@settings(max_examples=30, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=5), PARTS)
def test_one_more_release_never_makes_the_promise_stronger(parts: list[Guarantee], more: Guarantee) -> None:
    parts, more = (
        [part.restated(neighbours=Neighbours.REPLACE_ONE) for part in parts],
        more.restated(neighbours=Neighbours.REPLACE_ONE),
    )
    before, after = compose(parts, target_delta="1e-6"), compose([*parts, more], target_delta="1e-6")
    assert not after < before
    if isinstance(before, ApproxDP) and isinstance(after, ApproxDP):
        # The best Rényi order is found to nine digits, so a bound may be off by far less than this.
        assert before.epsilon <= after.epsilon * (1 + Fraction(1, 10**12))
        assert before.delta == after.delta


@settings(max_examples=20, deadline=None)
@given(st.lists(SMALL.map(PureDP), min_size=1, max_size=8))
def test_no_bound_exceeds_the_plain_sum(parts: list[Guarantee]) -> None:
    assert compose(parts, target_delta="1e-6").numbers()["epsilon"] <= compose(parts).numbers()["epsilon"]


# Disjoint people


def test_disjoint_people_pay_only_for_their_own_release() -> None:
    assert compose_disjoint([(PureDP(1), ["ann", "bob"]), (PureDP(2), ["cy"])]) == PureDP(2)
    both = compose_disjoint([(PureDP(1), {1, 2}), (ApproxDP("0.5", "1e-6"), {3})])
    assert both == ApproxDP(1, "1e-6")
    assert compose_disjoint([(ZeroConcentratedDP("0.1"), [1]), (PureDP(1), [2])]) == ZeroConcentratedDP("0.5")
    assert compose_disjoint([(PureDP(1), [1]), (Unproven("L1"), [2])]) == Unproven("L1")


def test_people_who_are_in_two_releases_are_found() -> None:
    with pytest.raises(CannotCompose, match=r"1 of the participants.*bob"):
        compose_disjoint([(PureDP(1), ["ann", "bob"]), (PureDP(1), ["cy"]), (PureDP(1), ["bob"])])
    with pytest.raises(OptionError, match="whose data"):
        compose_disjoint([])
    with pytest.raises(OptionError, match="whose data"):
        compose_disjoint([(PureDP(1), [])])
    with pytest.raises(CannotCompose):
        compose_disjoint([(ApproxDP(1, "1e-6"), [1]), (ZeroConcentratedDP(1), [2])])


# Events


def test_gaussian_releases_together_are_one() -> None:
    together = compose_events([GaussianEvent(5, 16), GaussianEvent(5, 9)], target_delta="1e-6")
    assert together == ApproxDP(gaussian_epsilon(1, 1, "1e-6"), "1e-6")
    uneven = compose_events([GaussianEvent(3), GaussianEvent(4)], target_delta="1e-6")
    assert float(uneven.epsilon) == pytest.approx(gaussian_epsilon(12 / 5, 1, "1e-6"), rel=1e-14)


def test_events_know_more_than_promises() -> None:
    alike = [LaplaceEvent(10, 60), PureEvent("0.1", 20)]
    promised = compose([PureDP("0.1")] * 80, target_delta="1e-6").numbers()["epsilon"]
    assert compose_events(alike, target_delta="1e-6").epsilon <= promised
    mixed = [LaplaceEvent(10, 60), LaplaceEvent(5, 20)]
    promised = compose([PureDP("0.1")] * 60 + [PureDP("0.2")] * 20, target_delta="1e-6").numbers()["epsilon"]
    assert compose_events(mixed, target_delta="1e-6").epsilon < promised
    assert float(compose_events([PureEvent(1)], target_delta="1e-6").epsilon) == pytest.approx(1, abs=1e-5)


def test_events_carry_the_unit_they_are_told() -> None:
    unit = StretchOfGaze(2)
    assert compose_events([GaussianEvent(5)], target_delta="1e-6", unit=unit).unit == unit
    assert compose_events([GaussianEvent(5)], target_delta="1e-6").unit == Observer()


def test_events_are_values() -> None:
    for event in (GaussianEvent("1.5", 2), LaplaceEvent(3), PureEvent("1/3", count=4)):
        assert eval(repr(event)) == event
        assert hash(eval(repr(event))) == hash(event)
    assert PureEvent("0.1").epsilon_alone() == Fraction(1, 10)
    for wrong in (
        lambda: GaussianEvent(0),
        lambda: LaplaceEvent(-1),
        lambda: PureEvent("nan"),
        lambda: PureEvent(1, 0),
    ):
        with pytest.raises(OptionError):
            wrong()
    with pytest.raises(OptionError, match="at least one event"):
        compose_events([], target_delta="1e-6")


@settings(max_examples=20, deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=4), EVENTS, st.randoms(use_true_random=False))
def test_events_add_up_in_any_order_and_only_upwards(
    events: list[MechanismEvent], more: MechanismEvent, shuffler: Any
) -> None:
    longer = [*events, more]
    total = compose_events(longer, target_delta="1e-6")
    assert compose_events(events, target_delta="1e-6").epsilon <= total.epsilon * (1 + Fraction(1, 10**12))
    shuffler.shuffle(longer)
    assert compose_events(longer, target_delta="1e-6") == total


# The tight account


def test_a_tight_account_is_tighter_and_not_too_tight() -> None:
    pytest.importorskip("dp_accounting")
    events = [LaplaceEvent(10, 30), PureEvent("0.1", 10), GaussianEvent(8, 4)]
    loose = compose_events(events, target_delta="1e-6")
    tight = compose_events(events, target_delta="1e-6", tight=True)
    assert 0.8 * loose.epsilon < tight.epsilon < loose.epsilon
    # The Gaussian part alone is a lower bound that is known exactly.
    assert tight.epsilon > Fraction(gaussian_epsilon(4, 1, "1e-6"))
    # Equal pure releases: the account may not fall below the optimum, which is known exactly too.
    equal = compose_events([PureEvent("0.1", 40)], target_delta="1e-6", tight=True).epsilon
    optimum = conversion.repeated_epsilon("0.1", 0, 40, "1e-6")
    assert optimum <= equal <= optimum * Fraction("1.001")


def test_a_tight_account_refuses_what_floating_point_cannot_see() -> None:
    pytest.importorskip("dp_accounting")
    with pytest.raises(OptionError, match="δ above"):
        compose_events([LaplaceEvent(10, 3)], target_delta="1e-12", tight=True)


def test_a_tight_account_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtra, match=r"gazeveil\[accounting\]"):
        compose_events([LaplaceEvent(10, 3)], target_delta="1e-6", tight=True)


def test_a_tight_account_of_what_promises_nothing_is_not_attempted() -> None:
    events = [PureEvent(1000), LaplaceEvent(1)]
    assert compose_events(events, target_delta="1e-6", tight=True) == compose_events(events, target_delta="1e-6")


def test_a_total_computed_after_stopping_at_will_is_no_bound() -> None:
    """Randomised responses, stopped once the loss passes what is stated for as many: why numbers are fixed beforehand.

    The odds of the two data sets are computed exactly, up to rounding: no chance is involved.
    """
    each, most, delta = 0.2, 60, 0.01
    truth = 1 / (1 + math.exp(-each))
    going, failure = {0: 1.0}, 0.0  # the chance of every balance of answers, while nobody has stopped
    for count in range(1, most + 1):
        stated = float(compose([PureDP(each)] * count, target_delta=delta).numbers()["epsilon"])
        after: dict[int, float] = {}
        for balance, chance in going.items():
            after[balance + 1] = after.get(balance + 1, 0.0) + chance * truth
            after[balance - 1] = after.get(balance - 1, 0.0) + chance * (1 - truth)
        for balance in [balance for balance in after if balance * each > stated + 1e-9]:
            failure += after.pop(balance) * (1 - math.exp(stated - balance * each))
        going = after
    assert failure > 0.0114
    for words in (compose.__doc__, compose_events.__doc__):
        assert "fixed beforehand" in " ".join(str(words).split())
