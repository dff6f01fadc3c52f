# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The audit command, as a user and as a script would run it."""

from __future__ import annotations

import json

import pytest

from gazeveil.cli.main import run

QUICK = ["--trials", "5000", "--seed", "1", "--workers", "1"]


def test_a_violated_claim_is_told_to_programs_and_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "half-scale-laplace", *QUICK, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "violated"
    assert told["claimed_epsilon"] == 1
    assert 1.5 < told["epsilon_lower_bound"] <= 2
    assert (told["confidence"], told["trials"], told["method"]) == (0.99, 5000, "sampling")
    assert told["findings"][0]["event"] == told["event"]
    assert told["findings"][0]["seen"] > told["findings"][0]["seen_on_neighbour"]


def test_a_claim_that_stands_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "lattice-laplace", *QUICK, "--confidence", "0.95", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "consistent"
    assert told["confidence"] == 0.95
    assert told["epsilon_lower_bound"] <= told["claimed_epsilon"]


def test_people_are_told_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "numpy-laplace", *QUICK]) == 1
    out = capsys.readouterr().out
    assert "violated" in out
    assert "finest binary digit" in out
    assert "The claim is false: ε is at least" in out
    assert run(["lab", "audit", "lattice-laplace", *QUICK]) == 0
    assert "This is not a proof that the claim holds." in capsys.readouterr().out


def test_what_can_be_computed_is_not_sampled(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "liu-as-published", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["method"], told["trials"]) == ("exact", 0)
    assert told["delta_lower_bound"] == pytest.approx(2.03 * told["claimed_delta"], rel=0.01)
    assert run(["lab", "audit", "liu-as-published", "--method", "sampling", *QUICK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "sampling"


def test_settings_reach_the_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "liu-as-published", "--set", "observers=30", "--set", "pixels=1024", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["claimed_delta"] == pytest.approx(30**-1.5)


def test_a_radius_of_a_subject_may_carry_its_unit(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["lab", "audit", "planar-laplace", *QUICK, "--json", "--set"]
    assert run([*arguments, "radius=30px"]) == 0
    in_pixels = json.loads(capsys.readouterr().out)
    assert run([*arguments, "radius=30"]) == 0
    assert json.loads(capsys.readouterr().out) == in_pixels
    assert run([*arguments, "radius=2deg"]) == 3
    assert "audited in px" in capsys.readouterr().out


def test_the_list_names_every_subject(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "audit", "--list"]) == 0
    out = capsys.readouterr().out
    assert "planar-laplace-3d" in out
    assert "epsilon=1, radius=60" in out
    assert run(["lab", "audit", "--list", "--json"]) == 0
    subjects = json.loads(capsys.readouterr().out)["subjects"]
    assert {"name", "about", "options"} == set(subjects[0])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "list them with --list"),
        (["lattice-gauss"], 3, "did you mean 'lattice-gaussian'"),
        (["radial", "--set", "epsilon"], 3, "OPTION=VALUE"),
        (["radial", "--set", "size=3"], 3, "has no option 'size'"),
        (["radial", "--set", "epsilon=-1"], 3, "epsilon must be greater than 0"),
        (["radial", "--trials", "3"], 3, "100 to"),
        (["radial", "--workers", "0"], 3, "at least one worker"),
        (["radial", "--confidence", "2"], 3, "between 0.5 and 1"),
        (["radial", "--method", "guess"], 3, "choose auto or sampling"),
        (["radial", "--events", "tea-leaves", *QUICK], 3, "no event family is called 'tea-leaves'"),
    ],
)
def test_mistakes_get_words_and_an_exit_code(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", "audit", *arguments]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
