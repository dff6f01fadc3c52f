# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil info` on data quality, and reading options in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus
from gazeveil.cli.main import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    x, y = rng.normal(700, 2, 400), rng.normal(500, 2, 400)
    x[100:140] = y[100:140] = 0
    lines = [f"ann,{4 * k},{x[k]:.2f},{y[k]:.2f},{'blink' if 100 <= k < 140 else 'OK'}" for k in range(400)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["Who,time_ms,GazeX,GazeY,Status", *lines]) + "\n")
    return path


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    path = tmp_path / "reading.toml"
    path.write_text('screen = "1920x1080"\nvalid = ["Status==OK"]\n[columns]\nobserver = "Who"\nt = "time_ms"\n')
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run(["info", *map(str, arguments), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert "do not publish it" in answer["notice"]
    (file,) = answer["files"]
    return dict(file)


def test_info_grades_every_recording_and_says_what_is_odd(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(table), "--screen", "1920x1080", "--column", "observer=Who"]) == 0
    out = capsys.readouterr().out
    assert "0 good, 0 fair, 1 poor" in out
    assert "odd: ann: 40 samples (10 % of gaze) are at exactly (0, 0)" in out
    assert "do not publish it" in out.splitlines()[-1]


def test_info_has_all_measures_for_programs(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = told(capsys, table, "--screen", "1920x1080", "--column", "observer=Who")
    (quality,) = file["quality"]
    assert quality["sentinels"] == {"0,0": 40}
    assert (quality["grade"], quality["grades"]["sentinel"], quality["loss"]) == ("poor", "poor", 0)
    assert quality["observer"] == "ann"
    assert file["grades"] == {"good": 0, "fair": 0, "poor": 1}


@pytest.mark.parametrize("option", [("--valid", "Status==OK"), ("--sentinel", "0,0")])
def test_what_is_said_to_be_lost_is_lost_everywhere(
    option: tuple[str, str], table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    general = ("--screen", "1920x1080", "--column", "observer=Who", *option)
    assert told(capsys, table, *general)["tracked"] == 0.9
    assert run(["convert", str(table), *general, "--out", str(tmp_path / "corpus")]) == 0
    assert "40 times" in capsys.readouterr().out
    (recording,) = Corpus.open(tmp_path / "corpus")
    assert (~recording.tracked).sum() == 40


def test_negative_sentinels_can_be_given(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = told(capsys, table, "--screen", "1920x1080", "--column", "observer=Who", "--sentinel", "-1,-1")
    assert file["tracked"] == 1.0


def test_a_file_holds_the_options(table: Path, reading: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = told(capsys, table, "--reading", reading)
    assert (file["tracked"], file["observers"]) == (0.9, ["ann"])
    more = told(capsys, table, "--reading", reading, "--sentinel", "0,0", "--screen", "800x600")
    assert "800 x 600" in more["geometries"][0]
    stricter = told(capsys, table, "--reading", reading, "--valid", "GazeX>700")
    assert stricter["tracked"] < 0.6


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("valdi = ['a==1']", "line 1"),
        ("valid = 'a==1'", "a list of texts"),
        ("y_up = 1", "true or false"),
        ("[columns]\nx = 3", "a column of the file"),
        ("valid = [", "reading options as TOML"),
        ("valid = ['a=1']", "is no rule"),
        ("sentinel = ['zero']", "a point or a number"),
        ("[columns]\nz = 'Z'", "no column 'z'"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(
    text: str, complaint: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(text)
    assert run(["info", str(table), "--screen", "1920x1080", "--reading", str(wrong)]) == 3
    assert complaint in capsys.readouterr().err


def test_info_draws_a_picture(table: Path, reading: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "quality.png"
    assert run(["info", str(table), "--reading", str(reading), "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "quality.png" in capsys.readouterr().out


def test_a_column_that_is_not_there_stops_the_work(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["info", str(table), "--screen", "1920x1080", "--valid", "Stats==OK"]) == 3
    err = capsys.readouterr().err
    assert "'time_ms', 'GazeX', 'GazeY', 'Status'" in err
    assert "did you mean 'Status'?" in err
