# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from gazeveil.lab.attacks import Trial, gaze_features
from gazeveil.lab.attacks.gaze_features import cached


def trial(value: float, person: str = "p", pupil: bool = False) -> Trial:
    t = np.arange(10) / 10
    return Trial(person, "1", "a", t, np.full(10, value), np.zeros(10), 10.0, np.ones(10) if pupil else None)


class Work:
    def __init__(self) -> None:
        self.done = 0

    def __call__(self, one: Trial) -> np.ndarray:
        self.done += 1
        return np.array([[one.x.sum(), self.done]])


@pytest.fixture(autouse=True)
def forgotten() -> None:
    gaze_features.forget()


def test_the_same_gaze_is_worked_out_once_whoever_it_is() -> None:
    work = Work()
    first = cached("sum", trial(1.0), work)
    assert cached("sum", trial(1.0, person=""), work) is first
    assert work.done == 1
    assert not first.flags.writeable


def test_other_gaze_another_question_or_a_pupil_is_worked_out_anew() -> None:
    work = Work()
    for what, one in (("sum", trial(1.0)), ("sum", trial(2.0)), ("mean", trial(1.0)), ("sum", trial(1.0, pupil=True))):
        cached(what, one, work)
    assert work.done == 4
    swapped = Trial("p", "1", "a", np.arange(10) / 10, np.zeros(10), np.full(10, 1.0), 10.0)
    cached("sum", swapped, work)
    assert work.done == 5


def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaze_features, "MOST_BYTES", 3 * 16)
    work = Work()
    for value in (1.0, 2.0, 3.0):
        cached("sum", trial(value), work)
    cached("sum", trial(1.0), work)  # asked for again, so the second is the oldest now
    cached("sum", trial(4.0), work)
    assert work.done == 4
    cached("sum", trial(1.0), work)
    assert work.done == 4
    cached("sum", trial(2.0), work)
    assert work.done == 5
