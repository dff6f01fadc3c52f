# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The rate at which recognisers look at gaze is chosen inside the reference."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks import RECOGNISERS, Trial, enrolment
from gazeveil.lab.attacks.contract import Gallery
from gazeveil.lab.attacks.enrolment import ScoredGallery

PEOPLE = ("ann", "bob", "cleo", "dan", "eve", "fay")


def blank(person: str, session: str, name: str = "a", rate: float = 240.0, seconds: float = 1.0) -> Trial:
    t = np.arange(round(seconds * rate)) / rate
    return Trial(person, session, name, t, np.full(len(t), float(PEOPLE.index(person))), np.zeros(len(t)), rate)


def recognised_at(known: Callable[[float], int]) -> enrolment.Enrol:
    """Return what recognises the first so many people at a rate, and takes all others for the last."""

    def enrol(reference: Sequence[Trial]) -> Gallery:
        rate = reference[0].rate_hz

        def score(query: Trial) -> np.ndarray:
            who = int(np.nanmean(query.x))
            return np.eye(len(PEOPLE))[[who if who < known(rate) else len(PEOPLE) - 1]]

        return ScoredGallery(PEOPLE, score)

    return enrol


def test_averages_are_means_of_what_is_there() -> None:
    x = np.array([1.0, 3.0, np.nan, 5.0, np.nan, np.nan, 2.0])
    trial = Trial("ann", "1", "a", np.arange(7) / 100, x, x, 100.0, np.arange(7.0))
    slow = enrolment.averaged(trial, 50.0)
    np.testing.assert_allclose(slow.x, [2.0, 5.0, np.nan, 2.0])
    assert slow.pupil is not None
    np.testing.assert_allclose(slow.pupil, [0.5, 2.5, 4.5, 6.0])
    np.testing.assert_allclose(np.diff(slow.t), 0.02)
    assert (slow.rate_hz, slow.person) == (50.0, "ann")
    assert enrolment.averaged(trial, 90.0) is trial
    assert enrolment.averaged(trial, np.inf) is trial


def test_gaze_up_to_100_hz_has_one_rate_and_faster_gaze_has_several() -> None:
    assert enrolment.candidates(90.0) == (90.0,)
    assert enrolment.candidates(250.0) == (250.0, 125.0, 62.5, 31.25)
    assert enrolment.candidates(1000.0)[-1] == 31.25
    assert enrolment.candidates(120.0) == (120.0, 60.0, 30.0)


def test_across_sessions_the_best_rate_is_taken() -> None:
    reference = [blank(person, session) for person in PEOPLE for session in "12"]
    best_at_60 = {240.0: 2, 120.0: 3, 60.0: 5, 30.0: 4}
    assert enrolment.best_rate(reference, recognised_at(lambda rate: best_at_60[rate])) == 60.0
    assert enrolment.best_rate(reference, recognised_at(lambda rate: 5 if rate > 200 else 2)) == 240.0


def test_within_one_session_the_slowest_rate_that_is_not_surely_worse_is_taken() -> None:
    reference = [blank(person, "1", name) for person in PEOPLE for name in "ab"]
    one_less = {240.0: 6, 120.0: 6, 60.0: 6, 30.0: 5}
    assert enrolment.best_rate(reference, recognised_at(lambda rate: one_less[rate])) == 30.0
    many_less = {240.0: 6, 120.0: 6, 60.0: 6, 30.0: 2}
    assert enrolment.best_rate(reference, recognised_at(lambda rate: many_less[rate])) == 60.0
    single = [blank(person, "1") for person in PEOPLE]  # one trial each: its halves
    assert enrolment.best_rate(single, recognised_at(lambda rate: many_less[rate])) == 60.0


def test_a_rate_at_which_nothing_can_be_learnt_is_not_taken() -> None:
    right = recognised_at(lambda rate: 6)

    def enrol(reference: Sequence[Trial]) -> Gallery:
        if reference[0].rate_hz < 100:
            raise InputError("too little")
        return right(reference)

    assert enrolment.best_rate([blank(p, "1", name) for p in PEOPLE for name in "ab"], enrol) == 120.0


def test_all_draws_of_a_trial_are_in_one_half() -> None:
    draws = [blank(person, "1", name) for person in PEOPLE for name in "ab" for _ in range(3)]
    (first, second), across = enrolment._halves(draws)
    assert not across
    assert {trial.name for trial in first} == {"a"}
    assert {trial.name for trial in second} == {"b"}


def restless(person: int, session: int, name: str) -> Trial:
    """Jumps that are the person's, and a flicker of the tracker that is the session's and averages out."""
    rng = np.random.default_rng([person, session, ord(name)])
    t = np.arange(8 * 240) / 240
    x, y = rng.normal(0, 2.0**person, (2, len(t))).repeat(30, axis=1)[:, : len(t)] + rng.normal(0, 0.02, (2, len(t)))
    flicker = 0.3 * 2.0 ** ((person + 2 * session) % 4) * (-1.0) ** np.arange(len(t))
    return Trial(PEOPLE[person], str(session), name, t, x + flicker, y + flicker, 240.0)


def test_what_is_the_sessions_own_at_a_fast_rate_misleads_only_who_does_not_choose() -> None:
    kind: Any = RECOGNISERS["lda"]
    known = [restless(person, 1, name) for person in range(4) for name in "abcd"]
    asked = [restless(person, 2, name) for person in range(4) for name in "ab"]
    right = {}
    for rate in (None, np.inf):
        gallery = kind(groups=("bends",), rate_hz=rate).enrol(known)
        scores = {trial: gallery.windows(trial.anonymous()).mean(axis=0) for trial in asked}
        right[rate] = sum(gallery.people[int(row.argmax())] == trial.person for trial, row in scores.items())
    assert right[None] > right[np.inf] + 2


def chooses(name: str) -> bool:
    kind: Any = RECOGNISERS[name]
    return "rate_hz" in {field.name for field in fields(kind)}


@pytest.mark.parametrize("name", [name for name in RECOGNISERS.names() if chooses(name)])
def test_queries_have_no_say_in_the_rate_and_a_faster_query_is_averaged_too(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = RECOGNISERS[name]
    with pytest.raises(OptionError, match="rate"):
        kind(rate_hz=0.0)
    heard: list[float] = []

    class Heard(Gallery):
        people = ("ann", "bob")

        def windows(self, query: Trial) -> np.ndarray:
            heard.append(query.rate_hz)
            return np.zeros((1, 2))

    module = sys.modules[kind.enrol.__module__]
    monkeypatch.setattr(
        module,
        "at_best_rate",
        lambda reference, enrol, rate: enrolment.at_best_rate(reference, lambda _: Heard(), rate),
    )
    gallery = kind().enrol([blank(person, "1", n) for person in PEOPLE[:2] for n in "ab"])
    heard.clear()
    for rate in (240.0, 1000.0, 30.0):
        gallery.windows(blank("ann", "2", rate=rate).anonymous())
    assert heard == [30.0, 30.0, 30.0]
