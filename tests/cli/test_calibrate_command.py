# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil calibrate``, as a user and as a script would run it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gazeveil.cli.main import run
from gazeveil.privacy.calibration import gaussian_sigma


def say(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["calibrate", *arguments.split()]) == 0
    return capsys.readouterr().out


def answer(arguments: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(say(f"{arguments} --json", capsys))
    return values


def test_gaussian_noise_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer("gaussian --epsilon 1 --delta 1e-6 --sensitivity 1", capsys)
    assert told["mechanism"] == "gaussian"
    assert told["sigma"] == gaussian_sigma(1, "1e-6") == pytest.approx(4.2247, abs=1e-4)
    assert (told["epsilon"], told["delta"], told["sensitivity"]) == (1, 1e-6, 1)


def test_gaussian_noise_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    out = say("gaussian --epsilon 1 --delta 1e-6 --sensitivity 2", capsys)
    assert f"standard deviation {gaussian_sigma(1, '1e-6', 2)} to every coordinate" in out


def test_numbers_are_read_as_they_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer("laplace --epsilon 0.1", capsys)["scale"] == 10
    assert answer("laplace --epsilon 1/3 --sensitivity 2", capsys)["scale"] == 6
    assert answer("radial --epsilon 3 --sensitivity 60", capsys)["mean_radius"] == 40
    assert answer("radial --epsilon 1 --dimensions 3", capsys)["sd"] == 2


def test_liu_is_told_what_its_noise_is_worth(capsys: pytest.CaptureFixture[str]) -> None:
    told = answer("liu --participants 1000 --pixels 1 --cap 1 --epsilon 1", capsys)
    assert told["sound"] is False
    assert told["claimed_delta"] == pytest.approx(1000**-1.5)
    assert told["true_delta"] / told["claimed_delta"] == pytest.approx(2.03, abs=0.01)
    assert told["sigma_sound"] > told["sigma_gaussian"]
    told = answer("liu --participants 900 --pixels 90000 --cap 1 --epsilon 1 --delta 1e-6", capsys)
    assert told["sound"] is True
    assert told["claimed_delta"] == 1e-6
    assert told["sigma_laplace"] == pytest.approx(141.42, abs=0.01)
    few = answer("liu --participants 900 --pixels 90000 --cap 1 --epsilon 1 --delta 1e-6 --samples 300", capsys)
    assert few["sigma_sound"] < told["sigma_sound"] / 10


def test_liu_says_in_words_that_the_claim_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert "breaks the claim: δ is 2 times as large" in say("liu --participants 1000 --pixels 1 --epsilon 1", capsys)
    assert "keeps the claim" in say("liu --participants 900 --pixels 90000 --epsilon 1", capsys)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gaussian --epsilon nan --delta 1e-6", "epsilon must be a finite number"),
        ("gaussian --epsilon 1 --delta 0", "delta must be greater than 0"),
        ("laplace --epsilon 0", "epsilon must be greater than 0"),
        ("laplace --epsilon 1e400", "out of all proportion"),
        ("laplace --epsilon 1e-300 --sensitivity 1e300", "no noise that a computer can name"),
        ("liu --participants 2 --pixels 4 --epsilon 1e-300 --cap 1e300", "out of all proportion"),
        ("liu --participants 2 --pixels 4 --epsilon 1 --delta 1e-329", "out of all proportion"),
        ("radial --epsilon 1 --dimensions 0", "dimensions must be at least 1"),
        ("liu --participants 1 --pixels 4 --epsilon 1", "delta"),
    ],
)
def test_a_wrong_number_is_named(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", *arguments.split(), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["error"] == "OptionError"
    assert message in told["message"]


@pytest.mark.parametrize("command", ["gaussian", "laplace", "radial", "liu"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", command, "--help"]) == 0
    assert f"gazeveil calibrate {command}" in capsys.readouterr().out


def test_a_sensitivity_that_no_float_can_hold_is_still_answered(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["calibrate", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "1e-329", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sigma"] > 0
