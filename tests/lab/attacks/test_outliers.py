# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Outliers: as scikit-learn's DBSCAN finds them, and how well an attacker finds them again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.release_attacks import FEWEST, Found, knee, outliers, reach_of_the_rest


def distances_of(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)))


@pytest.mark.parametrize("seed", range(6))
def test_outliers_are_those_of_dbscan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(0, 1, (15, 2)), rng.normal(6, 0.5, (6, 2)), rng.uniform(-20, 20, (4, 2))])
    far = distances_of(points)
    for reach in (0.4, 1.0, knee(far)):
        theirs = DBSCAN(eps=reach, min_samples=FEWEST, metric="precomputed").fit(far).labels_ == -1
        np.testing.assert_array_equal(outliers(far, reach), theirs)


def test_the_knee_parts_a_crowd_from_strays() -> None:
    rng = np.random.default_rng(1)
    points = np.concatenate([rng.normal(0, 1, (20, 2)), [[30, 0], [0, 40]]])
    np.testing.assert_array_equal(np.flatnonzero(outliers(distances_of(points))), [20, 21])


def test_who_has_no_distance_is_an_outlier_and_few_people_have_no_core() -> None:
    far = distances_of(np.random.default_rng(1).normal(0, 1, (8, 2)))
    far[3, :] = far[:, 3] = np.nan
    assert outliers(far, 10.0).tolist() == [number == 3 for number in range(8)]
    assert outliers(np.zeros((2, 2))).all()
    assert outliers(np.empty((0, 0))).shape == (0,)
    assert knee(np.empty((0, 0))) == 0.0


def test_chance_is_what_drawing_as_many_gives() -> None:
    """20,000 draws: the mean's standard error is below 0.002."""
    rng = np.random.default_rng(2)
    truth = np.arange(20) < 5
    flagged = np.arange(20) % 3 == 0
    found = Found.of(truth, flagged)
    drawn = [Found.of(truth, rng.permutation(flagged)).f1 for _ in range(20_000)]
    assert np.mean(drawn) == pytest.approx(found.random_f1, abs=0.01)
    assert found.everybody_f1 == pytest.approx(Found.of(truth, np.ones(20, bool)).f1)
    both = found + found
    assert (both.f1, both.random_f1, both.people) == (found.f1, found.random_f1, 40)
    assert np.isnan(Found().f1)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError):
        reach_of_the_rest(np.zeros((2, 3)))
    with pytest.raises(OptionError):
        reach_of_the_rest(np.zeros((2, 2)), 1)
