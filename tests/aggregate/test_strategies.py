# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of heatmap strategies, over all that are registered, and what ours promise beyond it."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from gazeveil.aggregate.grid import Grid, render
from gazeveil.aggregate.maps import dwell
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategy import STRATEGIES, Strategy, Task, choose
from gazeveil.aggregate.strategy_parts import BOUND, ball_sensitivity, nonnegative_sensitivity
from gazeveil.errors import InternalError, OptionError
from gazeveil.geometry import screen
from gazeveil.lab import load
from gazeveil.noise import NoiseSource
from gazeveil.privacy.calibration import gaussian_delta, pure_epsilon
from gazeveil.privacy.guarantee import ApproxDP, PureDP
from gazeveil.privacy.protection import Neighbours

load()  # the baselines are strategies like ours
GRID = Grid(16, 12, screen(800, 600))
TASK = Task(grid=GRID, observers=30, epsilon=1.0, delta=1e-5)
OURS = ("bumps", "histogram", "modes")
NEIGHBOURS = tuple(Neighbours)
BLUR_OF_TASK = TASK.blur_cells


def observer(x, y):
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return {"x": x, "y": y, "valid": np.ones(len(x), dtype=bool)}


def make(name, task=TASK):
    return STRATEGIES[name](task)  # type: ignore[call-arg]


@cache
def extreme_observers():
    """Whoever could move a sum far: staring, roaming, absent, endless, off the screen, at the corners."""
    rng = np.random.default_rng(8)
    hours = 10 * 3600 * 100
    wandering = rng.normal(400, 3, hours)
    people = [
        observer([], []),
        observer([np.nan, -5, 900], [1, 1, 1]),
        everywhere(),
        observer(wandering, rng.normal(300, 3, hours)),
        *(observer([x], [y]) for x, y in product((0, 130, 399, 800), (0, 301, 600))),
        observer(rng.uniform(0, 800, 50), rng.uniform(0, 600, 50)),
    ]
    return tuple(people)


def everywhere():
    x, y = np.meshgrid(np.arange(5, 800, 10), np.arange(5, 600, 10))
    return observer(x.ravel(), y.ravel())


def crowd(count, seed=1):
    """People who look at two hot spots and around."""
    rng = np.random.default_rng(seed)
    people = []
    for _ in range(count):
        at = rng.random(60)
        x = np.where(at < 0.5, rng.normal(220, 35, 60), rng.normal(560, 45, 60))
        y = np.where(at < 0.5, rng.normal(180, 35, 60), rng.normal(400, 40, 60))
        people.append(observer(np.clip(x, 0, 800), np.clip(y, 0, 600)))
    return people


def correlation(one, other):
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def truth_of(people, grid=GRID, blur=BLUR_OF_TASK):
    return render(np.mean([dwell(grid, rows) for rows in people], axis=0).reshape(grid.shape), blur)


# --- the contract, for every registered strategy ---


@pytest.mark.parametrize("name", STRATEGIES.names(unlisted=True))
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_a_strategy_keeps_its_contract(name, neighbours):
    strategy = make(name, replace(TASK, neighbours=neighbours))
    assert isinstance(strategy, Strategy)
    assert strategy.guarantee <= ApproxDP(TASK.epsilon, TASK.delta, neighbours=neighbours)
    kernel = strategy.kernel()
    total = np.zeros(kernel.size, dtype=np.int64)
    for rows in crowd(5):
        integers = kernel(rows)
        assert integers.dtype == np.int64
        assert integers.shape == (kernel.size,)
        total += integers
    assert set(kernel.columns) <= {"t", "x", "y", "valid"}
    kept = total.copy()
    noisy = strategy._noised(total, NoiseSource.seeded(4))
    assert np.array_equal(total, kept), "measuring leaves the sum alone"
    assert np.array_equal(noisy, strategy._noised(total, NoiseSource.seeded(4)))
    assert not np.array_equal(noisy, strategy._noised(total, NoiseSource.seeded(5)))
    found, again = strategy.decode(noisy), make(name, replace(TASK, neighbours=neighbours)).decode(noisy.copy())
    assert np.array_equal(found.map, again.map)
    assert np.array_equal(found.noise_sd, again.noise_sd)
    for map_ in (found.map, found.prior):
        assert map_.shape == GRID.shape
        assert map_.min() >= 0
        assert map_.sum() == pytest.approx(1)
    for spread in (found.noise_sd, *(each for each in (found.error_sd, found.population_sd) if each is not None)):
        assert spread.shape == GRID.shape
        assert np.all(np.isfinite(spread))
        assert spread.min() >= 0
    if found.error_sd is not None and found.population_sd is not None:
        assert (found.population_sd >= found.error_sd).all()
    assert found.hot_spots is None or found.hot_spots.shape == GRID.shape
    assert 0 <= found.data_share <= 1
    assert strategy.to_dict()


