# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which numbers are worth their noise, and which strategy: matters of public facts and of the public picture."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_features import ExpectedMoments, designed_coordinates, expected_moments
from gazeveil.aggregate.map_prior import Plane, directions
from gazeveil.aggregate.saliency import Saliency
from gazeveil.aggregate.strategies import bumps, modes
from gazeveil.aggregate.strategy import Task, choose
from gazeveil.aggregate.strategy_parts import plane_of
from gazeveil.geometry import screen
from gazeveil.lab.baselines.coarse_maps import COARSE, FINER, coarse_grid
from gazeveil.privacy.protection import Neighbours
from gazeveil.release.forecast import effective_participants

GRID = Grid(32, 24, screen(800, 600))
PLANE = Plane(GRID, (1.1, 1.1))
TASK = Task(grid=GRID, observers=30, epsilon=1.0, delta=1e-5)


def spot(row, column):
    values = np.ones((24, 32))
    values[row - 2 : row + 2, column - 2 : column + 2] = 80.0
    return Saliency.of_map(values)


def whitened_squares(about: ExpectedMoments, coordinates):
    """The mean square length of a participant's coordinates."""
    return float(np.trace(coordinates @ (about.between + about.within) @ coordinates.T))


@pytest.mark.parametrize("saliency", [None, spot(8, 20)])
@pytest.mark.parametrize("observers", [5, 30, 300])
def test_a_typical_participant_s_coordinates_have_squares_that_add_up_to_1(saliency, observers):
    about = expected_moments(PLANE, saliency)
    found = designed_coordinates(about, observers, partial(_radial, observers))
    assert whitened_squares(about, found) == pytest.approx(1, rel=1e-3)


def _radial(observers: int, count: int) -> float:
    return (count + 1) * (2 / observers) ** 2


def test_more_people_are_asked_for_more_numbers():
    about = expected_moments(PLANE, None)
    counts = [len(designed_coordinates(about, n, partial(_radial, n))) for n in (2, 15, 50, 200)]
    assert counts == sorted(counts)
    assert counts[0] <= 2 < counts[-1]


def test_what_is_explained_grows_with_observers_and_falls_with_noise():
    about = expected_moments(PLANE, spot(8, 20))
    seen = np.eye(150)[1:21]
    by_people = [about.explained(seen, 1e-5, people) for people in (1, 10, 100, 1000)]
    assert by_people == sorted(by_people)
    assert by_people[0] < by_people[-1] < 1
    by_noise = [about.explained(seen, noise, 50) for noise in (1e-8, 1e-6, 1e-4, 1e-2, 1e6)]
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_noise[-1] < 1e-6


def test_everything_is_explained_where_everything_is_seen_of_everybody():
    assert expected_moments(PLANE, None).explained(np.eye(150), 1e-16, 10**12) == pytest.approx(1, abs=1e-3)


def test_no_other_coordinates_of_the_same_length_explain_more():
    """Against 200 random designs of as many rows and the same mean square length."""
    about = expected_moments(PLANE, None)
    noise = 9 * (2 / 30) ** 2 * 0.45**2 / 0.5**2
    designed = designed_coordinates(about, 30, lambda count: (count + 1) * (2 / 30) ** 2)
    best = about.explained(designed, noise, 30)
    rng = np.random.default_rng(2)
    values, ways = np.linalg.eigh(about.between)
    for _ in range(200):
        other = rng.normal(size=(len(designed), 20)) @ (ways[:, -20:] / np.sqrt(values[-20:])).T
        other /= np.sqrt(whitened_squares(about, other))
        assert about.explained(other, noise, 30) < best


def test_the_design_depends_on_public_facts_and_on_the_picture_alone():
    one, again = (modes._design.__wrapped__(TASK) for _ in range(2))
    np.testing.assert_array_equal(one.modes, again.modes)
    left, right = (modes._design(replace(TASK, saliency=spot(12, column))) for column in (6, 26))
    assert not np.allclose(left.mean, right.mean)
    half = np.arange(GRID.size) % 32 < 16
    assert (left.modes[half] ** 2).sum() / (left.modes**2).sum() > 0.5
    assert (right.modes[half] ** 2).sum() / (right.modes**2).sum() < 0.5


def test_a_kernel_looks_at_the_blurred_map_around_what_is_expected():
    """Somebody who looks as is expected gives next to nothing; who looks elsewhere gives coordinates."""
    strategy = modes.Modes(TASK)
    design = modes._design(TASK)
    kernel = strategy.kernel()
    blurred = design.plane.blurred(design.modes)
    np.testing.assert_allclose(kernel.modes / kernel.modes.max(), blurred / blurred.max(), atol=1e-12)
    np.testing.assert_allclose(
        kernel.origin / kernel.modes.max(), design.mean @ design.modes / blurred.max(), atol=1e-12
    )


def test_few_people_are_asked_for_modes_and_many_for_bumps():
    for saliency in (None, spot(8, 20)):
        assert choose(replace(TASK, observers=8, saliency=saliency)) == "modes"
        assert choose(replace(TASK, observers=1000, saliency=saliency)) == "bumps"


def test_without_delta_there_are_modes():
    assert choose(replace(TASK, observers=10_000, delta=0.0)) == "modes"


def switch(task):
    """How many people it takes until bumps are chosen, about."""
    return next(people for people in (10, 15, 22, 33, 50, 75, 110, 165, 250) if choose_for(task, people) == "bumps")


def choose_for(task, people):
    return choose(replace(task, grid=Grid(16, 12, screen(800, 600)), observers=people))


def test_the_switch_is_no_fixed_number():
    here = switch(TASK)
    assert switch(replace(TASK, epsilon=0.5)) > here > switch(replace(TASK, epsilon=2.0))
    assert switch(replace(TASK, saliency=spot(8, 20))) != here


@pytest.mark.parametrize("name", ["modes", "bumps"])
def test_the_forecast_of_what_is_explained_follows_the_budget(name):
    explained = {"modes": modes.explained, "bumps": bumps.explained}[name]
    found = [explained(replace(TASK, epsilon=epsilon)) for epsilon in (0.1, 1.0, 10.0)]
    assert found == sorted(found)
    assert 0 <= found[0] < found[-1] <= 1


def test_effective_participants_are_counted_at_epsilon_1():
    assert effective_participants(TASK) == pytest.approx(30, rel=1e-3)
    assert effective_participants(replace(TASK, neighbours=Neighbours.ADD_REMOVE)) == pytest.approx(42.43, rel=1e-3)
    assert effective_participants(replace(TASK, epsilon=3.0)) > 60
    assert effective_participants(replace(TASK, delta=0.0)) == 0


def test_a_histogram_is_finer_from_400_participants_on():
    grids = [coarse_grid(replace(TASK, observers=number)) for number in (399, 400)]
    assert [(grid.columns, grid.rows) for grid in grids] == [COARSE, FINER]


def test_a_fine_grid_is_designed_on_its_working_grid():
    plane = plane_of(replace(TASK, grid=Grid(320, 240, screen(800, 600)), blur_cells=11.0))
    assert plane.grid.size <= 1000
    assert plane.blur == pytest.approx((1.1, 1.1), rel=0.05)
    assert directions(plane.grid).shape == (plane.grid.size, 150)
