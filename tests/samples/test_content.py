# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is on the screen as a prior: the mean and variance of densities, and streams that are told of a scene."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError, StateError, VeilShut
from gazeveil.noise import NoiseSource
from gazeveil.samples import MECHANISMS, Screen, Sphere, mechanism_from_dict
from gazeveil.samples.gaze_model import EYES, TRUST, ContentRegion, followed_by, moments, prior_of
from gazeveil.samples.window_budget import spends

SCREEN = Screen(1280, 720)
PROMISE = {"epsilon": 1, "window": 1, "radius": 60}
CORNER = [ContentRegion(0, 0, 200, 200, 1.0)]
FILTERED = ["clock", "kaleido", "sparse-vector", "distribution", "absorption"]


def made(name: str = "clock", space: Any = SCREEN, **options: Any) -> Any:
    return MECHANISMS[name](space, **{**PROMISE, **options})


def gaze(count: int = 480, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, y = (np.repeat(rng.uniform(0, size, -(-count // 30)), 30)[:count] for size in SCREEN.size)
    x[50:62] = np.nan
    return np.arange(count) / 120, x, y


def test_a_grid_and_regions_of_one_density_have_the_same_moments() -> None:
    grid = np.zeros((2, 4))
    grid[0, 1], grid[1, 3] = 3.0, 1.0
    regions = [(320, 0, 640, 360, 3), (960, 360, 1280, 720, 1.0)]
    for one, other in zip(moments(SCREEN, grid), moments(SCREEN, regions), strict=True):
        assert one == pytest.approx(other)
    (x, y), (across, down) = moments(SCREEN, grid)
    assert (x, y) == pytest.approx((640, 270))
    assert across == pytest.approx(320**2 / 12 + 0.75 * 160**2 + 0.25 * 480**2)
    assert down == pytest.approx(360**2 / 12 + 0.75 * 90**2 + 0.25 * 270**2)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 6), st.lists(st.floats(0, 1e300), min_size=36, max_size=36).filter(lambda w: w[0])
)
def test_any_density_gives_a_prior_within_the_space_that_is_never_certain(
    rows: int, columns: int, weights: list[float]
) -> None:
    for space in (SCREEN, Sphere(), Screen(1, 1, unit="norm")):
        usual = prior_of(space)
        prior = prior_of(space, np.array(weights[: rows * columns]).reshape(rows, columns))
        for axis in range(2):
            assert space.low[axis] <= prior.centre[axis] <= space.high[axis]
            assert (1 - TRUST) * usual.wander[axis] <= prior.wander[axis] <= space.size[axis] ** 2
            assert prior.offset[axis] / prior.wander[axis] == pytest.approx(usual.offset[axis] / usual.wander[axis])


def test_a_density_behind_the_viewer_is_met_the_short_way_round() -> None:
    behind = [ContentRegion(170, -10, 180, 10, 1.0), ContentRegion(-180, -10, -170, 10, 1.0)]
    (yaw, pitch), (across, _) = moments(Sphere(), behind)
    assert abs(yaw) == pytest.approx(180)
    assert pitch == pytest.approx(0)
    assert across == pytest.approx(20**2 / 12)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.full((3, 3), -1.0), "negative"), (np.zeros((3, 3)), "above 0"), (np.array([[1.0, math.nan]]), "finite"),
        (np.array([[1.0, math.inf]]), "finite"), (np.ones(5), "rows and columns"), (np.ones((2, 2, 2)), "rows"),
        (np.zeros((0, 4)), "rows"), (np.array([["a"]]), "numbers"), (np.ones((2, 2), complex), "numbers"),
        ([], "at least one region"), ("face", "at least one region"), ([(0, 0, 1)], "left, top"),
        ([(0, 0, 1, math.nan, 1)], "finite"), ([(0, 0, 5, 5, -1)], "negative"), ([(0, 0, 5, 5, 0)], "above 0"),
        ([(5, 0, 5, 5, 1)], "left to right"), ([(0, 9, 5, 5, 1)], "top to bottom"),
        ([(2000, 0, 2100, 5, 1)], "in the space"), ([(0, 0, 5, True, 1)], "finite numbers"), (7, "region"),
    ],
)  # fmt: skip
def test_what_is_no_density_is_refused_and_the_stream_goes_on_as_before(wrong: Any, words: str) -> None:
    t, x, y = gaze(240)
    plain, veil = made().start(NoiseSource.seeded(1)), made().start(NoiseSource.seeded(1))
    veil.run(t[:100], x[:100], y[:100])
    with pytest.raises(OptionError, match=words):
        veil.expect(1.0, wrong)
    assert np.array_equal(veil.run(t[100:], x[100:], y[100:])[0], plain.run(t, x, y)[0][100:])
    if not isinstance(wrong, np.ndarray):
        with pytest.raises(OptionError):
            made(content=wrong)


