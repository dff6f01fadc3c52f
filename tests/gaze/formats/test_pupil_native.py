# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Neon and Pupil Invisible recordings as on the phone: parts, full rate, worn, pupils, events, and damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import screen

NEON = {"module_serial_number": "7", "wearer_id": "w1", "recording_id": "r1"}
START = 10**18
STEP = 5_000_000


def times(count: int, first: int = 0) -> np.ndarray:
    return START + STEP * (first + np.arange(count, dtype="<i8"))


def stream(folder: Path, name: str, values: np.ndarray, when: np.ndarray) -> None:
    values.tofile(folder / f"{name}.raw")
    when.astype("<i8").tofile(folder / f"{name}.time")


def points(*x: float) -> np.ndarray:
    return np.array([(value, 2 * value) for value in x], dtype="<f4")


def recorded(folder: Path, about: dict[str, str] | None = None) -> Path:
    (folder / "info.json").write_text(json.dumps(about or NEON))
    stream(folder, "gaze ps1", points(1.5, 2.5, np.nan), times(3))
    return folder


def test_a_recording_is_read_and_its_wearer_known(tmp_path: Path) -> None:
    recorded(tmp_path)
    for path in (tmp_path, tmp_path / "gaze ps1.raw"):
        assert find_format(path) == "pupil-native"
        [recording] = read(path).recordings
        assert recording.key == Key("w1", "", "r1", "1")
        assert recording.geometry == screen(1600, 1200)
        np.testing.assert_array_equal(recording.t, times(3) / 1e9)
        np.testing.assert_array_equal(recording.x, [1.5, 2.5, np.nan])
        np.testing.assert_array_equal(recording.y, [3, 5, np.nan])


def test_pupil_invisible_has_another_scene_camera(tmp_path: Path) -> None:
    [recording] = read(recorded(tmp_path, {"glasses_serial_number": "x"}), observer="bob").recordings
    assert (recording.geometry, recording.observer) == (screen(1088, 1080), "bob")


def test_parts_follow_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    recorded(tmp_path)
    stream(tmp_path, "gaze ps10", points(10), times(1, 9))
    stream(tmp_path, "gaze ps2", points(4), times(1, 3))
    np.testing.assert_array_equal(read(tmp_path).recordings[0].x, [1.5, 2.5, np.nan, 4, 10])


def test_the_full_rate_takes_the_place_of_the_parts(tmp_path: Path) -> None:
    stream(recorded(tmp_path), "gaze_200hz", points(7, 8), times(2))
    np.array([255, 0], dtype="u1").tofile(tmp_path / "worn_200hz.raw")
    np.testing.assert_array_equal(read(tmp_path).recordings[0].x, [7, np.nan])


def test_gaze_of_glasses_that_are_not_worn_is_lost(tmp_path: Path) -> None:
    recorded(tmp_path)
    assert "the recording does not say when the glasses were worn" in read(tmp_path).report.remarks
    np.array([0, 255, 255], dtype="u1").tofile(tmp_path / "worn ps1.raw")
    np.testing.assert_array_equal(read(tmp_path).recordings[0].x, [np.nan, 2.5, np.nan])


def test_pupils_and_events_come_along(tmp_path: Path) -> None:
    recorded(tmp_path)
    (tmp_path / "eye_state.dtype").write_text(
        '[\n("pupil_diameter_left_mm", "float32"),\n("pupil_diameter_right_mm", "float32"),\n]\n'
    )
    stream(tmp_path, "eye_state ps1", np.array([(3, 4), (0, 5)], dtype="<f4"), times(2))
    (tmp_path / "fixations.dtype").write_text(
        '[("event_type", "int32"), ("start_timestamp_ns", "int64"), ("end_timestamp_ns", "int64"),'
        ' ("mean_gaze_x", "float32"), ("mean_gaze_y", "float32")]'
    )
    kind = np.dtype([("k", "<i4"), ("a", "<i8"), ("b", "<i8"), ("x", "<f4"), ("y", "<f4")])
    rows = [(1, START, START + STEP, 2.0, 4.0), (0, START + STEP, START + 2 * STEP, 0, 0), (9, START, START, 0, 0)]
    stream(tmp_path, "fixations ps1", np.array(rows, dtype=kind), times(3))
    (tmp_path / "event.txt").write_text("recording.begin\n")
    times(1).tofile(tmp_path / "event.time")
    reading = read(tmp_path)
    [recording] = reading.recordings
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, 5, np.nan])
    assert sorted(recording.events["kind"].to_list()) == ["fixation", "message", "saccade"]
    assert recording.events.filter(kind="fixation")["x"].to_list() == [2.0]
    assert reading.report.remarks["events of a kind that is not known were left out"] == 1


@pytest.mark.parametrize(("name", "found"), [("gaze ps1.raw", "5 bytes more"), ("gaze ps1.time", "5 bytes more")])
def test_a_file_cut_within_a_record_is_refused_or_counted(tmp_path: Path, name: str, found: str) -> None:
    path = recorded(tmp_path) / name
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(FileFormatError, match=found) as caught:
        read(tmp_path)
    assert "copy it again" in caught.value.hint
    reading = read(tmp_path, skip_bad=True)
    np.testing.assert_array_equal(reading.recordings[0].x, [1.5, 2.5])
    assert reading.report.bad_lines == 2


def test_gaze_and_times_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    times(2).tofile(recorded(tmp_path) / "gaze ps1.time")
    with pytest.raises(FileFormatError, match="expected 2 records, as many as times, found 3"):
        read(tmp_path)


def test_what_is_not_said_to_be_worn_is_lost(tmp_path: Path) -> None:
    np.array([255], dtype="u1").tofile(recorded(tmp_path) / "worn ps1.raw")
    with pytest.raises(FileFormatError, match="as many as gaze"):
        read(tmp_path)
    np.testing.assert_array_equal(read(tmp_path, skip_bad=True).recordings[0].x, [1.5, np.nan, np.nan])


def test_records_of_another_kind_are_refused(tmp_path: Path) -> None:
    (recorded(tmp_path) / "gaze.dtype").write_text('[("x", "float64"), ("y", "float64")]')
    with pytest.raises(FileFormatError, match="x and y as float32"):
        read(tmp_path)
    for text in ("oops(", '[("x", "no type")]', "7"):
        (tmp_path / "gaze.dtype").write_text(text)
        with pytest.raises(FileFormatError, match="a list of fields"):
            read(tmp_path)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (recorded(tmp_path) / "gaze ps1.time").unlink()
    with pytest.raises(GazeveilError, match=r"gaze ps1\.time"):
        read(tmp_path)
    (tmp_path / "gaze ps1.raw").unlink()
    with pytest.raises(FileFormatError, match=r"'gaze ps1\.raw' and its times"):
        read(tmp_path, format="pupil-native")


def test_empty_files_are_refused(tmp_path: Path) -> None:
    stream(recorded(tmp_path), "gaze ps1", points(), times(0))
    with pytest.raises(FileFormatError, match="expected gaze samples, found empty files"):
        read(tmp_path)
