# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Screens that nobody measured: every product works, says what it assumed, and takes the size where it is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import Corpus, Recording, headset, normalised, read, screen, write_corpus
from gazeveil.cli.main import run
from gazeveil.geometry import DISTANCE_MM, Geometry, with_usual_screen
from gazeveil.release.study import ASSUMED, SIZE
from tests.commandline import leaves

PLANES = {"pixels": screen(1600, 900), "fractions": normalised(), "degrees": headset()}
COARSE = ["--cell-deg", "5", "--blur-deg", "5"]
QUICK = ["--no-ledger", "--anyway", "--json", "--seed", "1"]
AREAS = {"pixels": (0, 0, 800, 900), "fractions": (0, 0, 0.5, 1), "degrees": (-20, -15, 0, 15)}
COMMANDS = {
    "heatmap": ["heatmap", "--stimulus", "a", "--epsilon", "3", *COARSE],
    "heatmaps": ["heatmaps", "--epsilon", "3", *COARSE],
    "movie": ["movie", "--stimulus", "a", "--epsilon", "3", "--duration", "2", "--bin-seconds", "1", *COARSE],
    "aoi": ["aoi", "--stimulus", "a", "--statistic", "fixations", "--epsilon", "3"],
    "veil": ["veil", "--mechanism", "clock", "--epsilon", "3", "--window", "0.5", "--radius", "2deg"],
    "gaussian veil": ["veil", "--preset", "gaussian-low"],
}
SLOW = {"heatmaps", "movie"}
IN_DEGREES_ALREADY = {"aoi", "veil", "gaussian veil"}
"""What needs no size where gaze is in degrees: nothing is assumed then."""


def recordings(plane: str, spread: float = 0.1) -> list[Recording]:
    """Return twelve people on two stimuli, on a plane without size."""
    rng = np.random.default_rng(3)
    geometry = PLANES[plane]
    scale, middle = {
        "pixels": ((1600, 900), (800, 450)),
        "fractions": ((1, 1), (0.5, 0.5)),
        "degrees": ((40, 24), (0, 0)),
    }[plane]
    found = []
    for stimulus in ("a", "b"):
        for person in range(12):
            at = np.repeat(rng.normal(0, spread, (4, 2)), 30, axis=0) * scale + middle
            found.append(Recording(np.arange(120) / 60, at[:, 0], at[:, 1], geometry, f"p{person}", stimulus))
    return found


