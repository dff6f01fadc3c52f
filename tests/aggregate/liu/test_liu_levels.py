# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest

from gazeveil.aggregate.liu import Level, delta_of, demands, level_of
from gazeveil.aggregate.liu.noisy_maps import check
from gazeveil.errors import OptionError, PrivacyError


def test_good_and_okay_are_as_in_the_paper() -> None:
    assert demands("good", 100) == (Fraction(1), delta_of(100))
    assert demands(Level.OKAY, 100) == (Fraction(3), delta_of(100))
    assert float(delta_of(100)) == pytest.approx(1e-3, rel=1e-12)
    assert float(delta_of(30)) == pytest.approx(0.0061, abs=5e-5)


@pytest.mark.parametrize("level", ["good", "okay"])
@pytest.mark.parametrize("observers", [2, 30, 900, 50_000])
def test_what_a_level_demands_has_that_level(level: str, observers: int) -> None:
    epsilon, delta = demands(level, observers)
    assert level_of(epsilon, delta, observers) == level
    assert level_of(epsilon, 0, observers) == level


def test_whatever_implies_neither_is_poor() -> None:
    assert level_of("3.0001", 0, 100) is Level.POOR
    assert level_of(1, "0.0011", 100) is Level.POOR
    assert level_of("1.5", "0.001", 100) is Level.OKAY
    assert level_of(1, 1, 100) is Level.POOR


def test_poor_cannot_be_asked_for() -> None:
    with pytest.raises(OptionError, match="poor"):
        demands("poor", 100)
    with pytest.raises(OptionError, match="excellent"):
        demands("excellent", 100)


def test_the_rules_refuse_and_warn() -> None:
    with pytest.raises(PrivacyError, match="1/n"):
        check(1, "0.01", 100)
    assert len(check(1, "0.0099", 100)) == 2
    assert len(check(20, 0, 100)) == 2
    assert check(3, "1e-6", 100) == ()
