# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The hub fails closed, recovers by itself, shares noise among equals, and never tells gaze to a log."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError, OptionError, PrivacyError, UnknownName
from gazeveil.gateway.hub import Hub
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.samples.ledger import Rule, spends
from gazeveil.samples.stream import StreamVeil
from tests.gateway.hub_bench import SCREEN, Bench, app, budget, policy, tracker


def points(bench: Bench, name: str) -> list[tuple[float, float, float]]:
    return [(v.t, v.x, v.y) for v in bench.seen[name].shown if isinstance(v, VeiledSample)]


def test_a_stream_begins_with_one_window_of_quiet_and_then_flows() -> None:
    bench = Bench(policy(app()))
    began = bench.device
    bench.gaze(5)
    seen = bench.seen["game"]
    assert seen.told == ["no sample has come yet", "a new stream begins with a quiet time"]
    assert seen.shown[0].t > began + 1.5
    assert min(seen.when) > 1000 + 1.5
    assert len(seen.shown) == pytest.approx(3.5 * 20, abs=2)
    assert bench.state("game") == "flowing"


def test_no_raw_point_is_ever_shown() -> None:
    bench = Bench(policy(app(), app("other", "hplu")))
    bench.gaze(10, at=(300.125, 500.375))
    for name in ("game", "other"):
        assert points(bench, name)
        assert all(x != 300.125 and y != 500.375 for _, x, y in points(bench, name))


def test_equal_veils_share_one_noise_whatever_the_output() -> None:
    areas = AreasOfInterest((Rectangle("left", 0, 0, 960, 1080), Rectangle("right", 960, 0, 1920, 1080)), SCREEN)
    rules = policy(
        app("one"),
        app("two", {"mechanism": "clock", "epsilon": 1.5, "window": 1.5, "radius": 90}, edge="leave", rate_hz=10.0),
        app("three", output="fixations"),
        app("four", output="hits", areas=areas),
        app("alone", "lphu"),
    )
    bench = Bench(rules)
    bench.gaze(20)
    groups = {group.name: group.apps for group in bench.hub.status().groups}
    assert groups == {"desk/1": ("one", "two", "three", "four"), "desk/2": ("alone",)}
    at = {t: (x, y) for t, x, y in points(bench, "one")}
    assert all(at[t] == (min(max(x, 0), 1920), min(max(y, 0), 1080)) for t, x, y in points(bench, "two"))
    assert 0 < len(points(bench, "two")) < len(at)
    assert any(at[t] != (x, y) for t, x, y in points(bench, "alone") if t in at)
    assert all(isinstance(shown, VeiledFixation) for shown in bench.seen["three"].shown)
    assert next(shown.area for shown in bench.seen["four"].shown if isinstance(shown, VeiledHit)) in ("left", "right")


def test_without_samples_an_app_hears_silence_and_then_gaze_again() -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    assert bench.state("game") == "flowing"
    bench.wait(3)
    assert bench.seen["game"].told[-1] == "no sample for 2 s"
    assert bench.state("game") == "silent"
    shown = len(bench.seen["game"].shown)
    bench.gaze(1)
    assert bench.state("game") == "flowing"
    assert len(bench.seen["game"].shown) == shown + 20


def test_a_lost_tracker_is_silence_with_its_reason() -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    bench.hub.lost("desk", "the tracker hung up", bench.now)
    assert bench.seen["game"].told[-1] == "the tracker hung up"
    status = bench.hub.status().trackers[0]
    assert (status.alive, status.why) == (False, "the tracker hung up")
    bench.gaze(0.5)
    assert bench.state("game") == "flowing"
    bench.hub.lost("nobody", "whatever", bench.now)


def break_veil(bench: Bench) -> None:
    (group,) = bench.hub._desks["desk"].groups
    if group._live is None:
        return

    def fails(*_: float) -> tuple[float, float]:
        raise RuntimeError("gaze 300.125")

    group._live._step = fails  # type: ignore[assignment]


