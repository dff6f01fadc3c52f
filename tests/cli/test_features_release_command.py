# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil features design` and `release` as a lab would run them, with tables that are not as they should be."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, headset, write_corpus
from gazeveil.cli.main import run
from gazeveil.features.bins import extract_bin_corpus
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.simulate.readers import ReadingStudy

FEATURES = "saccades_per_s,amplitude_mean,pupil_mean_of_means"
STEPS = 60


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, seed in (("public", 1), ("private", 2)):
        corpus = Corpus.of(ReadingStudy(8, seconds=60, seed=seed).recordings())
        write_corpus(list(corpus.recordings()), folder / "study") if name == "private" else None
        extract_corpus(corpus).table.write(folder / f"{name}.parquet")
        extract_bin_corpus(corpus).table.write(folder / f"{name}-bins.parquet")
    made = ["features", "design", "--source", "simulated", "--json"]
    assert run([*made, str(folder / "public.parquet"), "--features", FEATURES, "--steps", str(STEPS),
                "--out", str(folder / "design.json")]) == 0  # fmt: skip
    assert run([*made, str(folder / "public-bins.parquet"), "--steps", "120",
                "--out", str(folder / "bins.json")]) == 0  # fmt: skip
    return folder


def release(table: Path, out: Path, *options: str) -> int:
    return run(["features", "release", str(table), "--out", str(out), "--no-ledger", "--task", "comic", *options])


def changed(tables: Path, target: Path, **columns: pl.Expr) -> Path:
    table = FeatureTable.read(tables / "private.parquet")
    FeatureTable(table.rows.with_columns(**columns), table.info).write(target)
    return target


def private(out: Path) -> str:
    """Return what the holder of the data is told about a release."""
    return "\n".join(json.loads(out.with_name(f"{out.name}.private-report.json").read_text())["remarks"])


