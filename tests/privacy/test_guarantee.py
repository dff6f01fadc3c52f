# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Promises as values: their order, their arithmetic, their words."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import operator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import CannotCompose, OptionError
from gazeveil.privacy import (
    ApproxDP,
    FeatureSeries,
    GazeStreamDP,
    Guarantee,
    Neighbours,
    Observer,
    OneRecording,
    PureDP,
    StretchOfGaze,
    Unproven,
    WindowOfGaze,
    ZeroConcentratedDP,
    guarantee_from_dict,
)
from gazeveil.privacy.guarantee import KINDS

AMOUNTS = st.one_of(
    st.fractions(min_value=0, max_value=20, max_denominator=10**12),
    st.floats(min_value=0, max_value=20),
    st.decimals(min_value=0, max_value=20, places=6),
    st.integers(0, 20),
)
CHANCES = st.fractions(min_value=0, max_value=1, max_denominator=10**12)
UNITS = st.sampled_from([Observer(), OneRecording(), StretchOfGaze(2), WindowOfGaze("0.5", 60), FeatureSeries(64)])


@st.composite
def proven(draw: st.DrawFn, unit: Any = None) -> Guarantee:
    on = draw(UNITS) if unit is None else unit
    relation = draw(st.sampled_from(list(Neighbours))) if on.can_be_removed and unit is None else Neighbours.REPLACE_ONE
    match draw(st.sampled_from(["pure", "approx", "zcdp", "stream"])):
        case "pure":
            return PureDP(draw(AMOUNTS), unit=on, neighbours=relation)
        case "approx":
            return ApproxDP(draw(AMOUNTS), draw(CHANCES), unit=on, neighbours=relation)
        case "stream" if unit is None:
            return GazeStreamDP(draw(AMOUNTS), draw(st.integers(1, 9)), draw(st.integers(1, 99)))
    return ZeroConcentratedDP(draw(AMOUNTS), unit=on, neighbours=relation)


ANYTHING = proven() | st.lists(st.sampled_from(["L1", "B2", "seeded noise"]), min_size=1).map(Unproven)


def test_a_guarantee_is_a_frozen_value() -> None:
    guarantee = PureDP("0.5")
    assert guarantee == PureDP(0.5) == PureDP(Fraction(1, 2), unit=Observer(), neighbours="replace-one")
    assert guarantee not in (ApproxDP("0.5", 0), PureDP("0.5", neighbours="add-remove"))
    assert len({guarantee, PureDP(0.5)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        guarantee.epsilon = Fraction(1)  # type: ignore[misc]


def test_numbers_are_the_fractions_that_were_written() -> None:
    assert PureDP("0.1").epsilon * 3 == Fraction(3, 10)
    assert PureDP(0.1) > PureDP("0.1")  # the float is a little more than one tenth
    assert PureDP("0.1") * 3 <= PureDP("0.3")
    assert not PureDP(0.1) * 3 <= PureDP(0.3)


@pytest.mark.parametrize("wrong", [-1, math.nan, math.inf, "x", None, "-1e-9"])
def test_numbers_that_guarantee_nonsense_are_refused(wrong: Any) -> None:
    for make in (PureDP, ZeroConcentratedDP, lambda value: ApproxDP(value, 0), lambda value: ApproxDP(1, value)):
        with pytest.raises(OptionError, match=r"(?s)(epsilon|delta|rho).*" + str(wrong)):
            make(wrong)


def test_a_delta_above_one_and_a_missing_reason_are_refused() -> None:
    with pytest.raises(OptionError, match="probability"):
        ApproxDP(1, "1.01")
    for empty in ("", " ", [], ["L1", ""]):
        with pytest.raises(OptionError, match="why"):
            Unproven(empty)


def test_a_window_cannot_be_added_or_removed() -> None:
    with pytest.raises(OptionError, match="only replaced"):
        PureDP(1, unit=StretchOfGaze(1), neighbours="add-remove")
    with pytest.raises(OptionError, match="neighbours are"):
        PureDP(1, neighbours="swap")
    with pytest.raises(OptionError, match="unit of protection"):
        PureDP(1, unit="observer")  # type: ignore[arg-type]


@settings(max_examples=200)
@given(ANYTHING)
def test_a_guarantee_survives_json_and_repr_exactly(guarantee: Guarantee) -> None:
    back = guarantee_from_dict(json.loads(json.dumps(guarantee.to_dict())))
    assert back == guarantee
    assert type(back) is type(guarantee)
    assert hash(back) == hash(guarantee)
    assert eval(repr(guarantee)) == guarantee
    assert guarantee.in_words()
    assert str(guarantee)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "k-anonymity", "k": 3},
        {"kind": "pure-dp", "epsilon": "1"},
        {"kind": "pure-dp", "epsilon": "1", "unit": "observer", "neighbours": "replace-one"},
        {"kind": "pure-dp", "epsilon": "1", "unit": {"kind": "observer"}, "neighbours": "swap"},
        {"kind": "pure-dp", "epsilon": "1", "delta": "0", "unit": {"kind": "observer"}, "neighbours": "replace-one"},
        {"kind": "pure-dp", "epsilon": None, "unit": {"kind": "observer"}, "neighbours": "replace-one"},
        {"kind": "gaze-stream-dp", "epsilon": "1", "unit": {"kind": "observer"}, "neighbours": "replace-one"},
        {"kind": "unproven", "reason": [], "unit": {"kind": "observer"}, "neighbours": "replace-one"},
    ],
)
def test_what_does_not_describe_a_guarantee_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        guarantee_from_dict(values)


