# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a tidy table to a report: what is there is found, what is not there is not claimed, what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.userstudy.analysis import analyse
from gazeveil.lab.userstudy.design import read_measures, read_user_study
from gazeveil.lab.userstudy.proposal import propose
from gazeveil.lab.userstudy.sessions import Sessions, overview_of

pytest.importorskip("scipy")

LOSS = {("none", "none"): 0.0, ("gaussian", "low"): 0.05, ("gaussian", "high"): 0.6, ("smoothing", "low"): 0.0,
        ("smoothing", "high"): 0.02}  # fmt: skip


def a_study(people: int = 12, seed: int = 3) -> pl.DataFrame:
    """Return made-up measures: strong Gaussian noise costs hits, above all when dwelling; smoothing hardly any."""
    made = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        skill = made.normal(0, 0.05)
        for (mechanism, strength), loss in LOSS.items():
            for control in ("dwell", "key"):
                for _ in range(2):
                    value = 0.9 + skill - loss * (1 if control == "dwell" else 0.4) + made.normal(0, 0.04)
                    rows.append((f"p{person:02}", control, mechanism, strength, "destroyed", value))
    return pl.DataFrame(
        rows, schema=["participant", "control", "mechanism", "strength", "measure", "value"], orient="row"
    )


def test_a_loss_is_found_and_no_loss_is_called_none() -> None:
    found = analyse(a_study())
    by_name = {(one.control, each.condition.name): each for one in found.found for each in one.comparisons}
    strong = by_name["dwell", "gaussian, high"]
    assert strong.in_words == "lower"
    assert strong.ranks.shift == pytest.approx(-0.6, abs=0.05)
    assert strong.difference.for_none < 1e-3
    assert by_name["dwell", "smoothing, low"].in_words != "lower"
    assert all(one.friedman and one.friedman.p < 1e-4 for one in found.found)


def test_the_three_way_analysis_has_the_degrees_of_the_paper() -> None:
    (variance,) = analyse(a_study(8)).variances
    together = variance.plain["mechanism x strength"]
    assert (together.degrees, together.error_degrees) == (2, 14)  # two mechanisms here, three in the paper
    assert together.p_corrected < 0.01
    assert variance.plain["strength x control"].p_corrected < 0.01


def test_who_missed_a_condition_is_left_out_of_it_alone() -> None:
    table = a_study()
    missed = (pl.col("participant") == "p00") & (pl.col("mechanism") == "smoothing")
    found = analyse(table.filter(~missed))
    counts = {each.condition.name: each.difference.participants for each in found.found[0].comparisons}
    assert counts == {"gaussian, low": 12, "gaussian, high": 12, "smoothing, low": 11, "smoothing, high": 11}
    assert found.variances[0].plain.participants == 11


def test_with_few_participants_means_are_shown_and_nothing_is_tested() -> None:
    found = analyse(a_study(3))
    assert not any(one.comparisons or one.friedman for one in found.found)
    assert not found.variances
    assert "too few" in found.remarks[0]


