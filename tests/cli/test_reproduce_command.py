# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.cli.main import EXIT_INPUT, EXIT_OK, run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "lund2013"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the hand-labelled data are not here")


@needs_data
def test_andersson_prints_our_agreement_beside_the_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "andersson", "--data", str(DATA)]) == EXIT_OK
    told = capsys.readouterr().out
    assert "published kappa" in told
    assert told.count("MN against RA") == 6


@needs_data
def test_andersson_gives_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "andersson", "--data", str(DATA), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert len(told["rows"]) == 30
    row = next(row for row in told["rows"] if row["who"] == "I-VT" and row["stimuli"] == "img")
    assert row["published_kappa"] == 0.667
    assert 0 < row["kappa"] < row["f1"] < 1


def test_data_that_are_not_found_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "andersson"]) == EXIT_INPUT
    assert "--data" in capsys.readouterr().err
    assert run(["reproduce", "andersson", "--data", "nowhere", "--json"]) == EXIT_INPUT
    assert json.loads(capsys.readouterr().out)["error"] == "InputError"
    (tmp_path / "data" / "lund2013").mkdir(parents=True)
    assert run(["reproduce", "andersson"]) == EXIT_INPUT
    assert "lund2013.parquet is not there" in capsys.readouterr().err


def test_without_a_paper_it_shows_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    run(["reproduce", "--help"])
    assert "andersson" in capsys.readouterr().out