@pytest.mark.parametrize("name", STRATEGIES.names(unlisted=True))
def test_a_kernel_pickles_and_counts_alike_afterwards(name):
    kernel = make(name).kernel()
    copy = pickle.loads(pickle.dumps(kernel))
    for rows in crowd(2):
        assert np.array_equal(kernel(rows), copy(rows))


@pytest.mark.parametrize("name", STRATEGIES.names(unlisted=True))
def test_an_observer_without_gaze_gives_zeros(name):
    kernel = make(name).kernel()
    assert not kernel(observer([], [])).any()
    assert not kernel(observer([np.nan, -5], [3, 3])).any()


# --- soundness of ours ---


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_no_observer_moves_the_sum_further_than_the_noise_covers(name, neighbours):
    strategy = make(name, replace(TASK, neighbours=neighbours))
    kernel = strategy.kernel()
    bound = ball_sensitivity(neighbours) if name == "modes" else nonnegative_sensitivity(neighbours)
    vectors = [[int(value) for value in kernel(rows)] for rows in extreme_observers()]
    for vector in vectors:
        assert sum(value * value for value in vector) <= BOUND**2
        if name != "modes":
            assert min(vector) >= 0
    if neighbours is Neighbours.REPLACE_ONE:
        for one, other in product(vectors, vectors):
            assert sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) <= bound**2


@given(
    some.lists(
        some.tuples(some.floats(-50, 850), some.floats(-50, 650), some.integers(1, 1000)), min_size=0, max_size=12
    )
)
@settings(max_examples=60, deadline=None)
def test_the_bound_holds_for_any_observer(looks):
    x, y = ([look[k] for look in looks for _ in range(look[2])] for k in (0, 1))
    for name in OURS:
        vector = make(name).kernel()(observer(x, y)).tolist()
        assert sum(value * value for value in vector) <= BOUND**2
        assert name == "modes" or min(vector) >= 0


def test_the_worst_observers_reach_the_bound_of_a_histogram():
    kernel = make("histogram").kernel()
    one, other = kernel(observer([0], [0])), kernel(observer([800], [600]))
    assert sum(int(value) ** 2 for value in one - other) == 2 * BOUND**2


def test_the_root_of_two_is_rounded_up():
    sensitivity = nonnegative_sensitivity(Neighbours.REPLACE_ONE)
    assert sensitivity**2 > 2 * BOUND**2
    assert (sensitivity - Fraction(1, 1 << 60)) ** 2 < 2 * BOUND**2
    assert nonnegative_sensitivity(Neighbours.ADD_REMOVE) == BOUND


