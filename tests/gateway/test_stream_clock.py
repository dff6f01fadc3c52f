# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Stream time never runs back and never far ahead, whatever a device's clock does."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil.gateway.hub.stream_clock import CREDIT_S, DRIFT, SLACK_S, StreamClock

MOMENTS = st.lists(
    st.tuples(
        st.one_of(st.floats(-3.0, 3.0), st.floats(-1e6, 1e6), st.floats(0.0, 0.02), st.just(math.nan)),
        st.one_of(st.floats(0.0, 0.02), st.floats(0.0, 5.0), st.just(0.0)),
    ),
    max_size=200,
)


def through(clock: StreamClock, pairs: list[tuple[float, float]]) -> list[float | None]:
    return [clock.at(t, now) for t, now in pairs]


@given(MOMENTS, st.sampled_from([0.5, 1.0, 10.0]))
@settings(max_examples=300, deadline=None)
@example([(0.0, 0.0), (1e5, 0.0), (1e5, 0.0)], 1.0)
def test_stream_time_never_runs_back_and_never_ahead_by_more_than_the_slack(
    steps: list[tuple[float, float]], speed: float
) -> None:
    clock = StreamClock(speed)
    device, now = 1000.0, 50.0
    seen: list[tuple[float, float]] = []
    for by, passed in steps:
        now += passed
        moment = clock.at(device + by, now)
        if math.isnan(by):
            assert moment is None
        else:
            device += by
            assert moment is not None
            seen.append((moment, now))
    for (before, _), (after, _) in itertools.pairwise(seen):
        assert after >= before
    for (t0, m0), (t1, m1) in itertools.combinations(seen[:40], 2):
        passed = speed * (m1 - m0)
        ahead = (t1 - t0) - passed * (1 + DRIFT)
        assert ahead <= SLACK_S + CREDIT_S + 1e-6
        if (t0, m0) == seen[0]:
            assert ahead <= SLACK_S + 1e-6


@given(
    rate=st.sampled_from([30.0, 60.0, 120.0, 1000.0]),
    jitter=st.floats(0.0, 0.02),
    seed=st.integers(0, 2**32 - 1),
    epoch=st.sampled_from([0.0, 1.7e9, -5.0]),
)
@settings(max_examples=60, deadline=None)
def test_jitter_and_bursts_pass_unchanged(rate: float, jitter: float, seed: int, epoch: float) -> None:
    rng = random.Random(seed)
    clock = StreamClock()
    stamps = [epoch + i / rate for i in range(400)]
    arrivals: list[float] = []
    now = 10.0
    for i in range(400):
        due = 10.0 + i / rate + rng.random() * jitter
        if i and now <= due and rng.random() < 0.02:
            due += rng.random() * 9  # the network stalls, then delivers everything at once
        now = max(now, due)
        arrivals.append(now)
    assert through(clock, list(zip(stamps, arrivals, strict=True))) == stamps
    assert clock.faults == (0, 0, 0)


@pytest.mark.parametrize("drift", [0.001, -0.001, 0.0005])
def test_a_clock_that_is_a_tenth_of_a_percent_off_is_no_fault_for_hours(drift: float) -> None:
    clock = StreamClock()
    for i in range(6 * 3600 * 4):
        now = i / 4
        assert clock.at(now * (1 + drift), now) == now * (1 + drift)
    assert clock.faults == (0, 0, 0)


def test_a_clock_that_runs_at_twice_the_speed_is_held_to_the_machines() -> None:
    clock = StreamClock()
    times = [clock.at(2 * i / 60, i / 60) for i in range(6000)]
    last = times[-1]
    assert last is not None
    assert last <= 100 * (1 + DRIFT) + SLACK_S
    assert clock.faults.ran_ahead > 1000


def test_a_clock_that_is_set_back_goes_on_from_its_last_moment() -> None:
    clock = StreamClock()
    assert clock.at(100.0, 0.0) == 100.0
    assert clock.at(101.0, 1.0) == 101.0
    assert clock.at(5.0, 1.5) == pytest.approx(101.5)
    assert clock.at(6.0, 2.5) == pytest.approx(102.5)
    assert clock.faults == (1, 0, 0)


def test_a_jump_ahead_is_taken_out_and_counted_once() -> None:
    clock = StreamClock()
    assert clock.at(0.0, 0.0) == 0.0
    assert clock.at(3600.0, 0.01) == pytest.approx(0.01)
    assert clock.at(3600.01, 0.02) == pytest.approx(0.02)
    assert clock.faults == (0, 1, 0)


def test_a_backlog_at_the_very_start_is_not_believed_beyond_the_slack() -> None:
    clock = StreamClock()
    times = [clock.at(i / 100, 0.0) for i in range(300)]
    assert times[:50] == [i / 100 for i in range(50)]
    assert times[-1] == pytest.approx(SLACK_S, abs=0.011)


def test_a_sample_out_of_order_counts_as_the_one_before() -> None:
    clock = StreamClock()
    assert through(clock, [(1.0, 0.0), (1.02, 0.02), (1.01, 0.02), (1.03, 0.03)]) == [1.0, 1.02, 1.02, 1.03]
    assert clock.faults == (0, 0, 0)


@pytest.mark.parametrize("stamp", [math.nan, math.inf, -math.inf, 1e13])
def test_a_stamp_that_is_no_time_is_dropped_and_counted(stamp: float) -> None:
    clock = StreamClock()
    assert clock.at(stamp, 0.0) is None
    assert clock.at(1.0, 0.0) == 1.0
    assert clock.at(stamp, 0.0) is None
    assert clock.faults == (0, 0, 2)


def test_a_replay_at_ten_times_the_speed_may_run_as_fast_as_it_says_and_no_faster() -> None:
    clock = StreamClock(10.0)
    stamps = [i / 60 for i in range(6000)]
    assert through(clock, [(t, t / 10) for t in stamps]) == stamps
    faster = StreamClock(10.0)
    assert (faster.at(0.0, 0.0), faster.at(30.0, 1.0)) == (0.0, 10.0)


def test_a_machine_clock_that_runs_back_gives_no_time_away() -> None:
    clock = StreamClock()
    clock.at(0.0, 100.0)
    assert clock.at(5.0, 90.0) == 0.0
    assert clock.at(5.1, 100.1) == pytest.approx(0.1, abs=0.5)
    assert clock.faults.ran_ahead == 1
