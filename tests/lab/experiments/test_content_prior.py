# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What telling the scene is worth: the streams it is measured on, and that nobody's own gaze is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.reproduction import kaleido_scene_prior
from gazeveil.lab.reproduction.kaleido_scene_prior import Viewing, measure, osie, simulated
from gazeveil.samples import Screen


def corners(people: int = 6) -> Viewing:
    """Everybody looks at one corner in the first scene and at the opposite one in the second."""
    rng = np.random.default_rng(1)
    gaze = rng.uniform(0, 200, (people, 2, 300, 2))
    gaze[:, 1] += (1000, 500)
    return Viewing("corners", Screen(1280, 720), 5.0, gaze)


def test_the_person_is_left_out_of_what_is_told() -> None:
    viewing = corners()
    for person in (0, 5):
        other = viewing.gaze.copy()
        other[person] = 700.0
        told, again = (
            kaleido_scene_prior._density(each, person, 1) for each in (viewing, replace(viewing, gaze=other))
        )
        assert np.array_equal(told, again)
        assert told.sum() == 5 * 300
    assert not np.array_equal(told, kaleido_scene_prior._density(replace(viewing, gaze=other), 1, 1))


def test_the_right_scene_helps_and_another_harms() -> None:
    for row in measure(corners(), repeats=2):
        assert row.told < row.plain < row.misled
        assert row.scene < row.centre
        assert 0 < row.told_se < row.plain


def test_simulated_people_look_at_the_same_scenes() -> None:
    viewing = simulated(3, 2, 2.0)
    assert viewing.gaze.shape == (3, 2, 120, 2)
    assert np.isfinite(viewing.gaze).mean() > 0.7
    assert len(measure(viewing, repeats=1)) == 3


def test_fixations_become_still_gaze(tmp_path: Path) -> None:
    table = pl.DataFrame(
        [(7, 1, 1, 10, 1, 970), (7, 1, 2, 20, 2, 470), (7, 2, 1, 30, 3, 5000)],
        schema=["image", "user", "fix", "x", "y", "dur_ms"],
        orient="row",
    )
    table.write_parquet(tmp_path / "fixations.parquet")
    gaze = osie(tmp_path).gaze
    assert gaze.shape == (2, 1, 180, 2)
    assert [np.count_nonzero(gaze[0, 0, :, 0] == x) for x in (10, 20)] == [58, 28]
    assert np.isnan(gaze[0, 0, 95:]).all()
    assert (gaze[1, 0, 2:] == [30, 3]).all()


def test_fixations_that_are_not_there_or_no_table_of_ours_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not there"):
        osie(tmp_path)
    pl.DataFrame({"image": [1]}).write_parquet(tmp_path / "fixations.parquet")
    with pytest.raises(FileFormatError, match="user"):
        osie(tmp_path)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    kaleido_scene_prior.main(None, quick=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[2].startswith("| simulated | 1, 1 s, 60 px | ")
