# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil study` as a lab would run it: propose, check, withdraw, show, release."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil import Recording, screen, write_corpus
from gazeveil.cli.main import run
from gazeveil.release.study import Study

DESK = screen(1600, 1200, 400, 300, 600)


@pytest.fixture
def gaze(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    recordings = [
        Recording(np.arange(120) / 60, rng.normal(500, 60, 120), rng.normal(400, 60, 120), DESK, f"p{k}", name)
        for k in range(25)
        for name in ("a.png", "b.png")
    ]
    write_corpus(recordings, tmp_path / "gaze")
    return tmp_path / "gaze"


def answer(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict[str, object]:
    capsys.readouterr()
    assert run([*(str(word) for word in words), "--json"]) == code
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_from_files_to_a_release(gaze: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study.toml"
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"a picture")
    proposal = answer(capsys, "study", "init", gaze, "--out", study, "--pictures", tmp_path / "pictures")
    assert (proposal["pictures"], proposal["areas"]) == (1, 0)
    declared = Study.open(study)
    assert declared.participants.number == 25
    assert [each.seconds for each in declared.stimuli] == [2, 2]
    assert answer(capsys, "study", "check", gaze, "--study", study, "--strict")["findings"] == []
    release = ["heatmap", gaze, "--study", study, "--stimulus", "b.png", "--epsilon", "1", "--anyway", "--no-ledger"]
    record = answer(capsys, *release, "--cell-deg", "4", "--blur-deg", "4", "--out", tmp_path / "map")
    assert record["conditional_on"] == []


def test_what_the_data_cannot_say_is_asked_for_and_a_plan_without_it_says_where_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    times = np.arange(120) / 60
    seen = [Recording(times, times * 90, times * 90, screen(1600, 1200), f"p{k}", "a") for k in range(20)]
    write_corpus(seen, tmp_path / "bare")
    study = tmp_path / "study.toml"
    assert run(["study", "init", str(tmp_path / "bare"), "--out", str(study)]) == 0
    shown = capsys.readouterr().out
    assert "Fill in: width_mm, height_mm, distance_mm." in shown
    assert "20 participants, 1 stimulus;" in shown
    assert run(["plan", str(study)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "assumed is a 24-inch screen of 483 x 362 mm, seen from 600 mm" in told
    assert "[screen] of study.toml" in told


def test_a_file_that_is_not_there_is_said_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "nowhere.toml"]) == 3
    said = capsys.readouterr().err
    assert "found nothing there" in said
    assert "Errno" not in said


def test_a_proposal_never_replaces_a_file_unless_that_is_said(gaze: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text("mine")
    assert run(["study", "init", str(gaze), "--out", str(study)]) == 4
    assert study.read_text() == "mine"
    assert run(["study", "init", str(gaze), "--out", str(study), "--overwrite"]) == 0
    assert Study.open(study).name == "gaze"


def test_names_stay_out_of_the_file_on_request(gaze: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    groups = tmp_path / "groups.csv"
    groups.write_text("observer,group\np1,x\n")
    base = ["study", "init", str(gaze), "--out", str(study)]
    assert run([*base, "--number", "--secret-number"]) == 3
    assert run([*base, "--number", "--groups", str(groups)]) == 3
    assert run([*base, "--pictures", str(groups)]) == 3
    assert not study.exists()
    assert run([*base, "--secret-number", "--ledger", str(tmp_path / "l.sqlite"), "--account", "s"]) == 0
    assert '"p1"' not in study.read_text()
    assert Study.open(study).budget.account == "s"
    assert run([*base, "--overwrite", "--groups", str(groups)]) == 0
    assert Study.open(study).recordings.groups == {"p1": "x"}


def test_the_check_says_what_it_found_and_that_it_is_private(
    gaze: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    assert run(["study", "init", str(gaze), "--out", str(study)]) == 0
    study.write_text(study.read_text().replace('"p3"', '"p33"').replace("seconds = 2", "seconds = 3", 1))
    report = tmp_path / "report.html"
    check = ["study", "check", str(gaze), "--study", str(study)]
    capsys.readouterr()
    assert run([*check, "--out", str(report)]) == 0
    told = capsys.readouterr().out
    assert "do not publish it" in told
    assert told.index("participant without recordings") < told.index("not in the roster") < told.index("shorter than")
    assert "p33 has no recording" in report.read_text()
    assert run([*check, "--strict"]) == 1
    assert run([*check, "--out", str(report)]) == 4
    assert run([*check, "--out", str(tmp_path / "report.csv")]) == 3
    found = answer(capsys, *check)["counts"]
    assert found == {"participant-missing": 1, "participant-unknown": 1, "too-short": 24}


def test_who_withdraws_is_left_out_of_later_releases(
    gaze: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "study.toml"
    assert run(["study", "init", str(gaze), "--out", str(study)]) == 0
    text = study.read_text()
    assert answer(capsys, "study", "withdraw", study, "p7") == {
        "out": str(study),
        "withdrawn": ["p7"],
        "participants": 24,
        "comments_kept": True,
    }
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in study.read_text().splitlines() if line.startswith("#")
    ]
    assert run(["study", "withdraw", str(study), "p7"]) == 3
    assert run(["study", "withdraw", str(study), "p8"]) == 0
    assert "delete the raw data of p8" in capsys.readouterr().out
    assert answer(capsys, "study", "check", gaze, "--study", study)["counts"] == {"participant-withdrawn": 2}
    assert run(["study", "show", str(study)]) == 0
    assert "23 participants, 2 withdrew" in capsys.readouterr().out
    assert answer(capsys, "study", "show", study)["name"] == "gaze"
