# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The grid: what is done is kept, what breaks is marked, and every number can be traced."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil.cli.main import run as command
from gazeveil.errors import FileFormatError
from gazeveil.lab.bench.processes import in_processes
from gazeveil.lab.bench.runner import Progress
from gazeveil.lab.bench.software import software
from gazeveil.lab.grid import data
from gazeveil.lab.grid import results as tables
from gazeveil.lab.grid.catalogue import FAMILIES, USES, gaze_measures
from gazeveil.lab.grid.cells import cells_of
from gazeveil.lab.grid.grid_file import read_grid
from gazeveil.lab.grid.report import MARK, boards, markdown, within
from gazeveil.lab.grid.results import GRID, PACKAGED, compare, measured, pooled, standings, winners
from gazeveil.lab.grid.running import Setting, run_cells
from gazeveil.lab.utility.streams import METRICS
from gazeveil.terminal.printing import EXIT_OK
from tests.lab.experiments import pool_jobs

OWN = """
import os
import signal
from gazeveil.lab.utility.streams import METRICS

@METRICS.register("own-counted")
def counted(pair):
    with open(os.environ["CALLS"], "a") as log:
        log.write("x")
    if os.path.getsize(os.environ["CALLS"]) == int(os.environ.get("KILLED_AT", 0)):
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0

@METRICS.register("own-broken")
def broken(pair):
    raise RuntimeError("this metric is broken")
"""

TOML = """
name = "small"
with = ["own.py"]

[[part]]
use = "live"
corpus = "simulated"
people = 2
sessions = 1
seconds = 3
attacks = ["restore"]
utilities = ["own-counted", "own-broken"]

[part.mechanisms]
none = {}
gaussian = { sigma = [1.0, 3.0] }
mpmu = {}
"""
CALLS_A_CELL = 2 * 3
"""Two recordings, each as it is behind the veil, without one, and always in the middle."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A grid with a file of one's own, as somebody would write them."""
    folder = tmp_path_factory.mktemp("grid")
    (folder / "own.py").write_text(OWN)
    (folder / "grid.toml").write_text(TOML)
    before = os.environ.get("CALLS")
    os.environ["CALLS"] = str(folder / "calls")
    yield folder
    for name in ("own-counted", "own-broken"):
        METRICS._table.pop(name, None)
    sys.modules.pop("gazeveil_own_own", None)
    if before is None:
        del os.environ["CALLS"]


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    """The folder of a run that was killed in the middle of its sixth cell."""
    words = [
        sys.executable,
        "-m",
        "gazeveil",
        "lab",
        "experiment",
        "run",
        "grid.toml",
        "--out",
        "run",
        "--workers",
        "0",
    ]
    killed_at = CALLS_A_CELL + 1
    killed = subprocess.run(
        words, cwd=folder, env={**os.environ, "KILLED_AT": str(killed_at)}, capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert (folder / "calls").stat().st_size == killed_at
    return folder / "run"


def test_a_run_that_was_killed_goes_on_and_computes_nothing_twice(folder: Path, run: Path) -> None:
    kept = {path: path.read_bytes() for path in (run / "cells").glob("*.json")}
    assert kept
    assert not (run / "grid.parquet").exists()
    told: list[Progress] = []
    before = (folder / "calls").stat().st_size
    cells = run_cells(Setting(read_grid(folder / "grid.toml")), run, workers=0, follow=told.append)
    assert len(cells) == 12
    assert told[0].reused == told[0].done == len(kept)
    assert told[0].left_s is not None
    assert told[-1].done == told[-1].total == 12
    counted = sum(b"own-counted" in content for content in kept.values())
    assert counted == 1
    assert (folder / "calls").stat().st_size - before == (4 - counted) * CALLS_A_CELL
    assert all(path.read_bytes() == content for path, content in kept.items())


def test_a_broken_cell_is_marked_in_table_and_report_and_all_others_are_there(
    folder: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        command(["lab", "experiment", "run", str(folder / "grid.toml"), "--out", str(run), "--workers", "0"]) == EXIT_OK
    )
    assert "12 cells, 4 broken" in capsys.readouterr().out
    table = tables.read_table(run)
    assert dict(table.schema) == dict(tables.COLUMNS)
    broken = table.filter(pl.col("status") == "broken")
    assert broken["measure"].unique().to_list() == ["own-broken"]
    assert broken["error"].unique().to_list() == ["RuntimeError: this metric is broken (own.py, line 16)"]
    good = table.filter(pl.col("status") == "ok")
    assert good.group_by("measure").len().sort("measure")["len"].to_list() == [4, 4]
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "RuntimeError: this metric is broken" in page
    assert all(digest in page for digest in table["digest"])
    assert all(recipe in page for recipe in ("sigma", "&quot;mechanism&quot;: &quot;clock&quot;"))
    assert "noise that is new with every sample averages out" in page
    assert "every window of 1.5 s" in page or "1.5 s" in page
    assert "http://" not in page
    assert "https://" not in page


def test_what_is_measured_is_what_the_mechanism_did(run: Path) -> None:
    table = tables.read_table(run).filter(pl.col("measure") == "restore")
    explained = dict(zip(table["level"] + table["mechanism"], table["value"], strict=True))
    assert explained["none"] == 1.0
    assert explained["none"] > explained["sigma=1.0gaussian"] > explained["sigma=3.0gaussian"]
    assert table["proven"].to_list() == [False, False, False, True]


def test_who_gives_no_gaze_is_measured_as_who_always_says_the_middle() -> None:
    raw = data.simulated_gaze(None, 2, 1, 3.0).recordings[0]
    silent = replace(raw, x=np.full(len(raw), np.nan), valid=None)
    _, (behind, ideal, middle) = gaze_measures._values("rmse_deg", raw, silent)
    assert behind == middle > ideal == 0.0


def test_jobs_that_fail_hang_or_die_cost_nothing_but_themselves() -> None:
    jobs = ["first", "fails", "hangs", "dies", "last"]
    done = in_processes(jobs, pool_jobs.do, "did", workers=1, limit_s=3.0, group=lambda job: job == "last")
    found = {one.job: (one.answer, one.error) for one in done}
    assert found["first"] == ("did first", "")
    assert found["last"] == ("did last", "")
    assert found["fails"][1].startswith("ValueError: this one fails in two lines (pool_jobs.py, line ")
    assert found["hangs"] == (None, "it took more than 3 s and was ended")
    assert found["dies"][1].startswith("its process died (exit code 3)")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("gaussian =", "gausian =", 16, "did you mean 'gaussian'"),
        ("sigma =", "sgima =", 16, "has no option 'sgima'"),
        ('"restore"', '"restor"', 11, "no attack for live is called 'restor'"),
        ('"restore"', '"restore+"', 11, "no attack for live is called 'restore+'"),
        ('"restore"', '"restore+"', 11, "did you mean 'restore'?"),
        ('"restore"', '"lda+"', 11, "no attack for live is called 'lda+'"),
        ('"restore"', '"lda+white-box+"', 11, "did you mean 'lda+white-box'?"),
        ('"own-broken"', '"rmse"', 12, "no utility for live is called 'rmse'"),
        ('"simulated"', '"simulatd"', 7, "did you mean 'simulated'"),
        ("seconds", "second", 7, "has no option 'second'"),
        ('"live"', '"life"', 6, "did you mean 'live'"),
        ("name =", "nam =", 2, "unknown one, 'nam'"),
    ],
)
def test_a_slip_of_the_pen_is_found_before_any_work(folder: Path, old: str, new: str, line: int, words: str) -> None:
    path = folder / "wrong.toml"
    path.write_text(TOML.replace(old, new, 1))
    with pytest.raises(FileFormatError) as wrong:
        read_grid(path)
    assert words in str(wrong.value)
    assert f"line {line}" in str(wrong.value) or f":{line}" in str(wrong.value)


