# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One scale of what is strong and weak."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from gazeveil.privacy import protection
from gazeveil.privacy.protection import Strength, strength_of


@pytest.mark.parametrize(
    ("epsilon", "strength"),
    [
        ("0.1", "strong"),
        ("1", "strong"),
        ("1.01", "moderate"),
        ("3", "moderate"),
        ("10", "weak"),
        ("11", "next to none"),
    ],
)
def test_an_epsilon_has_one_name(epsilon: str, strength: str) -> None:
    assert strength_of(Fraction(epsilon)) == Strength(strength)


def test_the_table_says_how_sure_somebody_undecided_can_become() -> None:
    for most, strength in protection.UP_TO:
        belief = 100 / (1 + math.exp(-most))
        digits = 3 if most == 10 else 1
        shown = math.ceil(belief * 10**digits) / 10**digits
        assert f"| {most} | {shown:g} % | {strength} |" in str(protection.__doc__)


def test_only_what_protects_is_advised() -> None:
    assert [strength for strength in Strength if strength.protects] == [Strength.STRONG, Strength.MODERATE]
    assert strength_of(protection.MOST_ADVISED) is not Strength.NEXT_TO_NONE