def test_only_an_open_veil_with_a_filter_expects_anything() -> None:
    with pytest.raises(OptionError, match="filter"):
        made(filter=False).start(NoiseSource.seeded(1)).expect(0.0, CORNER)
    with pytest.raises(OptionError, match="filter"):
        made(filter=False, content=CORNER)
    veil = made().start(NoiseSource.seeded(1))
    with pytest.raises(OptionError, match="time"):
        veil.expect(math.nan, CORNER)
    veil.close()
    with pytest.raises(VeilShut):
        veil.expect(0.0, CORNER)


def test_before_the_first_sample_the_scene_is_there_from_the_beginning() -> None:
    told, fixed = made().start(NoiseSource.seeded(1)), made(content=CORNER).start(NoiseSource.seeded(1))
    told.expect(-7.0, CORNER)
    expected = (640 + TRUST * (100 - 640), 360 + TRUST * (100 - 360))
    assert told.belief(0.0)[0] == pytest.approx(expected)
    t, x, y = gaze()
    assert np.array_equal(told.run(t + 1, x, y), fixed.run(t + 1, x, y))


@pytest.mark.parametrize("lag", [0.0, 0.25])
@pytest.mark.parametrize("space", [SCREEN, Sphere()], ids=["screen", "sphere"])
def test_the_estimate_does_not_jump_and_ends_up_at_the_new_mean(lag: float, space: Any) -> None:
    density = np.zeros((4, 4))
    density[0, 0] = 1.0
    (goal_x, goal_y) = prior_of(space, density).centre
    # one tick at the beginning, and no other in ten seconds
    veil = made(space=space, lag=lag, epsilon=30, window=10, ticks=1).start(NoiseSource.seeded(1))
    t = np.arange(121) / 120
    x, y = (np.full(len(t), space.low[axis] + share * space.size[axis]) for axis, share in enumerate((0.9, 0.6)))
    before = veil.run(t, x, y)
    veil.expect(1.0, density)
    later = 1.0 + np.arange(0, 6_000_000, 1000) / 1e6
    after = veil.run(later, *np.full((2, len(later)), np.nan))
    assert after[0][0] == pytest.approx(before[0][-1], abs=1e-9 * space.size[0])
    steps = np.abs(np.diff(after[0]))
    steps = np.minimum(steps, space.size[0] - steps) if space.period else steps
    assert steps.max() < 0.002 * space.size[0]
    # what is left after seven seconds is the person's slow offset
    slow = veil._belief.reshape(2, 5)[:, 1] * math.exp(-7 / 60)
    assert after[0][-1] == pytest.approx(goal_x + slow[0], abs=0.01 * space.size[0])
    assert after[1][-1] == pytest.approx(goal_y + slow[1], abs=0.01 * space.size[1])


