# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gazepoint Analysis exports: media, validity flags, fixations, blinks, user data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import normalised, screen

TIME = "TIME(2022/01/27 09:39:32.995)"
FULL = [
    *("MEDIA_ID", "MEDIA_NAME", "CNT", TIME, "TIMETICK(f=10000000)"),
    *("FPOGX", "FPOGY", "FPOGS", "FPOGD", "FPOGID", "FPOGV", "BPOGX", "BPOGY", "BPOGV"),
    *("CX", "CY", "CS", "USER", "LPCX", "LPCY", "LPD", "LPS", "LPV", "RPCX", "RPCY", "RPD", "RPS", "RPV"),
    *("BKID", "BKDUR", "LPMM", "LPMMV", "RPMM", "RPMMV", "AOI", ""),
]
VALID = {"MEDIA_ID": 0, "MEDIA_NAME": "a.png", "BPOGX": 0.5, "BPOGY": 0.25, "BPOGV": 1, "FPOGV": 0, "BKID": 0}


def export(
    folder: Path, rows: list[dict[str, Any]], header: list[str] = FULL, name: str = "User 1_all_gaze.csv"
) -> Path:
    lines = [",".join(header), *(",".join(str(row.get(column, "")) for column in header) for row in rows)]
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def sample(time: float, **values: Any) -> dict[str, Any]:
    return {**VALID, TIME: time, **values}


def read_rows(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Reading:
    return read(export(folder, rows), **options)


def test_an_export_is_read(tmp_path: Path) -> None:
    rows = [
        sample(0.0, LPMM=3.0, LPMMV=1, RPMM=3.5, RPMMV=1),
        sample(0.016, BPOGV=0, LPMM=3.0, LPMMV=1, RPMM=9, RPMMV=0),
        sample(0.033, BPOGX=-0.1),
    ]
    reading = read_rows(tmp_path, rows)
    [recording] = reading.recordings
    assert reading.format == "gazepoint-csv"
    assert recording.key == Key("User 1", "a.png", "1", "1")
    np.testing.assert_array_equal(recording.t, [0.0, 0.016, 0.033])
    np.testing.assert_array_equal(recording.x, [0.5, np.nan, -0.1])
    np.testing.assert_array_equal(recording.y, [0.25, np.nan, 0.25])
    assert recording.geometry == normalised()
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.25, 3.0, np.nan])
    assert recording.pupil_unit == "mm"


def test_sizes_from_the_user_make_it_convertible(tmp_path: Path) -> None:
    given = screen(1920, 1080, 500, 300, 600)
    [recording] = read_rows(tmp_path, [sample(0.0)], geometry=given).recordings
    assert recording.geometry == normalised(1920, 1080, 500, 300, 600)
    assert recording.to("px").x[0] == 960


def test_each_showing_of_a_media_is_a_recording_with_its_own_clock(tmp_path: Path) -> None:
    shown = [(0, "a"), (0, "a"), (1, "b"), (0, "a"), (2, "a")]
    rows = [sample(0.016 * (i % 2), MEDIA_ID=number, MEDIA_NAME=name) for i, (number, name) in enumerate(shown)]
    reading = read_rows(tmp_path, rows)
    assert [(r.stimulus, r.trial, len(r)) for r in reading.recordings] == [
        ("a", "1", 2),
        ("b", "1", 1),
        ("a", "2", 1),
        ("a", "3", 1),
    ]
    assert reading.report.time_backwards == 0


def test_fixations_and_blinks_become_events(tmp_path: Path) -> None:
    fixation = {"FPOGV": 1, "FPOGID": 1, "FPOGS": 0.01}
    rows = [
        sample(0.016, **fixation, FPOGX=0.4, FPOGY=0.4, FPOGD=0.006),
        sample(0.033, **fixation, FPOGX=0.42, FPOGY=0.4, FPOGD=0.023),
        sample(0.050, BPOGV=0, BKID=7),
        sample(0.066, BPOGV=0, BKID=7),
        sample(0.083, FPOGV=1, FPOGID=2, FPOGS=0.08, FPOGX=0.6, FPOGY=0.5, FPOGD=0.003),
    ]
    [recording] = read_rows(tmp_path, rows).recordings
    assert recording.events.select("kind", "onset", "x").rows() == [
        ("fixation", 0.01, 0.42),
        ("blink", 0.05, None),
        ("fixation", 0.08, 0.6),
    ]
    np.testing.assert_allclose(recording.events["offset"].to_numpy(), [0.033, 0.066, 0.083])


