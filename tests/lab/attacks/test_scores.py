# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Error rates: against plain loops, and by what must hold for any scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d
from scipy.optimize import brentq

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.matching import Pairs, cumulative_matches, interval, resampled_people, roc

some_scores = st.lists(st.integers(-20, 20), min_size=1, max_size=30).map(lambda values: np.array(values, float))


def error_rate_by_hand(owners: np.ndarray, strangers: np.ndarray) -> float:
    """Every threshold in turn, then the crossing of straight lines by a root finder."""
    thresholds = [np.inf, *sorted({*owners, *strangers}, reverse=True)]
    passing = [np.mean(strangers >= one) for one in thresholds]
    owning = [np.mean(owners >= one) for one in thresholds]
    steps = np.arange(len(thresholds), dtype=float)  # along the curve: shares alone may stand still
    crossing = brentq(
        lambda s: 1.0 - float(interp1d(steps, owning)(s)) - float(interp1d(steps, passing)(s)), 0, steps[-1]
    )
    return float(interp1d(steps, passing)(crossing))


@settings(max_examples=60, deadline=None)
@given(owners=some_scores, strangers=some_scores)
def test_the_equal_error_rate_is_the_one_found_by_trying_every_threshold(
    owners: np.ndarray, strangers: np.ndarray
) -> None:
    assert roc(owners, strangers).equal_error_rate == pytest.approx(error_rate_by_hand(owners, strangers), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(owners=some_scores, strangers=some_scores)
def test_only_the_order_of_scores_counts(owners: np.ndarray, strangers: np.ndarray) -> None:
    curve, bent = roc(owners, strangers), roc(np.exp(owners / 7), np.exp(strangers / 7))
    assert np.array_equal(curve.owners, bent.owners)
    assert np.array_equal(curve.strangers, bent.strangers)


@settings(max_examples=60, deadline=None)
@given(owners=some_scores, strangers=some_scores)
def test_who_takes_owners_for_strangers_errs_the_other_way_round(owners: np.ndarray, strangers: np.ndarray) -> None:
    curve, swapped = roc(owners, strangers), roc(strangers, owners)
    assert curve.equal_error_rate + swapped.equal_error_rate == pytest.approx(1.0)
    assert curve.area + swapped.area == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(owners=some_scores, strangers=some_scores)
def test_the_area_is_how_often_an_owner_beats_a_stranger(owners: np.ndarray, strangers: np.ndarray) -> None:
    beats = (owners[:, None] > strangers).mean() + (owners[:, None] == strangers).mean() / 2
    assert roc(owners, strangers).area == pytest.approx(beats)


def test_people_who_are_told_apart_without_a_doubt_have_no_error() -> None:
    assert roc(np.array([2.0, 3.0]), np.array([0.0, 1.0])).equal_error_rate == 0
    assert roc(np.array([0.0, 1.0]), np.array([2.0, 3.0])).equal_error_rate == 1


def test_whole_weights_are_the_same_as_scores_said_that_often() -> None:
    owners, strangers = np.array([1.0, 3.0, 2.0]), np.array([0.0, 2.5])
    weighted = roc(owners, strangers, np.array([2.0, 1.0, 3.0]), np.array([1.0, 4.0]))
    repeated = roc(np.repeat(owners, [2, 1, 3]), np.repeat(strangers, [1, 4]))
    assert np.allclose(weighted.owners, repeated.owners)
    assert np.allclose(weighted.strangers, repeated.strangers)


def all_pairs(people: int, seed: int) -> Pairs:
    asked, compared = (side.ravel() for side in np.meshgrid(np.arange(people), np.arange(people)))
    score = np.random.default_rng(seed).normal(size=people**2) + 2.0 * (asked == compared)
    return Pairs(score, asked, compared, people)


def test_a_person_drawn_twice_weighs_as_two_and_strangers_weigh_their_product() -> None:
    pairs = all_pairs(3, 1)
    weights = pairs.weights(np.array([2.0, 1.0, 0.0]))
    of = {(int(a), int(b)): weights[n] for n, (a, b) in enumerate(zip(pairs.asked, pairs.compared, strict=True))}
    assert of[0, 0] == 2
    assert of[0, 1] == of[1, 0] == 2
    assert of[2, 2] == of[0, 2] == 0


def test_d_prime_is_the_gap_in_standard_deviations() -> None:
    pairs = all_pairs(12, 2)
    owners, strangers = pairs.score[pairs.true], pairs.score[~pairs.true]
    by_hand = (owners.mean() - strangers.mean()) / np.sqrt((owners.var() + strangers.var()) / 2)
    assert pairs.d_prime() == pytest.approx(by_hand)
    assert pairs.d_prime(np.ones(12)) == pytest.approx(by_hand)
    assert np.isnan(pairs.d_prime(np.zeros(12)))


def test_error_rates_of_people_drawn_anew_lie_around_that_of_all() -> None:
    pairs = all_pairs(20, 3)
    rates = pairs.equal_error_rates(resampled_people(20, 200, 1))
    low, high = interval(rates)
    assert low < pairs.roc().equal_error_rate < high
    assert np.isnan(pairs.equal_error_rates(np.eye(20)[:1] * 20)).all()  # one person alone has no strangers


def test_an_interval_over_people_holds_the_truth_as_often_as_it_says() -> None:
    """Of 300 worlds, 95 % should hold it; fewer than 88 % has a chance below 1e-6 were it 95 %."""
    rng = np.random.default_rng(4)
    held = 0
    for world in range(300):
        accuracy = rng.beta(2, 2, size=40)
        drawn = resampled_people(40, 300, world)
        low, high = interval(drawn @ accuracy / 40)
        held += low <= 0.5 <= high
    assert held >= 0.88 * 300


def test_ranks_add_up_to_the_matches_among_the_first_guesses() -> None:
    curve = cumulative_matches(np.array([1, 1, 3, 0]), 4)
    assert curve.tolist() == [0.5, 0.5, 0.75, 0.75]  # one had no answer and is never among them
    assert np.isnan(cumulative_matches(np.array([], int), 2)).all()


def test_everybody_is_drawn_as_often_as_there_are_people_and_the_seed_decides() -> None:
    drawn = resampled_people(7, 50, 3)
    assert (drawn.sum(axis=1) == 7).all()
    assert np.array_equal(drawn, resampled_people(7, 50, 3))
    assert not np.array_equal(drawn, resampled_people(7, 50, 4))
    with pytest.raises(OptionError, match="at least one participant"):
        resampled_people(0, 5, 1)


def test_scores_of_one_kind_alone_have_no_error_rate() -> None:
    with pytest.raises(InputError, match="true pairs and of strangers"):
        roc(np.array([1.0]), np.array([]))
    with pytest.raises(InputError, match="not a number"):
        Pairs(np.array([np.nan]), np.array([0]), np.array([0]), 1)
    with pytest.raises(InputError, match="different lengths"):
        Pairs(np.array([1.0]), np.array([0, 1]), np.array([0]), 2)
    assert np.isnan(interval(np.array([np.nan]))).all()


def test_a_draw_without_anybody_who_was_asked_about_has_no_error_rate() -> None:
    pairs = Pairs(np.array([1.0, 0.5, 0.2]), np.array([0, 0, 0]), np.array([0, 1, 2]), 3)
    rates = pairs.equal_error_rates(np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [3.0, 0.0, 0.0]]))
    assert np.isnan(rates).tolist() == [True, False, True]
