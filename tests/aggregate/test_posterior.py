# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The posterior of a map: its steps end, and at the map that their own equation has."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.aggregate.bayes_decoder import NoisyFeatures, posterior
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_prior import Plane, directions, plain_models
from gazeveil.geometry import screen

PLANE = Plane(Grid(20, 15, screen(800, 600, 211, 158, 600)), (1.1, 1.1))  # cells of a degree
FEATURES = np.ascontiguousarray(directions(PLANE.grid)[:, 1:81])
MEAN = plain_models(PLANE)[2].mean


def seen_of(truth, noise_sd, rng):
    measured = truth @ FEATURES + noise_sd * rng.normal(size=FEATURES.shape[1])
    noise = noise_sd**2 * np.eye(FEATURES.shape[1])
    return NoisyFeatures(measured, FEATURES, np.zeros(PLANE.grid.size), 1.0, 0.01, noise)


@pytest.mark.parametrize("kind", [(0.2, 3.0), (6.0, 1.7), (16.0, 1.5)])
@pytest.mark.parametrize("noise_sd", [0.03, 0.003, 0.0003])
def test_further_steps_leave_the_map_where_it_is(kind, noise_sd, monkeypatch):
    """Also where noise is small and the problem far from linear: whole steps would swing to and fro there."""
    rng = np.random.default_rng(1)
    field = PLANE.log_field(MEAN, kind)
    for _ in range(4):
        spots = rng.gamma(0.05, size=PLANE.grid.size) + 1e-4
        seen = seen_of(PLANE.blurred(spots / spots.sum()), noise_sd, rng)
        monkeypatch.undo()
        found = posterior(seen, MEAN, field).map
        monkeypatch.setattr("gazeveil.aggregate.bayes_decoder._CLOSE", 1e-4)
        monkeypatch.setattr("gazeveil.aggregate.bayes_decoder._MOST_STEPS", 300)
        exact = posterior(seen, MEAN, field).map
        assert found.sum() == pytest.approx(1)
        assert np.abs(found - exact).max() < 0.03 * exact.max()


def test_the_field_multiplies_as_its_matrix_does():
    field = PLANE.log_field(MEAN, (2.2, 2.0))
    dense = field.sd[:, None] * np.kron(field.down, field.across) * field.sd + field.moved @ field.moved.T
    values = np.random.default_rng(2).normal(size=(PLANE.grid.size, 3))
    np.testing.assert_allclose(field.times(values), dense @ values, atol=1e-12)
    np.testing.assert_allclose(field.variance, dense.diagonal(), atol=1e-12)
