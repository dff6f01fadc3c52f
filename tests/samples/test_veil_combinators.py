# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Chains and rotations: what they release and what they guarantee."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gazeveil import GazeStreamDP, NoiseSource, Unproven
from gazeveil.errors import InputError, OptionError, StateError, VeilShut
from gazeveil.samples import MECHANISMS, SampleMechanism, Screen, Sphere
from gazeveil.samples.mechanisms.chain import Chain
from gazeveil.samples.mechanisms.edge import EdgeRule
from gazeveil.samples.mechanisms.gaussian import GaussianNoise
from gazeveil.samples.mechanisms.kalman import KalmanSmoothing
from gazeveil.samples.mechanisms.rotate import Rotation
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing
from gazeveil.samples.mechanisms.spatial import SpatialGrid
from gazeveil.samples.mechanisms.temporal import TemporalHold

SCREEN = Screen(1280, 720, 40.0)
SPATIAL, SMOOTH, HOLD = SpatialGrid(SCREEN), LinearSmoothing(SCREEN, window=5), TemporalHold(SCREEN)
NOISY = GaussianNoise(SCREEN)
EDGE = EdgeRule(SCREEN)
T = np.arange(3000) / 100.0
X, Y = np.random.default_rng(1).uniform(0, 700, (2, 3000))


def guaranteeing(epsilon: float = 3, window: str = "0.5", radius: float = 60) -> SampleMechanism:
    return MECHANISMS["clock"](SCREEN, epsilon=epsilon, window=window, radius=radius)  # type: ignore[call-arg]


def chain(*members: SampleMechanism) -> Chain:
    return Chain(SCREEN, members=members)


def test_a_chain_is_its_members_one_after_another() -> None:
    x, y = X, Y
    for member in (SPATIAL, SMOOTH, HOLD):
        x, y = member.start(NoiseSource.seeded(1)).run(T, x, y)
    assert np.array_equal(chain(SPATIAL, SMOOTH, HOLD).start(NoiseSource.seeded(1)).run(T, X, Y), (x, y))


def test_what_follows_a_guarantee_keeps_it() -> None:
    guarantee = GazeStreamDP(3, "0.5", 60)
    assert chain(guaranteeing()).guarantee == guarantee
    assert chain(guaranteeing(), KalmanSmoothing(SCREEN), EDGE).guarantee == guarantee
    assert chain(guaranteeing(), NOISY, guaranteeing(epsilon=1)).guarantee == guarantee
    assert chain(chain(guaranteeing(), SMOOTH), EDGE).guarantee == guarantee


def test_what_comes_before_a_guarantee_must_do_no_harm() -> None:
    assert chain(EDGE, guaranteeing()).guarantee == GazeStreamDP(3, "0.5", 60)
    for harmful in (SPATIAL, SMOOTH, HOLD, NOISY):
        told = chain(EDGE, harmful, guaranteeing()).guarantee
        assert isinstance(told, Unproven)
        assert harmful.name in told.reason


def test_a_chain_of_unproven_ones_says_all_reasons() -> None:
    told = chain(SPATIAL, SMOOTH).guarantee
    assert isinstance(told, Unproven)
    assert set(told.reasons) == {SPATIAL.guarantee.reason, SMOOTH.guarantee.reason}  # type: ignore[attr-defined]


def test_a_chain_of_several_noises_draws_them_apart_and_the_same_both_ways() -> None:
    both = chain(NOISY, NOISY)
    x, y = both.start(NoiseSource.seeded(3)).run(T, X, Y)
    veil = both.start(NoiseSource.seeded(3))
    live = np.array([veil.step(*sample) for sample in zip(T.tolist(), X.tolist(), Y.tolist(), strict=True)]).T
    assert np.array_equal(live, (x, y))
    assert np.std(x - X) == pytest.approx(40 * math.sqrt(2), rel=0.1)  # 3,000 draws: a false alarm is 1 in 10^14


def test_a_seeded_chain_guarantees_nothing_and_a_secure_one_all() -> None:
    assert isinstance(chain(guaranteeing(), EDGE).start(NoiseSource.seeded(1)).guarantee, Unproven)
    assert chain(guaranteeing(), EDGE).start(NoiseSource.secure()).guarantee == GazeStreamDP(3, "0.5", 60)


def test_the_privacy_level_of_a_chain_is_that_of_the_guarantee_in_it() -> None:
    veil = chain(EDGE, guaranteeing(), KalmanSmoothing(SCREEN)).start(NoiseSource.secure())
    veil.step(0.0, 10.0, 10.0)
    veil.change(0.0, epsilon=1)
    assert veil.guarantee == GazeStreamDP(1, "0.5", 60)
    assert veil.current == chain(EDGE, guaranteeing().with_guarantee(1), KalmanSmoothing(SCREEN))
    with pytest.raises(OptionError, match="chain cannot be changed: smoothing"):
        chain(SMOOTH).start(NoiseSource.seeded(1)).change(0.0, epsilon=1)


