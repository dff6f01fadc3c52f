# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The aoi command, as a user and as a script would run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus, Ledger, PureDP, Recording, screen, write_corpus
from gazeveil.aggregate.aoi.tables import with_picture
from gazeveil.aggregate.saliency import Saliency
from gazeveil.cli.main import run
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.release.study import Participants, Stimulus, Study
from gazeveil.release.study_toml import declared_file, write_study

PLANE = screen(1200, 800, 480, 320, 600)
ASKED = ["aoi", "study", "--stimulus", "page", "--areas", "areas.json", "--epsilon", "1"]
PAID = ["--ledger", "ledger.sqlite", "--account", "study"]


@pytest.fixture(autouse=True)
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GAZEVEIL_LEDGER", raising=False)
    recordings = []
    for number in range(20):
        x = np.repeat([200.0, 600.0] if number % 2 else [600.0, 1000.0], 40)
        y = np.full(80, 400.0)
        recordings.append(Recording(np.arange(80) / 60, x, y, PLANE, observer=f"p{number}", stimulus="page"))
    write_corpus(recordings, tmp_path / "study")
    areas = (Rectangle("left", 0, 0, 400, 800), Rectangle("middle", 400, 0, 800, 800))
    AreasOfInterest(areas, PLANE).to_json("areas.json")
    lines = [f"p{number},{'expert' if number % 2 else 'novice'}" for number in range(20)]
    Path("groups.csv").write_text("\n".join(["observer,group", *lines]))
    with Ledger.open("ledger.sqlite", create=True) as ledger:
        ledger.grant("study", PureDP(2))


def spent() -> float:
    with Ledger.open("ledger.sqlite") as ledger:
        return float(ledger.account("study").spent["epsilon"])


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return dict(json.loads(capsys.readouterr().out))


def test_a_release_is_charged_and_written_with_its_guarantee(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED, "--out", "dwell", *PAID]) == 0
    out = capsys.readouterr().out
    assert out.index("what to expect") < out.index("wrote     dwell") < out.index("result    page, dwell, left:")
    assert "everything that one participant contributed" in out
    table = pl.read_csv("dwell/aoi.csv")
    assert table["areas"].to_list() == ["left", "middle"]
    record = json.loads(Path("dwell/release.json").read_text())
    assert record["guarantee"]["epsilon"] == "1"
    assert record["receipt"] is not None
    assert {fact["name"]: fact["value"] for fact in record["public_facts"]}["participants"] == 20
    assert spent() == 1


def test_programs_get_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    many = ["--statistic", "dwell", "--statistic", "transitions", "--statistic", "first-fixation", "--within", "2"]
    assert run([*ASKED, *many, "--delta", "0", "--out", "all", *PAID, "--anyway", "--json"]) == 0
    values = told(capsys)
    assert values["charged"] is True
    assert values["about_the_value"]["rows"] == 6
    assert values["recipe"]["statistics"][2] == {"name": "first-fixation", "within": 2.0}
    assert len(pl.read_parquet("all/aoi.parquet")) == len(pl.read_csv("all/aoi.csv")) == 6


def test_a_dry_run_spends_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().iterdir())
    assert run([*ASKED, "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "what to expect" in out
    assert "Nothing was spent" in out
    assert run([*ASKED, "--dry-run", "--out", "dwell", *PAID, "--json"]) == 0
    values = told(capsys)
    assert values["spent"] is False
    assert values["preview"][0]["noise_sd"] > 0
    assert (spent(), sorted(Path().iterdir())) == (0, before)


def test_groups_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED, "--compare", "groups.csv", "--out", "groups", *PAID, "--anyway", "--json"]) == 0
    assert told(capsys)["recipe"]["groups"] == {"novice": 10, "expert": 10}
    table = pl.read_parquet("groups/aoi.parquet")
    assert set(table["group"]) == {"novice", "expert", "novice − expert"}
    assert spent() == 1


def test_a_declared_study_brings_its_own_areas(capsys: pytest.CaptureFixture[str]) -> None:
    page = Stimulus(name="page", screen=PLANE, areas=declared_file(Path("areas.json")))
    write_study(Study(name="s", participants=Participants(number=20), stimuli=(page,)), Path("study.toml"))
    command = ["aoi", "study", "--study", "study.toml", "--epsilon", "1", "--out", "dwell", "--no-ledger", "--json"]
    assert run(command) == 0
    values = told(capsys)
    assert values["conditional_on"] == []
    assert list(values["recipe"]["areas"]) == ["page"]


def test_over_budget_nothing_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["aoi", "study", *ASKED[2:-1], "3", "--out", "dwell", *PAID, "--json"]) == 5
    assert told(capsys)["error"] == "BudgetExceeded"
    assert not list(Path().glob("dwell*"))


def test_weak_guarantees_are_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED[:-1], "20", "--out", "dwell", "--no-ledger"]) == 0
    assert "warning: the guarantee of ε = 20 is next to none" in capsys.readouterr().err