@pytest.mark.parametrize("name", ["bumps", "histogram"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-5), (0.5, 1e-6), (3.0, 1e-3)])
def test_gaussian_noise_keeps_epsilon_and_delta(name, neighbours, epsilon, delta):
    strategy = make(name, replace(TASK, epsilon=epsilon, delta=delta, neighbours=neighbours))
    assert strategy.guarantee == ApproxDP(epsilon, delta, neighbours=neighbours)
    sigma = strategy.to_dict()["sigma"]
    assert gaussian_delta(sigma, nonnegative_sensitivity(neighbours), epsilon) <= delta
    assert gaussian_delta(sigma * 0.9999, nonnegative_sensitivity(neighbours), epsilon) > delta


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_few_modes_promise_epsilon_alone(neighbours):
    strategy = make("modes", replace(TASK, observers=15, neighbours=neighbours))
    assert strategy.guarantee == PureDP(1, neighbours=neighbours)
    recipe = strategy.to_dict()
    assert recipe["noise"] == "radial"
    assert recipe["modes"] <= 12
    assert pure_epsilon(recipe["scale"], ball_sensitivity(neighbours)) <= 1


def test_many_modes_use_gaussian_noise_and_say_so():
    strategy = make("modes", replace(TASK, observers=3000))
    recipe = strategy.to_dict()
    assert recipe["noise"] == "gaussian"
    assert recipe["modes"] > 12
    assert strategy.guarantee == ApproxDP(1, 1e-5)
    assert gaussian_delta(recipe["sigma"], 2 * BOUND, 1) <= 1e-5


def test_modes_do_without_delta_and_the_others_refuse():
    task = replace(TASK, delta=0.0)
    assert make("modes", task).guarantee == PureDP(1)
    assert choose(task) == "modes"
    for name in ("bumps", "histogram"):
        with pytest.raises(OptionError):
            make(name, task)


@pytest.mark.parametrize("name", OURS)
def test_the_noise_has_the_size_it_should_have(name):
    """The mean square over at least 2,000 numbers is within 15 %: a false alarm in far less than 10⁻⁴ of seeds."""
    strategy = make(name)
    size, recipe = strategy.kernel().size, strategy.to_dict()
    source = NoiseSource.seeded(11)
    draws = [strategy._noised(np.zeros(size, dtype=np.int64), source) for _ in range(math.ceil(2000 / size) + 250)]
    mean_square = float(np.mean(np.square(np.concatenate(draws, dtype=np.float64))))
    expected = recipe["sigma"] ** 2 if "sigma" in recipe else (size + 1) * recipe["scale"] ** 2
    assert mean_square == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("change", [{"observers": 0}, {"observers": True}, {"epsilon": 0.0}, {"epsilon": -1.0}])
def test_what_makes_no_sense_is_refused(name, change):
    with pytest.raises(OptionError):
        make(name, replace(TASK, **change)).kernel()


@pytest.mark.parametrize("name", OURS)
def test_numbers_of_another_strategy_are_refused(name):
    with pytest.raises(InternalError):
        make(name).decode(np.zeros(3, dtype=np.int64))
    with pytest.raises(InternalError):
        make(name)._noised(np.zeros(make(name).kernel().size), NoiseSource.seeded(1))


# --- usefulness of ours ---


@pytest.mark.parametrize("name", ["bumps", "histogram"])
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_with_very_many_observers_the_truth_comes_out(name, neighbours):
    people = crowd(40)
    strategy = make(name, replace(TASK, observers=100_000, neighbours=neighbours))
    kernel = strategy.kernel()
    total = sum(kernel(rows) for rows in people) * 2500
    found = strategy.decode(strategy._noised(total, NoiseSource.seeded(3)))
    assert correlation(found.map, truth_of(people)) > 0.97
    assert found.data_share > 0.85


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_with_hardly_any_budget_the_prior_comes_out(name, neighbours):
    strategy = make(name, replace(TASK, epsilon=1e-3, observers=5, neighbours=neighbours))
    kernel = strategy.kernel()
    noisy = strategy._noised(sum(kernel(rows) for rows in crowd(5)), NoiseSource.seeded(9))
    found = strategy.decode(noisy)
    assert correlation(found.map, found.prior) > 0.98
    assert found.data_share < 0.02


