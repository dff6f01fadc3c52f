# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Files of GazeBase and GazeBaseVR: who and what is in the name, and which samples are lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import Unit

SCREEN = "n,x,y,val,xT,yT,dP,lab\n0,-1.5,2.5,0,NaN,NaN,3198,0\n1,-1.25,2.25,1,NaN,NaN,3196,1\n2,NaN,NaN,2,NaN,NaN,0,1\n"
HEADSET = (
    "n,x,y,lx,ly,rx,ry,xT,yT,zT,clx,cly,clz,crx,cry,crz\n"
    "0.0,0.75,-4.5,3.5,-4.25,-2.0,-5.0,0,0,0.4,-0.03,0,0,0.03,0,0\n"
    "3.9699,NaN,NaN,NaN,NaN,-2.25,-5.5,0,0,0.4,-0.03,0,0,0.03,0,0\n"
)


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_who_and_what_is_in_the_name_and_lost_samples_are_marked(tmp_path: Path) -> None:
    path = put(tmp_path, "S_2007_S1_TEX.csv", SCREEN)
    assert find_format(path) == "gazebase"
    [recording] = read(path).recordings
    assert recording.key == ("007", "TEX", "round 2 session 1", "1")
    assert recording.geometry.unit is Unit.DEGREE
    np.testing.assert_array_equal(recording.t, [0.0, 0.001, 0.002])
    np.testing.assert_array_equal(recording.tracked, [True, False, False])
    assert (recording.x[0], recording.y[0]) == (-1.5, 2.5)
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3198, 3196, np.nan])


def test_the_headset_has_each_eye_too(tmp_path: Path) -> None:
    path = put(tmp_path, "S_1002_S2_4_RAN.csv", HEADSET)
    assert find_format(path) == "gazebase"
    [recording] = read(path).recordings
    assert recording.key == ("002", "RAN", "round 1 session 2", "1")
    np.testing.assert_array_equal(recording.t, [0.0, 0.0039699])
    np.testing.assert_array_equal(recording.tracked, [True, False])
    np.testing.assert_array_equal(read(path, eye="right").recordings[0].x, [-2.0, -2.25])


def test_y_is_turned_only_where_the_user_says_so_and_the_reading_tells(tmp_path: Path) -> None:
    path = put(tmp_path, "S_1002_S2_4_RAN.csv", HEADSET)
    assert any("--y-up" in remark for remark in read(path).report.remarks)
    turned = read(path, y_up=True)
    assert (turned.recordings[0].y[0], dict(turned.report.remarks)) == (4.5, {})
    np.testing.assert_array_equal(read(path, y_up=True, eye="left").recordings[0].y[:1], [4.25])


def test_another_name_leaves_who_looked_to_the_user(tmp_path: Path) -> None:
    [recording] = read(put(tmp_path, "example.csv", SCREEN), observer="ann", stimulus="text").recordings
    assert recording.key == ("ann", "text", "1", "1")


def test_one_eye_that_is_not_there_and_times_in_another_unit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the left eye's gaze"):
        read(put(tmp_path, "S_2007_S1_TEX.csv", SCREEN), eye="left")
    seconds = SCREEN.replace("\n1,", "\n0.001,").replace("\n2,", "\n0.002,")
    with pytest.raises(FileFormatError, match=r"in milliseconds, found a step of 0\.001"):
        read(put(tmp_path, "S_2007_S1_TEX.csv", seconds))
