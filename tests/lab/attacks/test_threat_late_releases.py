# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Releases that wait for gaze tell when it was lost, whatever the noise; on the public clock they tell nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks import ATTACKS, Knowledge, Trial
from gazeveil.lab.attacks.judging import Judge
from gazeveil.lab.attacks.recognisers.lda import Lda
from gazeveil.lab.attacks.threats.late_releases import lost_of
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanisms.clock import Clock
from gazeveil.samples.stream import StreamVeil
from tests.lab.attacks.veiled_people import RATE, SPACE, attack_of, people, veil, veil_of

PROMISE: dict[str, Any] = {
    "epsilon": "0.5",
    "window": "0.5",
    "radius": "2.25",
    "filter": False,
}  # noise of many degrees, but mostly within the space


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingClock(Clock):
    """A clock as it was once: a release that is due while gaze is missing waits for gaze."""

    def start(self, noise: NoiseSource) -> StreamVeil:
        return _Waiting(self, noise)


class _Waiting(StreamVeil):
    __slots__ = ()

    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        there = np.isfinite(x)
        seen = np.column_stack(StreamVeil.run(self, t[there], x[there], y[there]))
        shown = np.vstack([self.mechanism.space.centre, seen])[np.cumsum(there)]
        return np.ascontiguousarray(shown[:, 0]), np.ascontiguousarray(shown[:, 1])


def waiting() -> WaitingClock:
    return WaitingClock(SPACE, **PROMISE)


def blinking(person: str, session: str, every_s: float, long_s: float, seed: int, lasts_s: float = 40) -> Trial:
    rng = np.random.default_rng(seed)
    t = np.arange(round(lasts_s * RATE)) / RATE
    x, y = rng.normal(0.0, 3.0, (2, len(t)))
    for begin in np.arange(rng.uniform(0, every_s), lasts_s, every_s):
        inside = (t >= begin) & (t < begin + long_s)
        x[inside] = y[inside] = np.nan
    return Trial(person, session, "a", t, x, y, RATE)


def test_a_blink_is_seen_from_when_a_release_was_due_if_releases_wait() -> None:
    clock = waiting()
    t = np.arange(300) / RATE
    x = np.sin(t)
    x[100:140] = np.nan
    shown = lost_of(clock, veil(clock, Trial("a", "1", "a", t, x, np.where(np.isnan(x), np.nan, 0.0), RATE)))
    lost = np.isnan(shown.x)
    again = int(np.flatnonzero(lost)[-1]) + 1  # a release came: gaze is back
    assert again == 140
    due = int(np.flatnonzero(lost)[0])
    assert 100 <= due <= 100 + clock.plan().period_us * 1e-6 * RATE + 1
    assert lost[due:again].all()


def test_on_the_public_clock_no_release_is_late_whatever_is_lost() -> None:
    clock = veil_of("clock", **{**PROMISE, "filter": True})
    for every, long in ((1.5, 0.15), (2.0, 0.4), (7.0, 0.6), (0.1, 0.2)):  # the last sees nothing at all
        shown = veil(clock, blinking("a", "1", every, long, 1))
        assert np.isfinite(shown.x).all()
        assert np.isfinite(lost_of(clock, shown).x).all()


def test_nothing_lost_shows_nothing() -> None:
    clock = veil_of("clock", **PROMISE)
    whole = people()[0]
    whole = replace(whole, x=np.nan_to_num(whole.x), y=np.nan_to_num(whole.y))
    assert np.isfinite(lost_of(clock, veil(clock, whole)).x).all()


def test_people_who_blink_differently_are_named_if_releases_wait_and_not_on_the_public_clock() -> None:
    trials = [
        blinking(f"p{number}", session, every, long, 10 * number + int(session))
        for number, (every, long) in enumerate([(1.5, 0.15), (2.0, 0.4), (4.0, 0.2), (7.0, 0.6)])
        for session in "12"
    ]
    judge = Judge(Lda(seconds=5.0, step=1.0), trials, draws=50)
    named = judge.judge(waiting(), ATTACKS["late-releases"]())
    assert named.accuracy >= 0.75
    assert named.unanswered == 0
    on_the_clock = veil_of("clock", **{**PROMISE, "filter": True})
    assert judge.judge(on_the_clock, ATTACKS["late-releases"]()).accuracy == named.chance


def test_trials_shorter_than_a_window_will_do() -> None:
    trials = [blinking(name, day, every, 0.3, 1, 12) for name, every in (("a", 1.0), ("b", 5.0)) for day in "12"]
    told = Judge(Lda(), trials, draws=50).judge(waiting(), ATTACKS["late-releases"]())
    assert told.accuracy == 1


def test_a_veil_that_looks_back_or_has_no_clock_is_no_case_for_it() -> None:
    late = veil_of("clock", **{**PROMISE, "filter": True}, lag=0.25)
    for other in (late, veil_of("gaussian")):
        assert not attack_of("late-releases").fits(other)
        with pytest.raises(OptionError, match="nothing to do"):
            attack_of("late-releases").prepare(Knowledge(other))