@pytest.fixture(params=PLANES)
def plane(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def corpus(plane: str, tmp_path: Path) -> Path:
    write_corpus(recordings(plane), tmp_path / "study")
    return tmp_path / "study"


def areas_on(plane: str, folder: Path) -> list[str]:
    left, top, right, bottom = AREAS[plane]
    shape = {"shape": "rectangle", "name": "half", "left": left, "top": top, "right": right, "bottom": bottom}
    (folder / "areas.json").write_text(json.dumps({"geometry": PLANES[plane].to_dict(), "areas": [shape]}))
    return ["--areas", str(folder / "areas.json")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_product_works_without_a_size_and_its_record_says_what_was_assumed(
    name: str, plane: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = COMMANDS[name]
    options += areas_on(plane, tmp_path) if command == "aoi" else []
    out = tmp_path / "out"
    ahead = command in SLOW and plane != "pixels"  # the plan shows all that is to be shown
    where = ["--dry-run"] if ahead else ["--out", str(out)]
    assert run([command, str(corpus), *options, *where, *QUICK]) == 0, capsys.readouterr().err
    told = json.loads(capsys.readouterr().out)
    record = told if ahead else json.loads((out / "release.json").read_text())
    facts = {fact["name"]: fact for fact in record["public_facts"]}
    warned = [line for line in told["warnings"] if "size of the screen is not declared" in line]
    if plane == "degrees" and name in IN_DEGREES_ALREADY:
        assert SIZE not in facts
        assert not warned
    else:
        assert facts[SIZE]["source"] == ASSUMED
        assert "a 24-inch screen of 526 x 296 mm, seen from 600 mm" in facts[SIZE]["value"]
        assert len(warned) == 1
        if not ahead:
            assert SIZE not in record["conditional_on"]
            assert "24-inch" in (out / "methods.md").read_text()
    for stimulus in facts["stimuli"]["value"]:  # what is assumed does not pass for declared
        assert Geometry.from_dict(stimulus["screen"]) == PLANES[plane]
    if command == "veil":
        assert Corpus.open(out).geometry == PLANES[plane]
    if not ahead:
        assert run(["verify", str(out), "--json"]) == 0


def test_where_people_looked_does_not_decide_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = set()
    for spread in (0.01, 0.1, 5.0):
        folder = tmp_path / f"spread-{spread}"
        write_corpus(recordings("degrees", spread), folder)
        assert run(["heatmap", str(folder), "--stimulus", "a", "--epsilon", "3", "--dry-run", "--json", *COARSE]) == 0
        told = json.loads(capsys.readouterr().out)
        sizes.add(json.dumps([told["public_facts"], told["recipe"]], sort_keys=True))
    assert len(sizes) == 1


def test_a_size_that_is_given_is_used_and_nothing_is_assumed(
    plane: str, corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ["--screen", "1600x900", "--size-mm", "400x225", "--distance-mm", "700"]
    assert run(["heatmap", str(corpus), "--stimulus", "a", "--epsilon", "3", "--dry-run", "--json", *sizes]) == 0
    told = json.loads(capsys.readouterr().out)
    facts = {fact["name"]: fact for fact in told["public_facts"]}
    assert SIZE not in facts
    assert not [line for line in told["warnings"] if "size" in line]
    (shown,) = facts["stimuli"]["value"]
    wanted = {"width_mm": 400, "height_mm": 225, "distance_mm": 700, "width_px": 1600}
    assert wanted.items() <= shown["screen"].items()


def test_recordings_that_say_nothing_about_a_screen_lie_on_the_one_that_is_given(tmp_path: Path) -> None:
    write_corpus(recordings("fractions"), tmp_path / "study")
    out = tmp_path / "out"
    sizes = ["--screen", "1600x900", "--size-mm", "400x225", "--distance-mm", "700"]
    options = ["--stimulus", "a", "--epsilon", "50", *COARSE, *sizes, "--out", str(out), *QUICK]
    assert run(["heatmap", str(tmp_path / "study"), *options]) == 0
    report = json.loads(Path(f"{out}.private-report.json").read_text())
    assert "absent" not in json.dumps(report)
    assert np.load(out / "heatmap.npz")["map"].max() > 0.02


def test_a_size_that_contradicts_the_declaration_is_refused(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = str(tmp_path / "study.toml")
    assert run(["study", "init", str(corpus), "--out", study, "--size-mm", "400x225", "--distance-mm", "700"]) == 0
    look = ["heatmap", str(corpus), "--study", study, "--stimulus", "a", "--epsilon", "3", "--dry-run"]
    assert run([*look, "--distance-mm", "700"]) == 0
    assert run([*look, "--distance-mm", "600"]) != 0
    assert "distance_mm is given as 600, but the screen of 'a' has 700" in capsys.readouterr().err
    assert run(["plan", study, "--stimulus", "a", "--distance-mm", "600"]) != 0


def test_a_study_that_declares_no_size_gets_one_from_the_options_of_a_plan(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = str(tmp_path / "study.toml")
    assert run(["study", "init", str(corpus), "--out", study]) == 0
    capsys.readouterr()
    assert run(["plan", study, "--stimulus", "a"]) == 0
    assert "24-inch" in capsys.readouterr().out
    assert run(["plan", study, "--stimulus", "a", "--size-mm", "400x225", "--distance-mm", "700"]) == 0
    assert "24-inch" not in capsys.readouterr().out


def test_experiments_on_a_corpus_without_a_size_say_what_they_assume_and_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_corpus(recordings("pixels"), tmp_path / "c")
    asked = ["lab", "experiment", "heatmap", "--data", str(tmp_path / "c"), "--participants", "4", "--scenes", "1"]
    asked += ["--methods", "prior"]
    assert run(asked) == 0
    said = capsys.readouterr()
    assert "assumed is a 24-inch screen" in said.err
    assert run([*asked, "--json"]) == 0
    assert "24-inch" in json.loads(capsys.readouterr().out)["assumed"]
    assert run([*asked, "--json", "--size-mm", "530x300", "--distance-mm", "600"]) == 0
    assert "assumed" not in json.loads(capsys.readouterr().out)
    assert run([*asked, "--screen", "800x600"]) != 0
    assert "width_px is given as 800" in capsys.readouterr().err
    assert run(["lab", "experiment", "forecast", "--data", "simulated", "--distance-mm", "600"]) != 0
    assert "is known" in capsys.readouterr().err


@pytest.mark.parametrize("plane", ["pixels", "fractions"])
def test_events_take_the_size_for_a_corpus_too_and_name_the_options_without_it(
    plane: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["events", str(corpus)]) != 0
    told = capsys.readouterr().err
    assert all(option in told for option in ("--screen", "--size-mm", "--distance-mm"))
    sizes = ["--size-mm", "400x225", "--distance-mm", "700"]
    assert run(["events", str(corpus), *sizes]) == 0
    assert run(["features", "extract", str(corpus), "--window", "1", *sizes, "--out", str(tmp_path / "f.parquet")]) == 0
    assert run(["convert", str(corpus), *sizes, "--out", str(tmp_path / "sized")]) == 0
    assert Corpus.open(tmp_path / "sized").geometry.distance_mm == 700


def test_a_plain_table_names_every_way_to_say_what_its_numbers_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.csv").write_text("t,x,y\n0,1,2\n0.1,1,2\n0.2,1,2\n")
    assert run(["info", str(tmp_path / "plain.csv")]) != 0
    told = capsys.readouterr().err
    assert all(way in told for way in ("--screen 1920x1080", "--unit norm", "--unit deg"))


def test_the_usual_screen_keeps_what_is_known() -> None:
    tall = with_usual_screen(screen(1080, 1920))
    assert (tall.width_mm, tall.height_mm, tall.distance_mm) == (296, 526, DISTANCE_MM)
    assert with_usual_screen(screen(1600, 900, 400, 225)).width_mm == 400
    assert with_usual_screen(screen(1600, 900, distance_mm=800)).distance_mm == 800
    known = screen(1600, 900, 400, 225, 700)
    assert with_usual_screen(known) == known
    assert with_usual_screen(headset(100, 90)) == headset(100, 90)


def test_a_parquet_file_is_completed_by_what_the_user_says(tmp_path: Path) -> None:
    write_corpus(recordings("pixels"), tmp_path / "study")
    found = read(tmp_path / "study", geometry=screen(1600, 900, 400, 225, 700)).recordings[0]
    assert found.geometry == screen(1600, 900, 400, 225, 700)


COMPARES = {"study check"}
"""It compares recordings with a declared screen, and needs no other."""


def takes_gaze(command: Any) -> bool:
    """Whether a command takes recordings, or plans what is made of them."""
    names = {parameter.name for parameter in command.params}
    given = {"corpus", "inputs", "replay"} & names
    given |= {"scenes", "data"} if {"scenes", "data", "split"} <= names else set()
    return bool(given) or {"study_file", "product"} <= names


def test_every_command_that_takes_gaze_takes_the_size_of_the_screen() -> None:
    found = {name: command for name, command in leaves().items() if takes_gaze(command) and name not in COMPARES}
    assert {"heatmap", "heatmaps", "movie", "aoi", "veil", "events", "convert", "plan"} <= set(found)
    assert {"lab experiment heatmap", "lab experiment forecast", "study init"} <= set(found)
    assert {"features extract", "features release", "lab attack run", "track", "info"} <= set(found)
    for name, command in found.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert {"--screen", "--size-mm", "--distance-mm"} <= options, name