def test_one_shut_member_shuts_the_chain() -> None:
    veil = chain(SPATIAL, SMOOTH).start(NoiseSource.seeded(1))
    with pytest.raises(InputError):
        veil.step(math.nan, 1.0, 1.0)
    assert all(member.shut for member in veil._veils)  # type: ignore[attr-defined]
    with pytest.raises(VeilShut):
        veil.step(0.0, 1.0, 1.0)


@pytest.mark.parametrize("rule", ["clamp", "reflect"])
def test_the_edge_rule_never_moves_two_points_farther_apart(rule: str) -> None:
    rng = np.random.default_rng(8)
    edge = EdgeRule(SCREEN, rule=rule)
    one, two = rng.uniform(-4000, 5000, (2, 2, 4000))
    times = np.arange(4000) / 100
    here, there = (np.asarray(edge.start(NoiseSource.seeded(1)).run(times, *points)) for points in (one, two))
    assert np.all(np.hypot(*(here - there)) <= np.hypot(*(one - two)) + 1e-9)
    assert here[0].min() >= 0
    assert here[0].max() <= 1280
    assert here[1].max() <= 720


@pytest.mark.parametrize("rule", ["clamp", "reflect"])
@pytest.mark.parametrize("far", [1e6, 1e12, 1e15, -1e15, 1e17, 1e300])
def test_the_edge_rule_never_moves_two_points_farther_apart_however_far_off_they_are(rule: str, far: float) -> None:
    edge = EdgeRule(SCREEN, rule=rule).start(NoiseSource.seeded(1))
    around = far + np.arange(-200.0, 200.0)
    shown, _ = edge.run(np.arange(400.0), around, np.zeros(400))
    assert np.all(np.abs(np.diff(shown)) <= np.abs(np.diff(around)) + 1e-9)


