# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil lab attack train ekyt`, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.lab.attacks.ekyt.files import load_model
from gazeveil.lab.attacks.ekyt.training_gaze import Crowd
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK, EXIT_OUTPUT, EXIT_USAGE

torch = pytest.importorskip("torch")

TRAIN = ["lab", "attack", "train", "ekyt"]
QUICK = ["--rate", "31.25", "--seconds", "1", "--epochs", "1", "--workers", "1"]
FEW = ["--participants", "4", "--sessions", "2", "--minutes", "0.1"]


def test_it_trains_on_simulated_people_and_leaves_a_model_and_a_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model.npz"
    assert run([*TRAIN, *QUICK, *FEW, "--folds", "2", "--half", "--out", str(out), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert told["people"] == 4
    assert told["data"]["source"] == "simulator"
    assert len(told["curves"]) == len(told["scores"]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.npz"]
    assert json.loads((tmp_path / "model.json").read_text())["curves"] == told["curves"]
    model = load_model(out)
    assert (len(model.folds), model.rate_hz, model.seconds) == (2, 31.25, 31 / 31.25)
    assert run([*TRAIN, *QUICK, *FEW, "--out", str(out)]) == EXIT_OUTPUT
    assert "exists already" in capsys.readouterr().err


def test_it_trains_on_gaze_that_is_given_and_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Crowd(people=4, sessions=2, minutes=0.1, rate_hz=31.25).simulate().save(tmp_path / "gaze.npz")
    out = tmp_path / "model.npz"
    given = ["--data", str(tmp_path / "gaze.npz"), "--folds", "2", "--out", str(out)]
    assert run([*TRAIN, *QUICK, *given]) == EXIT_OK
    assert "trained 2 networks on 4 participants" in capsys.readouterr().out


def test_a_stopped_training_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, whole = tmp_path / "model.npz", tmp_path / "whole.npz"
    command = [*TRAIN, *QUICK, *FEW, "--folds", "2", "--epochs", "2", "--json"]
    assert run([*command, "--out", str(whole)]) == EXIT_OK
    expected = json.loads(capsys.readouterr().out)["curves"]

    from gazeveil.lab.attacks.ekyt import training
    from gazeveil.lab.attacks.ekyt.training import train

    def one_only(*arguments, **options):
        if options["checkpoint"].name.endswith("fold1"):
            raise KeyboardInterrupt
        return train(*arguments, **options)

    monkeypatch.setattr(training, "train", one_only)
    assert run([*command, "--out", str(out)]) != EXIT_OK
    assert not out.exists()
    monkeypatch.undo()
    assert run([*command, "--resume", "--out", str(out)]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["curves"] == expected


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--out", "model.pt"], EXIT_INPUT),
        (["--out", "model.npz", "--seconds", "0.01"], EXIT_INPUT),
        (["--out", "model.npz", "--participants", "1"], EXIT_USAGE),
        (["--out", "model.npz", "--tracker", "telescope"], EXIT_INPUT),
        (["--out", "model.npz", "--data", "nowhere"], EXIT_INPUT),
        (["--out", "model.npz", "--minutes", "0"], EXIT_INPUT),
    ],
)
def test_wrong_options_are_refused_before_any_work(
    arguments: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*TRAIN, *arguments]) == code
    assert list(tmp_path.iterdir()) == []