def test_every_kind_is_listed() -> None:
    assert set(KINDS) == {"pure-dp", "gaze-stream-dp", "approx-dp", "zcdp", "unproven"}


# Order


def test_smaller_guarantees_are_stronger() -> None:
    assert PureDP(1) < PureDP(2)
    assert PureDP(1) <= ApproxDP(1, "1e-6")
    assert not ApproxDP(1, "1e-6") <= PureDP(1)
    assert ApproxDP(1, 0) <= PureDP(1) <= ApproxDP(1, 0)
    assert not ApproxDP(1, "1e-5") <= ApproxDP(2, "1e-6")
    assert not ApproxDP(2, "1e-6") <= ApproxDP(1, "1e-5")
    assert PureDP(1) <= ZeroConcentratedDP("0.5")
    assert PureDP(3) <= ZeroConcentratedDP(3)
    assert not PureDP(1) <= ZeroConcentratedDP("0.49")
    assert ZeroConcentratedDP(0) <= PureDP(0)
    assert not ZeroConcentratedDP("1e-9") <= PureDP(100)


def test_concentrated_guarantees_imply_approximate_ones() -> None:
    # ρ = 1/2 at δ = 10^-6 gives ε = 5.2215 (optimised over the order; checked in test_convert against mpmath)
    assert ZeroConcentratedDP("0.5") <= ApproxDP("5.222", "1e-6")
    assert not ZeroConcentratedDP("0.5") <= ApproxDP("5.221", "1e-6")
    assert not ApproxDP(1, "1e-6") <= ZeroConcentratedDP(100)


def test_guarantees_about_larger_units_are_stronger() -> None:
    assert PureDP(1) <= GazeStreamDP(1, "0.5", 60)
    assert not GazeStreamDP(1, "0.5", 60) <= PureDP(1000)
    assert GazeStreamDP(1, 1, 60) <= GazeStreamDP(2, 2, 60)
    assert not GazeStreamDP(1, 1, 60) <= GazeStreamDP("1.9", 2, 60)
    assert GazeStreamDP(1, 1, 60) <= GazeStreamDP(1, "0.1", 10)
    assert not GazeStreamDP(1, 1, 60) <= GazeStreamDP(1, 1, 60, "deg")


def test_add_remove_implies_replace_one_at_twice_the_price_and_not_the_reverse() -> None:
    there = PureDP(1, neighbours="add-remove")
    assert there <= PureDP(2)
    assert not there <= PureDP("1.99")
    assert not PureDP(1) <= PureDP(100, neighbours="add-remove")
    assert there.restated(neighbours=Neighbours.REPLACE_ONE) == PureDP(2)
    twice = ApproxDP(1, "1e-6", neighbours="add-remove").restated(neighbours=Neighbours.REPLACE_ONE)
    assert isinstance(twice, ApproxDP)
    assert twice.epsilon == 2
    assert 0 < twice.delta - Fraction(1 + math.e) / 10**6 < Fraction(1, 10**15)
    assert ZeroConcentratedDP(1, neighbours="add-remove").restated(
        neighbours=Neighbours.REPLACE_ONE
    ) == ZeroConcentratedDP(4)