def test_the_command_writes_a_report_with_pictures_and_a_table_that_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_study(6).write_csv(tmp_path / "measures.csv")
    assert run(["lab", "userstudy", "report", str(tmp_path / "measures.csv"), "--out", str(tmp_path / "out")]) == 0
    assert "gaussian, high" in capsys.readouterr().out
    page = (tmp_path / "out/report.html").read_text()
    assert "data:image/png" in page
    assert "Friedman" in page
    assert "http" not in page
    again = read_measures(tmp_path / "out/measures.parquet")
    assert again.height == a_study(6).height
    kept = json.loads((tmp_path / "out/analysis.json").read_text())
    assert kept["participants"] == 6
    assert (
        run(
            [
                "lab",
                "userstudy",
                "report",
                str(tmp_path / "out/measures.parquet"),
                "--out",
                str(tmp_path / "o"),
                "--json",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["measures"][0]["against_none"][0]["p_holm"] <= 1


def test_power_answers_both_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "userstudy", "power", "--participants", "18", "--difference", "0.9", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert 0.8 < told["difference_found"] < 1.0
    assert told["participants_needed"] in range(17, 22)
    assert 0.7 < told["power_then"] < 0.85
    assert run(["lab", "userstudy", "power"]) == 3


def test_a_table_that_is_none_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("participant,control,mechanism,strength,measure\n")
    with pytest.raises(FileFormatError, match="no value"):
        read_measures(path)
    path.write_text("participant,control,mechanism,strength,measure,value\na,dwell,none,none,destroyed,much\n")
    with pytest.raises(FileFormatError, match="line 2, column value"):
        read_measures(path)
    path.write_text("participant,control,mechanism,strength,measure,value\na,,none,none,destroyed,1\n")
    with pytest.raises(FileFormatError, match="line 2, column control"):
        read_measures(path)
    with pytest.raises(InputError, match="no row has the mechanism"):
        analyse(a_study().filter(pl.col("mechanism") != "none"))


def test_a_study_file_gives_a_table_of_participants_and_the_level_chosen_over_time(tmp_path: Path) -> None:
    propose(tmp_path, "A game")
    path = tmp_path / "userstudy.toml"
    path.write_text(path.read_text().replace('forms = ["sysuse", "comfort"]', "forms = []"))
    study = read_user_study(path)
    sessions = Sessions(study)
    points = [{"x": 0.1 + 0.4 * (n % 3), "y": 0.5, "gaze_x": 0.1 + 0.4 * (n % 3), "gaze_y": 0.5, "samples": 9}
              for n in range(8)]  # fmt: skip
    off = {"x": 0.5, "y": 0.5, "gaze_x": 0.5 + 0.0198705, "gaze_y": 0.5, "samples": 9}  # one degree at 600 mm
    lost = {"x": 0.9, "y": 0.9, "gaze_x": None, "gaze_y": None, "samples": 0}
    things = [{"kind": kind, "fate": fate, "born": 0, "ended": 1, "distance": 5, "x": 0.5, "y": 0.5, "size": 0.1,
               "from_x": 0.1, "from_y": 0.5}
              for kind, fate in [("target", "destroyed")] * 3 + [("target", "reached"), ("distractor", "destroyed")]
              + [("distractor", "reached"), ("target", "left")]]  # fmt: skip
    levels = [[0, "lphu"], [30, "hplu"], [90, "mpmu"]]
    data = {"points": [*points, off, lost], "things": things, "gaze": [], "attempts": 2, "levels": levels,
            "seconds": 120, "answers": [4] * 3}  # fmt: skip
    session = sessions.begin("p01", "en")
    while (step := sessions.current(session)).details.get("form") != "open":
        sessions.finish(session, step.index, data)

    found = overview_of(study, sessions.every())
    (taken,) = found.taken
    assert (taken.rounds, taken.hits, taken.misses, taken.false_selections, taken.attempts) == (28, 84, 28, 28, 56)
    assert taken.accuracy_deg == pytest.approx(1 / 9, abs=1e-4)
    assert not taken.finished
    assert found.chosen is not None
    ((who, *shares, changes),) = found.chosen.rows()
    assert (who, changes) == ("p01", 2)
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.02)

    assert run(["lab", "userstudy", "report", str(study.path), "--out", str(tmp_path / "report")]) == 0
    html = (tmp_path / "report" / "report.html").read_text()
    assert "Privacy level chosen over time" in html
    assert "<td>p01</td>" in html
    assert "not yet" in html


def test_a_measure_that_is_the_same_for_all_is_analysed_too() -> None:
    found = analyse(a_study().with_columns(pl.lit(0.0).alias("value")))
    assert all(one.in_words != "lower" for each in found.found for one in each.comparisons)
    assert not any(effect.f for variance in found.variances for effect in variance.plain.effects)
