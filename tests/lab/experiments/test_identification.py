# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from gazeveil.errors import InputError, OptionError, UnknownName
from gazeveil.lab.attacks.contract import Gallery, Recogniser, Trial
from gazeveil.lab.experiments.identification import EXPERIMENTS, POSITION, PUPIL, chosen_on, identify, recogniser_of

EXPERIMENT = replace(EXPERIMENTS["vr"], reference=("1", "2"), asked=("3",))
PEOPLE = ("ann", "bob", "cy", "di")


def go(person: str, session: str, number: int, x: float) -> Trial:
    """A trial whose x tells what the recogniser below thinks: the number of the person."""
    scene = "office" if person in {"ann", "bob"} else "kitchen"
    t = np.arange(3.0)
    return Trial(person, session, f"{scene} {number}", t, np.full(3, x), np.zeros(3), 1.0, np.full(3, 4.0))


class Told(Gallery):
    def __init__(self, people: tuple[str, ...]) -> None:
        self._people = people

    @property
    def people(self) -> tuple[str, ...]:
        return self._people

    def windows(self, query: Trial) -> np.ndarray:
        assert query.person == ""  # nobody is shown a name
        if np.isnan(query.x).all():
            return np.empty((0, len(self._people)))
        return np.asarray(-np.abs(np.arange(len(self._people)) - query.x[0])[None])


@dataclass(frozen=True, slots=True)
class Telling(Recogniser):
    """Believes what x says; keeps which sessions it was shown, and whether with pupils."""

    name: ClassVar[str] = "telling"
    shown: list[Any]
    allow: frozenset[str] = frozenset()

    @property
    def sees(self) -> frozenset[str]:
        return self.allow

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        sessions = {trial.session for trial in reference}
        self.shown.append((sessions, any(trial.pupil is not None for trial in reference)))
        return Told(tuple(sorted({trial.person for trial in reference})))


def reference() -> list[Trial]:
    return [go(person, session, 1, at) for at, person in enumerate(PEOPLE) for session in ("1", "2")]


def test_only_earlier_sessions_are_enrolled_and_only_the_last_is_asked_about() -> None:
    shown: list[Any] = []
    asked = [go(person, "3", number, at) for at, person in enumerate(PEOPLE) for number in range(2)]
    found = identify(EXPERIMENT, [*reference(), *asked], Telling(shown), draws=50)
    assert shown == [({"1", "2"}, False)]
    assert (found.trials.value, found.trials.count, found.sessions.count) == (1, 8, 4)
    assert (found.trials.low, found.trials.high, found.chance) == (1, 1, 0.25)
    assert found.to_dict()["sees"] == ()


def test_what_is_chosen_on_never_includes_the_sessions_asked_about() -> None:
    shown: list[Any] = []
    asked = [go(person, "3", 1, 99.0) for person in PEOPLE]
    found = chosen_on(EXPERIMENT, [*reference(), *asked], Telling(shown), draws=50)
    assert shown == [({"2"}, False), ({"1"}, False)]
    assert (found.trials.value, found.trials.count) == (1, 8)


def test_pupils_are_shown_only_to_who_may_see_them() -> None:
    shown: list[Any] = []
    trials = [*reference(), *(go(person, "3", 1, 0) for person in PEOPLE)]
    identify(EXPERIMENT, trials, Telling(shown, frozenset({"pupil"})), draws=50)
    assert shown == [({"1", "2"}, True)]


def test_trials_of_a_session_are_put_together_and_lost_ones_count_as_wrong() -> None:
    # ann: one trial says cy (2), two say ann (0): the mean is still nearest to ann; bob has no gaze at all
    asked = [go("ann", "3", 1, 2.0), go("ann", "3", 2, 0.0), go("ann", "3", 3, 0.0), go("bob", "3", 1, np.nan)]
    found = identify(EXPERIMENT, [*reference(), *asked], Telling([]), draws=200)
    assert found.trials.value == pytest.approx(2 / 4)
    assert found.sessions.value == pytest.approx(1 / 2)
    assert found.unanswered == 1
    assert found.trials.low < found.trials.value < found.trials.high


def test_within_a_scene_only_its_own_people_are_rivals() -> None:
    asked = [go("bob", "3", 1, 2.0), go("di", "3", 1, 2.0)]  # both look like cy; bob is told from ann alone
    found = identify(EXPERIMENT, [*reference(), *asked], Telling([]), draws=50)
    assert found.trials.value == 0
    assert found.trials_in_scene is not None
    assert found.trials_in_scene.value == pytest.approx(1 / 2)


def test_nobody_to_ask_about_says_so() -> None:
    with pytest.raises(InputError, match="no queried participant"):
        identify(EXPERIMENT, reference(), Telling([]))


def test_recognisers_are_made_by_name_with_what_they_may_see() -> None:
    assert recogniser_of("lda", POSITION | PUPIL).sees == {"pupil", "position"}
    with pytest.raises(UnknownName):
        recogniser_of("nonsense")
    with pytest.raises(OptionError, match="head"):
        recogniser_of("lda", frozenset({"head"}))