def test_a_cell_changes_its_digest_with_what_decides_it_and_with_nothing_else(folder: Path) -> None:
    grid = read_grid(folder / "grid.toml")
    first = {cell.digest for cell in cells_of(grid, None, folder)}
    assert len(first) == 12
    renamed = replace(grid, name="other", limit_s=1.0)
    assert {cell.digest for cell in cells_of(renamed, None, folder)} == first
    part = grid.parts[0]
    for change in ({"seeds": (2,)}, {"options": {**part.options, "people": 3}}):
        other = replace(grid, parts=(replace(part, **change),))
        assert not {cell.digest for cell in cells_of(other, None, folder)} & first


def test_software_is_code_and_what_it_imports_but_no_comment(tmp_path: Path) -> None:
    def digest(text: str) -> str:
        path = tmp_path / f"code{len(list(tmp_path.iterdir()))}" / "veil.py"
        path.parent.mkdir()
        path.write_text(text)
        return software([path])

    plain = digest("from gazeveil import errors\nx = 1\n")
    assert digest("# a word\nfrom gazeveil import errors\n\nx = 1  # another\n") == plain
    assert digest("from gazeveil import errors\nx = 2\n") != plain
    assert digest("from gazeveil import files\nx = 1\n") != plain


def _row(mechanism: str, role: str, value: float, seed: int = 1, **more: Any) -> dict[str, Any]:
    texts = {name: "" for name, kind in tables.COLUMNS.items() if kind == pl.String}
    measure = {"attack": "lda", "utility": "rmse_deg"}[role]
    harm = "reidentification" if role == "attack" else ""
    numbers: dict[str, Any] = {"chance": 0.1, "ideal": None} if role == "attack" else {"chance": 20.0, "ideal": 0.0}
    return {
        **texts,
        "mechanism": mechanism,
        "role": role,
        "measure": measure,
        "metric": measure,
        "harm": harm,
        "use": "live",
        "corpus": "people",
        "status": "ok",
        "headline": True,
        "seed": seed,
        "proven": False,
        "n": 8,
        "seconds": 1.0,
        "value": value,
        "low": value - 0.01,
        "high": value + 0.01,
        **numbers,
        **more,
    }


