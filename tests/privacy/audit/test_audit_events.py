# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Each family of events must find what it is there for, and cope with whatever a mechanism returns."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.privacy.audit import FAMILIES
from gazeveil.privacy.audit.auditor import Goal, candidates, choose
from gazeveil.privacy.audit.events import Bits, Coordinate, FinestDigit, OutputEvent, Outputs, Sample, fit_logistic

ROWS = 4000


def outputs_of(make: Callable[[np.random.Generator, int], Outputs], secret: int, seed: int) -> Outputs:
    outputs = make(np.random.default_rng([seed, secret]), secret)
    return outputs if outputs.ndim == 2 else outputs[:, None]


def shown(name: str, make: Callable[[np.random.Generator, int], Outputs]) -> float:
    """The ε, cautiously, that one family shows between secret 0 and secret 1."""
    learn, keep = (Sample(outputs_of(make, 0, seed), outputs_of(make, 1, seed)) for seed in (1, 2))
    goals = [Goal(None, 0.0, 0), Goal(None, 0.0, 1)]
    found = candidates(FAMILIES[name](learn), keep, goals)
    return max(choose(rivals, goal).cautious for rivals, goal in zip(found, goals, strict=True) if rivals)


def shift(rng: np.random.Generator, secret: int) -> Outputs:
    return rng.normal(3 * secret, 1, ROWS)


def widening(rng: np.random.Generator, secret: int) -> Outputs:
    return rng.normal(0, 1 + 3 * secret, (ROWS, 3))


def correlation(rng: np.random.Generator, secret: int) -> Outputs:
    common = rng.normal(size=(ROWS, 1))
    return np.asarray(0.3 * rng.normal(size=(ROWS, 2)) + common * np.array([1, 1 - 2 * secret]))


def comb(rng: np.random.Generator, secret: int) -> Outputs:
    """Even or odd unit intervals, on a wide background: no threshold sees it."""
    teeth = 2 * rng.integers(-5, 5, ROWS) + secret + rng.random(ROWS)
    return np.where(rng.random(ROWS) < 0.5, rng.normal(0, 50, ROWS), teeth)


def special_value(rng: np.random.Generator, secret: int) -> Outputs:
    noise = rng.normal(size=ROWS)
    return np.where(rng.random(ROWS) < 0.02, 0.25 + secret, noise)


def missing(rng: np.random.Generator, secret: int) -> Outputs:
    return np.where(rng.random(ROWS) < 0.05 * (1 + 9 * secret), np.nan, rng.normal(size=ROWS))


def parity_of_the_order(rng: np.random.Generator, secret: int) -> Outputs:
    """Cyclic orders of three: each number, each pair of numbers looks the same for both secrets."""
    numbers = np.sort(rng.normal(size=(ROWS, 3)), axis=1)
    cycles = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    chosen = cycles[rng.integers(0, 3, ROWS)]
    chosen = chosen[:, ::-1] if secret else chosen
    return np.take_along_axis(numbers, chosen, axis=1)


def last_bit(rng: np.random.Generator, secret: int) -> Outputs:
    words = rng.normal(size=ROWS).view(np.uint64)
    return ((words & ~np.uint64(1)) | np.uint64(secret)).view(np.float64)


def ascending(rng: np.random.Generator, secret: int) -> Outputs:
    numbers = rng.normal(size=(ROWS, 30))
    return np.sort(numbers, axis=1) if secret else numbers


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("threshold", shift),
        ("threshold", widening),
        ("histogram", shift),
        ("histogram", comb),
        ("histogram", special_value),
        ("histogram", missing),
        ("histogram", widening),
        ("classifier", shift),
        ("classifier", widening),
        ("classifier", correlation),
        ("classifier", missing),
        ("classifier", ascending),
        ("order", parity_of_the_order),
        ("bit-pattern", last_bit),
    ],
)
def test_a_family_finds_what_it_is_for(name: str, make: Callable[[np.random.Generator, int], Outputs]) -> None:
    assert shown(name, make) > 1.5


@pytest.mark.parametrize("name", ["threshold", "histogram", "classifier", "bit-pattern"])
def test_a_family_finds_nothing_where_there_is_nothing(name: str) -> None:
    assert shown(name, lambda rng, _secret: rng.normal(size=(ROWS, 2))) < 0.1


