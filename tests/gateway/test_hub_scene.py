# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Veils that follow the scene: never below the policy, raised at once, lowered late, paid for, and never silent."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import PrivacyError
from gazeveil.gateway.policy.scene import LATE_S, SETTLE_S, STALE_S, FollowingPace, RadiusAndWindow, SceneReading
from gazeveil.gateway.policy.settings import AppSetting, Policy, SceneSetting
from gazeveil.gateway.sample import VeiledSample
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger, Receipt
from gazeveil.samples.stream import StreamVeil
from gazeveil.samples.window_budget import LOSS_UNIT, spends
from tests.gateway.hub_bench import Bench, app, budget, policy, tracker

VIDEO = SceneSetting("video", Path("film.mp4"), gaze_dependent=False)
PUSHED = SceneSetting("push", token_file=Path("scene.token"))
CAMERA = SceneSetting("camera", gaze_dependent=True)


def follower(name: str = "game", veil: str | dict[str, Any] = "mpmu", **values: Any) -> AppSetting:
    """An app whose veil has 90 px and 1.5 s, and may have 60 to 400 px and 1 to 3 s."""
    limits: dict[str, Any] = {
        "radius_at_least": Fraction(60),
        "radius_at_most": Fraction(400),
        "window_at_least": Fraction(1),
        "window_at_most": Fraction(3),
    }
    return app(name, veil, **{"follow_scene": "small", **limits, **values})


def bench_of(*parts: Any, scene: SceneSetting = VIDEO, **values: Any) -> Bench:
    return Bench(rules(*parts, scene=scene), **values)


def rules(*parts: Any, scene: SceneSetting = VIDEO) -> Policy:
    return policy(tracker(scene=scene), *parts)


def guarantee(bench: Bench, index: int = 0) -> GazeStreamDP:
    promised = bench.hub.tracker_of("desk").groups[index].guarantee
    assert isinstance(promised, GazeStreamDP)
    return promised


def see(bench: Bench, small: float | None = None, window: float | None = None, large: float | None = None) -> None:
    bench.hub.scene_read("desk", SceneReading(bench.now, small, large, window), bench.now)


def watch(bench: Bench, seconds: float, **values: float) -> None:
    """Let gaze come, and the same reading every half second."""
    for _ in range(round(seconds * 2)):
        bench.gaze(0.5)
        see(bench, **values)


def points(bench: Bench, name: str = "game") -> list[tuple[float, float, float]]:
    return [(v.t, v.x, v.y) for v in bench.seen[name].shown if isinstance(v, VeiledSample)]


def test_a_scene_raises_at_once_and_lowers_when_it_asked_for_less_for_long_enough() -> None:
    bench = bench_of(follower())
    watch(bench, 5, small=91, window=1.5)
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 108)  # the next larger step
    see(bench, small=300, window=2)
    assert guarantee(bench) == GazeStreamDP("1.5", 2, 305)
    watch(bench, SETTLE_S - 0.5, small=65, window=1)
    assert guarantee(bench) == GazeStreamDP("1.5", 2, 305)
    watch(bench, 1.5, small=65, window=1)
    assert guarantee(bench) == GazeStreamDP("1.5", 1, "76.2")


def test_the_policys_limits_hold_and_what_is_unknown_is_as_the_level_has_it() -> None:
    bench = bench_of(follower())
    watch(bench, 12, small=0.001, window=0.001)
    assert guarantee(bench) == GazeStreamDP("1.5", 1, 60)
    watch(bench, 1, small=1e9, window=1e9)
    assert guarantee(bench) == GazeStreamDP("1.5", 3, 400)
    for nothing in (math.nan, math.inf, -1.0, 0.0, None):
        bench = bench_of(follower())
        watch(bench, 1, small=nothing, window=nothing)  # type: ignore[arg-type]
        assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)


NUMBERS = st.one_of(
    st.none(), st.floats(allow_nan=True, allow_infinity=True), st.floats(1e-3, 1e4), st.sampled_from([0.0, 59.9, 89.9])
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.floats(0.0, 8.0)), max_size=12), st.sampled_from([VIDEO, PUSHED, CAMERA])
)
def test_no_scene_ever_brings_a_veil_below_what_it_may(
    readings: Sequence[tuple[float | None, float | None, float]], scene: SceneSetting
) -> None:
    bench = bench_of(
        follower(veil={"mechanism": "held-ticks", "epsilon": 1.5, "window": 1.5, "radius": 90}), scene=scene
    )
    least = (60, 1) if scene.trusted else (90, Fraction(3, 2))
    for small, window, wait in readings:
        see(bench, small, window)
        assert guarantee(bench).radius >= least[0]
        assert guarantee(bench).window >= least[1]
        bench.now += wait
        bench.device += wait
        bench.hub.tick(bench.now)
        assert guarantee(bench).radius >= least[0]
        assert guarantee(bench).window >= least[1]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.floats(0.0, 89.0), st.floats(0.0, 1.5)), min_size=1, max_size=8))
