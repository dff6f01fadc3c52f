# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Hierarchical sparse release: the bound in exact integers, what is kept, and how the kept cells make a map."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.maps import dwell
from gazeveil.aggregate.strategy import Task
from gazeveil.aggregate.strategy_parts import BOUND, nonnegative_sensitivity
from gazeveil.errors import InternalError, OptionError
from gazeveil.geometry import screen
from gazeveil.lab.baselines.coarse_maps import Hierarchical, _weights, fitted, kept_cells
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_delta
from gazeveil.privacy.guarantee import ApproxDP
from gazeveil.privacy.protection import Neighbours

GRID = Grid(16, 12, screen(800, 600))
TASK = Task(grid=GRID, observers=30, epsilon=1.0, delta=1e-5)


def observer(x: Any, y: Any) -> dict[str, Any]:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return {"x": x, "y": y, "valid": np.ones(len(x), dtype=bool)}


def crowd(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """People who look at two hot spots."""
    rng = np.random.default_rng(seed)
    people = []
    for _ in range(count):
        left = rng.random(60) < 0.5
        x = np.where(left, rng.normal(220, 35, 60), rng.normal(560, 45, 60))
        y = np.where(left, rng.normal(180, 35, 60), rng.normal(400, 40, 60))
        people.append(observer(np.clip(x, 0, 800), np.clip(y, 0, 600)))
    return people


def squares(vector: Any) -> int:
    return sum(int(value) ** 2 for value in vector)


# --- soundness ---


@given(
    some.lists(
        some.tuples(some.floats(-50, 850), some.floats(-50, 650), some.integers(1, 1000)), min_size=0, max_size=12
    )
)
@settings(max_examples=60, deadline=None)
def test_no_observer_is_longer_than_the_bound(looks: list[tuple[float, float, int]]) -> None:
    x, y = ([look[k] for look in looks for _ in range(look[2])] for k in (0, 1))
    kernel = Hierarchical(TASK).kernel()
    vector = kernel(observer(x, y))
    assert vector.min() >= 0
    assert squares(vector) <= BOUND**2
    for part, weight in zip(np.split(vector, np.cumsum([4, 16, 64])), kernel.weights, strict=True):
        assert part.sum() <= weight


def test_two_people_who_stare_apart_nearly_reach_the_bound_and_nobody_exceeds_it() -> None:
    kernel = Hierarchical(TASK).kernel()
    hours = 10 * 3600 * 100
    people = [observer([x], [y]) for x, y in product((0, 399, 800), (0, 301, 600))]
    people += [observer(np.full(hours, 5.0), np.full(hours, 5.0)), observer([], []), observer([np.nan, -5], [1, 1])]
    vectors = [kernel(rows) for rows in people]
    furthest = max(squares(one - other) for one, other in product(vectors, vectors))
    assert 0.9999 * 2 * BOUND**2 < furthest <= nonnegative_sensitivity(Neighbours.REPLACE_ONE) ** 2
    assert np.array_equal(kernel(people[0]), vectors[9]), "ten hours weigh no more than a glance"


@given(some.integers(1, 6), some.integers(1, 500), some.floats(0.05, 1.0))
@settings(max_examples=100, deadline=None)
def test_weights_share_the_bound(levels: int, kept: int, fade: float) -> None:
    weights = _weights(levels, kept, fade)
    assert len(weights) == levels
    assert 0.999 * BOUND**2 < squares(weights) <= BOUND**2


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (3.0, 1e-3)])
def test_gaussian_noise_keeps_epsilon_and_delta(neighbours: Neighbours, epsilon: float, delta: float) -> None:
    strategy = Hierarchical(replace(TASK, epsilon=epsilon, delta=delta, neighbours=neighbours))
    assert strategy.guarantee == ApproxDP(epsilon, delta, neighbours=neighbours)
    sigma = strategy.to_dict()["sigma"]
    assert gaussian_delta(sigma, nonnegative_sensitivity(neighbours), epsilon) <= delta
    assert gaussian_delta(sigma * 0.9999, nonnegative_sensitivity(neighbours), epsilon) > delta


def test_the_noise_has_the_size_it_should_have() -> None:
    """The mean square over 6,800 numbers is within 15 %: a false alarm in far less than 10⁻⁴ of seeds."""
    strategy, source = Hierarchical(TASK), NoiseSource.seeded(11)
    none = np.zeros(strategy.kernel().size, dtype=np.int64)
    draws = np.concatenate([strategy._noised(none, source) for _ in range(20)], dtype=np.float64)
    assert np.mean(draws**2) == pytest.approx(strategy.to_dict()["sigma"] ** 2, rel=0.15)


@pytest.mark.parametrize("change", [{"observers": 0}, {"epsilon": 0.0}, {"delta": 0.0}])
def test_a_task_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Hierarchical(replace(TASK, **change))


