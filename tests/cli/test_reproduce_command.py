# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "lund2013"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the hand-labelled data are not here")


@needs_data
def test_andersson_prints_our_agreement_beside_the_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "reproduce", "andersson", "--data", str(DATA)]) == EXIT_OK
    told = capsys.readouterr().out
    assert "published kappa" in told
    assert told.count("MN against RA") == 6


@needs_data
def test_andersson_gives_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "reproduce", "andersson", "--data", str(DATA), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert len(told["rows"]) == 30
    row = next(row for row in told["rows"] if row["who"] == "I-VT" and row["stimuli"] == "img")
    assert row["published_kappa"] == 0.667
    assert 0 < row["kappa"] < row["f1"] < 1


def test_data_that_are_not_found_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["lab", "reproduce", "andersson"]) == EXIT_INPUT
    assert "--data" in capsys.readouterr().err
    assert run(["lab", "reproduce", "andersson", "--data", "nowhere", "--json"]) == EXIT_INPUT
    assert json.loads(capsys.readouterr().out)["error"] == "InputError"
    (tmp_path / "data" / "lund2013").mkdir(parents=True)
    assert run(["lab", "reproduce", "andersson"]) == EXIT_INPUT
    assert "lund2013.parquet is not there" in capsys.readouterr().err


def test_without_a_paper_it_shows_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    run(["lab", "reproduce", "--help"])
    assert "andersson" in capsys.readouterr().out


def test_kaleido_prints_the_table_and_says_that_streams_are_simulated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gazeveil.lab.experiments.stream_errors import settings
    from gazeveil.lab.reproduction import kaleido_figures

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kaleido_figures, "settings", lambda: settings([1.0, 2.0], [1.0], [60.0]))
    command = ["lab", "reproduce", "kaleido", "--quick", "--repeats", "2", "--workers", "1"]
    assert run([*command, "--figure", "13", "--out", "drawn"]) == EXIT_OK
    told = capsys.readouterr().out
    assert "so these are simulated" in told
    assert "worse than the centre" in told
    assert (tmp_path / "drawn" / "figure-13.png").is_file()
    assert run([*command, "--figure", "15", "--json"]) == EXIT_OK
    answer = json.loads(capsys.readouterr().out)
    assert answer["measure"] == "cc"
    assert all(0 < point["cc"] < 1 for point in answer["points"] if point["veil"] == "clock")


def test_figures_that_are_not_measured_are_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["lab", "reproduce", "kaleido", "--figure", "7"]) == EXIT_INPUT
    assert "choose 13" in capsys.readouterr().err
    assert run(["lab", "reproduce", "wilson", "--figure", "3", "--data", str(tmp_path)]) == EXIT_INPUT
    assert "choose 2" in capsys.readouterr().err
    assert run(["lab", "reproduce", "wilson", "--table", "4"]) == EXIT_INPUT
    assert "choose 2, 3 or 5" in capsys.readouterr().err
    assert run(["lab", "reproduce", "wilson", "--figure", "2", "--data", str(tmp_path)]) == EXIT_INPUT
    assert "samples.parquet is not there" in capsys.readouterr().err
    assert run(["lab", "reproduce", "kaleido", "--data", str(tmp_path)]) == EXIT_INPUT
    assert "has no folder" in capsys.readouterr().err


def test_wilson_prints_hits_over_strength(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gazeveil.lab.reproduction import wilson_figures

    row = {
        "veil": "gaussian",
        "strength": 1.0,
        "setting": "low",
        "f1": 0.8,
        "se": 0.01,
        "precision": 0.8,
        "recall": 0.8,
    }
    monkeypatch.setattr(
        wilson_figures,
        "reproduce",
        lambda *_, **__: {"sessions": 3, "rows": [row], "half": "utility", "note": "this half alone"},
    )
    assert run(["lab", "reproduce", "wilson", "--figure", "2", "--data", "anywhere"]) == EXIT_OK
    told = capsys.readouterr().out
    assert "utility half" in told
    assert "this half alone" in told
    assert run(["lab", "reproduce", "wilson", "--figure", "2", "--data", "anywhere", "--json"]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["figure_2"]["rows"] == [row]