def test_pushes_that_would_lower_change_not_one_byte_of_the_stream(pushes: list[tuple[float, float]]) -> None:
    shown = []
    for pushed in (pushes, []):
        bench = bench_of(follower(unproven=True), scene=PUSHED, noise=NoiseSource.seeded(7))
        bench.gaze(4)
        for small, window in pushed:
            see(bench, small, window)
            bench.gaze(0.25)
        bench.gaze(2 - 0.25 * len(pushed))
        shown.append(points(bench))
    assert shown[0] == shown[1] != []


def test_a_scene_that_may_only_raise_does_raise() -> None:
    bench = bench_of(follower(), scene=PUSHED)
    watch(bench, 5, small=10, window=0.5)
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)
    see(bench, small=200, window=2)
    assert guarantee(bench) == GazeStreamDP("1.5", 2, 216)


def test_a_late_reading_and_one_out_of_order_change_nothing() -> None:
    bench = bench_of(follower())
    bench.gaze(5)
    bench.hub.scene_read("desk", SceneReading(bench.now - LATE_S - 0.1, 300.0), bench.now)
    bench.hub.scene_read("desk", SceneReading(bench.now + 0.1, 300.0), bench.now)
    assert guarantee(bench).radius == 90
    see(bench, small=150)
    before = guarantee(bench)
    bench.hub.scene_read("desk", SceneReading(bench.now - 0.5, 300.0), bench.now)
    assert guarantee(bench) == before
    scene = bench.hub.status().trackers[0].scene
    assert scene is not None
    assert scene["late"] == 3
    shown = points(bench)
    bench.gaze(1)
    assert points(bench)[: len(shown)] == shown


@pytest.mark.parametrize("how", ["stale", "killed"])
def test_a_scene_that_is_lost_leaves_the_larger_of_its_values_and_the_levels(how: str) -> None:
    bench = bench_of(follower(), follower("large", follow_scene="large"))
    watch(bench, 12, small=60, large=300, window=1)
    assert [guarantee(bench, index).radius for index in (0, 1)] == [64, 305]
    if how == "stale":
        bench.gaze(STALE_S + 0.5)
    else:
        bench.hub.scene_lost("desk", "the process that watches the scene has ended", bench.now)
    assert [guarantee(bench, index) for index in (0, 1)] == [
        GazeStreamDP("1.5", "1.5", 90),
        GazeStreamDP("1.5", "1.5", 305),
    ]
    assert bench.state("game") == "flowing"
    watch(bench, SETTLE_S + 1, small=60, large=300, window=1)
    assert [guarantee(bench, index).radius for index in (0, 1)] == [64, 305]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.floats(0.0, 4.0)), max_size=30))
def test_any_window_has_at_most_one_change_of_a_kind(asked: list[tuple[int, int, float]]) -> None:
    pace, now = FollowingPace(RadiusAndWindow(Fraction(90), Fraction(2))), 0.0
    changes: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for radius, seconds, wait in asked:
        pace.ask(RadiusAndWindow(Fraction(60 + 50 * radius), Fraction(seconds)), now)
        for _ in range(4):
            due = pace.due(now)
            if due is not None:
                raised = due.raised(pace.applied) != pace.applied
                assert raised or (due.radius <= pace.applied.radius and due.window <= pace.applied.window)
                assert not raised or due == due.raised(pace.applied)
                changes[raised].append((now, float(max(pace.applied.window, due.window))))
                pace.changed(due, now)
            now += wait / 4
    for times in changes.values():
        for (one, window), (other, _) in itertools.pairwise(times):
            assert other - one > window


@pytest.mark.parametrize("mechanism", ["clock", "held-ticks", "sparse-vector"])
def test_a_lively_scene_never_silences_a_stream_and_every_window_keeps_what_was_paid_for(mechanism: str) -> None:
    veil = {"mechanism": mechanism, "epsilon": 1.5, "window": 1.5, "radius": 90}
    bench = bench_of(follower(veil=veil))
    bench.gaze(5)
    began, shown = bench.device, len(bench.seen["game"].shown)
    told = list(bench.seen["game"].told)
    spent: dict[int, int] = {}
    changes = set()
    for turn in range(40):  # a cut every two seconds, from small things to large ones and back
        for _ in range(4):
            bench.gaze(0.5)
            see(bench, small=[65.0, 290.0, 80.0, 150.0, 70.0, 66.0, 66.0, 66.0][turn % 8], window=1 + turn % 3)
            changes.add(guarantee(bench))
            live = bench.hub.tracker_of("desk").groups[0]._live
            assert live is not None
            if isinstance(live.veil, StreamVeil):
                spent |= dict(spends(live.veil._budget))
    assert len(changes) > 4
    assert len(bench.seen["game"].shown) - shown == round((bench.device - began) * 20)
    assert bench.seen["game"].told == told
    cap, window = Fraction(3, 2) / 60 * LOSS_UNIT, 1_000_000
    for start in spent:
        assert sum(loss for t, loss in spent.items() if start <= t <= start + window) <= cap


