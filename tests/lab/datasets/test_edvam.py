# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The walks of EDVAM as recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import FileFormatError, InputError
from gazeveil.geometry import Unit
from gazeveil.lab.datasets import EDVAM_FILE, edvam

FILE = Path(__file__).resolve().parents[4] / "shared" / "data" / EDVAM_FILE


def walks(path: Path) -> Path:
    """A file of the same columns: two participants, the later one first."""
    table = {
        "user": [10, 10, 9, 9, 9, 9],
        "time": [0.0, 0.03, 0.0, 0.03, 0.03, 0.06],
        "gx": [0.5, 0.6, 0.1, 0.2, 0.2, 2.5e8],
        "gy": [0.5, 0.5, 0.3, 1.0, 0.4, -1.2e8],
    }
    kinds = {"user": pl.Int16, "time": pl.Float32, "gx": pl.Float32, "gy": pl.Float32}
    pl.DataFrame(table, schema=kinds).write_parquet(path)
    return path


def test_each_participant_has_one_walk_in_fractions_of_the_view(tmp_path: Path) -> None:
    first, second = edvam(walks(tmp_path / "walks.parquet"))
    assert [one.observer for one in (first, second)] == ["user-09", "user-10"]
    assert {one.stimulus for one in (first, second)} == {"museum"}
    assert first.geometry.unit is Unit.FRACTION
    assert second.x.tolist() == pytest.approx([0.5, 0.6])


def test_gaze_outside_the_view_is_missing_and_its_time_stays(tmp_path: Path) -> None:
    first, _ = edvam(walks(tmp_path / "walks.parquet"))
    assert first.tracked.tolist() == [True, False, True, False]
    assert np.isnan(first.x[3])
    assert len(first) == 4


def test_repeated_times_stay_and_are_counted(tmp_path: Path) -> None:
    first, _ = edvam(walks(tmp_path / "walks.parquet"))
    assert first.time_faults == (0, 1, 0)


def test_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        list(edvam(tmp_path / "none.parquet"))
    pl.DataFrame({"user": [1], "time": [0.0], "gx": [0.5]}).write_parquet(tmp_path / "other.parquet")
    with pytest.raises(FileFormatError, match="column gy: expected a column of that name"):
        list(edvam(tmp_path / "other.parquet"))


@pytest.mark.skipif(not FILE.exists(), reason="the shared data are not here")
def test_the_shared_walks_are_those_of_63_participants() -> None:
    found = list(edvam(FILE))
    assert len({one.observer for one in found}) == len(found) == 63
    assert min(one.duration for one in found) > 60
    assert 0.85 < np.concatenate([one.tracked for one in found]).mean() < 0.93
