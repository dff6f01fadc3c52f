# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Amounts are decimal strings from the command line to the ledger: one tenth pays for one tenth, to the last digit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from gazeveil import Participants, PrivateHeatmap, Stimulus, Study, screen
from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.privacy.ledger import Ledger
from tests.release import hostile

RELEASES = {
    "heatmap": ["heatmap", "gaze", "--stimulus", "forest", "--strategy", "bumps", "--cell-deg", "4"],
    "heatmaps": ["heatmaps", "gaze", "--cell-deg", "4", "--blur-deg", "4"],
    "movie": ["movie", "gaze", "--stimulus", "forest", "--bin-seconds", "4", "--cell-deg", "4"],
    "aoi": ["aoi", "gaze", "--stimulus", "forest", "--areas", "areas.json"],
    "feature-series": ["features", "release", "gaze", "--mechanism", "fpa", "--window", "3"],
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    hostile.write_corpus_with("as_usual", folder / "gaze")
    hostile.write_declaration(folder / "study.toml")
    hostile.write_areas(folder / "areas.json")
    return folder


@pytest.mark.parametrize("product", RELEASES)
def test_a_budget_pays_for_a_release_of_exactly_its_size_once(
    product: str, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    epsilon, delta = "0.1", "8e-22"
    monkeypatch.chdir(study)
    ledger = str(tmp_path / "ledger.sqlite")
    assert run(["ledger", "init", "lab", "--epsilon", epsilon, "--delta", delta, "--ledger", ledger]) == 0
    paid = ["--epsilon", epsilon, "--delta", delta, "--study", "study.toml", "--ledger", ledger, "--account", "lab"]
    asked = [*RELEASES[product], *paid, "--anyway"]
    assert run([*asked, "--out", str(tmp_path / "first")]) == 0
    with Ledger.open(ledger) as book:
        assert book.account("lab").remaining["epsilon"] == Fraction(0)
    assert run([*asked, "--out", str(tmp_path / "second")]) == 5
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize("people", [Participants(secret=True), Participants(number=1), Participants(number=2)])
def test_a_delta_that_guarantees_nothing_is_refused_whoever_takes_part(people: Participants) -> None:
    desk = Stimulus(name="a", screen=screen(800, 600, 400, 300, 600))
    study = Study(name="s", participants=people, stimuli=(desk,), delta=Fraction(1, 2))
    with pytest.raises(OptionError, match="such a guarantee is empty"):
        study.plan(PrivateHeatmap(epsilon=1, cell_deg=4, blur_deg=4))