def test_a_veil_that_fails_is_replaced_after_a_pause_and_a_window_of_quiet() -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    failed = bench.device
    break_veil(bench)
    shown = len(bench.seen["game"].shown)
    bench.gaze(1)
    assert len(bench.seen["game"].shown) == shown
    assert "the veil met an error and is closed" in bench.seen["game"].told
    bench.gaze(4)
    after = [veiled.t for veiled in bench.seen["game"].shown[shown:]]
    assert after
    assert min(after) > failed + 0.25 + 1.5
    assert min(after) < failed + 5
    assert bench.hub.status().groups[0].restarts == 1
    assert "300.125" not in repr(bench.logs)


def test_one_outlet_that_fails_harms_nobody_else() -> None:
    bench = Bench(policy(app("bad"), app("good")))
    bench.seen["bad"].broken = True
    bench.gaze(4)
    assert not bench.seen["bad"].shown
    assert bench.seen["good"].shown
    status = bench.hub.status().apps[0]
    assert status.errors == len(bench.seen["good"].shown)
    assert [event for event, _ in bench.logs].count("app-failed") == 1


@pytest.mark.parametrize(
    "bad",
    [
        (math.nan, 1.0, 1.0), (math.inf, 1.0, 1.0), (1e300, 1.0, 1.0), (55.0, math.inf, 1.0),
        (55.0, math.nan, math.nan),
        (55.0, 1e300, -1e300), (-1e9, 5.0, 5.0), ("late", 1.0, 1.0), (None, 1.0, 1.0), (55.0, "left", 1.0),
    ],
)  # fmt: skip
def test_no_sample_stops_the_hub(bad: tuple[float, float, float]) -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    bench.hub.push("desk", [RawSample(*bad)], bench.now)
    bench.hub.push("nobody", [RawSample(1.0, 1.0, 1.0)], bench.now)
    bench.gaze(5)
    assert bench.state("game") == "flowing"
    assert all(math.isfinite(x) and math.isfinite(y) for _, x, y in points(bench, "game"))


def test_a_clock_that_jumps_an_hour_ahead_again_and_again_releases_no_window_twice() -> None:
    bench = Bench(
        policy(
            app("game", {"mechanism": "clock", "epsilon": 1, "window": 2, "radius": 60, "ticks": 1, "filter": False})
        )
    )
    for i in range(400):
        bench.now += 0.01
        bench.hub.push("desk", [RawSample(50.0 + 3600 * i, 300.0, 500.0)], bench.now)
    shown = {(x, y) for _, x, y in points(bench, "game")}
    assert len(shown) <= 2  # four seconds of one tick in two, the first two of them quiet
    assert bench.hub.status().trackers[0].clock_faults["ran_ahead"] > 300


def test_nothing_is_veiled_for_an_app_that_nobody_watches() -> None:
    bench = Bench(policy(app()))
    bench.hub.watched("game", False)
    bench.gaze(5)
    assert bench.hub.status().groups[0].points == 0
    bench.hub.watched("game", True)
    bench.gaze(3)
    assert bench.seen["game"].shown


def test_an_app_can_be_switched_off_and_on() -> None:
    bench = Bench(policy(app(), app("other")))
    bench.gaze(3)
    bench.hub.switch("game", False)
    bench.hub.switch("game", False)
    assert bench.seen["game"].ended == ["the app is switched off"]
    assert bench.state("game") == "off"
    shown = len(bench.seen["game"].shown)
    bench.gaze(2)
    assert len(bench.seen["game"].shown) == shown
    assert bench.state("other") == "flowing"
    bench.hub.switch("game", True)
    bench.gaze(2)
    assert len(bench.seen["game"].shown) > shown
    with pytest.raises(UnknownName):
        bench.hub.switch("gmae", True)


def test_who_attaches_late_is_told_how_things_stand() -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    late = bench.attach("game")
    assert late.told == []
    bench.wait(3)
    assert bench.attach("game").told == ["no sample for 2 s"]
    with pytest.raises(UnknownName):
        bench.hub.attach("gmae", late)