def test_a_scene_costs_no_lease_and_the_least_that_it_may_ask_for_is_paid(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        bench = bench_of(follower(), budget(radius=100), ledger=ledger)
        watch(bench, 30, small=300, window=3)
        receipts = [one for one in bench.outcomes if isinstance(one, Receipt)]
        for turn in range(20):
            watch(bench, 1, small=(70, 300)[turn % 2], window=(1, 3)[turn % 2])
        later = [one for one in bench.outcomes if isinstance(one, Receipt)][len(receipts) :]
    assert 1 <= len(later) <= 3  # twenty seconds, in leases of ten
    prices = {one.guarantee.numbers()["epsilon"] for one in bench.outcomes if isinstance(one, Receipt)}
    assert prices == {Fraction(3, 2) * 10 * 2}  # ten windows of one second, and two steps of 60 px reach 100
    assert bench.state("game") == "flowing"


def test_a_stream_begins_with_the_longest_window_that_a_scene_may_ask_for() -> None:
    bench = bench_of(follower())
    began = bench.device
    see(bench, small=300, window=3)
    bench.gaze(6)
    assert bench.seen["game"].shown[0].t > began + 3


def test_a_scene_is_followed_before_the_first_sample_as_well() -> None:
    bench = bench_of(follower())
    see(bench, small=300, window=3)
    assert guarantee(bench) == GazeStreamDP("1.5", 3, 305)
    bench.gaze(6)
    assert bench.state("game") == "flowing"


def test_equal_followers_share_one_noise_and_others_do_not() -> None:
    bench = bench_of(follower("one"), follower("two"), app("fixed"), follower("large", follow_scene="large"))
    bench.gaze(5)
    watch(bench, 2, small=300, large=300)
    groups = [group.apps for group in bench.hub.status().groups]
    assert groups == [("one", "two"), ("fixed",), ("large",)]
    assert points(bench, "one") == points(bench, "two") != points(bench, "fixed")
    assert [guarantee(bench, index).radius for index in range(3)] == [305, 90, 305]


def test_the_knob_sets_the_level_and_the_scene_radius_and_window() -> None:
    bench = bench_of(follower(levels=("lphu", "hplu"), epsilon_at_most=Fraction(2)))
    watch(bench, 12, small=100, large=350, window=1)
    bench.hub.set_level("game", now=bench.now, epsilon="0.7")
    assert guarantee(bench) == GazeStreamDP("0.7", 1, 108)
    with pytest.raises(PrivacyError, match=r"the scene sets the radius and the window of 'game'"):
        bench.hub.set_level("game", now=bench.now, radius=200)
    bench.hub.set_level("game", now=bench.now, preset="hplu")  # high privacy takes the large radius
    assert guarantee(bench) == GazeStreamDP("0.5", 1, 363)
    bench.hub.set_level("game", now=bench.now, preset="policy")
    assert guarantee(bench) == GazeStreamDP("1.5", 1, 108)


def test_what_an_app_is_told_holds_whatever_the_scene_does() -> None:
    bench = bench_of(follower())
    watch(bench, 3, small=300, window=2)
    (status,) = bench.hub.status().apps
    assert status.guarantee.startswith(GazeStreamDP("1.5", 1, 60).in_words())
    assert "does not depend on the participant's gaze, as the policy states" in status.guarantee
    pushed = bench_of(follower(), scene=PUSHED).hub.status().apps[0].guarantee
    assert pushed.startswith(GazeStreamDP("1.5", "1.5", 90).in_words())
    assert "they are only raised" in pushed
    scene = bench.hub.status().trackers[0].scene
    assert scene is not None
    assert scene["applied"] == {
        "radius": 305.0,
        "window_s": 2.0,
        "why": "as the scene asks",
        "radius_at_least": 60.0,
        "window_at_least": 1.0,
    }


def test_a_policy_that_trusts_a_scene_no_longer_takes_back_what_it_lowered() -> None:
    bench = bench_of(follower())
    watch(bench, 12, small=60, window=1)
    assert guarantee(bench) == GazeStreamDP("1.5", 1, 64)
    bench.hub.reload(rules(follower(), scene=CAMERA), bench.now)
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)
    bench.device = 0.0
    bench.gaze(5)
    watch(bench, 12, small=60, window=1)
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)
    assert bench.state("game") == "flowing"
