# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""`gazeveil features design` and `release` as a lab would run them, with tables that are not as they should be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, headset, write_corpus
from gazeveil.cli.main import run
from gazeveil.features.bins import extract_bin_corpus
from gazeveil.features.extract import extract_corpus
from gazeveil.features.table import FeatureTable
from gazeveil.gaze.corpus import Corpus
from gazeveil.simulate.reading import ReadingStudy

FEATURES = "saccades_per_s,amplitude_mean,pupil_mean_of_means"
STEPS = 60


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, seed in (("public", 1), ("private", 2)):
        corpus = Corpus.of(ReadingStudy(8, seconds=60, seed=seed).recordings())
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


class TestReleases:
    def test_the_paper_s_mechanism_runs_on_a_table(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "r.parquet"
        options = ["--mechanism", "dc-fpa", "--epsilon", "3", "--chunk", "32", "--steps", str(STEPS)]
        assert release(tables / "private.parquet", out, *options, "--features", FEATURES) == 0
        captured = capsys.readouterr()
        assert "What is protected: everything that one participant contributed" in captured.out
        assert "values were filled with the public value" in captured.err
        assert "(not published)" in captured.err
        assert len(FeatureTable.read(out)) == 8 * STEPS

    def test_bins_hide_seconds_of_raw_gaze_and_list_every_stretch(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "low-rank", "--epsilon", "3", "--delta", "1e-5", "--hide-seconds", "2", "--anyway"]
        of_bins = [*asked, "--design", str(tables / "bins.json"), "--json"]
        assert release(tables / "private-bins.parquet", tmp_path / "r.parquet", *of_bins) == 0
        told = json.loads(capsys.readouterr().out)
        prices = {row["seconds"]: row["epsilon"] for row in told["raw_gaze"]}
        assert prices[2.0] == 3
        assert prices[60.0] == max(prices.values()) > 3
        of_windows = [*asked, "--design", str(tables / "design.json")]
        assert release(tables / "private.parquet", tmp_path / "s.parquet", *of_windows) == 3
        assert "erratum B10" in capsys.readouterr().err

    def test_a_group_tells_its_error_before_it_spends_and_refuses_where_it_is_no_use(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "group", "--delta", "1e-5", "--design", str(tables / "design.json")]
        assert release(tables / "private.parquet", tmp_path / "r.parquet", *asked, "--epsilon", "0.01") == 3
        assert "hardly better than the public mean" in capsys.readouterr().err
        assert not (tmp_path / "r.parquet").exists()
        assert release(tables / "private.parquet", tmp_path / "r.parquet", *asked, "--epsilon", "20") == 0
        assert "expected  an error of" in capsys.readouterr().out
        rows = pl.read_parquet(tmp_path / "r.parquet")
        assert rows.columns == ["start", "feature", "mean", "low", "high", "public"]

    def test_a_ledger_or_none_must_be_named(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        arguments = ["features", "release", str(tables / "private.parquet"), "--mechanism", "lpa", "--epsilon", "1"]
        assert run([*arguments, "--out", str(tmp_path / "r.parquet")]) == 3
        assert "--no-ledger" in capsys.readouterr().err

    def test_the_raw_table_is_never_replaced_by_its_release(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        raw = tmp_path / "raw.parquet"
        raw.write_bytes((tables / "private.parquet").read_bytes())
        options = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--overwrite"]
        assert release(raw, raw, *options) != 0
        assert "are not apart" in capsys.readouterr().err
        assert raw.read_bytes() == (tables / "private.parquet").read_bytes()
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
        assert release(tables / "private.parquet", tmp_path / "r.parquet", *asked) == 3
        assert says in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []

    def test_a_pupil_that_was_never_seen_is_told_and_replaced_by_public_values(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        blind = changed(tables, tmp_path / "t.parquet", pupil_mean_of_means=pl.lit(float("nan")))
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS)]
        assert release(blind, tmp_path / "r.parquet", *asked, "--features", FEATURES) == 0
        assert "pupil_mean_of_means: in no series" in capsys.readouterr().err
        assert release(blind, tmp_path / "s.parquet", *asked, "--features", "pupil_mean_of_means") == 3
        assert "no usable value of pupil_mean_of_means" in capsys.readouterr().err

    def test_a_constant_signal_is_a_frozen_tracker_and_has_nothing_to_release(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = np.arange(0, 40, 1 / 30)
        still = [Recording(t, 0 * t, 0 * t, headset(), f"p{i}", stimulus="comic", pupil=0 * t + 3) for i in range(3)]
        write_corpus(still, tmp_path / "study")
        assert run(["features", "extract", str(tmp_path / "study"), "--out", str(tmp_path / "t.parquet")]) == 0
        assert ", 0 usable, to" in capsys.readouterr().out
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", "20"]
        assert release(tmp_path / "t.parquet", tmp_path / "r.parquet", *asked) == 3
        assert "no usable value" in capsys.readouterr().err

    def test_runs_of_missing_values_are_filled_and_counted(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        hole = pl.when(pl.col("start").is_between(5, 20)).then(float("nan")).otherwise(pl.col("amplitude_mean"))
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--features", "amplitude_mean"]
        holes = changed(tables, tmp_path / "t.parquet", amplitude_mean=hole)
        assert release(holes, tmp_path / "r.parquet", *asked, "--json") == 0
        told = json.loads(capsys.readouterr().out)["not_to_publish"]
        assert told["filled"] >= 8 * 30
        assert np.isfinite(FeatureTable.read(tmp_path / "r.parquet").values).all()

    def test_a_range_that_is_too_narrow_clips_and_counts(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        asked = ["--mechanism", "fpa", "--epsilon", "1", "--steps", str(STEPS), "--features", "pupil_mean_of_means"]
        narrow = [*asked, "--pupil-range", "3,3.1"]
        assert release(tables / "private.parquet", tmp_path / "r.parquet", *narrow, "--json") == 0
        told = json.loads(capsys.readouterr().out)["not_to_publish"]
        assert told["clipped"]["pupil_mean_of_means"] > 8 * 30
        values = FeatureTable.read(tmp_path / "r.parquet").values
        assert values.min() >= 3
        assert values.max() <= 3.1
        assert release(tables / "private.parquet", tmp_path / "s.parquet", *narrow) == 0
        assert "lay outside the declared ranges and were clipped" in capsys.readouterr().err

    def test_one_person_only_is_no_group_and_no_design_but_has_a_series(
        self, tables: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        table = FeatureTable.read(tables / "private.parquet")
        table.where((pl.col("observer") == "p001") & (pl.col("task") == "comic")).write(tmp_path / "t.parquet")
        asked = ["--epsilon", "1", "--steps", str(STEPS), "--features", FEATURES]
        group = ["--mechanism", "group", "--epsilon", "1", "--design", str(tables / "design.json"), "--delta", "1e-5"]
        assert release(tmp_path / "t.parquet", tmp_path / "r.parquet", *group) == 3
        assert "at least two people" in capsys.readouterr().err
        assert release(tmp_path / "t.parquet", tmp_path / "r.parquet", "--mechanism", "lpa-as-published", *asked) == 3
        assert "at least two of them" in capsys.readouterr().err
        design = ["features", "design", str(tmp_path / "t.parquet"), "--source", "one", "--out"]
        assert run([*design, str(tmp_path / "d.json")]) == 3
        assert "at least two public people" in capsys.readouterr().err
        assert release(tmp_path / "t.parquet", tmp_path / "r.parquet", "--mechanism", "fpa", *asked) == 0