def test_nothing_is_weaker_than_unproven() -> None:
    nothing = Unproven("L1")
    assert PureDP(1) < nothing
    assert not nothing <= PureDP(10**9)
    assert nothing <= Unproven("other")
    assert not nothing.proven


def test_guarantees_are_not_compared_with_numbers() -> None:
    with pytest.raises(TypeError):
        assert PureDP(1) <= 1
    with pytest.raises(TypeError):
        PureDP(1) + 1  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(proven(), proven(), proven())
def test_the_order_is_reflexive_and_transitive(a: Guarantee, b: Guarantee, c: Guarantee) -> None:
    assert a.stronger_than(a)
    assert not operator.lt(a, a)
    if a <= b <= c:
        assert a <= c


# Arithmetic


def test_guarantees_of_different_kinds_add_up() -> None:
    assert PureDP(1) + PureDP("0.5") == PureDP("1.5")
    assert PureDP(1) + ApproxDP(2, "1e-6") == ApproxDP(2, "1e-6") + PureDP(1) == ApproxDP(3, "1e-6")
    assert ApproxDP(1, "0.7") + ApproxDP(1, "0.7") == ApproxDP(2, 1)
    assert GazeStreamDP(1, 1, 60) + GazeStreamDP(2, 1, 60) == GazeStreamDP(3, 1, 60)
    assert PureDP(1, unit=WindowOfGaze(1, 60)) + GazeStreamDP(2, 1, 60) == GazeStreamDP(3, 1, 60)
    assert PureDP(1) + PureDP(1, neighbours="add-remove") == PureDP(3)


