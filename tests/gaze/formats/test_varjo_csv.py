# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze logs of Varjo Base and of its logger for Unity: angles, statuses, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import Unit

BASE = (
    "raw_timestamp,relative_to_video_first_frame_timestamp,focus_distance,status,gaze_forward_x,gaze_forward_y,"
    "gaze_forward_z,left_forward_x,left_forward_y,left_forward_z,left_pupil_size,left_status,right_forward_x,"
    "right_forward_y,right_forward_z,right_pupil_size,right_status\n"
    "1000000000000000000,0,2,2,0.5,0.5,1,1,0,1,0.2,3,0,0,1,0.3,2\n"
    "1000000000010000000,10000000,2,1,0.5,0.5,1,1,0,1,0.2,1,0,0,1,0.3,3\n"
    "1000000000020000000,-nan(ind),2,0,-nan(ind),-nan(ind),-nan(ind),0,0,0,0,0,0,0,0,0,0\n"
)
UNITY = (
    "Frame;CaptureTime;LogTime;HMDPosition;HMDRotation;GazeStatus;CombinedGazeForward;CombinedGazePosition;"
    "LeftEyeStatus;LeftEyeForward;LeftPupilDiameterInMM;RightEyeStatus;RightEyeForward;RightPupilDiameterInMM\n"
    "1;1000000000000000000;5;(0, 1, 2);(0, 1, 2);VALID;(-0.500, 0.250, 1.000);(0, 0, 0);VALID;(0.000, 0.000, 1.000);"
    "3.5;INVALID;;\n"
    "2;1000000000005000000;6;(0, 1, 2);(0, 1, 2);INVALID;;;INVALID;;;INVALID;;\n"
)


def put(folder: Path, text: str, name: str = "varjo_gaze_output.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_directions_become_angles_to_the_right_and_down(tmp_path: Path) -> None:
    path = put(tmp_path, BASE)
    assert find_format(path) == "varjo-csv"
    [recording] = read(path).recordings
    assert recording.geometry.unit is Unit.DEGREE
    half, down = math.degrees(math.atan(0.5)), math.degrees(math.atan(0.5 / math.hypot(0.5, 1)))
    np.testing.assert_allclose(recording.t - recording.t[0], [0, 0.01, 0.02], atol=1e-6)
    # up in the file is minus with us; while the headset is adjusted (1), gaze is not valid
    np.testing.assert_allclose([recording.x[0], recording.y[0]], [half, -down], rtol=1e-14)
    assert recording.tracked.tolist() == [True, False, False]
    left = read(path, eye="left").recordings[0]
    np.testing.assert_allclose(left.x[0], 45.0)
    # an eye that is only visible is not tracked; one of lower quality is
    assert left.tracked.tolist() == [True, False, False]
    assert read(path, eye="right").recordings[0].tracked.tolist() == [True, True, False]
    assert recording.pupil is not None
    assert recording.pupil_unit == ""
    np.testing.assert_allclose(recording.pupil, [0.25, 0.25, np.nan])


def test_the_logger_for_unity_has_triples_and_words(tmp_path: Path) -> None:
    path = put(tmp_path, UNITY, "log.csv")
    assert find_format(path) == "varjo-csv"
    [recording] = read(path).recordings
    np.testing.assert_allclose(recording.x[0], -math.degrees(math.atan(0.5)))
    np.testing.assert_allclose(recording.y[0], -math.degrees(math.atan(0.25 / math.hypot(0.5, 1))))
    assert recording.tracked.tolist() == [True, False]
    assert recording.pupil_unit == "mm"
    assert recording.left is not None
    assert recording.left.x[0] == 0


def test_triples_in_three_columns_are_the_same(tmp_path: Path) -> None:
    header = "CaptureTime,GazeStatus,CombinedGazeForwardX,CombinedGazeForwardY,CombinedGazeForwardZ\n"
    [recording] = read(put(tmp_path, header + "0,VALID,0,-1,1\n5000000,INVALID,0,0,1\n")).recordings
    np.testing.assert_allclose([recording.x[0], recording.y[0]], [0, 45])


def test_a_direction_that_does_not_lead_ahead_is_no_gaze(tmp_path: Path) -> None:
    header = "CaptureTime;GazeStatus;CombinedGazeForward\n"
    text = (
        header
        + "0;VALID;(0.1, 0.1, 1)\n5000000;VALID;(0, 0, 0)\n10000000;VALID;(0, 0, -1)\n15000000;VALID;(NaN, 0, 1)\n"
    )
    assert read(put(tmp_path, text)).recordings[0].tracked.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    "token", ["(0.1, 0.2)", "(0.1, 0.2, 0.3, 0.4)", "0.1, 0.2, 0.3", "(a, b, c)", "(1e999, 0, 1)", "()"]
)
def test_what_is_no_triple_is_a_bad_line(tmp_path: Path, token: str) -> None:
    text = UNITY.replace("(-0.500, 0.250, 1.000)", token)
    with pytest.raises(FileFormatError, match=r"line 2, column CombinedGazeForward: expected three numbers"):
        read(put(tmp_path, text))
    reading = read(put(tmp_path, text), skip_bad=True)
    assert (len(reading.recordings[0]), reading.report.bad_lines) == (1, 1)


def test_a_status_that_is_none_is_a_bad_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="line 2, column GazeStatus: expected a status"):
        read(put(tmp_path, UNITY.replace(";VALID;(-0.5", ";MAYBE;(-0.5")))


@pytest.mark.parametrize("missing", ["raw_timestamp", "status", "gaze_forward_z"])
def test_without_time_status_or_direction_a_log_is_refused(tmp_path: Path, missing: str) -> None:
    with pytest.raises(FileFormatError, match="expected a column"):
        read(put(tmp_path, BASE.replace(missing, "other", 1)), format="varjo-csv")


def test_an_eye_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="'left_forward_x'"):
        read(put(tmp_path, BASE.replace("left_forward", "other")), eye="left")


def test_times_that_a_table_program_rounded_are_refused(tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in BASE.splitlines()).replace("1000000000010000000", "1E+18")
    text = text.replace("1000000000020000000", "1E+18").replace("1000000000000000000", "1E+18")
    with pytest.raises(FileFormatError, match="in nanoseconds"):
        read(put(tmp_path, text))


@pytest.mark.parametrize("seed", range(10))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray((UNITY + UNITY.split("\n", 1)[1] * 4).encode())
    for _ in range(int(random.integers(1, 9))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'\n;(),"\xff 0-.eE')))
    path = tmp_path / "log.csv"
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="varjo-csv", skip_bad=skip_bad)
        except GazeveilError:
            continue