def _table(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(tables.COLUMNS))


def test_the_strongest_attacker_counts_and_the_best_use_wins_within_each_level() -> None:
    table = _table(
        _row("none", "attack", 1.0),
        _row("none", "utility", 0.0),
        _row("soft", "attack", 0.19),
        _row("soft", "attack", 0.55, measure="committee"),
        _row("soft", "utility", 2.0),
        _row("hard", "attack", 0.1),
        _row("hard", "utility", 15.0),
        _row("odd", "attack", math.nan, status="broken"),
    )
    standing = {row["mechanism"]: row for row in standings(table).iter_rows(named=True)}
    assert standing["soft"]["attack"] == "committee"
    assert standing["soft"]["attacks_tried"] == 2
    assert standing["soft"]["success"] == pytest.approx(0.5)
    assert standing["soft"]["kept"] == pytest.approx(0.9)
    assert standing["hard"]["success"] == 0.0
    assert "odd" not in standing
    won = {row["limit"]: row["winner"] for row in winners(standings(table)).iter_rows(named=True)}
    assert won == {0.05: "hard", 0.1: "hard", 0.25: "hard", 0.5: "soft", 1.0: "none"}
    (board,) = boards(table)
    assert [row[0] for row in board.rows] == ["hard", "soft", "none"]
    assert "0.55 [0.54, 0.56] by committee (guessing 0.10)" in markdown(table)


def test_seeds_are_pooled_and_their_scatter_widens_the_interval() -> None:
    one = pooled(_table(_row("a", "attack", 0.4), _row("a", "attack", 0.4, seed=2))).row(0, named=True)
    other = pooled(_table(_row("a", "attack", 0.3), _row("a", "attack", 0.5, seed=2))).row(0, named=True)
    assert (one["value"], one["seed"]) == (pytest.approx(0.4), 2)
    assert (one["low"], one["high"]) == (pytest.approx(0.39), pytest.approx(0.41))
    assert other["value"] == pytest.approx(0.4)
    assert other["high"] - other["low"] > 0.3


def test_comparing_two_runs_says_which_numbers_changed_and_why() -> None:
    first = _table(_row("a", "attack", 0.4), _row("a", "utility", 2.0), _row("gone", "attack", 0.1))
    second = _table(_row("a", "attack", 0.6, software="newer"), _row("a", "utility", 2.0), _row("new", "attack", 0.2))
    changes = compare(first, second)
    assert changes.same == 1
    (row,) = changes.changed.to_dicts()
    assert row["difference"] == pytest.approx(0.2)
    assert row["because"] == "software"
    assert row["within_interval"] is False
    assert changes.only_first["mechanism"].to_list() == ["gone"]
    assert changes.only_second["mechanism"].to_list() == ["new"]
    assert compare(first, first).same == 3


def test_the_packaged_grid_is_small_complete_and_asks_only_for_what_there_is() -> None:
    assert PACKAGED.stat().st_size < 300_000
    table = measured()
    assert set(table["use"]) == {"live", "dataset", "features", "heatmap"}
    assert set(table.filter(pl.col("role") == "attack")["harm"]) >= {"reidentification", "attribute", "membership"}
    good = table.filter(pl.col("status") == "ok")
    assert good["digest"].str.len_chars().min() == 24
    assert good.filter(pl.col("headline"))["value"].is_not_null().all()
    assert read_grid(GRID).name == "measured"


def test_the_leaderboards_in_the_docs_are_those_of_the_packaged_grid() -> None:
    docs = Path(__file__).parents[3] / "docs"
    places = [docs / "results.md"]
    pages = [place.read_text(encoding="utf-8") for place in places]
    assert [within(page, measured()) for page in pages] == pages
    marks = [mark[2] for page in pages for mark in MARK.finditer(page)]
    assert sorted(marks) == sorted(set(measured()["use"]))
    assert within("no marks", measured()) == markdown(measured())


def test_every_use_has_measures_of_both_roles_and_knows_the_names_that_it_offers_and_no_others() -> None:
    for name, use in USES.items():
        roles = {family.role for family in FAMILIES if name in family.uses}
        assert roles == {"attack", "utility"}, name
        for source in use.sources.values():
            assert callable(source.load)
    for family in FAMILIES:
        for name in family.names():
            found = family.find(name, {})
            assert found is not None, name
            assert bool(found.harm) == (family.role == "attack")
            if name.startswith("trait:"):  # whatever labels the data have
                continue
            for odd in (f"{name}+", f"+{name}", f"{name} ", f"{name}+nothing"):
                assert family.find(odd, {}) is None, odd