def test_user_data_becomes_messages_when_it_changes(tmp_path: Path) -> None:
    said = ["", "0", "go", "go", "stop", "", "go"]
    rows = [sample(0.016 * i, USER=text) for i, text in enumerate(said)]
    for chunk_rows in (1, 1000):
        [recording] = read_rows(tmp_path, rows, chunk_rows=chunk_rows).recordings
        assert recording.events["text"].to_list() == ["go", "stop", "go"]


def test_eyes_of_their_own_are_read(tmp_path: Path) -> None:
    header = [TIME, "LPOGX", "LPOGY", "LPOGV", "RPOGX", "RPOGY", "RPOGV", "LPD", "LPV"]
    rows = [
        {
            TIME: 0.0,
            "LPOGX": 0.4,
            "LPOGY": 0.5,
            "LPOGV": 1,
            "RPOGX": 0.6,
            "RPOGY": 0.5,
            "RPOGV": 1,
            "LPD": 17,
            "LPV": 1,
        },
        {
            TIME: 0.1,
            "LPOGX": 0.4,
            "LPOGY": 0.5,
            "LPOGV": 0,
            "RPOGX": 0.6,
            "RPOGY": 0.5,
            "RPOGV": 1,
            "LPD": 17,
            "LPV": 0,
        },
    ]
    [recording] = read(export(tmp_path, rows, header)).recordings
    np.testing.assert_array_equal(recording.x, [0.5, 0.6])
    assert recording.pupil_unit == "px"
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [17.0, np.nan])
    [left] = read(export(tmp_path, rows, header), eye="left").recordings
    np.testing.assert_array_equal(left.x, [0.4, np.nan])
    with pytest.raises(FileFormatError, match="'LPOGX'"):
        read_rows(tmp_path, [sample(0.0)], eye="left")


def test_ticks_are_the_time_where_there_is_no_other(tmp_path: Path) -> None:
    header = ["TIMETICK(f=10000000)", "BPOGX", "BPOGY", "BPOGV", "FPOGX", "FPOGY", "FPOGS", "FPOGD", "FPOGID", "FPOGV"]
    fixation = {"FPOGX": 0.1, "FPOGY": 0.1, "FPOGS": 5, "FPOGD": 1, "FPOGID": 1, "FPOGV": 1}
    rows = [{**VALID, **fixation, header[0]: tick} for tick in (10_000_000, 10_166_667)]
    [recording] = read(export(tmp_path, rows, header)).recordings
    np.testing.assert_array_equal(recording.t, [1.0, 1.0166667])
    assert recording.events.select("onset", "offset").rows() == [(1.0, 1.0166667)]


def test_fixation_points_stand_in_and_say_so(tmp_path: Path) -> None:
    header = ["TIME", "FPOGX", "FPOGY", "FPOGV"]
    reading = read(export(tmp_path, [{"TIME": 0, "FPOGX": 0.3, "FPOGY": 0.3, "FPOGV": 1}], header, "gaze.csv"))
    assert reading.recordings[0].x[0] == 0.3
    assert reading.recordings[0].observer == "gaze"
    assert "FPOG" in next(iter(reading.report.remarks))


def test_a_list_of_fixations_is_not_taken_for_gaze(tmp_path: Path) -> None:
    path = export(tmp_path, [sample(0.0)], name="User 1_fixations.csv")
    assert find_format(path) == "fixations-csv"
    with pytest.raises(FileFormatError, match="list of fixations") as caught:
        read(path, format="gazepoint-csv")
    assert "User 1_all_gaze.csv" in caught.value.hint


def test_chunks_do_not_change_what_is_read(tmp_path: Path) -> None:
    rows = [
        sample(
            round(0.016 * (i % 500), 3),
            MEDIA_ID=i // 500,
            MEDIA_NAME=f"m{i // 500 % 2}",
            FPOGID=i // 11,
            FPOGV=int(i % 11 < 8),
            FPOGS=round(0.016 * (i // 11 * 11), 3),
            FPOGD=0.016 * (i % 11),
            FPOGX=0.5,
            FPOGY=i / 5000,
            USER=f"u{i // 70}",
        )
        for i in range(2000)
    ]
    whole = read_rows(tmp_path, rows).recordings
    for chunk_rows in (1, 70, 400):
        pieces = read_rows(tmp_path, rows, chunk_rows=chunk_rows).recordings
        for mine, other in zip(whole, pieces, strict=True):
            assert mine.key == other.key
            assert mine.to_frame().equals(other.to_frame())
            assert mine.events.sort("kind", "onset").equals(other.events.sort("kind", "onset"))
