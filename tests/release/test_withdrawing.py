# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A participant withdraws: the file says so, its comments stay, and nothing is half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazeveil import Participants, PrivateHeatmap, Stimulus, Study, screen
from gazeveil.errors import InputError
from gazeveil.release.study_toml import withdraw

REST = """
[recordings]
per_stimulus = 2 # as planned
[recordings.groups]
ann = "x"
"b\\"ob" = "y" # was y
[screen]
unit = "px"
width_px = 1600
height_px = 1200
[[stimuli]]
name = "a"
"""
HEAD = '# mine\nformat = "gazeveil-study"\nversion = 1\nname = "s"\n'

ROSTERS = {
    "one line": '[participants]\nroster = ["ann", "b\\"ob", "cyd"] # all\n',
    "first": '[participants]\nroster = ["b\\"ob", "ann", "cyd"] # all\n',
    "last": "[participants]\nroster = [\"ann\", 'cyd', 'b\"ob'] # all\n",
    "lines": '[participants]\nroster = [\n  "ann", # first\n  "b\\"ob", # ]\n  "cyd",\n]\n# all\n',
    "last line": '[participants]\nroster = [\n  "ann", # first\n  "cyd",\n  "b\\"ob"\n]\n# all\n',
    "withdrawn": '[participants]\nwithdrawn = [\n "eve", # ill\n]\nroster = ["ann", "b\\"ob", "cyd"]# all\n',
    "withdrawn, none": '[participants]\nroster = ["ann", "b\\"ob", "cyd"]# all\nwithdrawn = []\n',
    "number too": '[ participants ]\nnumber = 3\nroster = ["ann", "b\\"ob", "cyd"] # all\n',
}


@pytest.mark.parametrize("roster", ROSTERS.values(), ids=ROSTERS)
def test_the_roster_shrinks_and_comments_stay(roster: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(HEAD + roster + REST)
    before = Study.open(path)
    done = withdraw(path, 'b"ob')
    assert done.comments_kept
    assert Study.open(path) == done.study == before.withdraw('b"ob')
    assert done.study.participants.roster == ("ann", "cyd")
    assert 'b"ob' in done.study.participants.withdrawn
    assert done.study.recordings.groups == {"ann": "x"}
    text = path.read_text()
    assert all(comment in text for comment in ("# mine", "# all", "# as planned"))
    assert [each.name for each in tmp_path.iterdir()] == ["study.toml"]


@pytest.mark.parametrize(
    ("people", "left"), [("number = 12 # of 14", 11), ("secret = true", None), ("secret = true\nnumber = 30", 30)]
)
def test_without_a_roster_the_number_falls_by_one_and_a_guess_at_a_secret_one_stays(
    people: str, left: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{HEAD}[participants]\n{people}\n{REST}")
    done = withdraw(path, "ann")
    assert done.comments_kept
    assert Study.open(path).participants.number == left
    assert Study.open(path).participants.withdrawn == ("ann",)


def test_a_file_that_is_written_in_another_way_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(HEAD + 'participants = { roster = ["ann", "bob"] }\n' + REST)
    done = withdraw(path, "ann")
    assert not done.comments_kept
    assert Study.open(path) == done.study
    assert done.study.participants.roster == ("bob",)


@pytest.mark.parametrize(("who", "words"), [("eve", "not in the roster"), ("dan", "before"), (" ", "name is needed")])
def test_who_cannot_withdraw_changes_nothing(who: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = HEAD + '[participants]\nroster = ["ann", "bob"]\nwithdrawn = ["dan"]\n' + REST
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        withdraw(path, who)
    assert path.read_text() == text


def test_nobody_withdraws_twice_from_a_number(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{HEAD}[participants]\nnumber = 5\n{REST}")
    withdraw(path, "Zo\u00eb")
    with pytest.raises(InputError, match="before"):
        withdraw(path, "Zoe\u0308")
    assert Study.open(path).participants.number == 4


@pytest.mark.parametrize("people", [Participants(roster=("anna", "bo", "carl")), Participants(number=3)])
def test_who_withdrew_stays_out_of_a_plan_for_another_number_of_participants(people: Participants) -> None:
    desk = Stimulus(name="a", screen=screen(800, 600, 400, 300, 600))
    study = Study(name="s", participants=people, stimuli=(desk,)).withdraw("bo")
    plan = study.plan(PrivateHeatmap(epsilon=1, cell_deg=4, blur_deg=4)).at(participants=50)
    assert plan.study.participants.number == 50
    assert plan.study.participants.withdrawn == ("bo",)
