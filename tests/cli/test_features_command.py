# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil features` as a lab would run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil import Corpus, write_corpus
from gazeveil.cli.main import run
from gazeveil.features.bins import CHANNELS, extract_bin_corpus
from gazeveil.features.feature_list import NAMES
from gazeveil.features.table import FeatureTable
from gazeveil.simulate.readers import ReadingStudy


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reading") / "study"
    write_corpus(list(ReadingStudy(2, seconds=33).recordings()), folder)
    return folder


def test_features_are_extracted_with_groups_and_described(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "groups.csv").write_text("observer,group\np001,a\np002,b\n")
    out = tmp_path / "f.parquet"
    assert run(["features", "extract", str(study), "--out", str(out), "--groups", str(tmp_path / "groups.csv")]) == 0
    assert "wrote 42 windows of 52 features" in capsys.readouterr().out
    table = FeatureTable.read(out)
    assert table.names == NAMES
    assert dict(table.rows.select("observer", "group").unique().iter_rows()) == {"p001": "a", "p002": "b"}
    assert run(["features", "describe", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 42
    assert [row["feature"] for row in told["features"]] == list(NAMES)
    assert all(row["low"] < row["high"] for row in told["features"])
    assert run(["features", "describe", str(out), "--task", "comic"]) == 0
    shown = capsys.readouterr().out
    assert "2 participants, 14 windows" in shown
    assert "fixation_duration_mean" in shown


def test_simulated_readers_come_with_their_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = ["simulate", "--reading", "--participants", "2", "--sessions", "1", "--seconds", "31", "--json"]
    groups = tmp_path / "groups.csv"
    assert run([*made, "--out", str(tmp_path / "study"), "--groups", str(groups)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["recordings"], told["stimuli"], told["tracker"]) == (6, 3, "reading glasses")
    assert groups.read_text() == "observer,group\np001,a\np002,b\n"
    out = tmp_path / "f.parquet"
    assert run(["features", "extract", str(tmp_path / "study"), "--out", str(out), "--groups", str(groups)]) == 0
    assert sorted(FeatureTable.read(out).rows["task"].unique()) == ["comic", "newspaper", "textbook"]
    assert run([*made, "--binocular", "--out", str(tmp_path / "two")]) == 3
    assert run(["simulate", "--groups", str(groups), "--out", str(tmp_path / "two"), "--json"]) == 3
    assert not (tmp_path / "two").exists()


def test_bins_are_extracted_and_say_their_reach(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bins.parquet"
    assert run(["features", "extract", str(study), "--out", str(out), "--bins", "0.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["rows"], told["features"]) == ("bins", 6 * 66, len(CHANNELS))
    assert told["reach_s"] == pytest.approx(0.25, abs=1e-3)
    assert run(["features", "describe", str(out), "--json"]) == 0
    assert [row["feature"] for row in json.loads(capsys.readouterr().out)["features"]] == list(CHANNELS)


def test_a_radius_and_another_window_can_be_chosen(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "f.parquet"
    assert (
        run(["features", "extract", str(study), "--out", str(out), "--window", "10", "--step", "2", "--radius", "2deg"])
        == 0
    )
    info = FeatureTable.read(out).info
    assert (info.window, info.step, info.settings["rules"]["radius"]) == (10, 2, 2)


def test_the_engine_that_is_named_extracts(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["features", "extract", str(study), "--bins", "0.5", "--engine"]
    assert run([*command, "local", "--out", str(tmp_path / "f.parquet")]) == 0
    expected = extract_bin_corpus(Corpus.open(study), width=0.5).table
    assert FeatureTable.read(tmp_path / "f.parquet").rows.equals(expected.rows)
    assert run([*command, "somewhere", "--out", str(tmp_path / "g.parquet")]) == 3
    assert "no address of an engine" in capsys.readouterr().err
    assert not (tmp_path / "g.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--out", "f.csv"], "go to a .parquet file"),
        (["--out", "f.parquet", "--window", "60"], "shorter than a window"),
        (["--out", "f.parquet", "--step", "0"], "step must be"),
        (["--out", "f.parquet", "--bins", "0.5", "--radius", "1deg"], "about windows"),
        (["--out", "f.parquet", "--bins", "0"], "width must be"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_written(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], says: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["features", "extract", str(study), *arguments]) == 3
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_describing_refuses_what_it_cannot_read(
    study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["features", "describe", str(tmp_path / "none.parquet")]) == 3
    assert "nothing there" in capsys.readouterr().err
    out = tmp_path / "f.parquet"
    assert run(["features", "extract", str(study), "--out", str(out), "--json"]) == 0
    assert run(["features", "extract", str(study), "--out", str(out)]) == 4
    assert run(["features", "describe", str(out), "--task", "dance"]) == 3
    assert "no task 'dance'" in capsys.readouterr().err
    assert run(["features", "describe", str(out), "--pupil-range", "wide"]) == 3
    assert "LOW,HIGH" in capsys.readouterr().err