def test_noise_from_a_seed_is_no_promise_and_needs_the_policys_word() -> None:
    bench = Bench(policy(app()), noise=NoiseSource.seeded(1))
    bench.gaze(5)
    assert not bench.seen["game"].shown
    assert bench.seen["game"].ended == ["the policy does not allow this app's veil for whoever sits at the tracker"]
    assert "it promises nothing" in bench.hub.status().apps[0].why
    allowed = Bench(policy(app(unproven=True)), noise=NoiseSource.seeded(1))
    allowed.gaze(5)
    assert allowed.seen["game"].shown
    assert not allowed.hub.status().apps[0].proven


# Every window, whatever happens


def spends_of(bench: Bench) -> set[tuple[int, int]]:
    """Return what veils remember to have spent: microseconds of stream time, and loss units."""
    found: set[tuple[int, int]] = set()
    for group in bench.hub._desks["desk"].groups:
        if group._live is not None and isinstance(group._live.veil, StreamVeil):
            found |= set(spends(group._live.veil._books))
    return found


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_no_window_holds_more_than_its_promise_through_restarts_errors_and_people(seed: int) -> None:
    rng = random.Random(seed)
    rules = policy(app("game", {"preset": "mpmu", "ticks": rng.choice([1, 3])}))
    promise = rules.apps[0].mechanism.guarantee
    assert isinstance(promise, GazeStreamDP)
    rule = Rule.of(promise.epsilon, promise.window, promise.radius)
    spent: set[tuple[int, int]] = set()
    now, device = 0.0, 1000.0
    for _ in range(3):
        bench = Bench(rules, now=now)
        bench.device = device
        for _ in range(8):
            what = rng.random()
            if what < 0.6:
                bench.gaze(rng.choice([0.3, 1.0, 4.0]), rate=rng.choice([20.0, 100.0]))
            elif what < 0.7:
                break_veil(bench)
            elif what < 0.8:
                bench.hub.sit_down("desk", rng.choice("ab"), bench.now)
            elif what < 0.9:
                bench.wait(rng.choice([0.1, 0.6, 3.0]))
            else:
                bench.hub.reload(rules, bench.now)
            spent |= spends_of(bench)
        now, device = bench.now, bench.device + rng.choice([0.0, 0.3])  # killed, and started again
    times = sorted(spent)
    assert times
    for last, _ in times:
        assert sum(loss for t, loss in times if last - rule.window_us <= t <= last) <= rule.cap


# The knob


def turned(**knob: object) -> Bench:
    bench = Bench(policy(app(knob=("lphu", "hplu"), epsilon_at_most=Fraction(2), window_at_least=Fraction(1))))
    bench.gaze(12)
    bench.hub.turn("game", now=bench.now, **knob)  # type: ignore[arg-type]
    return bench


def guarantee(bench: Bench) -> GazeStreamDP:
    (group,) = bench.hub._desks["desk"].groups
    assert isinstance(group.promise, GazeStreamDP)
    return group.promise


def test_a_lone_app_turns_its_veil_without_a_break() -> None:
    bench = turned(preset="hplu")
    (group,) = bench.hub._desks["desk"].groups
    assert group._live is not None
    assert isinstance(group._live.veil, StreamVeil)
    assert guarantee(bench) == group._live.veil.guarantee == GazeStreamDP("0.5", 2, 450)
    shown = len(bench.seen["game"].shown)
    bench.gaze(1)
    assert len(bench.seen["game"].shown) == shown + 20


TICKS = {"mechanism": "held-ticks", "epsilon": 1, "window": 1, "radius": 90}


@pytest.mark.parametrize(
    "veil",
    [
        TICKS,
        {"mechanism": "clock", "epsilon": 1, "window": 1, "radius": 90},
        {"mechanism": "kaleido", "epsilon": 1, "window": 1, "radius": 90},
        {"mechanism": "chain", "members": [{"mechanism": "edge"}, TICKS]},
    ],
    ids=["held-ticks", "clock", "kaleido", "chain"],
)
def test_every_veil_with_a_knob_is_turned_live(veil: dict[str, Any]) -> None:
    bench = Bench(policy(app(veil=veil, epsilon_at_most=Fraction(2), window_at_least=Fraction(1))))
    bench.gaze(12)
    (group,) = bench.hub._desks["desk"].groups
    assert group._live is not None
    before = group._live.veil
    bench.hub.turn("game", now=bench.now, epsilon=2, window="1.25")
    assert group._live.veil is before
    assert guarantee(bench) == before.guarantee == GazeStreamDP(2, "1.25", 90)
    bench.gaze(1)
    assert bench.state("game") == "flowing"
    with pytest.raises(OptionError, match=r"window"):  # whichever veil: a gateway that starts is quiet no longer
        bench.hub.turn("game", now=bench.now, window=11)


