# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Core exports: confidence, the flipped y, pupils and events in the files beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.formats.base import FORMATS
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import normalised, screen

GAZE = "gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data,gaze_point_3d_x\n"
PUPIL = "pupil_timestamp,world_index,eye_id,confidence,norm_pos_x,norm_pos_y,diameter,method,diameter_3d\n"


def export(folder: Path, gaze: str, **beside: str) -> Path:
    place = folder / "2026_01_02" / "004" / "exports" / "000"
    place.mkdir(parents=True, exist_ok=True)
    (place / "gaze_positions.csv").write_text(GAZE + gaze)
    for name, text in beside.items():
        (place / f"{name}.csv").write_text(text)
    return place


def test_an_export_is_read(tmp_path: Path) -> None:
    gaze = "10.5,0,0.95,0.25,0.75,10.49-0 10.51-1,\n10.508,0,0.5,0.3,0.7,,\n10.516,1,0.6,,,,\n"
    reading = read(export(tmp_path, gaze) / "gaze_positions.csv")
    [recording] = reading.recordings
    assert reading.format == "pupil-core"
    np.testing.assert_array_equal(recording.t, [10.5, 10.508, 10.516])
    np.testing.assert_array_equal(recording.x, [0.25, np.nan, np.nan])
    np.testing.assert_array_equal(recording.y, [0.25, np.nan, np.nan])
    assert recording.geometry == normalised()
    assert recording.pupil is None


def test_the_folder_is_the_export_and_names_the_observer(tmp_path: Path) -> None:
    folder = export(tmp_path, "10.5,0,0.95,0.25,0.75,,\n")
    assert find_format(folder) == "pupil-core"
    reading = read(folder)
    assert reading.recordings[0].observer == "2026_01_02/004"
    assert "does not say who looked" in next(iter(reading.report.remarks))
    named = read(folder, observer="anna")
    assert named.recordings[0].observer == "anna"
    assert not named.report.remarks


def test_pupils_beside_are_those_nearest_in_time(tmp_path: Path) -> None:
    gaze = "10.0,0,1,0.5,0.5,,\n10.1,0,1,0.5,0.5,,\n10.2,0,1,0.5,0.5,,\n10.3,0,1,0.5,0.5,,\n"
    pupils = PUPIL + (
        "9.996,0,0,1,0,0,40,2d c++,\n"
        "9.997,0,0,1,0,0,40,pye3d,3.0\n"
        "10.001,0,1,1,0,0,44,pye3d,4.0\n"
        "10.095,0,0,1,0,0,40,pye3d,3.2\n"
        "10.102,0,1,0.3,0,0,44,pye3d,9.0\n"
        "10.25,0,0,1,0,0,40,pye3d,3.4\n"
    )
    [recording] = read(export(tmp_path, gaze, pupil_positions=pupils)).recordings
    assert recording.pupil_unit == "mm"
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, 3.2, np.nan, np.nan])


def test_a_pupil_that_was_lost_at_the_samples_own_time_is_lost(tmp_path: Path) -> None:
    gaze = "10.0,0,1,0.5,0.5,,\n10.005,0,1,0.5,0.5,,\n10.01,0,1,0.5,0.5,,\n10.012,0,1,0.5,0.5,,\n"
    pupils = PUPIL + (
        "10.0,0,0,1,0,0,40,pye3d,3.0\n"
        "10.005,0,0,0.1,0,0,40,pye3d,9.0\n"  # not confident
        "10.01,0,0,1,0,0,40,2d c++,\n"  # a second method at the same time gave the size
        "10.01,0,0,1,0,0,40,pye3d,4.0\n"
    )
    [recording] = read(export(tmp_path, gaze, pupil_positions=pupils)).recordings
    np.testing.assert_array_equal(recording.pupil, [3.0, np.nan, 4.0, 4.0])


@pytest.mark.parametrize("chunk_rows", [1, 250_000])
def test_pupils_of_both_eyes_are_found_however_the_file_is_sorted(tmp_path: Path, chunk_rows: int) -> None:
    count = 400
    gaze = "".join(f"{10 + 0.008 * i:.3f},0,1,0.5,0.5,,\n" for i in range(count))
    pupils = PUPIL + "".join(
        f"{10 + 0.008 * i:.3f},0,{eye},1,0,0,40,pye3d,{3 + eye}\n" for eye in (0, 1) for i in range(count)
    )
    [recording] = read(export(tmp_path, gaze, pupil_positions=pupils), chunk_rows=chunk_rows).recordings
    np.testing.assert_array_equal(recording.pupil, np.full(count, 3.5))


