# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that stand for lost gaze: which are known, and what the user's own do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil import headset, read, screen, write_corpus
from gazeveil.errors import OptionError
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.gaze.quality import Quality, qualities
from gazeveil.gaze.reading import ChunkStream
from gazeveil.gaze.recording import Recording
from gazeveil.gaze.validity import Sentinel, is_known, parse_sentinel
from gazeveil.release.data import GazeFiles

DESK = screen(1920, 1080)


def quality_with(x: float, y: float, times: int = 20, geometry: object = DESK) -> Quality:
    rng = np.random.default_rng(1)
    xs, ys = rng.normal(400, 3, 400), rng.normal(300, 3, 400)
    if geometry is not DESK:
        xs, ys = xs / 100, ys / 100
    xs[50 : 50 + times], ys[50 : 50 + times] = x, y
    return qualities([chunk_of(Recording(np.arange(400) / 100, xs, ys, geometry, "ann"))])[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "y", "called"),
    [
        (0, 0, "0,0"),
        (-1, -1, "-1,-1"),
        (1e8, 1e8, "1e+08"),
        (1e8, 200, "1e+08"),
        (-32768, -32768, "-32768"),
        (1920, 1080, "1920,1080"),
        (1919, 0, "1919,0"),
        (-200, -100, "-200,-100"),
        (1920.5, 300.25, "1920.5,300.25"),
    ],
)
def test_known_sentinels_and_parked_gaze_are_recognised(x: float, y: float, called: str) -> None:
    found = quality_with(x, y)
    assert found.sentinels == {called: 20}
    assert found.sentinel == 20 / 400
    assert found.outside == 0
    assert found.loss == 0  # recognised and reported, not lost
    assert quality_with(x, y, times=1).sentinels == {}


def test_a_place_on_the_screen_is_no_sentinel() -> None:
    assert quality_with(700, 500).sentinels == {}


def test_straight_ahead_is_no_sentinel_in_degrees() -> None:
    assert quality_with(0, 0, geometry=headset(100, 90)).sentinels == {}
    assert quality_with(1e8, 1e8, geometry=headset(100, 90)).sentinels == {"1e+08": 20}
    assert is_known((0.0, 0.0), DESK)
    assert not is_known((0.0, 0.0), headset(100, 90))


def test_a_sentinel_is_a_point_or_a_number() -> None:
    assert parse_sentinel("-1, -1") == Sentinel(-1.0, -1.0)
    assert parse_sentinel("1e8") == Sentinel(1e8)
    for text in ("", "a,b", "1,2,3", "nan", "inf,0"):
        with pytest.raises(OptionError, match="a point or a number"):
            parse_sentinel(text)


def test_gaze_at_the_users_sentinels_is_lost_and_counted() -> None:
    frame = pl.DataFrame({"t": np.arange(4) / 100, "x": [0.0, 5.0, -9.0, 0.0], "y": [0.0, 5.0, 5.0, 7.0]})
    reading = read(frame, geometry=DESK, observer="ann", sentinels=["0,0", "-9"])
    np.testing.assert_array_equal(reading.recordings[0].x, [np.nan, 5.0, np.nan, 0.0])
    assert reading.report.remarks["gaze at the sentinel 0,0 is lost"] == 1
    assert reading.report.remarks["gaze at the sentinel -9 is lost"] == 1
    assert read(frame, geometry=DESK, observer="ann").recordings[0].tracked.all()


def test_where_one_eye_is_at_a_sentinel_gaze_is_the_other_eyes() -> None:
    left, right = [0.0, 10.0, 0.0, 0.0], [20.0, 20.0, 0.0, np.nan]
    frame = pl.DataFrame({"t": np.arange(4) / 100, "left_x": left, "left_y": left, "right_x": right, "right_y": right})
    frame = frame.with_columns(x=pl.Series([10.0, 15.0, 0.0, 0.0]), y=pl.Series([10.0, 15.0, 0.0, 0.0]))
    recording = read(frame, geometry=DESK, observer="ann", sentinels=["0,0"]).recordings[0]
    np.testing.assert_array_equal(recording.x, [20.0, 15.0, np.nan, np.nan])
    assert recording.left is not None
    assert recording.left.tracked.tolist() == [False, True, False, False]


def test_a_release_from_a_corpus_folder_keeps_sentinels_and_rules(tmp_path: Path) -> None:
    x = np.array([0.0, 5.0, 6.0])
    write_corpus([Recording(np.arange(3) / 100, x, x, DESK, "ann", "a")], tmp_path / "corpus")
    for options, expected in (
        (ReadOptions(), [True, True, True]),
        (ReadOptions(sentinels=("0,0",)), [False, True, True]),
        (ReadOptions(valid=("x<6",)), [True, True, False]),
    ):
        files = GazeFiles((tmp_path / "corpus",), lambda path, options=options: ChunkStream(path, options))  # type: ignore[misc]
        remarks: list[str] = []
        (recording,) = files.open(remarks)
        assert recording.tracked.tolist() == expected
        assert bool(remarks) == options.judges


def test_options_that_say_nothing_are_refused_before_anything_is_read() -> None:
    with pytest.raises(OptionError, match="is no rule"):
        ReadOptions(valid=("status=OK",))
    with pytest.raises(OptionError, match="a point or a number"):
        ReadOptions(sentinels=("zero",))