@pytest.mark.parametrize(
    ("name", "why"), [("kaleido-as-published", "K4"), ("gaussian", "no epsilon, window and radius")]
)
def test_a_veil_without_a_knob_says_why_it_cannot_be_turned(name: str, why: str) -> None:
    numbers = {"sigma": 2} if name == "gaussian" else {"epsilon": 1, "window": 1, "radius": 90}
    bench = Bench(policy(app(veil={"mechanism": name, **numbers}, epsilon_at_most=Fraction(2), unproven=True)))
    with pytest.raises(OptionError, match=why):
        bench.hub.turn("game", now=bench.now, epsilon=2)


def test_numbers_between_presets_may_be_chosen_within_the_policys_bounds() -> None:
    assert guarantee(turned(epsilon=2, window=1)) == GazeStreamDP(2, 1, 90)
    assert guarantee(turned(preset="hplu", epsilon="0.7")) == GazeStreamDP("0.7", 2, 450)
    bench = turned(preset="lphu")
    bench.hub.turn("game", now=bench.now, preset="policy")
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)


@pytest.mark.parametrize(
    ("knob", "error", "words"),
    [
        ({"preset": "mpmu"}, PrivacyError, "does not allow 'mpmu'"),
        ({"preset": "off"}, PrivacyError, "does not allow 'off'"),
        ({"epsilon": 2.5}, PrivacyError, "epsilon_at_most = 2"),
        ({"window": 0.5}, PrivacyError, "window_at_least = 1"),
        ({"radius": 1000}, PrivacyError, "does not let 'game' change its radius"),
        ({"radius": "1000px"}, PrivacyError, "does not let 'game' change its radius"),
        ({"radius": "10cm"}, OptionError, "radius is 10cm, but gaze is in pixels"),
        ({"epsilon": -1}, OptionError, "epsilon"),
        ({"window": 11}, OptionError, "window"),
        ({}, OptionError, "where to turn"),
    ],
)
def test_the_knob_is_refused_beyond_the_policy(knob: dict[str, object], error: type[Exception], words: str) -> None:
    bench = turned(preset="lphu")
    before = guarantee(bench)
    with pytest.raises(error, match=words):
        bench.hub.turn("game", now=bench.now, **knob)  # type: ignore[arg-type]
    assert guarantee(bench) == before
    bench.gaze(1)
    assert bench.state("game") == "flowing"


def test_a_turn_leaves_a_shared_veil_and_begins_a_new_one_with_quiet() -> None:
    bench = Bench(policy(app(knob=("hplu", "mpmu")), app("other")))
    bench.gaze(5)
    left = bench.device
    bench.hub.turn("game", now=bench.now, preset="hplu")
    shown = len(bench.seen["game"].shown)
    bench.gaze(5)
    after = [veiled.t for veiled in bench.seen["game"].shown[shown:]]
    assert min(after) > left + 2
    assert [group.apps for group in bench.hub.status().groups] == [("other",), ("game",)]
    bench.hub.turn("game", now=bench.now, preset="mpmu")
    back, shown = bench.device, len(bench.seen["game"].shown)
    bench.gaze(5)
    assert [group.apps for group in bench.hub.status().groups] == [("other", "game")]
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > back + 2
    assert points(bench, "game")[-1] == points(bench, "other")[-1]


