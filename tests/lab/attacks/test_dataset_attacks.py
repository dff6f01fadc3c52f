# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Membership and reconstruction: the attacks themselves, on numbers whose answers are known."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from gazeveil.errors import InputError
from gazeveil.lab.attacks.matching import roc
from gazeveil.lab.attacks.release_attacks import (
    Suspicion,
    all_cells_right,
    left_over,
    left_over_of_selection,
    likeliest_right,
    most_found,
    proven_epsilon,
)


def test_against_gaussian_noise_it_is_the_most_powerful_test() -> None:
    """The area under the ROC curve of the best test is Φ(d/√2); 4,000 of each leave it known to 0.03 (6 sd)."""
    rng = np.random.default_rng(1)
    change = rng.normal(0, 1, 50)
    change *= 1.5 / np.linalg.norm(change)
    suspicion = Suspicion.learn(change, rng.normal(0, 1, (2000, 50)))
    inside, outside = (suspicion.scores(rng.normal(0, 1, (4000, 50)) + there * change) for there in (1, 0))
    assert roc(inside, outside).area == pytest.approx(NormalDist().cdf(1.5 / math.sqrt(2)), abs=0.03)


def test_a_number_that_never_varies_without_the_target_decides_alone() -> None:
    rng = np.random.default_rng(1)
    change = np.array([1.0, 1.0, 0.0])
    noise = np.array([1.0, 0.0, 1.0])
    suspicion = Suspicion.learn(change, noise * rng.normal(0, 1, (50, 3)))
    inside, outside = (suspicion.scores(noise * rng.normal(0, 1, (50, 3)) + there * change) for there in (1, 0))
    assert inside.min() > outside.max()


def test_no_more_can_be_found_than_the_definition_says() -> None:
    false = np.linspace(0, 1, 101)
    for epsilon, delta in ((0.0, 0.0), (1.0, 1e-5), (3.0, 0.1), (1e9, 0.0)):
        most = most_found(epsilon, delta, false)
        assert ((most >= false - 1e-12) & (most <= 1)).all()
        assert most[0] == pytest.approx(min(delta, 1))
    np.testing.assert_allclose(most_found(0.0, 0.0, false), false)


def test_what_is_proven_is_true_and_not_far_from_it() -> None:
    """Randomised response has ε = 1 exactly; 60 studies, of which 3 may err: more than 11 once in 10,000 times."""
    rng = np.random.default_rng(3)
    chance = math.e / (1 + math.e)
    proven = []
    for _ in range(60):
        inside, outside = (np.where(rng.random(2000) < p, 1.0, 0.0) for p in (chance, 1 - chance))
        proven.append(proven_epsilon(inside, outside, 0.0))
    assert sum(value > 1.0 for value in proven) <= 11
    assert np.median(proven) > 0.7


def test_without_noise_the_rest_is_the_last_participant() -> None:
    own = np.random.default_rng(1).integers(0, 5, (6, 20)).astype(float)
    guess = left_over(own.mean(axis=0), 6, own[1:])
    np.testing.assert_allclose(guess, own[0], atol=1e-9)
    assert all_cells_right(guess, own[0]) == 1.0
    with pytest.raises(InputError, match="5 others"):
        left_over(own.mean(axis=0), 6, own[2:])


def test_of_a_random_selection_whoever_is_in_it_is_got_back() -> None:
    own = np.random.default_rng(2).integers(0, 9, (7, 30)).astype(float)
    drawn, missing = own[[0, 2, 5]].mean(axis=0), own[[1, 2, 5]].mean(axis=0)
    found = left_over_of_selection(drawn, 3, own[1:])
    assert found is not None
    np.testing.assert_array_equal(found, own[0])
    assert left_over_of_selection(missing, 3, own[1:]) is None


def test_orders_are_right_if_they_are_among_as_many_likeliest() -> None:
    truth = np.array([1.0, 0, 0, 1, 0])
    assert likeliest_right(np.array([0.9, 0.1, 0.2, 0.8, 0.3]), truth) == 1.0
    assert likeliest_right(np.array([0.9, 0.95, 0.2, 0.1, 0.3]), truth) == 0.5
    assert math.isnan(likeliest_right(truth, np.zeros(5)))
    assert all_cells_right(np.zeros(3), np.zeros(3)) == 1.0


def test_too_little_is_refused() -> None:
    with pytest.raises(InputError):
        Suspicion.learn(np.zeros(3), np.zeros((1, 3)))
    with pytest.raises(InputError):
        proven_epsilon(np.zeros(3), np.zeros(9), 0.0)
