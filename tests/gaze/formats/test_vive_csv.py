# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze logs of the Vive Pro Eye: which way x grows, SRanipal's bits, and what is refused because nobody knows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, GazeveilError
from gazeveil.gaze.reading import find_format, read

NAMES = ["time(100ns)", "time_stamp(ms)", "frame", "eye_valid_L", "eye_valid_R", "pupil_diameter_L(mm)"]
NAMES += ["pupil_diameter_R(mm)"] + [f"gaze_origin_{eye}.{axis}(mm)" for eye in "LR" for axis in "xyz"]
NAMES += [f"gaze_direct_{eye}.{axis}" for eye in "LR" for axis in "xyz"]
TICKS = 638342794000000000


def sranipal(*rows: tuple[object, ...], names: list[str] = NAMES) -> str:
    return "\n".join(";".join(map(str, row)) for row in (names, *rows)) + "\n"


def row(
    step: int, masks: tuple[int, int] = (31, 31), left_eye: float = 32, directions: str = "1 0 1 0 -1 1"
) -> tuple[object, ...]:
    eyes = (left_eye, 1, -30, -left_eye, 1, -30)
    return (TICKS + 83333 * step, 8 * step, step, *masks, 3.5, 4.5, *eyes, *directions.split())


def put(folder: Path, text: str, name: str = "eyes.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_x_of_sranipal_grows_to_the_left(tmp_path: Path) -> None:
    path = put(tmp_path, sranipal(row(0), row(1)))
    assert find_format(path) == "vive-csv"
    reading = read(path)
    [recording] = reading.recordings
    np.testing.assert_allclose(recording.t - recording.t[0], [0, 0.0083333], atol=2e-5)
    # the left eye looks 45 degrees to its left, the right eye 45 degrees down
    assert recording.left is not None
    assert recording.right is not None
    np.testing.assert_allclose([recording.left.x[0], recording.left.y[0]], [-45, 0])
    np.testing.assert_allclose([recording.right.x[0], recording.right.y[0]], [0, 45])
    np.testing.assert_allclose([recording.x[0], recording.y[0]], [-22.5, 22.5])
    assert recording.pupil_unit == "mm"
    assert dict(reading.report.remarks) == {}


def test_a_program_that_turned_x_is_known_by_the_eyes(tmp_path: Path) -> None:
    [recording] = read(put(tmp_path, sranipal(row(0, left_eye=-32), row(1, left_eye=-32)))).recordings
    np.testing.assert_allclose(recording.x[0], 22.5)


def test_bits_say_what_is_valid(tmp_path: Path) -> None:
    # 25 is all but direction and pupil; 27 is all but the pupil
    path = put(tmp_path, sranipal(row(0), row(1, (25, 27)), row(2, (0, 8)), row(3, (29, 31))))
    [recording] = read(path).recordings
    np.testing.assert_allclose(recording.x, [-22.5, 0, np.nan, 0], atol=1e-12)
    assert recording.pupil is not None
    np.testing.assert_allclose(recording.pupil, [4.0, np.nan, np.nan, 4.0])
    with pytest.raises(FileFormatError, match="line 2, column eye_valid_L: expected SRanipal's bits"):
        read(put(tmp_path, sranipal(row(0, (32, 31)), row(1))))


def test_a_frame_that_changes_within_the_file_is_a_bad_line(tmp_path: Path) -> None:
    path = put(tmp_path, sranipal(row(0), row(1, left_eye=-32), row(2)))
    with pytest.raises(
        FileFormatError, match=r"line 3, column gaze_origin_L.x\(mm\): expected the left eye on the same"
    ):
        read(path)
    assert len(read(path, skip_bad=True).recordings[0]) == 2


def test_gaze_from_before_the_eyes_are_known_is_left_out_and_told(tmp_path: Path) -> None:
    path = put(tmp_path, sranipal(row(0, left_eye=0), row(1), row(2)))
    for rows in (250_000, 1):
        reading = read(path, chunk_rows=rows)
        assert reading.recordings[0].tracked.tolist() == [False, True, True]
        assert list(reading.report.remarks.values()) == [1]
    with pytest.raises(FileFormatError, match="to know which way x grows"):
        read(put(tmp_path, sranipal(row(0, left_eye=0), row(1, left_eye=0))))


def test_without_the_eyes_positions_or_with_an_unclear_logger_a_file_is_refused(tmp_path: Path) -> None:
    names = [name.replace("gaze_origin", "other") for name in NAMES]
    path = put(tmp_path, sranipal(row(0), row(1), names=names))
    assert find_format(path) == "vive-csv"
    with pytest.raises(FileFormatError, match="the left eye's position") as caught:
        read(path)
    assert "grows to the left" in caught.value.hint
    with pytest.raises(FileFormatError, match="time_unity"):
        read(put(tmp_path, sranipal(row(0), row(1), names=["time_unity", *NAMES[1:]])))


def test_the_names_of_unreal_are_read_with_the_combined_direction(tmp_path: Path) -> None:
    parts = [("combined", "0 0 0", "1 0 1"), ("left", "32 0 0", "0 0 1"), ("right", "-32 0 0", "0 0 1")]
    header = ["rel_time"] + [
        f"{eye}.{what}.{axis}"
        for eye, _, _ in parts
        for what in ("gaze_origin_mm", "gaze_direction_normalized")
        for axis in "XYZ"
    ]
    lines = [",".join([str(t), *(f"{at} {to}".replace(" ", ",") for _, at, to in parts)]) for t in (0.0, 0.02)]
    path = put(tmp_path, "\n".join([",".join(header), *lines]) + "\n")
    assert find_format(path) == "vive-csv"
    [recording] = read(path).recordings
    np.testing.assert_allclose(recording.t, [0, 0.02])
    np.testing.assert_allclose(recording.x, [-45, -45])
    np.testing.assert_allclose(read(path, eye="left").recordings[0].x, [0, 0])


def test_tobiis_saver_for_unity_has_triples_words_and_x_to_the_right(tmp_path: Path) -> None:
    header = "DeviceTimeStamp,LeftGazeDirection,LeftGazeDirectionValid,LeftGazeOrigin,OriginalLeftPupilDiameter,"
    header += "OriginalLeftPupilDiameterValid,RightGazeDirection,RightGazeDirectionValid,RightGazeOrigin\n"
    good = '0,"(1, 0, 1)",True,"(-0.03, 0, 0)",3.0,Valid,"(NaN, NaN, NaN)",False,"(NaN, NaN, NaN)"\n'
    lost = '8333,"(NaN, NaN, NaN)",False,"(NaN, NaN, NaN)",3.0,Invalid,"(1, 0, 1)",False,"(0.03, 0, 0)"\n'
    path = put(tmp_path, header + good + lost)
    assert find_format(path) == "vive-csv"
    [recording] = read(path).recordings
    np.testing.assert_allclose(recording.t, [0, 0.008333])
    np.testing.assert_allclose(recording.x, [45, np.nan])
    assert recording.pupil is not None
    np.testing.assert_allclose(recording.pupil, [3.0, np.nan])
    with pytest.raises(FileFormatError, match="line 2, column LeftGazeDirectionValid: expected True or 1"):
        read(put(tmp_path, header + good.replace("True", "yes") + lost))
    with pytest.raises(FileFormatError, match="in microseconds"):
        read(put(tmp_path, header + good + lost.replace("8333", "8")))


def test_tobiis_own_tables_of_a_headset_have_their_own_names(tmp_path: Path) -> None:
    parts = ("gaze_direction_unit_vector", "gaze_direction_validity", "gaze_origin_position_in_hmd_coordinates")
    header = ",".join(["device_time_stamp", *(f"{eye}_{part}" for eye in ("left", "right") for part in parts)])
    eyes = '"(1.0, 0, 1.0)",1,"(35.2, 1, -35)","(1.0, 0, 1.0)",0,"(-33.5, 0, -34)"'
    path = put(tmp_path, f"{header}\n0,{eyes}\n8333,{eyes.replace(',1,', ',0,')}\n")
    assert find_format(path) == "vive-csv"
    np.testing.assert_allclose(read(path).recordings[0].x, [-45, np.nan])


def test_a_clock_of_milliseconds_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    text = sranipal(row(0)[1:], row(1)[1:], names=NAMES[1:])
    np.testing.assert_allclose(read(put(tmp_path, text)).recordings[0].t, [0, 0.008])


def test_times_that_a_table_program_rounded_are_refused(tmp_path: Path) -> None:
    text = sranipal(("6.38343E+17", *row(0)[1:]), ("6.38343E+17", *row(1)[1:]))
    with pytest.raises(FileFormatError, match=r"column time\(100ns\): expected steps of 10 to 2000 Hz"):
        read(put(tmp_path, text))


@pytest.mark.parametrize("seed", range(10))
def test_noise_never_ends_in_anything_but_our_errors(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(sranipal(*(row(step) for step in range(8))).encode())
    for _ in range(int(random.integers(1, 9))):
        data[int(random.integers(0, len(data)))] = int(random.choice(list(b'\n;(),"\xff 0-.eE')))
    path = tmp_path / "eyes.csv"
    path.write_bytes(data)
    for skip_bad in (False, True):
        try:
            read(path, format="vive-csv", skip_bad=skip_bad)
        except GazeveilError:
            continue
