# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The mechanisms with Kaleido's guarantee: what they release and when, and what they refuse."""

from __future__ import annotations

import math
from threading import Thread
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gazeveil.errors import InputError, OptionError, StateError, VeilShut
from gazeveil.lab import load
from gazeveil.noise import NoiseSource, planar_laplace
from gazeveil.privacy.guarantee import GazeStreamDP, Unproven
from gazeveil.samples import MECHANISMS, Room3D, Screen, Sphere, mechanism_from_dict
from gazeveil.samples import stream_kernels as places
from gazeveil.samples.window_budget import LOSS_UNIT, spends

load()  # enters Kaleido as published, which is a stream like ours
SCREEN = Screen(1280, 720)
ALL = ["clock", "kaleido", "kaleido-as-published", "sparse-vector", "distribution", "absorption"]
PROMISE = {"epsilon": 3, "window": "0.5", "radius": 60}


def made(name: str, **options: Any) -> Any:
    return MECHANISMS[name](options.pop("space", SCREEN), **{**PROMISE, **options})


def gaze(count: int = 600, rate: float = 120.0, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    stays = -(-count // 30)
    x, y = np.repeat(rng.uniform(0, 1280, stays), 30)[:count], np.repeat(rng.uniform(0, 720, stays), 30)[:count]
    x[50:62] = np.nan
    return np.arange(count) / rate, x, y


class Rigged:
    """A noise source whose words can be chosen; further bits come from a seeded one."""

    is_secure = False
    description = "chosen words"

    def __init__(self, word: int) -> None:
        self.word, self.spare = word, NoiseSource.seeded(8)

    def words(self, count: int) -> np.ndarray:
        return np.full(count, self.word, np.uint64)

    def more(self) -> int:
        return self.spare.more()


@pytest.mark.parametrize("filter", [True, False])
@pytest.mark.parametrize("name", ALL)
def test_a_step_and_a_run_give_the_same(name: str, filter: bool) -> None:  # noqa: A002  (the option's name)
    mechanism = made(name, filter=filter)
    t, x, y = gaze()
    whole = np.array(mechanism.start(NoiseSource.seeded(4)).run(t, x, y))
    veil = mechanism.start(NoiseSource.seeded(4))
    live = [veil.step(*sample) for sample in zip(t[:200].tolist(), x.tolist(), y.tolist(), strict=False)]
    rest = veil.run(t[200:], x[200:], y[200:])
    assert np.array_equal(np.concatenate([np.array(live).T, rest], axis=1), whole)
    assert np.isfinite(whole).all()
    assert (whole >= 0).all()
    assert (whole.max(axis=1) <= [1280, 720]).all()
    assert len(np.unique(whole[0])) > 5


@pytest.mark.parametrize("space", [Screen(1280, 720), Sphere()], ids=["screen", "sphere"])
@pytest.mark.parametrize("name", ALL)
def test_samples_that_doubles_leave_undecided_are_settled_exactly(name: str, space: Screen | Sphere) -> None:
    near = {"l_thresh": 0.0} if name in ("kaleido", "sparse-vector") else {}
    mechanism = made(name, space=space, **near)
    t, x, y = gaze(200)
    run = mechanism.start(Rigged(0)).run(t, x, y)  # U = 0 has no logarithm: every draw goes through the exact path
    veil = mechanism.start(Rigged(0))
    live = np.array([veil.step(*sample) for sample in zip(t.tolist(), x.tolist(), y.tolist(), strict=True)]).T
    assert np.array_equal(run, live)


def test_a_live_step_draws_the_very_point_that_planar_laplace_draws() -> None:
    mechanism = made("clock", filter=False, ticks=1)
    veil = mechanism.start(NoiseSource.seeded(2))
    per_px = float(mechanism.plan().loss) / LOSS_UNIT
    expected = planar_laplace(NoiseSource.seeded(2), 640.3, 360.7, per_px, veil._plan[places.SPACING])
    shown = veil.step(0.0, 640.3, 360.7)
    assert shown == pytest.approx(tuple(np.clip(expected, 0, [1280, 720])), abs=0)


def releases(name: str, steps: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise of every release, x and y, and what was paid for it per pixel, by the window ledger."""
    options = {"ticks": 1} if name == "clock" else {}
    veil = made(name, filter=False, space=Screen(4000, 4000), **options).start(NoiseSource.seeded(12))
    noise, paid, last = [], [], None
    for step in range(steps):
        x, y = ((1500.3, 2000.7), (2500.1, 1900.2))[step % 2]  # so far apart that every test says so, if it is asked
        shown_x, shown_y = veil.step(0.6 * step, x, y)
        spent = spends(veil._budget)
        if spent and spent[-1] != last:
            last = spent[-1]
            noise.append((shown_x - x, shown_y - y))
            paid.append(last[1] / LOSS_UNIT)
    return np.array(noise).T, np.array(paid)


@pytest.mark.parametrize("name", [name for name in ALL if name != "kaleido-as-published"])
def test_released_points_have_the_noise_that_was_paid_for(name: str) -> None:
    """Planar Laplace noise at a loss of c per pixel: c times the distance is Gamma(2, 1), and every angle is as likely.

    The law comes from its textbook density and the window's budget, not from our samplers. Two Kolmogorov-Smirnov
    tests at 1 in 10,000 each, for each of five mechanisms. Noise of half the size is caught for sure.
    """
    (x, y), paid = releases(name)
    assert len(x) > 1000
    assert paid.max() <= 3 / 60 * (1 + 1e-9)  # a window holds one release and more, and ε = 3 is for 60 px
    if name == "clock":
        assert paid == pytest.approx(3 / 60)
    if name == "sparse-vector":
        paid = paid * 0.9  # a tenth paid for the tests
    distance = np.hypot(x, y) * paid
    assert stats.kstest(distance, stats.gamma(2).cdf).pvalue > 1e-4
    assert stats.kstest(np.arctan2(y, x), stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > 1e-4
    assert stats.kstest(distance / 2, stats.gamma(2).cdf).pvalue < 1e-12


def test_ticks_follow_the_public_clock_and_not_the_gaze() -> None:
    t, x, y = gaze()
    times = []
    for scale in (1.0, 0.1):
        veil = made("clock").start(NoiseSource.seeded(1))
        veil.run(t, scale * x, scale * y)
        times.append([tick for tick, _ in spends(veil._budget)])
    assert times[0] == times[1]
    assert min(np.diff(times[0])) >= 500_001 // 3


def test_before_the_first_point_and_long_after_the_last_the_centre_is_believed() -> None:
    veil = made("clock").start(NoiseSource.seeded(1))
    assert veil.belief(0.0)[0] == (640.0, 360.0)
    veil.step(1.0, 10.0, 10.0)
    assert veil.belief(3600.0)[0] == pytest.approx((640.0, 360.0), abs=1e-9)


def test_a_lag_shows_a_better_estimate_of_a_while_ago() -> None:
    t, x, y = gaze(6000)
    x[50:62] = x[49]
    errors = []
    for lag in (0.0, 0.25):
        shown_x, shown_y = made("clock", lag=lag).start(NoiseSource.seeded(3)).run(t, x, y)
        back = round(lag * 120)
        errors.append(
            np.sqrt(np.mean((shown_x[back:] - x[: 6000 - back]) ** 2 + (shown_y[back:] - y[: 6000 - back]) ** 2))
        )
    assert errors[1] < 0.9 * errors[0]


def test_clock_runs_on_a_sphere_across_the_seam() -> None:
    mechanism = made("clock", space=Sphere(), epsilon=50, radius=5, window=0.1)
    t = np.arange(400) / 100
    yaw = (170.0 + 5.0 * t + 180.0) % 360.0 - 180.0
    shown, pitch = mechanism.start(NoiseSource.seeded(1)).run(t, yaw, np.full(400, 10.0))
    off = (shown - yaw + 180.0) % 360.0 - 180.0
    assert mechanism.guarantee.to_dict()["unit"]["unit"] == "deg"
    assert np.abs(shown).max() <= 180.0
    assert np.sqrt(np.mean(off[50:] ** 2)) < 15.0
    assert np.abs(pitch).max() <= 90.0


def test_a_direction_has_one_output_whichever_way_it_is_written() -> None:
    mechanism = made("clock", space=Sphere(), epsilon=2, radius=5)
    t = np.arange(300) / 100
    written = [np.full(300, yaw) for yaw in (180.0, -180.0, 540.0)]
    shown = [mechanism.start(NoiseSource.seeded(9)).run(t, yaw, np.zeros(300)) for yaw in written]
    assert np.array_equal(shown[0], shown[1])
    assert np.array_equal(shown[0], shown[2])
    assert len(np.unique(shown[0][0])) > 3


def test_three_coordinates_are_refused_with_a_way_out() -> None:
    with pytest.raises(OptionError, match="two coordinates") as refused:
        made("clock", space=Room3D((0, 0, 0), (1, 1, 1)))
    assert "Sphere" in refused.value.hint
    assert "held-ticks" in refused.value.hint


@pytest.mark.parametrize("name", ALL)
def test_the_guarantee_is_stated_before_any_gaze(name: str) -> None:
    guarantee = made(name).guarantee
    if name == "kaleido-as-published":
        assert isinstance(guarantee, Unproven)
        assert all(number in guarantee.reason for number in ("K1", "K2", "K3"))
    else:
        assert guarantee == GazeStreamDP(3, "0.5", 60)
        assert not made(name).start(NoiseSource.seeded(1)).guarantee.proven
        assert made(name).start(NoiseSource.secure()).guarantee == guarantee


@pytest.mark.parametrize("name", ALL)
def test_a_mechanism_survives_being_written_down(name: str) -> None:
    mechanism = made(name)
    assert mechanism_from_dict(mechanism.to_dict()) == mechanism


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0}, {"epsilon": -1}, {"epsilon": math.nan}, {"radius": 0}, {"radius": math.inf}, {"window": 0},
        {"window": "0.0001"}, {"window": 11}, {"filter": 1}, {"radius": 1e12},
    ],
)  # fmt: skip
def test_guarantees_that_make_no_sense_are_refused(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        made(name, **wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("clock", {"ticks": -1}), ("clock", {"ticks": 2000}), ("clock", {"lag": 0.6}),
        ("clock", {"lag": 0.1, "filter": False}), ("kaleido", {"t_skip": -1}),
        ("kaleido-as-published", {"t_skip": 0}), ("kaleido", {"floor": "0.6"}),
        ("kaleido", {"test_share": 1}), ("kaleido", {"l_thresh": 2}), ("kaleido", {"radius": 1e-3}),
        ("kaleido-as-published", {"h": 1}), ("sparse-vector", {"releases": 0}), ("sparse-vector", {"test_share": 0}),
        ("distribution", {"noises": -1}), ("absorption", {"t_skip": 11}),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(name: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        made(name, **wrong)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("t", [math.nan, math.inf, 1e13, "now"])
def test_an_absurd_time_shuts_the_stream(name: str, t: Any) -> None:
    veil = made(name).start(NoiseSource.seeded(1))
    veil.step(0.0, 1.0, 1.0)
    with pytest.raises(InputError):
        veil.step(t, 1.0, 1.0)
    with pytest.raises(VeilShut):
        veil.step(1.0, 1.0, 1.0)


@pytest.mark.parametrize("name", ALL)
def test_odd_gaze_gives_a_point_on_the_screen_and_is_counted(name: str) -> None:
    veil = made(name).start(NoiseSource.seeded(1))
    odd = [(0.0, 1e308, -1e308), (0.1, math.inf, 0.0), (0.05, 0.0, 0.0), (0.1, math.nan, 3.0), (3700.0, 2.0, 5e-324)]
    for sample in odd:
        x, y = veil.step(*sample)
        assert 0 <= x <= 1280
        assert 0 <= y <= 720
    assert veil.faults == (1, 1, 1, 0)


@pytest.mark.parametrize("name", ALL)
def test_a_stream_moves_with_its_budget(name: str) -> None:
    t, x, y = gaze()
    mechanism = made(name)
    veil = mechanism.start(NoiseSource.seeded(1))
    veil.run(t[:300], x[:300], y[:300])
    if name != "kaleido-as-published":
        veil.change(float(t[299]), radius=80, window="0.7")
    moved = mechanism.resume(veil.to_bytes(), NoiseSource.seeded(2))
    again = mechanism.resume(veil.to_bytes(), NoiseSource.seeded(2))
    assert moved.current == veil.current
    assert spends(moved._budget) == spends(veil._budget)
    assert not moved._words.any()
    assert np.array_equal(moved.run(t[300:], x[300:], y[300:]), again.run(t[300:], x[300:], y[300:]))


def test_a_state_of_another_shape_is_refused() -> None:
    veil = made("clock").start(NoiseSource.seeded(1))
    state = veil.to_bytes()
    with pytest.raises(StateError):
        made("clock", ticks=2).resume(state, NoiseSource.seeded(1))
    arrays = veil._state()
    for name in arrays.keys() - {"promise"}:
        broken = {**arrays, name: arrays[name][:-1]}
        with pytest.raises(StateError):
            made("clock").start(NoiseSource.seeded(1))._restore(broken)


def test_words_are_erased_when_they_are_used() -> None:
    veil = made("clock").start(NoiseSource.seeded(1))
    veil.step(0.0, 1.0, 1.0)
    assert not veil._words[:3].any()
    assert veil._words[3:].all()


def test_a_stricter_guarantee_pauses_the_stream_at_once() -> None:
    veil = made("clock", ticks=1).start(NoiseSource.seeded(1))
    veil.step(0.0, 100.0, 100.0)
    veil.change(0.1, epsilon="0.5", window=2)
    assert veil.guarantee.reasons
    t = np.arange(12, 600) / 120
    veil.run(t, np.full(len(t), 100.0), np.full(len(t), 100.0))
    assert [round(tick, -5) for tick, _ in spends(veil._budget)] == [0, 2_000_000, 4_000_000]


def test_a_refused_change_leaves_the_guarantee_as_it_was() -> None:
    veil = made("kaleido").start(NoiseSource.seeded(1))
    veil.step(0.0, 100.0, 100.0)
    for wrong in ({"epsilon": 0}, {"window": 60}, {"radius": 1e-9}):
        with pytest.raises(OptionError):
            veil.change(1.0, **wrong)
    with pytest.raises(OptionError):
        veil.change(math.nan, epsilon=1)
    assert veil.current == veil.mechanism


def test_kaleido_as_published_has_no_knob() -> None:
    with pytest.raises(OptionError, match="K4"):
        made("kaleido-as-published").start(NoiseSource.seeded(1)).change(0.0, epsilon=1)


def test_kaleido_as_published_spends_as_in_the_papers_figure_5() -> None:
    """n_raw = 4, n_test = 2, h = 2: publications at timestamps 1, 3 and 7 with ε/4, ε/8 and ε/4."""
    epsilon = 60_000  # so large that no test goes wrong
    mechanism = made(
        "kaleido-as-published", epsilon=epsilon, window="0.04", t_skip="0.02", rate_hz=100, h=2, l_thresh=50.0
    )
    assert mechanism.tests == 2
    veil = mechanism.start(NoiseSource.seeded(1))
    places_looked_at = [100.0, 100.0, 900.0, 900.0, 900.0, 900.0, 300.0, 300.0]
    trace = []
    for i, x in enumerate(places_looked_at):
        before = spends(veil._budget)
        veil.step(i * 0.01, x, 300.0)
        spent = spends(veil._budget)
        trace.append(spent[-1][1] / LOSS_UNIT * 60 / epsilon if spent != before else 0.0)
    assert trace == pytest.approx([1 / 4, 0, 1 / 8, 0, 0, 0, 1 / 4, 0], rel=1e-6)


def test_absorption_takes_skipped_shares_and_locks_as_many_after() -> None:
    mechanism = made("absorption", epsilon=3000, t_skip="0.1", noises=20.0, filter=False)
    plan = mechanism.plan()
    share, slots = plan.own[5], plan.own[6]
    assert slots == 6
    veil = mechanism.start(NoiseSource.seeded(1))
    x = [100.0] * 4 + [900.0, 100.0, 900.0, 100.0]
    for i, where in enumerate(x):
        veil.step(i * 0.1, where, 300.0)
    spent = spends(veil._budget)
    assert [tick for tick, _ in spent] == [0, 400_000]
    assert [loss / share for _, loss in spent] == [1.0, 4.0]


def test_sparse_vector_tests_no_more_once_its_releases_are_used_up() -> None:
    veil = made("sparse-vector", epsilon=3000, releases=1).start(NoiseSource.seeded(1))
    for i in range(100):
        veil.step(i * 0.01, 1200.0 * (i % 2), 300.0)
    times = [tick for tick, _ in spends(veil._budget)]
    assert times[:2] == [0, 510_000]
    assert len(times) == 2


def test_the_belief_follows_what_was_released() -> None:
    veil = made("clock", epsilon=300).start(NoiseSource.seeded(1))
    for i in range(100):
        veil.step(i * 0.01, 200.0, 100.0)
    (x, y), (var_x, var_y) = veil.belief(1.0)
    assert abs(x - 200) < 60
    assert abs(y - 100) < 60
    assert 0 < var_x < (0.2 * 1280) ** 2
    assert 0 < var_y < (0.2 * 720) ** 2
    with pytest.raises(OptionError):
        made("clock", filter=False).start(NoiseSource.seeded(1)).belief(0.0)


def test_a_radius_that_changes_with_every_sample_is_kept_up_with() -> None:
    veil = made("clock").start(NoiseSource.seeded(1))
    for i in range(60):
        veil.change(i / 60, radius=60 + i % 2)
        x, y = veil.step(i / 60, 300.0, 300.0)
        assert 0 <= x <= 1280
        assert 0 <= y <= 720
    assert veil.current.radius == 61
    assert len(spends(veil._budget)) >= 2


def test_a_window_shorter_than_a_sample_releases_at_most_once_a_sample() -> None:
    veil = made("clock", window="0.002", ticks=1).start(NoiseSource.seeded(1))
    for i in range(50):
        veil.step(i / 60, 300.0, 300.0)
    assert len(spends(veil._budget)) == 50


@pytest.mark.parametrize("name", ["kaleido", "distribution"])
def test_no_release_gets_less_than_the_floor(name: str) -> None:
    """As published, releases late in a window get next to nothing (K8)."""
    mechanism = made(name, window=2, t_skip="0.01", **({"l_thresh": 0.0} if name == "kaleido" else {}))
    rng = np.random.default_rng(2)
    veil = mechanism.start(NoiseSource.seeded(1))
    veil.run(np.arange(3000) / 120, rng.uniform(0, 1280, 3000), rng.uniform(0, 720, 3000))
    spent = [loss for _, loss in spends(veil._budget)]
    assert len(set(spent)) > 2
    assert min(spent) >= mechanism.floor * mechanism._rule().cap


def test_a_second_thread_is_refused_and_nothing_is_spent_twice() -> None:
    veil = made("clock", window="0.001", ticks=1, filter=False).start(NoiseSource.secure())
    refused: list[Exception] = []

    def feed() -> None:
        t = np.arange(100_000) * 0.002
        try:
            veil.run(t, t, t)
        except OptionError as error:
            refused.append(error)

    threads = [Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) < 4
    assert not veil.shut
    veil.step(300.0, 1.0, 1.0)
    assert veil._clock[places.TICKS] == veil._budget[1]


@pytest.mark.parametrize("x", [0.0, 640.0, 1279.0])
def test_kaleido_as_published_lets_the_first_sample_through_without_a_test(x: float) -> None:
    """K7: there is nothing to compare it with, so it is always published, and what follows is tested."""
    veil = made("kaleido-as-published").start(NoiseSource.seeded(3))
    veil.step(0.0, x, 300.0)
    assert len(spends(veil._budget)) == 1
    veil.step(0.001, x, 300.0)
    assert len(spends(veil._budget)) == 1
