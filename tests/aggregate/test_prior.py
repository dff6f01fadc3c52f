# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.prior import (
    FAINT_HOT_SPOTS,
    HOT_SPOTS,
    MOST_WORKING_CELLS,
    features_spread,
    log_field,
    mixture_moments,
    prior_of,
    working_grid,
)
from gazeveil.aggregate.saliency import Saliency
from gazeveil.gaze.geometry import normalised, screen

GRID = Grid(16, 12, screen(800, 600))
MEASURED = screen(800, 600, 400, 300, 600)


def dense_covariance(grid, mean, variance, length):
    """The covariance written out cell by cell, as the definition says it."""
    width, height = prior_of(grid).cell_deg
    row, column = np.divmod(np.arange(grid.size), grid.columns)
    x, y = column * width, row * height
    distance = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
    raw = variance * np.outer(mean, mean) * np.exp(-distance / (2 * length**2))
    keep_mass = np.eye(grid.size) - np.outer(mean, np.ones(grid.size))
    return keep_mass @ raw @ keep_mass.T


def test_there_are_90_mean_maps_of_mass_1_and_their_weights_add_up():
    prior = prior_of(GRID)
    assert prior.means.shape == (90, GRID.size)
    assert np.allclose(prior.means.sum(axis=1), 1)
    assert prior.weights.sum() == pytest.approx(1)
    assert prior.means.min() >= 0.2 / GRID.size
    assert prior.pictured == 0


def test_a_picture_adds_ten_mean_maps_and_takes_some_of_the_weight():
    values = np.ones((12, 16))
    values[3, 4] = 50.0
    prior = prior_of(GRID, Saliency("one bright spot", values))
    plain = prior_of(GRID)
    assert prior.means.shape == (100, GRID.size)
    assert prior.pictured == 10
    assert np.array_equal(prior.means[:90], plain.means)
    assert np.allclose(prior.weights[:90], 0.9 * plain.weights)
    assert prior.weights.sum() == pytest.approx(1)
    assert np.allclose(prior.means.sum(axis=1), 1)
    assert (prior.means[90:].argmax(axis=1) == 3 * 16 + 4).all()


def test_the_mean_is_the_same_seen_in_a_mirror():
    mean = prior_of(GRID).mean.reshape(GRID.shape)
    assert np.allclose(mean, mean[::-1])
    assert np.allclose(mean, mean[:, ::-1])
    assert mean.argmax() in {5 * 16 + 7, 5 * 16 + 8, 6 * 16 + 7, 6 * 16 + 8}


@pytest.mark.parametrize("hot_spots", HOT_SPOTS)
def test_the_covariance_is_the_one_of_the_definition_and_keeps_mass(hot_spots):
    prior = prior_of(GRID)
    mean = prior.means[7]
    made = prior.covariance_times(mean, hot_spots, np.eye(GRID.size))
    assert np.allclose(made, dense_covariance(GRID, mean, *hot_spots), atol=1e-12)
    assert np.allclose(made.sum(axis=0), 0, atol=1e-12)


def test_the_moments_over_all_models_are_their_weighted_sum():
    grid = Grid(6, 5, screen(800, 600))
    prior = prior_of(grid)
    mean, between, within = mixture_moments(prior)
    expected_between, expected_within = np.zeros((30, 30)), np.zeros((30, 30))
    for weight, map_ in zip(prior.weights, prior.means, strict=True):
        for hot_spots in HOT_SPOTS:
            hot = dense_covariance(grid, map_, *hot_spots)
            expected_between += weight / 3 * (hot + np.outer(map_ - mean, map_ - mean))
            expected_within += weight / 3 * (np.diag(map_) - np.outer(map_, map_) - hot / 2) / 5
    assert np.allclose(mean, prior.weights @ prior.means)
    assert np.allclose(between, expected_between, atol=1e-13)
    assert np.allclose(within, expected_within, atol=1e-13)


def test_what_features_should_be_follows_from_the_maps():
    grid = Grid(6, 5, screen(800, 600))
    prior = prior_of(grid)
    features = np.random.default_rng(1).random((30, 4))
    expected, covariances = features_spread(prior, features, HOT_SPOTS[1], observers=10)
    hot = dense_covariance(grid, prior.means[3], *HOT_SPOTS[1])
    one = (np.diag(prior.means[3]) - np.outer(prior.means[3], prior.means[3]) - hot / 2) / 5
    assert np.allclose(expected[3], features.T @ prior.means[3])
    assert np.allclose(covariances[3], features.T @ (hot + one / 10) @ features)


def test_the_log_field_has_the_stated_covariance():
    grid = Grid(8, 6, screen(800, 600))
    field = log_field(grid, (2.0, 1.5))
    width, height = prior_of(grid).cell_deg
    covariance = field @ field.T
    assert covariance[0, 0] == pytest.approx(math.log(3) + 0.3)
    assert covariance[0, 1] == pytest.approx(
        math.log(3) * math.exp(-(width**2) / 4.5) + 0.3 * math.exp(-(width**2) / 50)
    )
    assert covariance[0, 8] == pytest.approx(
        math.log(3) * math.exp(-(height**2) / 4.5) + 0.3 * math.exp(-(height**2) / 50)
    )
    with pytest.raises(ValueError, match="read-only"):
        field[0, 0] = 1


def test_lengths_are_degrees_where_the_plane_is_measured():
    left, top, right, bottom = MEASURED.in_unit("deg").extent()
    assert prior_of(Grid(10, 10, MEASURED)).cell_deg == pytest.approx(((right - left) / 10, (bottom - top) / 10))
    assert prior_of(Grid(32, 24, screen(800, 600))).cell_deg == pytest.approx((1, 1))
    assert prior_of(Grid(32, 24, normalised())).cell_deg == pytest.approx((1, 1))


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (32, 24), (200, 100), (1920, 1080), (100_000, 2), (3, 5000)])
def test_the_working_grid_is_never_large(columns, rows):
    grid = Grid(columns, rows, screen(800, 600))
    working = working_grid(grid)
    assert 1 <= working.size <= MOST_WORKING_CELLS + 200
    if grid.size <= MOST_WORKING_CELLS:
        assert working == grid


def test_the_moments_follow_the_kinds_of_hot_spots_of_the_prior():
    grid = Grid(6, 5, screen(800, 600))
    _, strong, _ = mixture_moments(prior_of(grid))
    _, faint, _ = mixture_moments(replace(prior_of(grid), hot_spots=FAINT_HOT_SPOTS))
    assert faint.trace() < strong.trace()
