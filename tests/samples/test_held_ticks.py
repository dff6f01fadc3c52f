# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Noisy points on a public clock, in a room and elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gazeveil import GazeStreamDP, NoiseSource
from gazeveil.errors import OptionError, StateError, VeilShut
from gazeveil.privacy.audit import SUBJECTS, Verdict, audit
from gazeveil.samples import Room3D, Screen, Sphere
from gazeveil.samples.mechanisms.held_ticks import HeldTicks

ROOM = Room3D((-1000, -1000, 0), (1000, 1000, 4000))


def ticks_of(shown: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return when points were released: when what is shown changes."""
    return now[1:][np.any(np.diff(shown, axis=1) != 0, axis=0)]


@pytest.mark.parametrize("ticks", [1, 2, 5])
def test_no_closed_window_holds_more_points_than_it_may(ticks: int) -> None:
    mechanism = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50, ticks=ticks)  # type: ignore[arg-type]
    most = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        steps = rng.choice([0.0, 1e-6, 0.004, 0.1, -0.01, 0.25, 0.5], 2000, p=[0.1, 0.1, 0.5, 0.2, 0.05, 0.03, 0.02])
        t, points = np.cumsum(steps), rng.uniform(-900, 900, (3, 2000))
        points[:, rng.random(2000) < 0.1] = np.nan
        shown = np.asarray(mechanism.start(NoiseSource.seeded(seed)).run3(t, *points))
        ticks_at = ticks_of(shown, np.maximum.accumulate(np.rint(t * 1e6).astype(np.int64)))
        within = np.searchsorted(ticks_at, ticks_at + 500_001, side="right") - np.arange(len(ticks_at))
        most = max(most, int(within.max()))
    assert most == ticks


def test_when_points_are_released_does_not_depend_on_gaze() -> None:
    mechanism = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50, ticks=2)  # type: ignore[arg-type]
    t, rng = np.arange(1000) / 100, np.random.default_rng(1)
    lost = rng.random(1000) < 0.2
    times = []
    for scale in (1.0, 900.0):
        points = rng.uniform(-scale, scale, (3, 1000))
        points[0, lost] = np.nan
        times.append(ticks_of(np.asarray(mechanism.start(NoiseSource.secure()).run3(t, *points)), t).tolist())
    assert times[0] == times[1]


@pytest.mark.parametrize("space", [ROOM, Screen(100_000, 100_000)], ids=["room", "screen"])
def test_the_noise_is_laplace_in_the_ball(space: Room3D | Screen) -> None:
    """The mean radius is d times ticks · r / ε; 4,000 draws: 1 in 10^9 are off by more than 6 %."""
    mechanism = HeldTicks(space, epsilon=3, window="0.001", radius=60, ticks=2)  # type: ignore[arg-type]
    veil = mechanism.start(NoiseSource.seeded(4))
    centre = np.array(space.centre)
    t = np.arange(4000) / 10
    columns = [np.full(4000, value) for value in centre]
    shown = np.asarray(veil.run3(t, *columns) if space.axes == 3 else veil.run(t, *columns))
    radius = np.linalg.norm(shown - centre[:, None], axis=0)
    assert radius.mean() == pytest.approx(space.axes * 40, rel=0.06)
    assert np.all(shown / mechanism.spacing == np.round(shown / mechanism.spacing))


def test_a_point_far_off_is_taken_to_be_at_the_edge() -> None:
    mechanism = HeldTicks(ROOM, epsilon=1000, window="0.5", radius="0.001")  # type: ignore[arg-type]
    shown = mechanism.start(NoiseSource.seeded(1)).step3(0.0, 1e300, -1e300, 2000.0)
    assert shown == pytest.approx((1000, -1000, 2000), abs=0.01)


def test_it_guarantees_what_kaleido_does_and_comes_round_the_sphere() -> None:
    mechanism = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50)  # type: ignore[arg-type]
    assert mechanism.guarantee == GazeStreamDP(3, "0.5", 50, "mm")
    assert "50 mm away" in mechanism.guarantee.in_words()
    around = HeldTicks(Sphere(), epsilon=3, window="0.01", radius=10)  # type: ignore[arg-type]
    x, _ = around.start(NoiseSource.seeded(1)).run(np.arange(500.0), np.full(500, 179.0), np.zeros(500))
    assert np.all((x >= -180) & (x < 180))
    assert (x < 0).mean() > 0.3


@pytest.mark.parametrize("wrong", [{"ticks": 0}, {"ticks": 1000}, {"epsilon": 0}, {"radius": 1e-12}, {"window": 1e12}])
def test_a_guarantee_that_cannot_be_kept_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        HeldTicks(ROOM, **({"epsilon": 3, "window": "0.5", "radius": 50} | wrong))  # type: ignore[arg-type]
    assert math.isfinite(HeldTicks(ROOM, epsilon=3, window=1, radius=50).spacing)  # type: ignore[arg-type]


def audited(epsilon: float, claim: str) -> Verdict:
    subject = SUBJECTS["held-ticks"](epsilon=epsilon)
    claimed = replace(subject, claim=GazeStreamDP(claim, "0.5", 60, "mm"), pairs=subject.pairs[:1])
    return audit(claimed, trials=800, confidence=0.999, seed=1).verdict


def test_the_auditor_finds_no_more_than_is_guaranteed_and_would_find_a_false_guarantee() -> None:
    assert audited(4.0, "4") is Verdict.CONSISTENT
    assert audited(4.0, "0.5") is Verdict.VIOLATED


def test_no_output_tells_more_than_the_guarantee_on_any_clock() -> None:
    subject = SUBJECTS["held-ticks"]()
    assert subject.log_ratio is not None
    largest = 0.0
    for pair in subject.pairs:
        assert len(pair.first.seen) == (5 if "lost" in pair.words else 2), pair.words
        outputs = subject.run(pair.first, NoiseSource.seeded(2), 300)
        largest = max(largest, float(np.abs(subject.log_ratio(outputs, pair.first, pair.second)).max()))
    assert 0.8 < largest <= 1 + 1e-9


def test_no_window_costs_more_than_a_guarantee_that_it_meets_however_the_privacy_level_is_turned() -> None:
    """Losses per mm of every closed window, against each guarantee in force at its first or at its last point."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        mechanism = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50, ticks=2)  # type: ignore[arg-type]
        veil = mechanism.start(NoiseSource.seeded(seed))
        points: list[tuple[int, Any]] = []
        changed = 0
        for t in np.cumsum(rng.choice([0.0, 0.004, 0.05, 0.2], 3000)).tolist():
            if rng.random() < 0.03:
                window, radius = rng.choice(["0.2", "0.5", "1.5"]), int(rng.integers(20, 90))
                veil.change(t, epsilon=int(rng.integers(1, 5)), window=str(window), radius=radius)
                changed += 1
            before, held = veil.current, veil._held
            gaze = (math.nan, 0.0, 0.0) if rng.random() < 0.2 else (0.0, 0.0, 2000.0)
            if veil.step3(t, *gaze) != held:
                points.append((round(t * 1e6), before))
        assert changed > 40
        assert len(points) > 100
        times = np.array([time for time, _ in points])
        loss = np.array([float(1 / guarantee.scale) for _, guarantee in points])
        for number, (time, guarantee) in enumerate(points):
            length = int(guarantee.window * 1_000_000)
            allowed = float(guarantee.epsilon / guarantee.radius) * (1 + 1e-12)
            ends, begins = (times >= time - length) & (times <= time), (times >= time) & (times <= time + length)
            assert loss[ends].sum() <= allowed, number
            assert loss[begins].sum() <= allowed, number


def test_gaze_of_a_window_that_began_before_a_change_keeps_the_old_guarantee() -> None:
    """No sample comes for long, so that the latest point is no reason to wait."""
    veil = HeldTicks(ROOM, epsilon=1, window=2, radius=60).start(NoiseSource.seeded(1))  # type: ignore[arg-type]
    held = veil.step3(0.0, 0.0, 0.0, 0.0)
    veil.change(5.0, epsilon=3, window="0.5")
    t = 5 + np.arange(400) / 100
    shown = np.asarray(veil.run3(t, *np.zeros((3, 400))))
    assert (shown[:, t < 7.0] == np.array(held)[:, None]).all()
    assert ticks_of(shown, t)[:2].tolist() == pytest.approx([7.01, 7.52])


def test_a_turned_privacy_level_pauses_for_the_longer_window_and_then_ticks_as_ever() -> None:
    mechanism = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50, ticks=2)  # type: ignore[arg-type]
    veil = mechanism.start(NoiseSource.seeded(1))
    t = np.arange(0, 400) / 100
    veil.run3(t[:60], *np.zeros((3, 60)))  # ticks at 0, 0.25 and 0.51
    veil.change(0.6, epsilon=1, window=1, radius=60)
    assert str(veil.current.guarantee) == str(GazeStreamDP(1, 1, 60, "mm"))
    shown = np.asarray(veil.run3(t[60:], *np.zeros((3, 340))))
    assert ticks_of(shown, t[60:])[:3].tolist() == pytest.approx([1.52, 2.02, 2.53])