def test_guarantees_that_have_no_common_measure_say_what_to_do() -> None:
    for first, second in [
        (ApproxDP(1, "1e-6"), ZeroConcentratedDP(1)),
        (PureDP(1), ZeroConcentratedDP(1)),  # ten small ε become a smaller ρ than their sum: the order would matter
        (ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6", neighbours="add-remove")),  # the same with their δ
    ]:
        for left, right in ((first, second), (second, first)):
            with pytest.raises(CannotCompose, match="use compose"):
                left + right
    assert PureDP(1, neighbours="add-remove") + ApproxDP(1, "1e-6") == ApproxDP(3, "1e-6")
    with pytest.raises(CannotCompose, match=r"weaken the first.*restated\(unit=WindowOfGaze"):
        PureDP(1) + GazeStreamDP(1, 1, 60)
    with pytest.raises(CannotCompose, match="an account for each unit"):
        PureDP(1, unit=FeatureSeries(64)) + PureDP(1, unit=StretchOfGaze(1))
    with pytest.raises(CannotCompose, match="says nothing about"):
        PureDP(1).restated(neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(CannotCompose, match="says nothing about"):
        PureDP(1, neighbours="add-remove").restated(unit=OneRecording())


def test_unproven_infects_what_it_meets() -> None:
    both = Unproven("L1") + PureDP(1) + Unproven(["B2", "L1"])
    assert both == Unproven(["L1", "B2"]) == PureDP(1) + both
    assert both.in_words() == "Nothing is guaranteed: B2; L1."
    assert Unproven("L1") * 3 == Unproven("L1") * 0 == Unproven("L1").for_group(2) == Unproven("L1")
    assert PureDP(1) + Unproven("L1", unit=StretchOfGaze(1)) == Unproven("L1")
    assert Unproven("L1").restated(unit=StretchOfGaze(1)) == Unproven("L1", unit=StretchOfGaze(1))


def test_a_guarantee_to_a_group_is_weaker() -> None:
    assert PureDP("0.1").for_group(4) == PureDP("0.4")
    assert ZeroConcentratedDP("0.1").for_group(3) == ZeroConcentratedDP("0.9")
    group = ApproxDP(1, "1e-9").for_group(3)
    assert isinstance(group, ApproxDP)
    assert group.epsilon == 3
    assert float(group.delta) == pytest.approx(1e-9 * (1 + math.e + math.e**2), rel=1e-14)
    assert ApproxDP(100, "1e-9").for_group(1000) == ApproxDP(100_000, 1)
    assert GazeStreamDP(1, 1, 60).for_group(2) == GazeStreamDP(2, 1, 60)
    with pytest.raises(OptionError, match="size"):
        PureDP(1).for_group(0)


def test_what_is_left_of_a_budget() -> None:
    assert ApproxDP(3, "1e-6") - PureDP(1) == ApproxDP(2, "1e-6")
    assert ZeroConcentratedDP(1) - PureDP(1) == ZeroConcentratedDP("0.5")
    assert PureDP(3) - PureDP(1, neighbours="add-remove") == PureDP(1)
    for spent in (PureDP("3.0000000001"), ApproxDP(1, "1e-9"), Unproven("L1"), GazeStreamDP(1, 1, 1)):
        with pytest.raises(CannotCompose):
            PureDP(3) - spent


@settings(max_examples=100, deadline=None)
@given(st.lists(st.fractions(min_value=0, max_value=3, max_denominator=10**9), min_size=1, max_size=20))
def test_a_budget_that_is_spent_to_the_last_fraction_has_nothing_left(amounts: list[Fraction]) -> None:
    budget = PureDP(sum(amounts))
    left: Guarantee = budget
    for amount in amounts:
        left = left - PureDP(amount)
    assert left == PureDP(0)
    with pytest.raises(CannotCompose):
        left - PureDP(Fraction(1, 10**60))


@settings(max_examples=200, deadline=None)
@given(st.lists(ANYTHING, min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_sums_do_not_depend_on_the_order(parts: list[Guarantee], shuffler: Any) -> None:
    def total(guarantees: list[Guarantee]) -> Guarantee | None:
        try:
            return functools.reduce(operator.add, guarantees)
        except CannotCompose:
            return None

    if not all(part.proven for part in parts):
        parts.sort(key=lambda part: part.proven)  # an error, or the news that nothing is proven: whichever comes first
        assert isinstance(total(parts), Unproven)
        return
    expected = total(parts)
    shuffler.shuffle(parts)
    assert total(parts) == expected


@settings(max_examples=100, deadline=None)
@given(proven(unit=Observer()), proven(unit=Observer()))
def test_a_sum_is_never_stronger_than_its_parts(a: Guarantee, b: Guarantee) -> None:
    try:
        both = a + b
    except CannotCompose:
        return
    if type(both) is type(a):
        assert a <= both
    if type(both) is type(b):
        assert b <= both


@given(proven(), st.integers(1, 5))
def test_times_is_repeated_plus(guarantee: Guarantee, times: int) -> None:
    total = guarantee
    for _ in range(times - 1):
        total = total + guarantee
    expected = guarantee * times
    assert expected.numbers() == total.numbers()
    assert times * guarantee == expected


# Words


def test_words_name_the_odds_the_unit_and_the_chance_of_failure() -> None:
    words = ApproxDP(1, "1e-6").in_words()
    assert "everything that one participant contributed" in words
    assert "e^1 = 2.72" in words
    assert "1 in 1,000,000" in words
    assert "adding or removing" in PureDP(1, neighbours="add-remove").in_words()
    assert "no protection" in PureDP(1000).in_words()
    assert "chance" not in ApproxDP(1, 0).in_words()
    assert ApproxDP(1, 1).in_words() == "Nothing is guaranteed: δ is 1."
    assert "0.5 seconds, up to 60 px away" in GazeStreamDP(3, "0.5", 60).in_words()
    assert "ρ = 0.5" in ZeroConcentratedDP("0.5").in_words()
    assert str(PureDP("0.1")) == "ε=0.1 for everything that one participant contributed (replace-one)"


def test_odds_in_words_are_never_understated() -> None:
    for epsilon in ("0.001", "0.1", "1", "2.5", "40"):
        words = PureDP(epsilon).in_words()
        factor = float(words.rsplit("= ", 1)[1].rstrip(".").replace(",", ""))
        assert factor >= math.exp(float(epsilon))


@pytest.mark.parametrize("wrong", [[5], [None, "why"], [["why"]]])
def test_a_reason_that_is_no_text_is_refused(wrong: Any) -> None:
    with pytest.raises(OptionError, match="text"):
        Unproven(wrong)