class TestReleases:
    def test_the_paper_s_mechanism_runs_on_a_table(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "r"
        options = ["--mechanism", "dc-fpa", "--epsilon", "3", "--chunk", "32", "--steps", str(STEPS)]
        assert release(tables / "private.parquet", out, *options, "--features", FEATURES) == 0
        captured = capsys.readouterr()
        assert "guarantee ε=3 for everything that one participant contributed" in captured.out
        assert "read from the data, not protected: participants, stimuli, recordings" in captured.out
        assert "filled" not in captured.out + captured.err
        assert "were filled with public ones" in private(out)
        assert len(FeatureTable.read(out / "features.parquet")) == 8 * STEPS

    def test_a_corpus_is_released_without_a_table_in_between(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        options = ["--mechanism", "fpa", "--epsilon", "0.1", "--steps", "20", "--bins", "0.5", "--features", "x,y"]
        assert release(tables / "study", tmp_path / "r", *options, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["recipe"]["epsilon"] == "0.1"
        table = FeatureTable.read(tmp_path / "r" / "features.parquet")
        assert (len(table), table.names, table.info.kind) == (8 * 20, ("x", "y"), "bins")
        assert release(tables / "private.parquet", tmp_path / "s", *options) == 3
        assert "the table is already made" in capsys.readouterr().err

    def test_a_dry_run_shows_guarantee_and_error_and_spends_nothing(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "group", "--epsilon", "20", "--design", str(tables / "design.json"), "--dry-run"]
        assert run(["features", "release", str(tables / "private.parquet"), *asked, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["spent"] is False
        assert told["forecast"]["low"] < told["forecast"]["expected"] < told["forecast"]["high"]

    def test_bins_hide_seconds_of_raw_gaze_and_list_every_stretch(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "low-rank", "--epsilon", "3", "--delta", "1e-5", "--hide-seconds", "2", "--anyway"]
        of_bins = [*asked, "--design", str(tables / "bins.json"), "--json"]
        assert release(tables / "private-bins.parquet", tmp_path / "r", *of_bins) == 0
        told = json.loads(capsys.readouterr().out)
        prices = {row["seconds"]: row["epsilon"] for row in told["about_the_value"]["raw_gaze"]}
        assert prices[2.0] == 3
        assert prices[60.0] == max(prices.values()) > 3
        of_windows = [*asked, "--design", str(tables / "design.json")]
        assert release(tables / "private.parquet", tmp_path / "s", *of_windows) == 3
        assert "erratum B10" in capsys.readouterr().err

    def test_a_group_tells_its_error_before_it_spends_and_refuses_where_it_is_no_use(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "group", "--delta", "1e-5", "--design", str(tables / "design.json")]
        assert release(tables / "private.parquet", tmp_path / "r", *asked, "--epsilon", "0.01") == 3
        assert "would hardly be better than none" in capsys.readouterr().err
        assert not (tmp_path / "r").exists()
        assert release(tables / "private.parquet", tmp_path / "r", *asked, "--epsilon", "20") == 0
        assert "expected  an error, as a part of the range, of" in capsys.readouterr().out
        rows = pl.read_parquet(tmp_path / "r" / "group.parquet")
        assert rows.columns == ["start", "feature", "mean", "low", "high", "public"]
        assert (tmp_path / "r" / "design.json").exists()

    def test_a_ledger_or_none_must_be_named(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["features", "release", str(tables / "private.parquet"), "--mechanism", "lpa", "--epsilon", "1"]
        arguments += ["--steps", "20"]
        assert run([*arguments, "--out", str(tmp_path / "r")]) == 3
        assert "--no-ledger" in capsys.readouterr().err

    def test_the_raw_table_is_never_replaced_by_its_release(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raw = tmp_path / "raw"
        raw.write_bytes((tables / "private.parquet").read_bytes())
        options = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--overwrite"]
        assert release(raw, raw, *options) != 0
        assert "are not apart" in capsys.readouterr().err
        assert release(raw, tmp_path / "raw.parquet", *options) == 3
        assert "a release is a folder" in capsys.readouterr().err
        made = ["features", "design", str(raw), "--source", "x", "--out", str(raw), "--overwrite"]
        assert run(made) == 3
        assert raw.read_bytes() == (tables / "private.parquet").read_bytes()


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--mechanism", "fpa", "--kept", "40"], "has 31 bins, of which 40 cannot be kept"),
            (["--mechanism", "c-fpa", "--chunk", "64"], "a chunk of 64 steps is longer than the series, 60"),
            (["--mechanism", "lpa", "--stretch", "61"], "a stretch of 61 steps is longer than the series"),
            (["--mechanism", "group"], "needs a public design"),
            (["--mechanism", "fpa", "--features", "speed"], "no range is declared for 'speed'"),
            (["--mechanism", "magic"], "magic"),
        ],
    )
    def test_what_cannot_be_is_told_and_nothing_is_written(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
    ) -> None:
        asked = ["--epsilon", "1", "--steps", str(STEPS), *options]
        assert release(tables / "private.parquet", tmp_path / "r", *asked) == 3
        assert says in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_how_long_a_series_is_must_be_public(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert release(tables / "private.parquet", tmp_path / "r", "--mechanism", "fpa", "--epsilon", "1") == 3
        assert "say with --steps" in capsys.readouterr().err

    def test_what_was_never_seen_is_replaced_by_public_values_and_only_the_holder_is_told(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        blind = changed(tables, tmp_path / "t.parquet", pupil_mean_of_means=pl.lit(float("nan")))
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS)]
        said = []
        for table in (blind, tables / "private.parquet"):
            options = [*asked, "--features", "pupil_mean_of_means", "--overwrite"]
            assert release(table, tmp_path / "r", *options) == 0
            said.append(capsys.readouterr())
        assert said[0] == said[1]
        assert release(blind, tmp_path / "r", *options) == 0
        assert f"{8 * STEPS:,} values of series that are there were filled" in private(tmp_path / "r")

    def test_a_constant_signal_is_a_frozen_tracker_and_leaves_public_values(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = np.arange(0, 40, 1 / 30)
        still = [Recording(t, 0 * t, 0 * t, headset(), f"p{i}", stimulus="comic", pupil=0 * t + 3) for i in range(3)]
        write_corpus(still, tmp_path / "study")
        assert run(["features", "extract", str(tmp_path / "study"), "--out", str(tmp_path / "t.parquet")]) == 0
        assert ", 0 usable, to" in capsys.readouterr().out
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", "20"]
        assert release(tmp_path / "t.parquet", tmp_path / "r", *asked) == 0

    def test_runs_of_missing_values_are_filled_and_counted(self, tables: Path, tmp_path: Path) -> None:
        hole = pl.when(pl.col("start").is_between(5, 20)).then(float("nan")).otherwise(pl.col("amplitude_mean"))
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--features", "amplitude_mean"]
        holes = changed(tables, tmp_path / "t.parquet", amplitude_mean=hole)
        assert release(holes, tmp_path / "r", *asked) == 0
        filled = re.search(r"(\d+) values of series that are there were filled", private(tmp_path / "r"))
        assert filled is not None
        assert int(filled[1]) >= 8 * 30
        assert np.isfinite(FeatureTable.read(tmp_path / "r" / "features.parquet").values).all()

    def test_a_range_that_is_too_narrow_clips_and_counts(self, tables: Path, tmp_path: Path) -> None:
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--features", "pupil_mean_of_means"]
        assert release(tables / "private.parquet", tmp_path / "r", *asked, "--pupil-range", "3,3.1") == 0
        assert "lay outside the declared ranges and were clipped" in private(tmp_path / "r")
        values = FeatureTable.read(tmp_path / "r" / "features.parquet").values
        assert values.min() >= 3
        assert values.max() <= 3.1

    def test_one_person_only_is_no_group_and_no_design_but_has_a_series(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = FeatureTable.read(tables / "private.parquet")
        table.where((pl.col("observer") == "p001") & (pl.col("task") == "comic")).write(tmp_path / "t.parquet")
        asked = ["--epsilon", "1", "--steps", str(STEPS), "--features", FEATURES]
        group = ["--mechanism", "group", "--epsilon", "1", "--design", str(tables / "design.json"), "--delta", "1e-5"]
        assert release(tmp_path / "t.parquet", tmp_path / "r", *group) == 3
        assert "at least two participants" in capsys.readouterr().err
        design = ["features", "design", str(tmp_path / "t.parquet"), "--source", "one", "--out"]
        assert run([*design, str(tmp_path / "d.json")]) == 3
        assert "at least two public participants" in capsys.readouterr().err
        assert release(tmp_path / "t.parquet", tmp_path / "r", "--mechanism", "fpa", *asked) == 0