def test_steps_runs_and_states_agree_across_a_change() -> None:
    mechanism = HeldTicks(ROOM, epsilon=3, window="0.1", radius=50, ticks=2)  # type: ignore[arg-type]
    t, points = np.arange(300) / 100, np.random.default_rng(3).uniform(-900, 900, (3, 300))
    runs, steps = mechanism.start(NoiseSource.seeded(1)), mechanism.start(NoiseSource.seeded(1))
    for veil in (runs, steps):
        veil.run3(t[:100], *points[:, :100])
        veil.change(1.0, radius=80)
        veil.change(1.0, window="0.3")
    moved = mechanism.resume(runs.to_bytes(), runs.noise)
    assert moved.guarantee == steps.guarantee
    whole = np.asarray(moved.run3(t[100:], *points[:, 100:]))
    live = [steps.step3(*sample) for sample in zip(t[100:].tolist(), *points[:, 100:].tolist(), strict=True)]
    assert np.array_equal(whole, np.array(live).T)
    assert len(ticks_of(whole, t[100:])) > 5


def test_a_refused_change_leaves_the_guarantee_of_held_ticks_as_it_was() -> None:
    veil = HeldTicks(ROOM, epsilon=3, window="0.5", radius=50).start(NoiseSource.seeded(1))  # type: ignore[arg-type]
    for wrong in ({"epsilon": 0}, {"window": -1}, {"radius": 1e-12}):
        with pytest.raises(OptionError):
            veil.change(0.0, **wrong)
    with pytest.raises(OptionError, match="time"):
        veil.change(math.nan, epsilon=1)
    assert veil.current == veil.mechanism
    arrays = veil._state()
    for broken in (b"1,2", b"0,1,1", b"a,b,c"):
        with pytest.raises(StateError):
            veil._restore({**arrays, "promise": np.frombuffer(broken, np.uint8)})
    veil.close()
    with pytest.raises(VeilShut):
        veil.change(0.0, epsilon=1)
