# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil plan`: what to expect of every product, from the declaration alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.cli.main import run
from gazeveil.features.design_learning import learn
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.release.feature_settings import study_settings
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.study_toml import declared_file, write_study

DESK = screen(800, 600, 400, 300, 573)
PRODUCTS = {
    "heatmap": ["--stimulus", "s0", "--epsilon", "1"],
    "heatmaps": ["--epsilon", "3"],
    "movie": ["--stimulus", "s0", "--epsilon", "3"],
    "aoi": ["--epsilon", "1"],
    "feature-group": ["--task", "s0", "--design", "design.json", "--epsilon", "1"],
    "veil": ["--mechanism", "clock", "--window", "0.5", "--radius", "60", "--epsilon", "3"],
}

WISHES = {"movie": "cc=.25", "aoi": "error=.1", "feature-group": "error=.01", "veil": "error=.18"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A declared study, and no corpus anywhere: planning needs none."""
    monkeypatch.chdir(tmp_path)
    AreasOfInterest((Rectangle("left", 0, 0, 400, 600), Rectangle("right", 400, 0, 800, 600)), DESK).to_json("aoi.json")
    areas = declared_file(Path("aoi.json"))
    stimuli = tuple(
        Stimulus(name=f"s{number}", screen=DESK, seconds=4.0, areas=None if number else areas) for number in range(3)
    )
    study = Study(name="study", participants=Participants(number=40), stimuli=stimuli)
    write_study(study, Path("study.toml"))
    ranges = study_settings(study).ranges()
    rng = np.random.default_rng(1)
    tasks = [np.clip(level + 0.1 * rng.normal(size=(12, 1, 3)), 0, 1).repeat(20, axis=1) for level in (0.3, 0.5, 0.7)]
    learn(tasks, ranges.only(ranges.names[:3]), "made up").save("design.json")
    return tmp_path


def planned(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert run(["plan", "study.toml", *options, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("product", PRODUCTS)
def test_every_product_is_planned_without_any_data(product: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = planned(capsys, "--product", product, *PRODUCTS[product])
    forecast = found["forecast"]
    assert forecast["low"] <= forecast["expected"] <= forecast["high"]
    assert found["guarantee"]
    assert "participants_needed" not in found
    assert run(["plan", "study.toml", "--product", product, *PRODUCTS[product]]) == 0
    told = capsys.readouterr().out
    assert "expected  " in told
    assert "basis     " in told
    assert "up to 1 is strong" in told


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_wish_is_answered_with_participants_and_epsilon(
    product: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wish = WISHES.get(product, "cc=0.5")
    found = planned(capsys, "--product", product, *PRODUCTS[product], "--want", wish, "--out", "plan.png")
    assert found["participants_matter"] == (product != "veil")
    assert (found["participants_needed"] is None) == (product == "veil")
    assert found["epsilon_needed"] is not None
    assert 0 < float(found["epsilon_needed"]) <= 10
    assert (place / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert run(["plan", "study.toml", "--product", product, *PRODUCTS[product], "--want", wish]) == 0
    told = capsys.readouterr().out
    assert told.count("answer    ") == 3
    assert ("does not matter" in told) == (product == "veil")


def test_more_participants_can_be_planned_for(capsys: pytest.CaptureFixture[str]) -> None:
    few, many = (
        planned(capsys, "--participants", number, "--epsilon", "1")["forecast"]["expected"] for number in ("20", "200")
    )
    assert many > few


def test_a_picture_needs_no_wish(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "study.toml", "--epsilon", "1", "--out", "plan.png"]) == 0
    assert "wrote     plan.png" in capsys.readouterr().out
    assert (place / "plan.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--product", "statue"], "no product is called"),
        (["--want", "error=.1"], "--want must be cc=VALUE"),
        (["--want", "cc"], "--want must be cc=VALUE"),
        (["--want", "cc=much"], "--want must be cc=VALUE"),
        (["--want", "cc=1.5"], "between 0 and 1"),
        (["--product", "aoi", "--want", "cc=.8"], "--want must be error=VALUE"),
        (["--product", "feature-group"], "public design"),
        (["--product", "veil"], "say which mechanism"),
        (["--product", "movie", "--duration", "0.1"], "leave one bin"),
        (["--stimulus", "s0", "--stimulus", "s1"], "of one stimulus"),
        (["--stimulus", "nowhere"], "nowhere"),
        (["--epsilon", "0"], "epsilon"),
        (["--delta", "0.5"], "no smaller than one in 40"),
    ],
)
def test_what_cannot_be_planned_is_refused(options: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "study.toml", *options]) != 0
    printed = capsys.readouterr()
    assert says in " ".join((printed.err + printed.out).split())