def test_the_unit_of_pupils_does_not_depend_on_where_the_first_is(tmp_path: Path) -> None:
    gaze = "".join(f"{10 + 0.008 * i:.3f},0,1,0.5,0.5,,\n" for i in range(400))
    pupils = PUPIL + "".join(
        f"{10 + 0.008 * i:.3f},0,0,{int(i > 300)},0,0,,,{3 if i > 300 else ''}\n" for i in range(400)
    )
    [recording] = read(export(tmp_path, gaze, pupil_positions=pupils), chunk_rows=1).recordings
    assert recording.pupil_unit == "mm"
    assert np.isfinite(recording.pupil).sum() == 99  # type: ignore[arg-type]


def test_pupils_without_an_eye_model_are_in_pixels(tmp_path: Path) -> None:
    pupils = PUPIL + "10.0,0,0,1,0,0,40,2d c++,\n"
    [recording] = read(export(tmp_path, "10.0,0,1,0.5,0.5,,\n", pupil_positions=pupils)).recordings
    assert recording.pupil_unit == "px"
    assert recording.pupil is not None
    assert recording.pupil[0] == 40.0


def test_pupils_are_the_same_whatever_the_chunk(tmp_path: Path) -> None:
    gaze = "".join(f"{10 + 0.008 * i:.3f},0,1,0.5,0.5,,\n" for i in range(1500))
    pupils = PUPIL + "".join(f"{10 + 0.004 * i:.3f},0,{i % 2},1,0,0,40,pye3d,{3 + (i % 7) / 10}\n" for i in range(3200))
    folder = export(tmp_path, gaze, pupil_positions=pupils)
    [whole] = read(folder).recordings
    [pieces] = read(folder, chunk_rows=40).recordings
    assert whole.pupil is not None
    assert np.isfinite(whole.pupil).all()
    assert whole.equals(pieces)


def test_events_beside_come_along(tmp_path: Path) -> None:
    folder = export(
        tmp_path,
        "10.0,0,1,0.5,0.5,,\n10.1,0,1,0.5,0.5,,\n",
        fixations=(
            "id,start_timestamp,duration,start_frame_index,end_frame_index,norm_pos_x,norm_pos_y,dispersion\n"
            "1,10.02,50.0,0,1,0.25,0.75,1.0\n"
        ),
        blinks="id,start_timestamp,duration,end_timestamp,confidence\n1,10.07,0.02,10.09,0.9\n",
        annotations="index,timestamp,label,duration\n0,10.01,go,0.0\n",
    )
    [recording] = read(folder, chunk_rows=1).recordings
    assert recording.events.select("kind", "onset", "x", "y", "text").rows() == [
        ("message", 10.01, None, None, "go"),
        ("fixation", 10.02, 0.25, 0.25, None),
        ("blink", 10.07, None, None, None),
    ]
    np.testing.assert_allclose(recording.events["offset"].to_numpy(), [10.01, 10.07, 10.09])


def test_an_export_without_blinks_has_a_header_only_and_is_fine(tmp_path: Path) -> None:
    folder = export(tmp_path, "10.0,0,1,0.5,0.5,,\n", blinks="id,start_timestamp,duration\n")
    assert read(folder).recordings[0].events.height == 0


def test_a_bad_line_beside_is_told_with_its_file(tmp_path: Path) -> None:
    fixations = "id,start_timestamp,duration,norm_pos_x,norm_pos_y\n1,x,50,0,0\n"
    folder = export(tmp_path, "10.0,0,1,0.5,0.5,,\n", fixations=fixations)
    with pytest.raises(FileFormatError, match=r"fixations\.csv, line 2, column start_timestamp"):
        read(folder)
    reading = read(folder, skip_bad=True)
    assert reading.report.bad_lines == 1


def test_sizes_from_the_user_make_it_convertible(tmp_path: Path) -> None:
    [recording] = read(export(tmp_path, "10.0,0,1,0.5,0.5,,\n"), geometry=screen(1280, 720)).recordings
    assert recording.geometry == normalised(1280, 720)


def test_there_is_no_gaze_of_one_eye(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="both eyes together"):
        read(export(tmp_path, "10.0,0,1,0.5,0.5,,\n"), eye="left")


def test_pupil_positions_are_not_gaze() -> None:
    assert not FORMATS["pupil-core"].sniff(Path("pupil_positions.csv"), PUPIL.encode())
