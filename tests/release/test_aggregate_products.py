# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Aggregate products on the one path: charged before anything is read, and shaped by public facts alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import ApproxDP, Corpus, Ledger, NoiseSource, Recording, screen, write_corpus
from gazeveil.aggregate.aoi import AoiStatistics, FixationCount, GroupComparison
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.liu import LiuMap
from gazeveil.aggregate.movie import HeatmapMovie
from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps
from gazeveil.arrays import WordArray
from gazeveil.cli.main import run
from gazeveil.errors import BudgetExceeded, OptionError, ReleaseFailed
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.geometry import Geometry
from gazeveil.privacy.statement import statement
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.study_toml import write_study

DESK = screen(800, 600, 80, 60, 573)  # 8 by 6 degrees, so that decoding is quick
FARTHER = screen(800, 600, 80, 60, 613)
OTHER = screen(1024, 768, 80, 60, 573)
NAMES = ("a.png", "b.png")
PEOPLE = tuple(f"p{number}" for number in range(12))
AREAS = {"a.png": AreasOfInterest((Rectangle("left", 0, 0, 400, 600), Rectangle("right", 400, 0, 800, 600)), DESK)}
GROUPS = {"even": PEOPLE[::2], "odd": PEOPLE[1::2]}

COMPARED = GroupComparison(AoiStatistics(AREAS, epsilon=1), GROUPS)
MECHANISMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "heatmap": (PrivateHeatmap(epsilon=1, cell_deg=2, blur_deg=2), {"stimulus": "a.png"}),
    "heatmaps": (PrivateHeatmaps(epsilon=1, cell_deg=2, blur_deg=2), {}),
    "mean": (PrivateHeatmaps(epsilon=1, cell_deg=2, blur_deg=2, mean_only=True), {}),
    "movie": (HeatmapMovie(epsilon=1, bin_seconds=1, cell_deg=2, blur_deg=2), {"stimulus": "a.png"}),
    "aoi": (AoiStatistics(AREAS, FixationCount(), epsilon=1), {}),
    "groups": (COMPARED, {}),
    "liu": (LiuMap(epsilon=1, columns=4, rows=3), {"stimulus": "a.png"}),
    "liu, cap chosen": (LiuMap(epsilon=1, columns=4, rows=3, cap=None, samples=20), {"stimulus": "a.png"}),
}
SECRET = [name for name in MECHANISMS if name != "groups" and "liu" not in name]  # those need a public number


def declared(**people: Any) -> Study:
    stimuli = tuple(Stimulus(name=name, screen=DESK, seconds=3.0) for name in NAMES)
    return Study(name="s", participants=Participants(**(people or {"roster": PEOPLE})), stimuli=stimuli)


def recording(who: str, stimulus: str, place: Geometry = DESK, **changes: Any) -> Recording:
    rng = np.random.default_rng(len(who) + len(stimulus))
    gaze = {"t": np.arange(30) / 10, "x": rng.normal(300, 50, 30), "y": rng.normal(300, 50, 30), **changes}
    return Recording(**gaze, geometry=place, observer=who, stimulus=stimulus)


def corpus_of(last: Iterable[Recording]) -> list[Recording]:
    return [*(recording(who, name) for who in PEOPLE[:-1] for name in NAMES), *last]


LAST = PEOPLE[-1]
NOTHING = np.empty(0)
NEIGHBOURS = {
    "like the others": [recording(LAST, name) for name in NAMES],
    "absent": [],
    "saw a page that nobody else saw": [recording(LAST, "secret.png")],
    "4 cm farther away": [recording(LAST, name, FARTHER) for name in NAMES],
    "on another screen": [recording(LAST, name, OTHER) for name in NAMES],
    "a name in another form, and a stimulus too": [recording("p\u00e91", "a.png"), recording("pe\u03011", "b.png")],
    "one who is not declared": [recording("somebody", "a.png")],
    "no samples": [recording(LAST, "a.png", t=NOTHING, x=NOTHING, y=NOTHING)],
    "a broken clock": [recording(LAST, "a.png", t=np.full(30, np.nan)), recording(LAST, "b.png", t=-np.arange(30.0))],
    "gaze beyond all numbers": [recording(LAST, "a.png", x=np.full(30, 1e308), y=np.full(30, -np.inf))],
}


def noticed(touched: list[str]) -> Corpus:
    """Return a corpus whose reading is noticed."""

    def look(table: pl.DataFrame) -> pl.DataFrame:
        touched.append("read")
        return table

    whole = Corpus.of(corpus_of(NEIGHBOURS["like the others"]))
    parts = (replace(part, samples=part.samples.map_batches(look)) for part in whole.parts)
    return replace(whole, parts=tuple(parts))


