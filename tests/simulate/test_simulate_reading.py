# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated readers: they read as readers do, documents and people differ, and everything follows from the seed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording
from gazeveil.errors import OptionError
from gazeveil.simulate.readers import DOCUMENTS, GLASSES, Reader, ReadingStudy, read

STUDY = ReadingStudy(4, seconds=60)


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    return list(STUDY.recordings())


def saccades(recording: Recording) -> pl.DataFrame:
    return recording.events.filter(pl.col("kind") == "saccade").with_columns(
        across=pl.col("end_x") - pl.col("x"), down=pl.col("end_y") - pl.col("y")
    )


def test_everybody_reads_everything(recordings: list[Recording]) -> None:
    assert len(recordings) == len(STUDY) == 12
    assert [item.stimulus for item in recordings[:3]] == ["comic", "newspaper", "textbook"]
    assert all(len(item) == 1800 and item.rate_hz == 30 for item in recordings)
    assert all(0.8 < item.tracked.mean() < 1 for item in recordings)


def test_readers_go_forward_along_the_line_back_now_and_then_and_down(recordings: list[Recording]) -> None:
    for recording in recordings:
        if recording.stimulus != "textbook":
            continue
        moves = saccades(recording)
        along = moves.filter(pl.col("down").abs() < 1)
        way = along["across"].to_numpy()
        assert 0.6 < float((way > 0).mean()) < 0.97
        assert 1.2 < np.median(way[way > 0]) < 3.2
        sweeps = moves.filter(pl.col("across") < -8)["down"].to_numpy()
        assert np.median(sweeps) > 0.5  # to the next line
        rests = recording.events.filter(pl.col("kind") == "fixation")
        assert 0.12 < float(np.median((rests["offset"] - rests["onset"]).to_numpy())) < 0.45


def test_documents_are_read_differently(recordings: list[Recording]) -> None:
    right = {
        name: np.mean(
            [np.mean(saccades(item)["across"].to_numpy() > 0) for item in recordings if item.stimulus == name]
        )
        for name in ("comic", "textbook")
    }
    assert float(right["textbook"]) > float(right["comic"]) + 0.05


def test_people_alternate_between_two_groups_which_differ_on_average() -> None:
    assert list(STUDY.groups().values()) == ["a", "b", "a", "b"]
    readers = ReadingStudy(400, seconds=60).readers()
    for habit, sign in (("pace", 1), ("stride", -1), ("looks_back", 1), ("drawn_to_pictures", -1)):
        values = {group: np.log([getattr(r, habit) for r in readers if r.group == group]) for group in "ab"}
        distance = sign * (values["b"].mean() - values["a"].mean()) / values["a"].std()
        assert 0.8 < distance < 2.5, habit


def test_a_recording_does_not_depend_on_who_else_takes_part(recordings: list[Recording]) -> None:
    reader = ReadingStudy(9, seconds=60).readers()[1]
    assert read(reader, DOCUMENTS[0], GLASSES, 60).equals(recordings[3])
    assert not read(reader, DOCUMENTS[0], GLASSES, 60, session=2).equals(recordings[3])
    assert isinstance(reader, Reader)


@pytest.mark.parametrize("wrong", [{"observers": 0}, {"sessions": True}, {"seconds": 0.1}, {"documents": ()}])
def test_a_study_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        ReadingStudy(**wrong)  # type: ignore[arg-type]