def test_a_seed_makes_the_release_unproven(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        assert run([*ASKED, "--out", name, "--no-ledger", "--seed", "1", "--json"]) == 0
        assert told(capsys)["guarantee"]["kind"] == "unproven"
    assert Path("a/aoi.csv").read_text() == Path("b/aoi.csv").read_text()
    assert run([*ASKED, "--out", "c", *PAID, "--seed", "1"]) == 5
    assert not Path("c").exists()


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"--stimulus": "cover"}, 3, "no stimulus 'cover'"),
        ({"--epsilon": "0"}, 3, "epsilon must be greater than 0"),
        ({"--epsilon": "much"}, 3, "epsilon"),
        ({"--delta": "0.05"}, 3, "no smaller than one in 20"),
        ({"--areas": "none.json"}, 3, "cannot read"),
        ({"--areas": "broken.json"}, 3, "areas[0].right"),
        ({"--statistic": "dwel"}, 3, "did you mean 'dwell'"),
        ({"--statistic": "visit-order", "--order-length": "4"}, 3, "length must be 1, 2 or 3"),
        ({"--compare": "none.csv"}, 3, "cannot read"),
        ({"--detector": "guess"}, 3, "no event detector is called 'guess'"),
        ({"--neighbours": "add-remove"}, 3, "number of participants is secret"),
        ({"--ledger": "none.sqlite"}, 5, "there is no ledger"),
        ({"--ledger": "groups.csv"}, 5, "groups.csv"),
        ({"--account": "another"}, 5, "no account"),
        ({"--account": None, "--ledger": None}, 3, "give --ledger and --account"),
        ({"--out": "dwell.csv"}, 3, "a release is a folder"),
        ({"--out": None}, 3, "give --out"),
        ({"--out": "study"}, 4, "are not apart"),
        ({"corpus": "nowhere"}, 3, "a corpus folder"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_and_nothing_is_spent(
    changed: dict[str, str | None], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = json.loads(Path("areas.json").read_text())
    del broken["areas"][0]["right"]
    Path("broken.json").write_text(json.dumps(broken))
    before = {path: path.stat().st_size for path in Path().iterdir() if path.suffix != ".lock"}
    options: dict[str, str | None] = {
        "--stimulus": "page", "--areas": "areas.json", "--epsilon": "1", "--out": "dwell",
        "--ledger": "ledger.sqlite", "--account": "study", **changed,
    }  # fmt: skip
    corpus = options.pop("corpus", "study") or ""
    given = [word for name, value in options.items() if value is not None for word in (name, value)]
    assert run(["aoi", corpus, *given, "--json"]) == code
    answer = told(capsys)
    assert words in answer["message"] + answer["hint"]
    assert spent() == 0
    assert {path: path.stat().st_size for path in before} == before
    assert not Path("dwell").exists()


def test_areas_and_stimuli_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*ASKED, "--stimulus", "other", "--dry-run"]) == 3
    assert "give one for each" in capsys.readouterr().err
    assert run([*ASKED, "--stimulus", "page", "--areas", "areas.json", "--dry-run"]) == 3
    assert "listed twice" in capsys.readouterr().err


def test_nobody_in_a_corpus_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    empty = np.empty(0)
    write_corpus([Recording(empty, empty, empty, PLANE, observer="p", stimulus="page")], Path("empty"))
    assert Corpus.open("empty").observers == []
    assert run(["aoi", "empty", *ASKED[2:], "--dry-run"]) == 3
    assert "no recordings" in capsys.readouterr().err


def test_a_declared_picture_helps_with_shares_beside_the_unbiased_number(capsys: pytest.CaptureFixture[str]) -> None:
    likely = np.ones((8, 12))
    likely[:, 4:8] = 6.0  # the middle draws gaze
    np.save("likely.npy", likely)
    stimulus = Stimulus(name="page", screen=PLANE, prior=declared_file(Path("likely.npy")))
    names = tuple(f"p{number}" for number in range(20))
    write_study(Study(name="s", participants=Participants(roster=names), stimuli=(stimulus,)), Path("study.toml"))
    asked = [*ASKED, "--study", "study.toml", "--no-ledger", "--json"]
    assert run([*asked, "--out", "with"]) == 0
    assert told(capsys)["recipe"]["pictures"]["page"]["said_by"] == "own map"
    table = pl.read_parquet("with/aoi.parquet")
    areas, noise_sd = AreasOfInterest.from_json("areas.json"), float(table["noise_sd"][0])
    made = with_picture(table["unclipped"].to_numpy(), noise_sd, areas, PLANE, Saliency.of_map(likely))
    assert table["with_picture"].to_list() == pytest.approx(made.share.tolist())
    for column, way in (("with_picture_low", -1), ("with_picture_high", 1)):
        assert table[column].to_list() == pytest.approx(np.clip(made.share + way * 1.96 * made.sd, 0, 1), abs=1e-3)
    assert run([*asked, "--no-picture-prior", "--out", "without"]) == 0
    assert "with_picture" not in pl.read_parquet("without/aoi.parquet").columns
    compared = ["--compare", "groups.csv", "--anyway", "--out", "groups"]
    assert run([*asked, *compared]) == 0
    compared_table = pl.read_parquet("groups/aoi.parquet")
    differences = compared_table["group"].str.contains(" − ")
    assert compared_table.filter(~differences)["with_picture"].is_between(0, 1).all()
    assert compared_table.filter(differences)["with_picture"].is_null().all()  # a picture says nothing about groups
    capsys.readouterr()
    assert run([*ASKED, "--study", "study.toml", "--dry-run", "--json"]) == 0
    (row,) = told(capsys)["preview"]
    assert 0 < row["with_picture"] < row["noise_sd"]
