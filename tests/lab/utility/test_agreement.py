# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError
from gazeveil.lab.utility.label_agreement import Agreement, agreement


def test_counts_and_scores_of_a_small_example() -> None:
    first = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)
    second = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
    found = agreement(first, second)
    assert found == Agreement(both=3, first=1, second=1, neither=5)
    assert found.f1 == pytest.approx(0.75)
    assert found.kappa == pytest.approx((0.8 - 0.52) / (1 - 0.52))


def test_the_example_of_a_textbook() -> None:
    # 50 proposals read by two readers (the usual example for Cohen's kappa): 20 both yes, 15 both no, 5 and 10 apart
    assert Agreement(20, 5, 10, 15).kappa == pytest.approx(0.4)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_scores_follow_their_definitions(pairs: list[tuple[bool, bool]]) -> None:
    first, second = (np.array(values, dtype=bool) for values in zip(*pairs, strict=True))
    found, n = agreement(first, second), len(pairs)
    assert found == Agreement(
        found.both, *(agreement(second, first).second, agreement(second, first).first), found.neither
    )
    hits = sum(a and b for a, b in pairs)
    if first.any() and second.any() and hits:
        precision, recall = hits / second.sum(), hits / first.sum()
        assert found.f1 == pytest.approx(2 * precision * recall / (precision + recall))
    observed = Fraction(sum(a == b for a, b in pairs), n)
    p, q = Fraction(int(first.sum()), n), Fraction(int(second.sum()), n)
    chance = p * q + (1 - p) * (1 - q)
    if chance == 1:
        assert math.isnan(found.kappa)
    else:
        assert found.kappa == pytest.approx(float((observed - chance) / (1 - chance)))
    assert -1 <= found.kappa <= 1 or math.isnan(found.kappa)


def test_recordings_add_up() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 100)) < 0.3
    parts = agreement(first[:40], second[:40]) + agreement(first[40:], second[40:])
    assert parts == agreement(first, second)
    assert parts.samples == 100


def test_where_nothing_can_be_said_it_is_no_number() -> None:
    nothing = agreement(np.zeros(0, dtype=bool), np.zeros(0, dtype=bool))
    never = agreement(np.zeros(9, dtype=bool), np.zeros(9, dtype=bool))
    always = agreement(np.ones(9, dtype=bool), np.ones(9, dtype=bool))
    assert math.isnan(nothing.f1)
    assert math.isnan(nothing.kappa)
    assert math.isnan(never.f1)
    assert math.isnan(never.kappa)
    assert always.f1 == 1.0
    assert math.isnan(always.kappa)


@pytest.mark.parametrize(("first", "second"), [([True], [True, False]), ([1, 0], [True, False]), ([[True]], [[True]])])
def test_only_two_lists_of_true_and_false_are_compared(first: list[object], second: list[object]) -> None:
    with pytest.raises(InputError, match="same length"):
        agreement(first, second)  # type: ignore[arg-type]