def test_what_others_cannot_see_is_invisible_to_them() -> None:
    """Otherwise the families above would not be needed."""
    assert shown("threshold", comb) < 0.1
    assert shown("threshold", parity_of_the_order) < 0.2
    for name in ("threshold", "histogram", "classifier"):
        assert shown(name, last_bit) < 0.1


WILD = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, 0.0, -0.0, 1.0]


@pytest.mark.parametrize("width", [1, 2, 7, 200])
@pytest.mark.parametrize("name", FAMILIES.names())
def test_a_family_copes_with_whatever_comes_out(name: str, width: int) -> None:
    rng = np.random.default_rng(5)
    outputs: list[tuple[Outputs, Outputs]] = [
        (rng.choice(WILD, (300, width)), rng.choice(WILD, (300, width))),
        (np.zeros((300, width)), np.zeros((300, width))),
        (np.full((300, width), np.nan), np.zeros((300, width))),
        (rng.integers(-(2**62), 2**62, (300, width)), rng.integers(0, 2, (300, width))),
    ]
    for first, second in outputs:
        sample = Sample(first, second)
        for score in FAMILIES[name](sample):
            assert len(score(second)) == 300
            again = pickle.loads(pickle.dumps(score))
            assert np.array_equal(again(first), score(first), equal_nan=True)
            assert score.words
            assert 0 <= OutputEvent(score, 0.5, above=True).count(first) <= 300


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(max_examples=200, deadline=None)
def test_the_finest_digit_is_the_lowest_bit_that_is_set(value: float) -> None:
    (digit,) = FinestDigit(0)(np.array([[value]]))
    if value == 0:
        assert digit == 10_000
        return
    fraction = Fraction(value) / Fraction(2) ** int(digit)
    assert fraction.denominator == 1
    assert fraction.numerator % 2 == 1


@given(st.integers(-(2**63), 2**63 - 1))
@settings(max_examples=100, deadline=None)
def test_the_finest_digit_of_an_integer_too(value: int) -> None:
    (digit,) = FinestDigit(0)(np.array([[value]], dtype=np.int64))
    assert digit == (10_000 if value == 0 else (value & -value).bit_length() - 1)


def test_bits_are_those_of_the_representation() -> None:
    (bits,) = Bits(0)(np.array([[-1.5]]))
    whole = sum(int(bit) << place for place, bit in enumerate(bits))
    assert whole == 0xBFF8000000000000


def test_an_event_is_counted_at_its_threshold_too() -> None:
    outputs = np.array([[1.0], [2.0], [3.0], [np.nan]])
    assert OutputEvent(Coordinate(0), 2.0, above=True).count(outputs) == 2
    assert OutputEvent(Coordinate(0), 2.0, above=False).count(outputs) == 2
    assert OutputEvent(Coordinate(0), 2.0, above=True).words == "number 1 of the output is at least 2"


def test_logistic_regression_finds_the_log_odds() -> None:
    """Two normals a distance apart: the log odds are linear, with a slope that is the distance."""
    rng = np.random.default_rng(8)
    weights = fit_logistic(rng.normal(1, 1, (40_000, 1)), rng.normal(0, 1, (40_000, 1)))
    assert weights[0] == pytest.approx(1.0, abs=0.05)
    assert weights[1] == pytest.approx(-0.5, abs=0.05)


def test_logistic_regression_bears_what_separates_perfectly_or_not_at_all() -> None:
    weights = fit_logistic(np.ones((50, 3)), np.zeros((50, 3)))
    assert np.isfinite(weights).all()
    assert weights[:3].min() > 0
    assert np.array_equal(fit_logistic(np.ones((50, 2)), np.ones((50, 2)))[:2], [0, 0])


def test_the_known_log_ratio_is_cut_at_epsilon_when_delta_is_the_goal() -> None:
    rng = np.random.default_rng(4)
    sample = Sample(rng.normal(1, 3, (500, 1)), rng.normal(0, 3, (500, 1)), lambda outputs: outputs[:, 0] / 9 - 1 / 18)
    goals = [Goal(0.7, 1e-9, 0), Goal(0.7, 1e-9, 1)]
    found = candidates(FAMILIES["likelihood-ratio"](sample), sample, goals)
    assert [(c.event.threshold, c.event.above) for rivals in found for c in rivals] == [(0.7, True), (-0.7, False)]
    assert math.isfinite(found[0][0].bold)