@pytest.mark.parametrize("name", FILTERED)
def test_telling_the_scene_leaves_spending_alone_where_gaze_is_not_looked_at(name: str) -> None:
    t, x, y = gaze()
    told, plain = made(name).start(NoiseSource.seeded(2)), made(name).start(NoiseSource.seeded(2))
    told.run(t[:200], x[:200], y[:200])
    told.expect(float(t[199]), CORNER)
    after = told.run(t[200:], x[200:], y[200:])
    assert not np.array_equal(after, np.array(plain.run(t, x, y))[:, 200:])
    assert told.guarantee == plain.guarantee
    if name == "clock":
        assert spends(told._budget) == spends(plain._budget)


@pytest.mark.parametrize("lag", [0.0, 0.4])
@pytest.mark.parametrize("name", FILTERED)
def test_scenes_between_steps_are_scenes_between_runs(name: str, lag: float) -> None:
    options = {"lag": lag} if name == "clock" else {}
    t, x, y = gaze()
    cuts = [0, 30, 200, 210, 211, 300, 480]
    densities: list[Any] = [CORNER, np.eye(3), None, [(900, 500, 1280, 720)], CORNER, np.ones((2, 2))]
    runs, steps = made(name, **options).start(NoiseSource.seeded(2)), made(name, **options).start(NoiseSource.seeded(2))
    for start, end, density in zip(cuts[:-1], cuts[1:], densities, strict=True):
        for veil in (runs, steps):
            veil.expect(float(t[start]), density)
        ran = np.array(runs.run(t[start:end], x[start:end], y[start:end]))
        stepped = [steps.step(*sample) for sample in zip(t[start:end], x[start:end], y[start:end], strict=True)]
        assert np.array_equal(ran.T, np.array(stepped))


@pytest.mark.parametrize("lag", [0.0, 0.4])
def test_scenes_move_with_the_stream_and_outlast_a_change_of_guarantee(lag: float) -> None:
    t, x, y = gaze()
    mechanism = made(lag=lag)
    veil = mechanism.start(NoiseSource.seeded(2))
    for start in (0, 100, 120, 121):
        veil.run(t[start : start + 20], x[start : start + 20], y[start : start + 20])
        veil.expect(float(t[start + 20]), [(900 - start, 500, 1280, 720)])
    veil.change(float(t[145]), radius=80)
    moved = mechanism.resume(veil.to_bytes(), NoiseSource.seeded(3))
    assert np.array_equal(moved._plan, veil._plan)
    veil._drop_noise()
    veil.noise = NoiseSource.seeded(3)
    assert np.array_equal(moved.run(t[150:], x[150:], y[150:]), veil.run(t[150:], x[150:], y[150:]))


def test_scenes_that_no_stream_can_have_are_refused() -> None:
    veil = made().start(NoiseSource.seeded(1))
    veil.step(0.0, 1.0, 1.0)
    veil.expect(0.1, CORNER)
    arrays = veil._state()
    for place, value in ((0, 0.0), (1, -1.0), (4, 1e9), (6, math.nan), (7, -5.0)):
        broken = arrays["scenes"].copy()
        broken[place] = value
        with pytest.raises(StateError):
            made().start(NoiseSource.seeded(1))._restore({**arrays, "scenes": broken})


def test_a_scene_told_with_every_frame_takes_no_more_room_than_the_lag_needs() -> None:
    veil = made(lag=0.25).start(NoiseSource.seeded(1))
    sizes = []
    for i in range(600):
        veil.step(i / 60, 300.0, 300.0)
        veil.expect(i / 60, [(300 + i / 10, 200, 700, 500)])
        sizes.append(len(veil._plan))
    assert max(sizes[100:]) == sizes[100]
    on_time = made().start(NoiseSource.seeded(1))
    on_time.step(0.0, 1.0, 1.0)
    on_time.expect(0.1, CORNER)
    size = len(on_time._plan)
    on_time.expect(0.2, CORNER)
    assert len(on_time._plan) == size


