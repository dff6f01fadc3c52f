# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.arrays import silent
from gazeveil.cli.main import run
from gazeveil.lab.experiments import heatmap_scenes as scenes
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

OSIE = Path(__file__).resolve().parents[3] / "shared" / "data" / "osie"
QUICK = ["lab", "experiment", "heatmap", "--participants", "12", "--scenes", "2", "--methods", "prior,grid,none"]
PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def few_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes.simulated, "__defaults__", (0, 15, silent))


def test_it_prints_a_table_and_writes_numbers_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUICK, "--out", str(tmp_path)]) == EXIT_OK
    told = capsys.readouterr().out
    assert "prior alone" in told
    assert "without privacy" in told
    assert (tmp_path / "heatmap-simulated-test.png").read_bytes().startswith(PNG)
    numbers = json.loads((tmp_path / "heatmap-simulated-test.json").read_text())
    assert [row["method"] for row in numbers["rows"]] == ["prior", "grid", "none"]
    assert "| n = 12 |" in (tmp_path / "heatmap-simulated-test.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"heatmap-simulated-test.{kind}" for kind in ("json", "md", "png")
    )


def test_it_gives_the_same_as_json_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUICK, "--json"]) == EXIT_OK
    first = capsys.readouterr().out
    assert run([*QUICK, "--json"]) == EXIT_OK
    assert capsys.readouterr().out == first
    assert json.loads(first)["split"] == "test"
    assert run([*QUICK, "--json", "--seed", "1"]) == EXIT_OK
    assert capsys.readouterr().out != first


@pytest.mark.skipif(not OSIE.is_dir(), reason="OSIE is not here")
def test_osie_is_found_by_its_folder_and_says_who_is_drawn_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUICK, "--data", str(OSIE), "--participants", "15,20", "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert told["data"] == "osie"
    assert told["drawn_with_replacement"] == [20]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--participants", "15,many"], "--participants"),
        (["--participants", "0"], "observers"),
        (["--epsilon", "-1"], "epsilons"),
        (["--epsilon", "nan"], "epsilons"),
        (["--delta", "0"], "delta"),
        (["--methods", "magic"], "magic"),
        (["--split", "half"], "half"),
        (["--data", "nowhere"], "nowhere"),
    ],
)
def test_what_makes_no_sense_is_told(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*QUICK, *words]) == EXIT_INPUT
    assert named in capsys.readouterr().err


def test_osie_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*QUICK, "--data", "osie"]) == EXIT_INPUT
    assert "--data FOLDER" in capsys.readouterr().err
