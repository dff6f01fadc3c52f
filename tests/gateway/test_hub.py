# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The hub fails closed, recovers by itself, shares noise among equals, and never tells gaze to a log."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError, OptionError, UnknownName
from gazeveil.gateway.hub.hub import Hub
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.samples.stream import StreamVeil
from gazeveil.samples.window_budget import Rule, spends
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
    bench.hub.tracker_lost("desk", "the tracker hung up", bench.now)
    assert bench.seen["game"].told[-1] == "the tracker hung up"
    status = bench.hub.status().trackers[0]
    assert (status.alive, status.why) == (False, "the tracker hung up")
    bench.gaze(0.5)
    assert bench.state("game") == "flowing"
    bench.hub.tracker_lost("nobody", "whatever", bench.now)


def break_veil(bench: Bench) -> None:
    (group,) = bench.hub.tracker_of("desk").groups
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
    bench.hub.set_watched("game", False)
    bench.gaze(5)
    assert bench.hub.status().groups[0].points == 0
    bench.hub.set_watched("game", True)
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
    assert bench.seen["game"].ended == ["the policy does not allow this app's veil for the participant at the tracker"]
    assert "it guarantees nothing" in bench.hub.status().apps[0].why
    allowed = Bench(policy(app(unproven=True)), noise=NoiseSource.seeded(1))
    allowed.gaze(5)
    assert allowed.seen["game"].shown
    assert not allowed.hub.status().apps[0].proven


# Every window, whatever happens


def spends_of(bench: Bench) -> set[tuple[int, int]]:
    """Return what veils remember to have spent: microseconds of stream time, and loss units."""
    found: set[tuple[int, int]] = set()
    for group in bench.hub.tracker_of("desk").groups:
        if group._live is not None and isinstance(group._live.veil, StreamVeil):
            found |= set(spends(group._live.veil._budget))
    return found


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_no_window_holds_more_than_its_promise_through_restarts_errors_and_people(seed: int) -> None:
    rng = random.Random(seed)
    rules = policy(app("game", {"preset": "mpmu", "ticks": rng.choice([1, 3])}))
    guarantee = rules.apps[0].mechanism.guarantee
    assert isinstance(guarantee, GazeStreamDP)
    rule = Rule.of(guarantee.epsilon, guarantee.window, guarantee.radius)
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
                bench.hub.set_participant("desk", rng.choice("ab"), bench.now)
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


# Reload and participants


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
    bench.hub.set_participant("desk", "bob", bench.now)
    left, shown = bench.device, len(bench.seen["game"].shown)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > left + 1.5
    assert bench.hub.status().trackers[0].participant == "bob"
    with pytest.raises(UnknownName):
        bench.hub.set_participant("chair", "bob", bench.now)
    with pytest.raises(InputError):
        bench.hub.set_participant("desk", "\n", bench.now)


def test_one_name_is_one_account_however_it_is_typed(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        bench = Bench(policy(app(), budget(participant="Jos\u00e9")), ledger)
        bench.hub.set_participant("desk", "Jose\u0301", bench.now)
        bench.gaze(5)
        assert bench.outcomes
        for blanks in ("Jos\u00e9 ", " Jos\u00e9", "", " "):
            with pytest.raises(OptionError, match="blanks"):
                bench.hub.set_participant("desk", blanks, bench.now)


def test_a_person_whose_budget_forbids_an_unproven_veil_is_not_shown(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    rules = policy(tracker(participant="bob"), app(veil="spatial-low", unproven=True), budget(participant="anna"))
    bench = Bench(rules, ledger)
    bench.gaze(2)
    assert bench.state("game") == "flowing"
    bench.hub.set_participant("desk", "anna", bench.now)
    shown = len(bench.seen["game"].shown)
    bench.gaze(3)
    assert len(bench.seen["game"].shown) == shown
    assert "the budget of 'anna' does not allow that" in bench.hub.status().apps[0].why
    assert "anna" not in "".join(bench.seen["game"].ended + bench.seen["game"].told)
    bench.hub.set_participant("desk", "bob", bench.now)
    bench.gaze(3)
    assert len(bench.seen["game"].shown) > shown


# Nothing told is gaze


def test_no_log_no_status_and_no_repr_holds_gaze(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    areas = AreasOfInterest((Rectangle("left", 0, 0, 960, 1080),), SCREEN)
    rules = policy(
        app(levels=("hplu",)), app("b", "lphu", output="hits", areas=areas), app("c", output="fixations"), budget(20)
    )
    bench = Bench(rules, ledger)
    told: list[str] = []

    def look() -> None:
        hub = bench.hub
        told.append(json.dumps(hub.status().to_dict()))
        things: list[object] = [hub, *hub._apps.values(), *hub._trackers.values(), *bench.outcomes]
        for desk in hub._trackers.values():
            things += [desk.clock, *desk.groups, *(group._live for group in desk.groups)]
            things += [group._live.veil for group in desk.groups if group._live is not None]
        told.extend(repr(thing) for thing in things)

    where = (734.8125, 419.6875)
    for _ in range(4):
        bench.gaze(3, at=where)
        look()
    bench.hub.set_level("game", now=bench.now, preset="hplu")
    bench.seen["b"].broken = True
    bench.gaze(3, at=where)
    bench.hub.tracker_lost("desk", "gone", bench.now)
    bench.gaze(20, at=where)
    bench.hub.set_participant("desk", "bob", bench.now)
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
