# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of Tobii's Pro SDK: pairs in brackets, validity the other way round, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import Unit

HEADER = (
    "right_pupil_validity;right_gaze_point_on_display_area;system_time_stamp;left_pupil_validity;right_pupil_diameter;"
    "left_pupil_diameter;left_gaze_point_validity;right_gaze_point_validity;left_gaze_point_on_display_area;"
    "device_time_stamp\n"
)
ROWS = (
    "1;(0.5, 0.25);1.56e+15;1;3.0;4.0;1;1;(0.25, 0.75);1000\n"
    "0;(nan, nan);1.56e+15;1;nan;4.0;1;0;(0.25, 7.5e-1);12000\n"
    "0;(0.5, 0.25);1.56e+15;0;3.0;4.0;0;0;(nan, nan);23000\n"
)


def put(folder: Path, text: str) -> Path:
    path = folder / "sdk.csv"
    path.write_text(text)
    return path


def test_pairs_become_the_gaze_of_each_eye(tmp_path: Path) -> None:
    path = put(tmp_path, HEADER + ROWS)
    assert find_format(path) == "tobii-sdk"
    [recording] = read(path).recordings
    assert recording.geometry.unit is Unit.FRACTION
    np.testing.assert_array_equal(recording.t, [0.001, 0.012, 0.023])
    # of the third sample a number is given, but the SDK says that it is not valid
    np.testing.assert_array_equal(recording.x, [0.375, 0.25, np.nan])
    np.testing.assert_array_equal(recording.y, [0.5, 0.75, np.nan])
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, 4.0, np.nan])


def test_commas_between_columns_need_quotes_around_pairs(tmp_path: Path) -> None:
    header = "device_time_stamp,left_gaze_point_on_display_area\n"
    [recording] = read(put(tmp_path, header + '0,"(0.5, 0.25)"\n8333,"[0.25, 1]"\n')).recordings
    np.testing.assert_array_equal(recording.x, [0.5, 0.25])
    with pytest.raises(FileFormatError, match="expected 2 columns, found 3"):
        read(put(tmp_path, header + "0,(0.5, 0.25)\n8333,(0.25, 1)\n"), delimiter=",")


def test_one_eye_can_make_the_gaze(tmp_path: Path) -> None:
    np.testing.assert_array_equal(
        read(put(tmp_path, HEADER + ROWS), eye="right").recordings[0].x, [0.5, np.nan, np.nan]
    )
    with pytest.raises(FileFormatError, match="'right_gaze_point_on_display_area'"):
        read(put(tmp_path, (HEADER + ROWS).replace("right_gaze_point_on", "other_on")), eye="right")


@pytest.mark.parametrize(
    "token", ["(0.5)", "(0.5, 0.25, 1)", "(0.5; 0.25)", "0.5", "(a, b)", "(1e999, 0.25)", "(, 0.25)"]
)
def test_what_is_no_pair_is_a_bad_line(tmp_path: Path, token: str) -> None:
    path = put(tmp_path, HEADER + ROWS.replace("(0.25, 7.5e-1)", token.replace(";", " ")))
    with pytest.raises(FileFormatError, match=r"line 3, column left_gaze.*expected a pair"):
        read(path)
    reading = read(path, skip_bad=True)
    assert (len(reading.recordings[0]), reading.report.bad_lines) == (2, 1)


def test_a_validity_that_is_none_is_a_bad_line(tmp_path: Path) -> None:
    path = put(tmp_path, HEADER + ROWS.replace("1;1;(0.25, 0.75)", "4;1;(0.25, 0.75)"))
    with pytest.raises(FileFormatError, match="line 2, column left_gaze_point_validity: expected 1"):
        read(path)


def test_times_that_are_not_in_microseconds_are_not_guessed_at(tmp_path: Path) -> None:
    text = HEADER + ROWS.replace("12000", "12").replace("23000", "23").replace(";1000\n", ";1\n")
    with pytest.raises(FileFormatError, match="in microseconds, found a step of 11"):
        read(put(tmp_path, text))
    np.testing.assert_array_equal(read(put(tmp_path, text), time_unit="ms").recordings[0].t, [0.001, 0.012, 0.023])


def test_a_file_that_was_cut_names_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="line 4: expected 10 columns"):
        read(put(tmp_path, (HEADER + ROWS)[:-30]))


def test_columns_may_come_in_any_order(tmp_path: Path) -> None:
    lines = [";".join(reversed(line.split(";"))) for line in (HEADER + ROWS).splitlines()]
    found = read(put(tmp_path, "\n".join(lines))).recordings[0]
    np.testing.assert_array_equal(found.x, [0.375, 0.25, np.nan])


def test_points_without_time_are_refused(tmp_path: Path) -> None:
    text = (HEADER + ROWS).replace("system_time", "a_time").replace("device_time", "b_time")
    with pytest.raises(FileFormatError, match="a column 'device_time_stamp'"):
        read(put(tmp_path, text), format="tobii-sdk")


@pytest.mark.parametrize("seed", range(10))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray((HEADER + ROWS * 5).encode())
    for _ in range(int(random.integers(1, 9))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'\n;(),"\xff 0-.eE')))
    path = tmp_path / "sdk.csv"
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="tobii-sdk", skip_bad=skip_bad)
        except GazeveilError:
            continue