def test_nobody_cuts_a_quiet_time_short_by_hanging_up() -> None:
    bench = Bench(policy(app(knob=("hplu", "mpmu")), app("other", "hplu")))
    bench.gaze(5)
    left, shown = bench.device, len(bench.seen["game"].shown)
    bench.hub.turn("game", now=bench.now, preset="hplu")
    for _ in range(3):
        bench.hub.watched("game", False)
        bench.gaze(0.2)
        bench.hub.watched("game", True)
        bench.hub.switch("game", False)
        bench.hub.switch("game", True)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > left + 2


def test_a_longer_window_also_reaches_back_before_a_veil_that_was_replaced() -> None:
    fast = app("game", {"mechanism": "clock", "epsilon": 2, "window": "0.5", "radius": 200})
    bench = Bench(policy(fast))
    bench.gaze(5)
    before, last = len(bench.seen["game"].shown), bench.device
    bench.hub.sit_down("desk", "bo", bench.now)
    bench.gaze(1)
    assert len(bench.seen["game"].shown) > before
    before = len(bench.seen["game"].shown)
    bench.hub.reload(policy(app("game", "hplu")), bench.now)
    assert guarantee(bench) == GazeStreamDP("0.5", 2, 450)
    bench.gaze(3)
    assert bench.seen["game"].shown[before].t > last + 2


def test_a_gateway_that_starts_is_quiet_for_any_window_that_a_knob_may_have_had_before() -> None:
    for knob, quiet in (({"knob": ("lphu", "hplu")}, 2.0), ({"window_at_least": Fraction(1, 2)}, 10.0)):
        bench = Bench(policy(app(veil="lphu", **knob)))
        began = bench.device
        bench.gaze(12)
        assert bench.seen["game"].shown[0].t > began + quiet


SLOW, FAST = ({"mechanism": "clock", "epsilon": 1, "window": w, "radius": 90} for w in (10, 1))


def test_nobody_cuts_a_quiet_time_short_by_turning_twice() -> None:
    free: dict[str, Any] = {
        "epsilon_at_most": Fraction(1),
        "window_at_least": Fraction(1),
        "radius_at_least": Fraction(1),
    }
    bench = Bench(policy(app("slow", SLOW, knob=("mpmu",), **free), app("other", "mpmu")))
    bench.gaze(25)
    shown = bench.seen["slow"].shown
    before, last = len(shown), shown[-1].t
    bench.hub.turn("slow", now=bench.now, preset="mpmu")
    bench.hub.turn("slow", now=bench.now, window=1, epsilon=1)
    bench.gaze(12)
    assert shown[before].t > last + 10


@pytest.mark.parametrize(
    "steps",
    [
        [(app("fast", FAST),)],
        [(tracker("desk2"), app("fast", FAST, on="desk2"))],
        [
            (tracker("spare"), app("else", FAST, on="spare")),
            (tracker("spare"), tracker("desk2"), app("else", FAST, on="spare"), app("fast", FAST, on="desk2")),
        ],
    ],
)
def test_a_window_that_was_promised_is_kept_under_other_names(steps: list[tuple[object, ...]]) -> None:
    bench = Bench(policy(app("slow", SLOW)))
    bench.gaze(25)
    last = bench.seen["slow"].shown[-1].t
    for step in steps:
        bench.hub.reload(policy(*step), bench.now)  # type: ignore[arg-type]
    seen = bench.attach("fast")
    bench.gaze(12, on=bench.hub.policy.app("fast").tracker)
    assert seen.shown[0].t > last + 10


def test_who_waits_behind_a_veil_is_let_in_though_the_tracker_and_its_clock_are_replaced() -> None:
    bench = Bench(policy(app("slow", SLOW, knob=("mpmu",)), app("other", "mpmu")))
    bench.gaze(25)
    before = len(bench.seen["slow"].shown)
    bench.hub.turn("slow", now=bench.now, preset="mpmu")
    changed = policy(tracker(seed=2), app("slow", SLOW, knob=("mpmu",)), app("other", "mpmu"))
    bench.hub.reload(changed, bench.now)
    bench.device = 0.0
    bench.gaze(12)
    assert len(bench.seen["slow"].shown) > before