@pytest.mark.parametrize(
    ("name", "secret"), [*((name, False) for name in MECHANISMS), *((name, True) for name in SECRET)]
)
def test_a_refused_release_reads_nothing_and_draws_no_noise(
    name: str, secret: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, which = MECHANISMS[name]
    number = {} if not secret else {"secret": True, **({} if name == "heatmap" else {"number": 12})}
    plan = declared(**number).plan(mechanism, **which)
    assert json.dumps(plan.to_dict())
    touched: list[str] = []
    corpus = noticed(touched)

    def drawn(*_: object) -> WordArray:
        touched.append("drawn")
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(NoiseSource, "words", drawn)
    with Ledger.open(tmp_path / "ledger.sqlite", create=True) as ledger:
        for account, epsilon in (("poor", "0.5"), ("rich", "9")):
            ledger.grant(account, ApproxDP(epsilon, "1e-3", neighbours=plan.study.neighbours))
        with pytest.raises(BudgetExceeded):
            plan.release(corpus, ledger=ledger, account="poor", anyway=True)
        assert not touched
        with pytest.raises(ReleaseFailed):  # the traps do snap: paid, it reads
            plan.release(corpus, ledger=ledger, account="rich", anyway=True)
        assert set(touched) == {"read", "drawn"}


@pytest.mark.parametrize("name", MECHANISMS)
def test_whatever_one_participant_did_the_release_has_the_same_shape(name: str) -> None:
    mechanism, which = MECHANISMS[name]
    plan = declared().plan(mechanism, **which)
    shapes, words = set(), set()
    for last in NEIGHBOURS.values():
        release = plan.release(Corpus.of(corpus_of(last)), anyway=True)
        table = release.to_frame()
        labels = table.select(pl.col(pl.String, pl.Int64, pl.Int32))
        numbers = [table[name].drop_nulls() for name in table.columns if table[name].dtype.is_float()]
        assert all(np.isfinite(column.to_numpy()).all() for column in numbers)  # the mean of a study has no error bars
        shapes.add((table.shape, tuple(table.schema.items()), str(labels.to_dicts()), str(table.null_count().rows())))
        said = replace(release.statement(), shows=())  # what is shown follows from the noisy numbers
        words.add(json.dumps([release.recipe(), said.paragraph(), [f.to_dict() for f in release.facts]]))
    assert len(shapes) == len(words) == 1


def test_whatever_one_participant_did_the_command_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(declared(), Path("study.toml"))
    AREAS["a.png"].to_json("areas.json")
    lines = [f"{who},{name}" for name, people in GROUPS.items() for who in people]
    Path("groups.csv").write_text("\n".join(["observer,group", *lines]))
    asked = [
        "--stimulus",
        "a.png",
        "--areas",
        "areas.json",
        "--compare",
        "groups.csv",
        "--epsilon",
        "1",
        "--no-ledger",
        "--anyway",
    ]
    told = set()
    for last in NEIGHBOURS.values():
        shutil.rmtree("corpus", ignore_errors=True)
        write_corpus(corpus_of(last), Path("corpus"))
        code = run(["aoi", "corpus", "--study", "study.toml", *asked, "--out", "out", "--overwrite"])
        captured = capsys.readouterr()
        lines = [line for line in captured.out.splitlines() if not line.startswith("result")]
        files = sorted(str(path) for path in Path("out").rglob("*"))
        record = json.loads(Path("out/release.json").read_text())
        public = {
            key: record[key] for key in ("guarantee", "public_facts", "recipe", "about_the_value", "conditional_on")
        }
        told.add((code, "\n".join(lines), captured.err, *files, json.dumps(public)))
    assert len(told) == 1
    assert next(iter(told))[0] == 0


@pytest.mark.parametrize("name", [name for name in SECRET if name != "heatmap"])
def test_a_secret_number_without_a_guess_is_refused_at_planning(name: str) -> None:
    mechanism, which = MECHANISMS[name]
    with pytest.raises(OptionError, match="number of participants is secret"):
        declared(secret=True).plan(mechanism, **which)


def test_one_name_in_two_forms_is_one_participant() -> None:
    """With hardly any noise: the two halves of one participant weigh as much as one, not as two."""
    composed, decomposed = "p\u00e9", "pe\u0301"
    left, right = np.full(30, 200.0), np.full(30, 600.0)
    twice = [recording(composed, "a.png", x=left), recording(decomposed, "a.png", x=right)]
    study = declared(roster=(decomposed, "q"))
    plan = study.plan(AoiStatistics(AREAS, epsilon=10**6, delta=0))
    value = plan.release(Corpus.of([*twice, recording("q", "a.png", x=left)]), noise=NoiseSource.seeded(1)).value
    assert value["estimate"].sum() == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize(
    ("epsilon", "secret", "warns"), [("3", False, False), ("3.1", False, True), ("1.5", True, False), ("2", True, True)]
)
def test_a_warning_weighs_epsilon_as_the_statement_does(epsilon: str, secret: bool, warns: bool) -> None:
    study = Study(
        name="s",
        participants=Participants(number=40, secret=secret),
        stimuli=(Stimulus(name="a", screen=screen(800, 600, 80, 60, 573)),),
    )
    plan = study.plan(PrivateHeatmap(epsilon=epsilon))
    strength = statement(plan.guarantee).strength
    assert strength is not None
    assert any(f"is {strength}" in warning for warning in plan.warnings) is warns is not strength.protects
