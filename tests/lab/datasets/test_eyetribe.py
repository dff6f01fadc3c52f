# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The EyeTribe runs as recordings, and their features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import Corpus
from gazeveil.errors import FileFormatError, InputError
from gazeveil.features.bins import extract_bin_corpus
from gazeveil.features.extraction import extract_corpus
from gazeveil.features.feature_list import NAMES, declared_ranges
from gazeveil.features.table import describe
from gazeveil.lab.datasets import EYETRIBE_FILE, EYETRIBE_PUPIL, eyetribe

FILE = Path(__file__).resolve().parents[4] / "shared" / "data" / EYETRIBE_FILE


def made_up(path: Path, seconds: float = 40.0) -> Path:
    """A file of the same columns: two people, one of whom made two runs."""
    rng = np.random.default_rng(1)
    n = int(seconds * 30)
    runs = []
    for user, run in ((3, 1), (3, 2), (7, 1)):
        place = np.cumsum(np.where(rng.random((2, n)) < 0.1, rng.normal(0, 100, (2, n)), 0), axis=1) % 900
        runs.append(
            pl.DataFrame(
                {
                    "user": np.full(n, user, dtype=np.int16),
                    "run": np.full(n, run, dtype=np.int8),
                    "t_ms": (np.arange(n) * 1000 / 30).astype(np.int32),
                    "x": (place[0] + rng.normal(0, 5, n)).astype(np.int16),
                    "y": (place[1] + rng.normal(0, 5, n)).astype(np.int16),
                    "pupil": rng.normal(200, 5, n).astype(np.int16),
                    "state": np.where(rng.random(n) < 0.9, 7, 8).astype(np.int8),
                }
            )
        )
    pl.concat(runs).write_parquet(path)
    return path


def test_runs_become_recordings_of_people_with_sessions(tmp_path: Path) -> None:
    recordings = list(eyetribe(made_up(tmp_path / "runs.parquet")))
    assert [item.key[:3] for item in recordings] == [
        ("user-03", "attention", "1"),
        ("user-03", "attention", "2"),
        ("user-07", "attention", "1"),
    ]
    assert recordings[0].duration == pytest.approx(40, abs=0.1)
    assert 0.8 < recordings[0].tracked.mean() < 0.97
    table = extract_corpus(Corpus.of(eyetribe(tmp_path / "runs.parquet"))).table
    assert len(table) == 3 * 21
    assert table.observers == ["user-03", "user-07"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        list(eyetribe(tmp_path / "none.parquet"))
    pl.DataFrame({"user": [1]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(FileFormatError, match="column run: expected a column of that name"):
        list(eyetribe(tmp_path / "other.parquet"))


def test_a_description_has_means_ranges_and_what_they_clip(tmp_path: Path) -> None:
    table = extract_corpus(Corpus.of(eyetribe(made_up(tmp_path / "runs.parquet")))).table
    summary = describe(table, declared_ranges(pupil_range=None))
    rows = {row["feature"]: row for row in summary.to_dicts()}
    assert list(rows) == list(NAMES)
    assert rows["fixations_per_s"]["mean"] == pytest.approx(np.nanmean(table.values[:, 0]))
    assert rows["pupil_mean_of_means"]["low"] is None
    assert rows["pupil_mean_of_means"]["mean"] == pytest.approx(200, abs=3)
    assert rows["amplitude_mean"]["scale"] == "log"
    assert 0 <= rows["fixations_per_s"]["between"] <= 1
    nobody = describe(table.where(pl.col("observer") == "nobody"), declared_ranges())
    assert np.isnan(nobody["mean"].to_numpy()).all()


@pytest.mark.skipif(not FILE.exists(), reason="the shared data are not here")
def test_the_shared_runs_have_plausible_features() -> None:
    some = [item for item in eyetribe(FILE) if item.session == "1" and item.duration > 31][:8]
    table = extract_corpus(Corpus.of(some)).table
    ranges = declared_ranges(pupil_range=EYETRIBE_PUPIL)
    assert table.rows["usable"].to_numpy().mean() > 0.6
    means = dict(zip(NAMES, np.nanmean(table.values, axis=0), strict=True))
    assert 0.5 < means["fixations_per_s"] < 3
    assert 0.2 < means["fixation_duration_mean"] < 1.5
    _, clipped = ranges.to_unit(table.values)
    assert clipped.total < 0.05 * clipped.values
    bins = extract_bin_corpus(Corpus.of(some)).table
    assert np.nanmean(bins.values[:, 4]) > 0.6
