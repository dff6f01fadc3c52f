# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Privacy levels: what may be chosen for an app, and the quiet time that keeps the guarantee from before."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gazeveil.errors import OptionError, PrivacyError
from gazeveil.gateway.sample import VeiledSample
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.samples.stream import StreamVeil
from tests.gateway.hub_bench import Bench, app, policy, tracker


def points(bench: Bench, name: str) -> list[tuple[float, float, float]]:
    return [(v.t, v.x, v.y) for v in bench.seen[name].shown if isinstance(v, VeiledSample)]


def turned(**level: object) -> Bench:
    bench = Bench(policy(app(levels=("lphu", "hplu"), epsilon_at_most=Fraction(2), window_at_least=Fraction(1))))
    bench.gaze(12)
    bench.hub.set_level("game", now=bench.now, **level)
    return bench


def guarantee(bench: Bench) -> GazeStreamDP:
    (group,) = bench.hub.tracker_of("desk").groups
    assert isinstance(group.guarantee, GazeStreamDP)
    return group.guarantee


def test_a_lone_app_turns_its_veil_without_a_break() -> None:
    bench = turned(preset="hplu")
    (group,) = bench.hub.tracker_of("desk").groups
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
    (group,) = bench.hub.tracker_of("desk").groups
    assert group._live is not None
    before = group._live.veil
    bench.hub.set_level("game", now=bench.now, epsilon=2, window="1.25")
    assert group._live.veil is before
    assert guarantee(bench) == before.guarantee == GazeStreamDP(2, "1.25", 90)
    bench.gaze(1)
    assert bench.state("game") == "flowing"
    with pytest.raises(OptionError, match=r"window"):  # whichever veil: a gateway that starts is quiet no longer
        bench.hub.set_level("game", now=bench.now, window=11)


@pytest.mark.parametrize(("name", "why"), [("gaussian", "no epsilon, window and radius")])
def test_a_veil_without_a_knob_says_why_it_cannot_be_turned(name: str, why: str) -> None:
    numbers = {"sigma": 2} if name == "gaussian" else {"epsilon": 1, "window": 1, "radius": 90}
    bench = Bench(policy(app(veil={"mechanism": name, **numbers}, epsilon_at_most=Fraction(2), unproven=True)))
    with pytest.raises(OptionError, match=why):
        bench.hub.set_level("game", now=bench.now, epsilon=2)


def test_numbers_between_presets_may_be_chosen_within_the_policys_bounds() -> None:
    assert guarantee(turned(epsilon=2, window=1)) == GazeStreamDP(2, 1, 90)
    assert guarantee(turned(preset="hplu", epsilon="0.7")) == GazeStreamDP("0.7", 2, 450)
    bench = turned(preset="lphu")
    bench.hub.set_level("game", now=bench.now, preset="policy")
    assert guarantee(bench) == GazeStreamDP("1.5", "1.5", 90)


@pytest.mark.parametrize(
    ("level", "error", "words"),
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
        ({}, OptionError, "the new privacy level"),
    ],
)
def test_a_level_is_refused_beyond_the_policy(level: dict[str, object], error: type[Exception], words: str) -> None:
    bench = turned(preset="lphu")
    before = guarantee(bench)
    with pytest.raises(error, match=words):
        bench.hub.set_level("game", now=bench.now, **level)
    assert guarantee(bench) == before
    bench.gaze(1)
    assert bench.state("game") == "flowing"


def test_a_turn_leaves_a_shared_veil_and_begins_a_new_one_with_quiet() -> None:
    bench = Bench(policy(app(levels=("hplu", "mpmu")), app("other")))
    bench.gaze(5)
    left = bench.device
    bench.hub.set_level("game", now=bench.now, preset="hplu")
    shown = len(bench.seen["game"].shown)
    bench.gaze(5)
    after = [veiled.t for veiled in bench.seen["game"].shown[shown:]]
    assert min(after) > left + 2
    assert [group.apps for group in bench.hub.status().groups] == [("other",), ("game",)]
    bench.hub.set_level("game", now=bench.now, preset="mpmu")
    back, shown = bench.device, len(bench.seen["game"].shown)
    bench.gaze(5)
    assert [group.apps for group in bench.hub.status().groups] == [("other", "game")]
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > back + 2
    assert points(bench, "game")[-1] == points(bench, "other")[-1]