@pytest.mark.parametrize("change", [{"kept": 0}, {"kept": 2.5}, {"fade": 0.0}, {"fade": 1.5}, {"fade": math.nan}])
def test_parameters_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        Hierarchical(TASK, **change)


def test_numbers_of_another_strategy_are_refused() -> None:
    with pytest.raises(InternalError):
        Hierarchical(TASK).decode(np.zeros(3, dtype=np.int64))
    with pytest.raises(InternalError):
        Hierarchical(TASK)._noised(np.zeros(340), NoiseSource.seeded(1))  # type: ignore[arg-type]


# --- what is kept ---


def test_only_children_of_kept_cells_are_kept() -> None:
    coarse = np.array([[4.0, 1.0], [3.0, 2.0]])
    fine = np.zeros((4, 4))
    fine[0, 3] = 9.0  # the highest of all, but its parent is not kept
    fine[1, 1], fine[3, 0] = 2.0, 1.0
    first, second = kept_cells([coarse, fine], 2)
    assert np.array_equal(first, [[True, False], [True, False]])
    assert np.argwhere(second).tolist() == [[1, 1], [3, 0]]


def test_without_noise_the_true_masses_come_back() -> None:
    rng = np.random.default_rng(3)
    finest = rng.dirichlet(np.ones(64)).reshape(8, 8)
    middle = finest.reshape(4, 2, 4, 2).sum(axis=(1, 3))
    coarse = middle.reshape(2, 2, 2, 2).sum(axis=(1, 3))
    masses = [coarse, middle, finest]
    assert np.allclose(fitted(masses, [1.0, 2.0, 3.0], kept_cells(masses, 64)), finest)


def test_levels_are_averaged_by_their_precision() -> None:
    """One cell is said to hold 0.6 of the mass on the coarse level and 0.2 by its children, which are twice as sure."""
    coarse, fine = np.array([[0.6, 0.4], [0.0, 0.0]]), np.zeros((4, 4))
    fine[:2, :2], fine[:2, 2:] = 0.05, 0.2
    found = fitted([coarse, fine], [4 * 2.0, 1.0], kept_cells([coarse, fine], 16))
    assert found.sum() == pytest.approx(1)
    # 0.2 + (0.6 - 0.2)·4/(4 + 8) = 0.333 for the first, 0.8 - 0.4/3 for the second, 0 for the others; none lacks mass
    assert found[:2, :2].sum() == pytest.approx(1 / 3)
    assert found[:2, 2:].sum() == pytest.approx(2 / 3)


@given(some.integers(0, 2**32), some.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_whatever_the_noise_the_map_has_mass_one_and_no_negative_cell(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    masses = [rng.normal(0, 5, (side, side)) for side in (2, 4, 8)]
    found = fitted(masses, [1.0, 1.0, 0.5], kept_cells(masses, most))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


# --- usefulness ---


@pytest.mark.parametrize("decoder", [False, True])
def test_with_very_many_observers_the_truth_comes_out(decoder: bool) -> None:
    people = crowd(40)
    strategy = Hierarchical(replace(TASK, observers=400_000), decoder=decoder, kept=64)
    total = 10_000 * np.sum([strategy.kernel()(rows) for rows in people], axis=0)
    found = strategy.decode(strategy._noised(total, NoiseSource.seeded(3)))
    truth = render(np.mean([dwell(GRID, rows) for rows in people], axis=0).reshape(GRID.shape), TASK.blur_cells)
    assert np.corrcoef(found.map.ravel(), truth.ravel())[0, 1] > 0.97


def test_stated_scatter_is_that_of_fresh_releases() -> None:
    """Root mean squares over cells, from 24 redraws and 40 releases, agree within a factor of 1.5."""
    strategy = Hierarchical(replace(TASK, observers=2000))
    total = 50 * np.sum([strategy.kernel()(rows) for rows in crowd(40)], axis=0)
    source = NoiseSource.seeded(5)
    found = [strategy.decode(strategy._noised(total, source)) for _ in range(40)]
    true = np.sqrt(np.mean(np.var([each.map for each in found], axis=0)))
    stated = np.mean([np.sqrt(np.mean(each.noise_sd**2)) for each in found])
    assert 1 / 1.5 < stated / true < 1.5


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 1), (1, 30), (120, 90)])
def test_grids_of_any_size_work(columns: int, rows: int) -> None:
    strategy = Hierarchical(replace(TASK, grid=Grid(columns, rows, screen(800, 600))))
    kernel = strategy.kernel()
    found = strategy.decode(strategy._noised(kernel(crowd(1)[0]), NoiseSource.seeded(1)))
    assert found.map.shape == found.noise_sd.shape == found.prior.shape == (rows, columns)
    assert found.map.sum() == pytest.approx(1)
