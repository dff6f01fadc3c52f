# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from scipy import optimize

from gazeveil.lab.experiments.heatmap_methods import minimise


def test_the_search_finds_the_minimum_that_scipy_finds():
    def objective(at):
        return float(optimize.rosen(at)), optimize.rosen_der(at)

    found = minimise(objective, np.zeros(6), most_steps=500, tolerance=1e-12)
    assert np.allclose(found, 1, atol=1e-4)


def test_the_search_stays_where_it_is_flat():
    start = np.full(3, 2.0)
    assert np.array_equal(minimise(lambda at: (1.0, np.zeros(3)), start, 10), start)