def test_content_that_stays_is_a_parameter_and_survives_being_written_down() -> None:
    mechanism = made(content=[(0, 0, 200, 200, 2), (400, 300, 500, 400)])
    assert mechanism.content == (ContentRegion(0, 0, 200, 200, 2), ContentRegion(400, 300, 500, 400, 1))
    again = mechanism_from_dict(json.loads(json.dumps(mechanism.to_dict())))
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert "content" not in made().to_dict()
    assert mechanism.plan() == made().plan()


def test_belief_and_aoi_know_the_scene() -> None:
    veil = made(content=[(0, 0, 300, 300)]).start(NoiseSource.seeded(1))
    (x, y), (across, down) = veil.belief(0.0)
    prior = veil.mechanism.prior()
    assert (x, y) == pytest.approx(prior.centre)
    assert (across, down) == pytest.approx(tuple(np.add(prior.wander, prior.offset)))
    veil.step(0.0, math.nan, math.nan)
    before = veil.belief(0.0)[0]
    veil.expect(0.0, None)
    assert veil.belief(0.0)[0] == pytest.approx(before)
    assert veil.belief(600.0)[0] == pytest.approx(SCREEN.centre, abs=0.1)


def test_a_right_scene_helps_and_a_wrong_one_harms_less() -> None:
    """Gaze in one corner, weak guarantee: the squared error with, without, and with the opposite corner."""
    rng = np.random.default_rng(5)
    t = np.arange(6000) / 60
    x, y = np.repeat(rng.uniform(0, 500, 200), 30), np.repeat(rng.uniform(0, 300, 200), 30)
    error = []
    for content in ([(0, 0, 500, 300)], None, [(780, 420, 1280, 720)]):
        shown = made(content=content, radius=300, epsilon="0.5").start(NoiseSource.seeded(3)).run(t, x, y)
        error.append(float(np.mean((shown[0] - x) ** 2 + (shown[1] - y) ** 2)))
    assert error[0] < 0.5 * error[1]
    assert error[2] > error[1]


@pytest.mark.parametrize("lag", [0.0, 0.4])
def test_across_scenes_the_estimate_is_exact_conditioning_on_what_was_released(lag: float) -> None:
    """Gaussian conditioning on all noisy points at once, about a mean that follows the scenes."""
    options: dict[str, Any] = {"epsilon": 3, "window": "0.5", "ticks": 2}
    t, x, y = np.arange(360) / 120, np.full(360, 600.0), np.full(360, 350.0)
    held = np.array(made(filter=False, **options).start(NoiseSource.seeded(5)).run(t, x, y))
    ticks = np.flatnonzero(np.any(np.diff(held, axis=1, prepend=0.0) != 0, axis=0))
    usual = prior_of(SCREEN)
    veil, shown = made(lag=lag, **options).start(NoiseSource.seeded(5)), []
    changes = {100: (300.0, 500.0), 110: (1000.0, 200.0), 250: (640.0, 360.0)}
    mean, target = np.zeros((2, 360)), np.array(SCREEN.centre)
    place = target.copy()
    for i in range(360):
        place = target + (place - target) * math.exp(-(1 / 120) / EYES.settle) if i else place
        mean[:, i] = place
        if i in changes:
            target = np.array(changes[i])
            centre = changes[i]
            veil._plan = followed_by(veil._plan, replace(usual, centre=centre), float(np.rint(t[i] * 1e6)))
        shown.append(veil.step(float(t[i]), 600.0, 350.0))
    noise = 3 * (2 * 60 / 3) ** 2
    back = round(lag * 120)
    for i in range(120, 360, 7):
        known = ticks[ticks <= i]
        for axis in range(2):
            apart = np.abs(t[known][:, None] - np.append(t[known], t[i - back]))
            near = usual.wander[axis] * np.exp(-apart / EYES.settle) + usual.offset[axis] * np.exp(-apart / EYES.drift)
            weights = np.linalg.solve(near[:, :-1] + noise * np.eye(len(known)), near[:, -1])
            expected = mean[axis, i - back] + weights @ (held[axis, known] - mean[axis, known])
            assert shown[i][axis] == pytest.approx(expected, abs=0.05)
