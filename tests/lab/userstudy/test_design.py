# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Orders are balanced, steps follow from file and number alone, and a study file that is wrong is refused by line."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from gazeveil.errors import FileFormatError, InputError, OutputError
from gazeveil.gateway.policy.settings import read_policy
from gazeveil.gateway.protocol import PROTOCOLS
from gazeveil.lab.userstudy.design import (
    FORMS,
    PSSUQ_16,
    PSSUQ_19,
    UserStudy,
    latin_rows,
    read_user_study,
    scores,
    sequence,
    shuffled,
)
from gazeveil.lab.userstudy.proposal import propose


@pytest.fixture
def study(tmp_path: Path) -> UserStudy:
    propose(tmp_path, "A game")
    return read_user_study(tmp_path / "userstudy.toml")


@pytest.mark.parametrize("conditions", range(2, 10))
def test_every_condition_stands_everywhere_and_follows_every_other_equally_often(conditions: int) -> None:
    rows = latin_rows(conditions)
    for place in range(conditions):
        assert set(Counter(row[place] for row in rows).values()) == {len(rows) // conditions}
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert len(after) == conditions * (conditions - 1)
    assert len(set(after.values())) == 1


def test_shuffles_are_even() -> None:
    """All six orders of three; 6,000 shuffles leave 882 to 1,118 for each with a chance above 1 - 1e-4."""
    seen = Counter(tuple(shuffled("abc", f"key {number}")) for number in range(6000))
    assert len(seen) == 6
    assert all(882 <= count <= 1118 for count in seen.values())
    assert sequence("abcd", 3, "random", "k") == sequence("abcd", 3, "random", "k")


def test_after_twenty_eight_participants_control_and_order_are_balanced(study: UserStudy) -> None:
    firsts = Counter[tuple[str, str]]()
    for participant in range(28):
        trials = [step.details for step in study.steps(participant) if step.kind == "trial"]
        firsts[trials[0]["control"], trials[0]["condition"]] += 1
        for control in study.controls:
            seen = Counter(trial["condition"] for trial in trials if trial["control"] == control)
            assert seen == dict.fromkeys((condition.name for condition in study.conditions), 2)
    assert set(firsts.values()) == {2}
    assert len(firsts) == 14
    began = [study.steps(number)[1].details["control"] for number in range(6)]
    assert began == ["dwell", "key"] * 3


def test_places_of_targets_depend_on_the_place_in_the_session_and_not_on_the_condition(study: UserStudy) -> None:
    one, other = ([step.details["seed"] for step in study.steps(number) if step.kind == "trial"] for number in (0, 5))
    assert one == other


def test_the_proposal_is_read_and_each_condition_has_an_app(study: UserStudy) -> None:
    apps = {app.name: app for app in read_policy(study.policy).apps}
    for condition in study.conditions:
        assert apps[condition.app].unproven
    assert apps["game-spatial-high"].mechanism.to_dict()["factor"] == 144.0
    with pytest.raises(OutputError, match="there already"):
        propose(study.path.parent, "again")


def test_every_protocol_that_the_proposal_names_can_be_used(study: UserStudy) -> None:
    lines = [line for line in study.policy.read_text().splitlines() if "protocol = " in line]
    named = {name for line in lines for name in re.findall('"([^"]*)"', line.partition("protocol = ")[2])}
    assert {"push", "websocket", "opengaze"} <= named
    assert sorted(named - set(PROTOCOLS.names())) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('mechanism = "none"', 'mechanism = "gaussian"', 'mechanism = "none"'),
        ("repeats = 2", "repeats = 0", r"line \d+: expected a whole number from 1 to 20 for trial.repeats"),
        ("repeats = 2", "repeat = 2", "repeats"),
        ('controls = ["dwell", "key"]', 'controls = ["dwell", "blink"]', "blink"),
        ('"sysuse", "comfort"', '"sysuse", "mood"', "mood"),
        ('en = "consent.en.txt"', 'en = "missing.txt"', "missing.txt"),
        ("version = 1", "version = 2", "version"),
    ],
)
def test_what_is_wrong_in_a_study_is_said(study: UserStudy, old: str, new: str, said: str) -> None:
    text = study.path.read_text()
    assert old in text
    study.path.write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=said):
        read_user_study(study.path)


def test_published_questionnaires_have_their_items_and_scores() -> None:
    assert (len(PSSUQ_19), len(PSSUQ_16), len(FORMS["nasa-tlx"].items), len(FORMS["sus"].items)) == (19, 16, 6, 10)
    assert scores("pssuq-19", [1] * 19) == {"sysuse": 7, "infoqual": 7, "interqual": 7, "pssuq": 7}
    assert scores("pssuq-16", [7] * 16) == {"sysuse": 1, "infoqual": 1, "interqual": 1, "pssuq": 1}
    assert scores("sysuse", [2, None, 2, 2, 2, 2, 2, 2]) == {"sysuse": 6}
    assert scores("sus", [5, 1] * 5) == {"sus": 100}
    assert scores("sus", [3] * 10) == {"sus": 50}
    assert scores("nasa-tlx", [1] * 6) == {"tlx": 0}
    assert scores("nasa-tlx", [21] * 6) == {"tlx": 100}
    assert all(form.source and form.licence for form in FORMS.values())


@pytest.mark.parametrize("answers", [[1] * 9, [0] * 10, [6] * 10, [None] * 10, [True] * 10, "5" * 10])
def test_answers_off_the_scale_are_refused(answers: object) -> None:
    with pytest.raises(InputError):
        FORMS["sus"].check(answers)