def test_off_needs_the_policys_word_and_back_again_is_a_new_veil_with_quiet() -> None:
    bench = Bench(policy(app(knob=("off",), unproven=True)))
    bench.gaze(3)
    bench.hub.turn("game", now=bench.now, preset="off")
    shown = len(bench.seen["game"].shown)
    bench.gaze(3, at=(300.125, 500.375))
    raw = points(bench, "game")[shown:]
    assert {(x, y) for _, x, y in raw} == {(300.125, 500.375)}
    assert not bench.hub.status().apps[0].proven
    back = bench.device
    bench.hub.turn("game", now=bench.now, preset="policy")
    shown = len(bench.seen["game"].shown)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > back + 1.5
    assert bench.hub.status().apps[0].proven


def test_unequal_veils_are_said_to_add_up() -> None:
    bench = Bench(policy(app("a", "mpmu"), app("b", {"preset": "mpmu", "epsilon": 1})))
    assert "e^2.5" in bench.hub.status().trackers[0].promise
    bench = Bench(policy(app("a", "mpmu"), app("b", "spatial-low", unproven=True)))
    assert "Nothing is promised" in bench.hub.status().trackers[0].promise


# Reload and people


def test_what_did_not_change_goes_on_through_a_reload() -> None:
    bench = Bench(policy(app(), app("other", "lphu")))
    bench.gaze(4)
    shown = len(bench.seen["game"].shown)
    bench.hub.reload(policy(app(), app("other", "hplu"), app("third")), bench.now)
    third = bench.attach("third")
    left = bench.device
    bench.gaze(1)
    assert len(bench.seen["game"].shown) == shown + 20
    assert len(third.shown) == 20
    bench.gaze(4)
    assert any(veiled.t > left + 2 for veiled in bench.seen["other"].shown)
    bench.hub.reload(policy(app()), bench.now)
    assert bench.seen["other"].ended == ["the policy has no such app any more"]
    assert [status.name for status in bench.hub.status().apps] == ["game"]
    bench.gaze(1)
    assert bench.state("game") == "flowing"


def test_an_app_whose_veil_changes_beside_others_is_quiet_for_the_longer_window() -> None:
    bench = Bench(policy(app("a", "hplu"), app("b", "hplu")))
    bench.gaze(5)
    bench.hub.reload(policy(app("a", "hplu"), app("b", "lphu")), bench.now)
    left, shown = bench.device, len(bench.seen["b"].shown)
    bench.gaze(5)
    assert min(veiled.t for veiled in bench.seen["b"].shown[shown:]) > left + 2


def test_a_rate_may_change_without_a_break() -> None:
    bench = Bench(policy(app()))
    bench.gaze(4)
    shown = len(bench.seen["game"].shown)
    bench.hub.reload(policy(app(rate_hz=10.0)), bench.now)
    bench.gaze(2)
    assert 18 <= len(bench.seen["game"].shown) - shown <= 22


def test_another_tracker_plane_begins_anew() -> None:
    bench = Bench(policy(app()))
    bench.gaze(4)
    bench.hub.reload(policy(tracker(speed=2.0), app()), bench.now)
    left, shown = bench.device, len(bench.seen["game"].shown)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > left + 1.5


def test_an_app_may_move_to_another_tracker() -> None:
    bench = Bench(policy(tracker(), app(), app("stays")))
    bench.gaze(3)
    bench.hub.reload(policy(tracker("lab"), app(on="lab"), app("stays", on="lab")), bench.now)
    shown = len(bench.seen["game"].shown)
    bench.gaze(3, on="desk")
    assert len(bench.seen["game"].shown) == shown
    bench.gaze(3, on="lab")
    assert len(bench.seen["game"].shown) > shown
    assert [status.name for status in bench.hub.status().trackers] == ["lab"]


def test_another_person_begins_a_new_stream_with_quiet() -> None:
    bench = Bench(policy(app()))
    bench.gaze(4)
    bench.hub.sit_down("desk", "bob", bench.now)
    left, shown = bench.device, len(bench.seen["game"].shown)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > left + 1.5
    assert bench.hub.status().trackers[0].person == "bob"
    with pytest.raises(UnknownName):
        bench.hub.sit_down("chair", "bob", bench.now)
    with pytest.raises(InputError):
        bench.hub.sit_down("desk", "\n", bench.now)