def test_nobody_cuts_a_quiet_time_short_by_hanging_up() -> None:
    bench = Bench(policy(app(levels=("hplu", "mpmu")), app("other", "hplu")))
    bench.gaze(5)
    left, shown = bench.device, len(bench.seen["game"].shown)
    bench.hub.set_level("game", now=bench.now, preset="hplu")
    for _ in range(3):
        bench.hub.set_watched("game", False)
        bench.gaze(0.2)
        bench.hub.set_watched("game", True)
        bench.hub.switch("game", False)
        bench.hub.switch("game", True)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > left + 2


def test_a_longer_window_also_reaches_back_before_a_veil_that_was_replaced() -> None:
    fast = app("game", {"mechanism": "clock", "epsilon": 2, "window": "0.5", "radius": 200})
    bench = Bench(policy(fast))
    bench.gaze(5)
    before, last = len(bench.seen["game"].shown), bench.device
    bench.hub.set_participant("desk", "bo", bench.now)
    bench.gaze(1)
    assert len(bench.seen["game"].shown) > before
    before = len(bench.seen["game"].shown)
    bench.hub.reload(policy(app("game", "hplu")), bench.now)
    assert guarantee(bench) == GazeStreamDP("0.5", 2, 450)
    bench.gaze(3)
    assert bench.seen["game"].shown[before].t > last + 2


def test_a_gateway_that_starts_is_quiet_for_any_window_that_a_knob_may_have_had_before() -> None:
    free, limited = {"window_at_least": Fraction(1, 2)}, {"window_at_most": Fraction(3)}
    for level, quiet in (({"levels": ("lphu", "hplu")}, 2.0), (free, 10.0), (free | limited, 3.0)):
        bench = Bench(policy(app(veil="lphu", **level)))
        began = bench.device
        bench.gaze(12)
        assert began + quiet < bench.seen["game"].shown[0].t < began + quiet + 0.2
    with pytest.raises(OptionError, match="at most 3 s"):
        bench.hub.set_level("game", now=bench.now, window="3.5")


SLOW, FAST = ({"mechanism": "clock", "epsilon": 1, "window": w, "radius": 90} for w in (10, 1))


def test_nobody_cuts_a_quiet_time_short_by_turning_twice() -> None:
    free: dict[str, Any] = {
        "epsilon_at_most": Fraction(1),
        "window_at_least": Fraction(1),
        "radius_at_least": Fraction(1),
    }
    bench = Bench(policy(app("slow", SLOW, levels=("mpmu",), **free), app("other", "mpmu")))
    bench.gaze(25)
    shown = bench.seen["slow"].shown
    before, last = len(shown), shown[-1].t
    bench.hub.set_level("slow", now=bench.now, preset="mpmu")
    bench.hub.set_level("slow", now=bench.now, window=1, epsilon=1)
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
    bench = Bench(policy(app("slow", SLOW, levels=("mpmu",)), app("other", "mpmu")))
    bench.gaze(25)
    before = len(bench.seen["slow"].shown)
    bench.hub.set_level("slow", now=bench.now, preset="mpmu")
    changed = policy(tracker(seed=2), app("slow", SLOW, levels=("mpmu",)), app("other", "mpmu"))
    bench.hub.reload(changed, bench.now)
    bench.device = 0.0
    bench.gaze(12)
    assert len(bench.seen["slow"].shown) > before


def test_off_needs_the_policys_word_and_back_again_is_a_new_veil_with_quiet() -> None:
    bench = Bench(policy(app(levels=("off",), unproven=True)))
    bench.gaze(3)
    bench.hub.set_level("game", now=bench.now, preset="off")
    shown = len(bench.seen["game"].shown)
    bench.gaze(3, at=(300.125, 500.375))
    raw = points(bench, "game")[shown:]
    assert {(x, y) for _, x, y in raw} == {(300.125, 500.375)}
    assert not bench.hub.status().apps[0].proven
    back = bench.device
    bench.hub.set_level("game", now=bench.now, preset="policy")
    shown = len(bench.seen["game"].shown)
    bench.gaze(4)
    assert min(veiled.t for veiled in bench.seen["game"].shown[shown:]) > back + 1.5
    assert bench.hub.status().apps[0].proven


def test_unequal_veils_are_said_to_add_up() -> None:
    bench = Bench(policy(app("a", "mpmu"), app("b", {"preset": "mpmu", "epsilon": 1})))
    assert "e^2.5" in bench.hub.status().trackers[0].guarantee
    bench = Bench(policy(app("a", "mpmu"), app("b", "spatial-low", unproven=True)))
    assert "Nothing is guaranteed" in bench.hub.status().trackers[0].guarantee
