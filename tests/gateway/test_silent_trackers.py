# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A blink does not show in what apps get, whether the tracker says that gaze is missing or says nothing at all."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gazeveil.gateway.hub.stream_clock import StreamClock
from gazeveil.gateway.hub.tracker_stream import LONGEST_FILL_S
from gazeveil.gateway.sample import RawSample, VeiledSample
from gazeveil.privacy.ledger import Ledger
from tests.gateway.hub_bench import Bench, app, budget, policy

HELD = {"mechanism": "clock", "epsilon": 3, "window": "0.5", "radius": 60, "ticks": 2, "filter": False}
OPEN = {"mechanism": "gaussian", "sigma": 1.0}


def samples(bench: Bench, name: str = "game") -> list[VeiledSample]:
    return [shown for shown in bench.seen[name].shown if isinstance(shown, VeiledSample)]


def pushed(bench: Bench, seconds: float, *, gaze: bool = True, sends: bool = True, rate: float = 50.0) -> None:
    """Let time pass, with what runs many times a second; the tracker sends gaze, samples without gaze, or nothing."""
    for i in range(round(seconds * rate)):
        bench.now += 1 / rate
        bench.device += 1 / rate
        if sends:
            x = 300.0 + i % 7 if gaze else math.nan
            bench.hub.push("desk", [RawSample(bench.device, x, 500.0 if gaze else math.nan)], bench.now)
        bench.hub.fill(bench.now)
        if i % 4 == 0:
            bench.hub.tick(bench.now)
            bench.pay()


def releases(bench: Bench) -> list[float]:
    """Return when something new was shown, by the machine's clock."""
    seen, shown = bench.seen["game"], samples(bench)
    changes = [i for i in range(1, len(shown)) if (shown[i].x, shown[i].y) != (shown[i - 1].x, shown[i - 1].y)]
    return [seen.when[i] for i in changes]


def test_samples_without_gaze_show_as_samples_like_any_other() -> None:
    told = []
    for gaze in (True, False):
        bench = Bench(policy(app("game", HELD)))
        pushed(bench, 3)
        pushed(bench, 0.4, gaze=gaze)
        pushed(bench, 3)
        assert all(math.isfinite(shown.x) and math.isfinite(shown.y) for shown in samples(bench))
        told.append(([shown.t for shown in samples(bench)], releases(bench), bench.seen["game"].told))
    assert told[0] == told[1]


def test_what_is_filled_in_leaves_at_once_and_not_with_the_next_sample() -> None:
    bench = Bench(policy(app("game", HELD)))
    pushed(bench, 3)
    before = len(samples(bench))
    for _ in range(20):
        bench.now += 0.02
        bench.hub.fill(bench.now)
        assert bench.seen["game"].left == len(bench.seen["game"].shown)
    assert len(samples(bench)) > before


def test_a_tracker_that_is_silent_in_a_blink_is_filled_in_for() -> None:
    told = []
    for sends in (True, False):
        bench = Bench(policy(app("game", HELD)))
        pushed(bench, 3)
        pushed(bench, 0.4, sends=sends)
        pushed(bench, 3)
        told.append(bench)
    always, silent = told
    assert len(samples(silent)) == pytest.approx(len(samples(always)), abs=2)
    assert np.diff([shown.t for shown in samples(silent)]).max() < 0.045
    assert silent.seen["game"].told == always.seen["game"].told  # and it is not said
    assert len(releases(silent)) == pytest.approx(len(releases(always)), abs=1)


def test_what_is_filled_in_is_charged_and_a_long_silence_is_neither_filled_nor_charged(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        bench = Bench(policy(app("game", HELD), budget(100_000), lease_s=1.0), ledger)
        pushed(bench, 5)
        shown, paid = len(samples(bench)), len(bench.outcomes)
        pushed(bench, LONGEST_FILL_S - 0.3, sends=False)
        assert len(samples(bench)) - shown > 50 * (LONGEST_FILL_S - 0.4)
        assert len(bench.outcomes) - paid >= 1
        pushed(bench, 2, sends=False)
        shown, paid = len(samples(bench)), len(bench.outcomes)
        assert bench.state("game") == "silent"
        assert bench.seen["game"].told[-1] == f"no sample for {LONGEST_FILL_S:g} s"
        pushed(bench, 10, sends=False)
        assert (len(samples(bench)), len(bench.outcomes)) == (shown, paid)
        pushed(bench, 2)
        assert bench.state("game") == "flowing"


def test_a_tracker_that_hung_up_is_not_filled_in_for() -> None:
    bench = Bench(policy(app("game", HELD)))
    pushed(bench, 3)
    bench.hub.tracker_lost("desk", "the tracker hung up", bench.now)
    shown = len(samples(bench))
    pushed(bench, 1, sends=False)
    assert len(samples(bench)) == shown
    assert bench.state("game") == "silent"


def test_a_veil_without_a_promise_gets_what_comes_late_and_nothing_is_made_up_for_it() -> None:
    bench = Bench(policy(app("game", HELD), app("open", OPEN, unproven=True)))
    pushed(bench, 3)
    held = bench.device
    shown = len(samples(bench, "open"))
    pushed(bench, 0.4, sends=False)
    assert len(samples(bench, "open")) == shown
    late = [RawSample(held + i / 50, 300.0, 500.0) for i in range(1, 21)]
    filled = len(samples(bench))
    bench.hub.push("desk", late, bench.now)
    assert len(samples(bench, "open")) == shown + 20
    assert len(samples(bench)) <= filled + 1  # these moments were filled in already
    times = [one.t for one in samples(bench)]
    assert times == sorted(set(times))


def test_after_a_stall_no_window_of_the_machines_clock_holds_more_than_a_windows_worth() -> None:
    """S11: the stream's clock may catch up by ten seconds at once; releases may not."""
    bench = Bench(policy(app("game", HELD)))
    pushed(bench, 3)
    bench.now += 10
    burst = [RawSample(bench.device + i / 50, 300.0 + i, 500.0) for i in range(1, 501)]
    bench.device += 10
    bench.hub.push("desk", burst, bench.now)
    pushed(bench, 3)
    times = np.array(releases(bench))
    most = np.searchsorted(times, times + 0.5, side="right") - np.arange(len(times))
    assert most.max() <= 2
    assert len(times) >= 8


def test_a_stream_clock_is_filled_up_at_the_pace_that_samples_had_and_no_further_than_now() -> None:
    clock = StreamClock()
    assert list(clock.fill(5.0)) == []
    for i in range(600):
        clock.at(100 + i / 120, 10 + i / 120)
    last, seen = 100 + 599 / 120, 10 + 599 / 120
    moments = list(clock.fill(seen + 0.3))
    assert np.diff([last, *moments]) == pytest.approx(1 / 120, rel=1e-3)
    assert moments[-1] <= last + 0.3 < moments[-1] + 1 / 119
    assert list(clock.fill(seen + 0.3)) == []
    assert clock.filled == moments[-1]
    assert clock.at(last + 0.31, seen + 0.31) == pytest.approx(last + 0.31)  # the device's clock is still believed
    assert clock.faults == (0, 0, 0)