def test_one_name_is_one_account_however_it_is_typed(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        bench = Bench(policy(app(), budget(person="Jos\u00e9")), ledger)
        bench.hub.sit_down("desk", "Jose\u0301", bench.now)
        bench.gaze(5)
        assert bench.outcomes
        for blanks in ("Jos\u00e9 ", " Jos\u00e9", "", " "):
            with pytest.raises(OptionError, match="blanks"):
                bench.hub.sit_down("desk", blanks, bench.now)


def test_a_person_whose_budget_forbids_an_unproven_veil_is_not_shown(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    rules = policy(tracker(person="bob"), app(veil="spatial-low", unproven=True), budget(person="anna"))
    bench = Bench(rules, ledger)
    bench.gaze(2)
    assert bench.state("game") == "flowing"
    bench.hub.sit_down("desk", "anna", bench.now)
    shown = len(bench.seen["game"].shown)
    bench.gaze(3)
    assert len(bench.seen["game"].shown) == shown
    assert "the budget of 'anna' does not allow that" in bench.hub.status().apps[0].why
    assert "anna" not in "".join(bench.seen["game"].ended + bench.seen["game"].told)
    bench.hub.sit_down("desk", "bob", bench.now)
    bench.gaze(3)
    assert len(bench.seen["game"].shown) > shown


# Nothing told is gaze


def test_no_log_no_status_and_no_repr_holds_gaze(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    areas = AreasOfInterest((Rectangle("left", 0, 0, 960, 1080),), SCREEN)
    rules = policy(
        app(knob=("hplu",)), app("b", "lphu", output="hits", areas=areas), app("c", output="fixations"), budget(20)
    )
    bench = Bench(rules, ledger)
    told: list[str] = []

    def look() -> None:
        hub = bench.hub
        told.append(json.dumps(hub.status().to_dict()))
        things: list[object] = [hub, *hub._seats.values(), *hub._desks.values(), *bench.outcomes]
        for desk in hub._desks.values():
            things += [desk.clock, *desk.groups, *(group._live for group in desk.groups)]
            things += [group._live.veil for group in desk.groups if group._live is not None]
        told.extend(repr(thing) for thing in things)

    where = (734.8125, 419.6875)
    for _ in range(4):
        bench.gaze(3, at=where)
        look()
    bench.hub.turn("game", now=bench.now, preset="hplu")
    bench.seen["b"].broken = True
    bench.gaze(3, at=where)
    bench.hub.lost("desk", "gone", bench.now)
    bench.gaze(20, at=where)
    bench.hub.sit_down("desk", "bob", bench.now)
    bench.gaze(3, at=where)
    look()
    everything = "\n".join([*told, repr(bench.logs)])
    assert len(bench.logs) > 8
    for value in where:
        for text in (repr(value), f"{value:.1f}", f"{value:.0f}.", str(int(value * 1000))):
            assert text not in everything
    for veiled in (veiled for seen in bench.seen.values() for veiled in seen.shown):
        if isinstance(veiled, VeiledSample) and not veiled.x.is_integer():
            assert f"{veiled.x:.4f}" not in everything


def test_everything_told_is_plain_json() -> None:
    bench = Bench(policy(app(), budget()), Ledger.__new__(Ledger))
    told = json.loads(json.dumps(bench.hub.status().to_dict()))
    assert told.keys() == {"trackers", "groups", "apps", "budgets", "latched"}
    assert told["budgets"][0]["epsilon_per_day"] == 5000


def test_a_closed_hub_shows_nothing() -> None:
    bench = Bench(policy(app()))
    bench.gaze(3)
    bench.hub.close()
    shown = len(bench.seen["game"].shown)
    bench.hub.push("desk", [RawSample(bench.device + 1, 5.0, 5.0)], bench.now + 1)
    assert len(bench.seen["game"].shown) == shown
    assert isinstance(bench.hub, Hub)