def test_clamping_and_reflecting_at_the_edge() -> None:
    x, y = np.array([-30.0, 1300.0, 600.0, 2570.0, np.nan, np.inf]), np.array([10.0, 730.0, 300.0, -1.0, 1.0, 1.0])
    times = np.arange(6.0)
    clamped = EdgeRule(SCREEN).start(NoiseSource.seeded(1)).run(times, x, y)
    assert np.array_equal(clamped[0], [0, 1280, 600, 1280, np.nan, np.nan], equal_nan=True)
    reflected = EdgeRule(SCREEN, rule="reflect").start(NoiseSource.seeded(1)).run(times, x, y)
    assert np.array_equal(reflected[0], [30, 1260, 600, 10, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(reflected[1], [10, 710, 300, 1, np.nan, np.nan], equal_nan=True)
    around, _ = EdgeRule(Sphere()).start(NoiseSource.seeded(1)).run(times[:2], np.array([190.0, -180.0]), times[:2])
    assert around.tolist() == [-170, -180]


def test_a_rotation_changes_hands_within_its_turns() -> None:
    fixed = [SpatialGrid(SCREEN, factor=factor) for factor in (1, 480, 960)]
    veil = Rotation(SCREEN, members=tuple(fixed), least=1.0, most=2.0).start(NoiseSource.seeded(5))
    x, _ = veil.run(T, X, Y)
    alone = [member.start(NoiseSource.seeded(1)).run(T, X, Y)[0] for member in fixed]
    whose = np.array([next(k for k in range(3) if x[n] == alone[k][n]) for n in range(len(T))])
    assert set(whose) == {0, 1, 2}
    changes = T[1:][np.diff(whose) != 0]
    assert 30 / 2.1 * (1 - 1 / 3) * 0.4 < len(changes) <= 30
    assert np.diff(changes).min() >= 1.0 - 1e-9


def test_turns_do_not_depend_on_gaze() -> None:
    rotation = Rotation(SCREEN, members=(HOLD, SMOOTH), least=1.0, most=2.0)
    veils = [rotation.start(NoiseSource.seeded(5)) for _ in range(2)]
    for veil, gaze in zip(veils, (X, np.full(3000, np.nan)), strict=True):
        for n in range(0, 3000, 100):
            veil.run(T[n : n + 100], gaze[n : n + 100], Y[n : n + 100])
    assert veils[0]._numbers[:5].tolist() == veils[1]._numbers[:5].tolist()  # type: ignore[attr-defined]


def test_a_rotation_of_one_guarantee_keeps_twice_of_it() -> None:
    def rotation(*members: SampleMechanism, least: float = 60) -> SampleMechanism:
        return Rotation(SCREEN, members=members, least=least)

    assert rotation(guaranteeing(1), guaranteeing(3)).guarantee == GazeStreamDP(6, "0.5", 60)
    for wrong in (
        rotation(guaranteeing(), HOLD),
        rotation(guaranteeing(), guaranteeing(radius=100)),
        rotation(guaranteeing(window="2"), guaranteeing(window="2"), least=2),
    ):
        assert isinstance(wrong.guarantee, Unproven)
    secure = rotation(guaranteeing(1), guaranteeing(3)).start(NoiseSource.secure())
    assert secure.guarantee == GazeStreamDP(6, "0.5", 60)


def test_a_rotation_of_noisy_members_is_the_same_both_ways_and_resumes() -> None:
    rotation = Rotation(SCREEN, members=(NOISY, guaranteeing()), least=1.0, most=2.0)
    x, y = rotation.start(NoiseSource.seeded(5)).run(T, X, Y)
    veil = rotation.start(NoiseSource.seeded(5))
    live = np.array([veil.step(*sample) for sample in zip(T.tolist(), X.tolist(), Y.tolist(), strict=True)]).T
    assert np.array_equal(live, (x, y))
    state = veil.to_bytes()
    assert rotation.resume(state, NoiseSource.seeded(6)).to_bytes() == state


def test_a_clock_that_runs_back_across_a_turn_is_held() -> None:
    veil = Rotation(SCREEN, members=(HOLD, SMOOTH), least=1.0, most=1.0).start(NoiseSource.seeded(5))
    for t in (0.0, 5.0, 1.0, 5.5):
        veil.step(t, 10.0, 10.0)
    assert veil.faults.clock_ran_back == 1


def test_a_rotation_refuses_a_state_with_a_member_it_does_not_have() -> None:
    rotation = Rotation(SCREEN, members=(HOLD, SMOOTH))
    veil = rotation.start(NoiseSource.seeded(5))
    veil.step(0.0, 1.0, 1.0)
    veil._numbers[3] = 2  # type: ignore[attr-defined]
    with pytest.raises(StateError):
        rotation.resume(veil.to_bytes(), NoiseSource.seeded(5))


@pytest.mark.parametrize(
    "wrong",
    [
        chain,
        lambda: Chain(SCREEN, members=("spatial",)),  # type: ignore[arg-type]
        lambda: Chain(SCREEN, members=(SpatialGrid(Sphere()),)),
        lambda: Rotation(SCREEN, members=(HOLD,)),
        lambda: Rotation(SCREEN, members=(HOLD, SMOOTH), least=3, most=2),
        lambda: Rotation(SCREEN, members=(HOLD, SMOOTH), least=0),
        lambda: EdgeRule(SCREEN, rule="bounce"),
    ],
)
def test_combinations_that_do_not_fit_are_refused(wrong) -> None:
    with pytest.raises(OptionError):
        wrong()


def test_no_window_meets_more_than_two_turns_whatever_the_clock_does() -> None:
    """With one release a window, a rotation of guarantees makes at most two, and really makes them."""
    most = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        steps = rng.choice([0.0, 1e-6, 0.004, 0.02, -0.01, 0.3], 1500, p=[0.1, 0.1, 0.5, 0.2, 0.05, 0.05])
        t = np.cumsum(steps)
        x = rng.uniform(0, 1280, 1500)
        plain = {"epsilon": 3, "window": "0.5", "radius": 60, "filter": False, "ticks": 1}
        member = MECHANISMS["clock"](SCREEN, **plain)
        rotation = Rotation(SCREEN, members=(member, member), least=0.6, most=0.9)
        assert rotation.guarantee == GazeStreamDP(6, "0.5", 60)
        shown = np.asarray(rotation.start(NoiseSource.seeded(seed)).run(t, x, x))
        moments = np.maximum.accumulate(np.rint(t * 1e6).astype(np.int64))
        ticks = moments[1:][np.any(np.diff(shown, axis=1) != 0, axis=0)]
        within = np.searchsorted(ticks, ticks + 500_000, side="right") - np.arange(len(ticks))
        most = max(most, int(within.max()))
    assert most == 2


def test_a_rotation_hands_on_device_time_to_the_microsecond() -> None:
    """Rounding twice would make two stamps look farther apart than they are."""
    from gazeveil.samples import stream_kernels as places

    guarantee: dict[str, Any] = {"epsilon": 3, "window": "0.5", "radius": 60}
    member = MECHANISMS["clock"](SCREEN, **guarantee)
    veil = Rotation(SCREEN, members=(member, member)).start(NoiseSource.seeded(2))
    for t in 3e9 + np.cumsum(np.random.default_rng(1).uniform(0, 0.01, 200)):
        veil.step(float(t), 10.0, 10.0)
        assert veil._veil._clock[places.NOW] == veil._numbers[0]  # type: ignore[attr-defined]
