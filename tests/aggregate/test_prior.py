# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import MOST_WORKING_CELLS, prior_of, working_grid
from gazeveil.geometry import normalised, screen

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


def test_the_mean_is_the_same_seen_in_a_mirror():
    mean = prior_of(GRID).mean.reshape(GRID.shape)
    assert np.allclose(mean, mean[::-1])
    assert np.allclose(mean, mean[:, ::-1])
    assert mean.argmax() in {5 * 16 + 7, 5 * 16 + 8, 6 * 16 + 7, 6 * 16 + 8}


@pytest.mark.parametrize("hot_spots", [(0.3, 5.0), (1.0, 2.0), (4.0, 1.5)])
def test_the_covariance_is_the_one_of_the_definition_and_keeps_mass(hot_spots):
    prior = prior_of(GRID)
    mean = prior.means[7]
    made = prior.covariance_times(mean, hot_spots, np.eye(GRID.size))
    assert np.allclose(made, dense_covariance(GRID, mean, *hot_spots), atol=1e-12)
    assert np.allclose(made.sum(axis=0), 0, atol=1e-12)


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