@pytest.mark.parametrize("name", OURS)
def test_at_a_hundred_observers_the_map_is_closer_to_the_truth_than_the_prior(name):
    people = crowd(100, seed=2)
    strategy = make(name, replace(TASK, observers=100))
    kernel = strategy.kernel()
    found = strategy.decode(strategy._noised(sum(kernel(rows) for rows in people), NoiseSource.seeded(6)))
    truth = truth_of(people)
    assert correlation(found.map, truth) > max(0.85, correlation(found.prior, truth) + 0.1)


def test_a_fine_grid_is_decoded_coarsely_and_drawn_finely():
    people = crowd(60)
    fine = Grid(120, 90, screen(800, 600))
    strategy = make("histogram", replace(TASK, grid=fine, observers=60_000, blur_cells=8.0))
    total = sum(strategy.kernel()(rows) for rows in people) * 1000
    found = strategy.decode(strategy._noised(total, NoiseSource.seeded(2)))
    for drawn in (found.map, found.noise_sd, found.prior, found.error_sd, found.population_sd, found.hot_spots):
        assert drawn is not None
        assert drawn.shape == (90, 120)
    assert found.map.sum() == pytest.approx(1)
    assert found.prior.sum() == pytest.approx(1)
    assert correlation(found.map, truth_of(people, fine, 8.0)) > 0.97


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 1), (1, 30)])
def test_tiny_grids_work(name, columns, rows):
    grid = Grid(columns, rows, screen(800, 600))
    strategy = make(name, replace(TASK, grid=grid))
    found = strategy.decode(strategy._noised(strategy.kernel()(everywhere()), NoiseSource.seeded(1)))
    assert found.map.shape == (rows, columns)
    assert found.map.sum() == pytest.approx(1)


def a_dot():
    values = np.zeros((10, 10))
    values[2, 3] = 1.0
    return Saliency.of_map(values)


EXTREMES = {
    "a cell": ({"grid": Grid(1, 1, screen(800, 600))}, 1.1),
    "a row": ({"grid": Grid(40, 1, screen(800, 600))}, 5.0),
    "a column": ({"grid": Grid(1, 30, screen(800, 600))}, 0.3),
    "110 degrees": ({"grid": Grid(16, 12, screen(800, 600, 2860, 2145, 1000))}, 1.1),
    "unknown degrees, hardly any blur": ({"grid": Grid(16, 12, screen(800, 600))}, 0.3),
    "five degrees of blur": ({"grid": Grid(16, 12, screen(800, 600))}, 5.0),
    "finer than it is decoded": ({"grid": Grid(60, 20, screen(800, 600))}, 2.0),
    "one observer": ({"observers": 1}, 1.1),
    "a million observers": ({"observers": 10**6}, 1.1),
    "no noise to speak of": ({"epsilon": 1000.0}, 1.1),
    "all noise": ({"epsilon": 1e-4}, 1.1),
}


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("case", EXTREMES)
@pytest.mark.parametrize("saliency", [None, a_dot()], ids=["plain", "pictured"])
def test_extreme_tasks_give_finite_maps(name, case, saliency):
    """Whatever is measured: one look of everybody, nothing at all, or numbers that nobody can cause."""
    changes, blur = EXTREMES[case]
    task = replace(TASK, **changes, blur_cells=blur, saliency=saliency)  # type: ignore[arg-type]
    strategy = make(name, task)
    kernel = strategy.kernel()
    noise = NoiseSource.seeded(1)
    looks = kernel(observer([10.0], [10.0])) * task.observers
    for noisy in (strategy._noised(looks, noise), np.zeros_like(looks), np.full(kernel.size, -(2**50))):
        found = strategy.decode(noisy)
        for values in (found.map, found.prior, found.noise_sd, found.error_sd, found.population_sd):
            assert values is not None
            assert values.shape == task.grid.shape
            assert np.isfinite(values).all()
            assert values.min() >= 0
        assert found.map.sum() == pytest.approx(1)
        assert 0 <= found.data_share <= 1
        assert 0 <= found.picture_share <= 1
        assert found.hot_spots is not None
        assert found.hot_spots.shape == task.grid.shape
