# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil heatmap` as a lab would run it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, screen, write_corpus
from gazeveil.cli.main import run

DESK = screen(1600, 1200, 400, 300, 600)
COARSE = ["--cell-deg", "4", "--blur-deg", "4"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    recordings = [
        Recording(np.arange(40) / 60, rng.normal(500, 60, 40), rng.normal(400, 60, 40), DESK, f"p{k}", "a.png")
        for k in range(25)
    ]
    write_corpus(recordings, tmp_path / "study")
    return tmp_path / "study"


def test_everything_is_written_and_charged(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "study-7", "--epsilon", "2", "--delta", "1e-4", "--ledger", ledger, "--json"]) == 0
    capsys.readouterr()
    paying = ["--ledger", ledger, "--dataset", "study-7"]
    out = tmp_path / "map"
    release = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1.5", "--out", str(out), *COARSE, *paying]
    assert run([*release, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["charged"]
    names = {path.name for path in out.iterdir()}
    assert names == {
        "heatmap.npz",
        "heatmap.parquet",
        "heatmap.png",
        "errors.png",
        "statement.html",
        "statement.txt",
        "release.json",
    }
    assert pl.read_parquet(out / "heatmap.parquet")["value"].sum() == pytest.approx(1)
    sidecar = json.loads((out / "release.json").read_text())
    assert sidecar["receipt"]
    again = list(release)
    again[again.index(str(out))] = str(tmp_path / "second")
    assert run(again) == 5
    assert not (tmp_path / "second").exists()


def test_the_picture_can_lie_over_the_stimulus(study: Path, tmp_path: Path) -> None:
    from matplotlib.image import imsave

    picture = np.zeros((60, 80, 3))
    imsave(tmp_path / "a.png", picture)
    imsave(tmp_path / "tall.png", picture.transpose(1, 0, 2))
    base = ["heatmap", str(study), "--stimulus", "a.png", "--epsilon", "1", "--no-ledger", *COARSE]
    out = tmp_path / "map"
    assert run([*base, "--out", str(out), "--overlay", str(tmp_path / "a.png")]) == 0
    assert (out / "overlay.png").read_bytes().startswith(b"\x89PNG")
    assert run([*base, "--out", str(tmp_path / "no"), "--overlay", str(tmp_path / "tall.png")]) == 3
    assert run([*base, "--out", str(tmp_path / "no"), "--overlay", str(tmp_path / "missing.png")]) == 3
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--epsilon", "1", "--stimulus", "b.png", "--no-ledger"], 3, "no stimulus 'b.png'"),
        (["--epsilon", "0", "--stimulus", "a.png", "--no-ledger"], 3, "epsilon"),
        (["--epsilon", "1", "--stimulus", "a.png"], 3, "--no-ledger"),
        (["--epsilon", "1", "--stimulus", "a.png", "--ledger", "x.sqlite"], 3, "--dataset"),
        (["--epsilon", "1", "--stimulus", "a.png", "--ledger", "x.sqlite", "--dataset", "d"], 5, "no ledger"),
        (["--epsilon", "1", "--delta", "0.1", "--stimulus", "a.png", "--no-ledger"], 3, "empty"),
        (["--epsilon", "1", "--strategy", "magic", "--stimulus", "a.png", "--no-ledger"], 3, "magic"),
    ],
)
def test_mistakes_get_words_and_nothing_is_written(
    arguments: list[str], code: int, words: str, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["heatmap", str(study), "--out", str(tmp_path / "map"), *COARSE, *arguments]) == code
    assert words in capsys.readouterr().err
    assert not (tmp_path / "map").exists()


def test_a_large_epsilon_is_warned_about(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--stimulus", "a.png", "--epsilon", "20", "--no-ledger", "--out", str(tmp_path / "map"), *COARSE]
    assert run(["heatmap", str(study), *arguments]) == 0
    assert "next to nothing" in capsys.readouterr().out
