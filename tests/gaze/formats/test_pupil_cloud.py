# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Cloud downloads: scene cameras, wearers, pupils and events in the files beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Unit, screen

HEADER = (
    "section id,recording id,timestamp [ns],gaze x [px],gaze y [px],worn,"
    "fixation id,blink id,azimuth [deg],elevation [deg]\n"
)
START = 1_700_000_000_000_000_000
NEON = {"module_serial_number": "123456", "recording_id": "rec1", "wearer_id": "wearer-9", "wearer_name": "Anna"}


def row(milliseconds: int, x: object = 800, y: object = 600, worn: object = 1.0, recording: str = "rec1") -> str:
    return f"s,{recording},{START + milliseconds * 1_000_000},{x},{y},{worn},,,0,0\n"


def download(folder: Path, rows: list[str], about: dict[str, Any] | None = None, **beside: str) -> Path:
    place = folder / "2026-01-02_study-1a2b"
    place.mkdir(parents=True, exist_ok=True)
    (place / "gaze.csv").write_text(HEADER + "".join(rows))
    if about is not None:
        (place / "info.json").write_text(json.dumps(about))
    for name, text in beside.items():
        (place / f"{name}.csv").write_text(text)
    return place


def test_a_download_is_read(tmp_path: Path) -> None:
    rows = [row(0), row(5, worn=0.0), row(10, x="", y="")]
    reading = read(download(tmp_path, rows, NEON) / "gaze.csv")
    [recording] = reading.recordings
    assert reading.format == "pupil-cloud"
    assert recording.key == Key("wearer-9", "", "rec1", "1")
    np.testing.assert_allclose(recording.t - recording.t[0], [0.0, 0.005, 0.010], atol=1e-6)
    assert recording.t[0] == START / 1e9
    np.testing.assert_array_equal(recording.x, [800.0, np.nan, np.nan])
    assert recording.geometry == screen(1600, 1200)
    assert "Anna" not in str(recording.key)


@pytest.mark.parametrize(
    ("about", "size"),
    [
        ({"module_serial_number": "1"}, (1600, 1200)),
        ({"glasses_serial_number": "1", "scene_camera_serial_number": "2"}, (1088, 1080)),
    ],
)
def test_the_device_tells_the_scene_camera(tmp_path: Path, about: dict[str, Any], size: tuple[int, int]) -> None:
    assert read(download(tmp_path, [row(0)], about)).recordings[0].geometry == screen(*size)


def test_what_the_description_says_of_the_device_comes_before_what_lies_beside(tmp_path: Path) -> None:
    states = {"3d_eye_states": f"timestamp [ns],pupil diameter left [mm],pupil diameter right [mm]\n{START},3,3\n"}
    invisible = {"glasses_serial_number": "1", "scene_camera_serial_number": "2"}
    stated = {"scene_camera_resolution": [1920, 1080]}
    for about, size in ((None, (1600, 1200)), (invisible, (1088, 1080)), (stated, (1920, 1080))):
        assert read(download(tmp_path, [row(0)], about, **states)).recordings[0].geometry == screen(*size)
    with pytest.raises(FileFormatError, match="two numbers of pixels"):
        read(download(tmp_path, [row(0)], {"scene_camera_resolution": [1920]}))


def test_an_unknown_scene_camera_is_asked_for(tmp_path: Path) -> None:
    folder = download(tmp_path, [row(0)])
    with pytest.raises(FileFormatError, match="to know the scene camera") as caught:
        read(folder)
    assert "--screen 1600x1200 (Neon)" in caught.value.hint
    assert read(folder, geometry=screen(1088, 1080)).recordings[0].geometry == screen(1088, 1080)


def test_the_folder_is_the_download(tmp_path: Path) -> None:
    folder = download(tmp_path, [row(0)], NEON)
    assert find_format(folder) == "pupil-cloud"
    assert len(read(folder).recordings) == 1


def test_several_recordings_in_one_file_stay_apart(tmp_path: Path) -> None:
    rows = [row(0), row(5), row(0, recording="rec2"), row(5, recording="rec2")]
    reading = read(download(tmp_path, rows), geometry=screen(1600, 1200))
    assert [recording.key[::2] for recording in reading.recordings] == [("rec1", "rec1"), ("rec2", "rec2")]
    assert len(reading.report.remarks) == 2
    with pytest.raises(FileFormatError, match="rows of each recording together"):
        read(download(tmp_path, [*rows, row(10)]), geometry=screen(1600, 1200))


def test_a_wearer_is_not_given_recordings_of_others(tmp_path: Path) -> None:
    rows = [row(0), row(0, recording="rec2")]
    recordings = read(download(tmp_path, rows, NEON)).recordings
    assert [recording.observer for recording in recordings] == ["wearer-9", "rec2"]


def test_pupils_beside_come_with_the_gaze_of_their_recording(tmp_path: Path) -> None:
    states = "section id,recording id,timestamp [ns],pupil diameter left [mm],pupil diameter right [mm],other\n"
    states += f"s,rec1,{START},3.0,4.0,0\ns,rec2,{START + 5_000_000},9,9,0\ns,rec1,{START + 10_000_000},,5.0,0\n"
    folder = download(tmp_path, [row(0), row(5), row(10)], NEON, **{"3d_eye_states": states})
    [recording] = read(folder).recordings
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, np.nan, 5.0])
    assert recording.pupil_unit == "mm"


@pytest.mark.parametrize("later_ms", [0, -60_000, 60_000])
def test_pupils_of_a_recording_do_not_depend_on_when_others_were_made(tmp_path: Path, later_ms: int) -> None:
    count = 400
    times = {"rec1": [5 * i for i in range(count)], "rec2": [later_ms + 5 * i for i in range(count)]}
    rows = [row(time, recording=name) for name in times for time in times[name]]
    states = "recording id,timestamp [ns],pupil diameter left [mm],pupil diameter right [mm]\n"
    for name in ("rec1", "rec2"):
        states += "".join(f"{name},{START + time * 1_000_000},{3 + time % 7},4\n" for time in times[name])
    folder = download(tmp_path, rows, None, **{"3d_eye_states": states})
    for chunk_rows in (1, 250_000):  # read in pieces of 4 KB, and all at once
        for recording in read(folder, chunk_rows=chunk_rows).recordings:
            expected = [(3 + time % 7 + 4) / 2 for time in times[recording.session]]
            np.testing.assert_array_equal(recording.pupil, expected)


def test_pupils_are_the_same_whatever_the_chunk(tmp_path: Path) -> None:
    states = "recording id,timestamp [ns],pupil diameter left [mm],pupil diameter right [mm]\n"
    states += "".join(f"rec1,{START + i * 5_000_000},{3 + i % 5},{4 + i % 3}\n" for i in range(1500))
    folder = download(tmp_path, [row(5 * i) for i in range(1500)], NEON, **{"3d_eye_states": states})
    [whole] = read(folder).recordings
    [pieces] = read(folder, chunk_rows=50).recordings
    assert whole.pupil is not None
    assert np.isfinite(whole.pupil).all()
    assert whole.equals(pieces)


def test_events_beside_come_along(tmp_path: Path) -> None:
    def times(start: int, stop: int) -> str:
        return f"{START + start * 1_000_000},{START + stop * 1_000_000},{stop - start}"

    start_stop = "start timestamp [ns],end timestamp [ns],duration [ms]"
    folder = download(
        tmp_path,
        [row(0), row(5)],
        NEON,
        fixations=f"section id,recording id,fixation id,{start_stop},fixation x [px],fixation y [px]\n"
        f"s,rec1,1,{times(1, 3)},700,500\ns,other,1,{times(1, 3)},1,1\n",
        saccades=f"section id,recording id,saccade id,{start_stop},amplitude [px],amplitude [deg],peak [px/s]\n"
        f"s,rec1,1,{times(3, 4)},50,2.5,900\n",
        blinks=f"section id,recording id,blink id,{start_stop}\ns,rec1,1,{times(4, 5)}\n",
        events=f"recording id,timestamp [ns],name,type\nrec1,{START},recording.begin,recording\n",
    )
    [recording] = read(folder).recordings
    assert recording.events.select("kind", "x", "amplitude", "text").rows() == [
        ("message", None, None, "recording.begin"),
        ("fixation", 700.0, None, None),
        ("saccade", None, 2.5, None),
        ("blink", None, None, None),
    ]
    assert recording.events["peak_velocity"].null_count() == 4


def test_a_broken_description_is_told(tmp_path: Path) -> None:
    folder = download(tmp_path, [row(0)])
    (folder / "info.json").write_text("{")
    with pytest.raises(FileFormatError, match=r"info\.json: expected the recording's description as JSON"):
        read(folder)


def test_there_is_no_gaze_of_one_eye(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="both eyes together"):
        read(download(tmp_path, [row(0)], NEON), eye="right")


SURFACE = (
    "section id,recording id,timestamp [ns],gaze detected on surface,gaze position on surface x [normalized],"
    "gaze position on surface y [normalized],fixation id\n"
    "s,r1,1000000000,true,0.25,0.75,\n"
    "s,r1,1005000000,false,1.5,-0.25,1\n"
    "s,r1,1010000000,false,,,\n"
    "t,r2,2000000000,true,0.5,0.5,\n"
)


def test_the_marker_mappers_gaze_is_in_fractions_of_the_surface(tmp_path: Path) -> None:
    (tmp_path / "gaze.csv").write_text(SURFACE)
    (tmp_path / "sections.csv").write_text("section id,recording id,wearer id\ns,r1,w1\nt,r2,w2\n")
    (tmp_path / "fixations.csv").write_text(
        "section id,recording id,fixation id,start timestamp [ns],end timestamp [ns],fixation x [normalized],"
        "fixation y [normalized]\ns,r1,1,1000000000,1005000000,0.5,0.25\n"
    )
    reading = read(tmp_path)
    first, second = reading.recordings
    assert reading.format == "pupil-cloud"
    assert (first.observer, second.observer) == ("w1", "w2")
    assert first.geometry.unit is Unit.FRACTION
    np.testing.assert_array_equal(first.t, [1.0, 1.005, 1.01])
    np.testing.assert_array_equal(first.x, [0.25, 1.5, np.nan])
    np.testing.assert_array_equal(first.y, [0.75, -0.25, np.nan])
    assert first.events["x"].to_list() == [0.5]


def test_the_marker_mappers_gaze_needs_both_axes(tmp_path: Path) -> None:
    (tmp_path / "gaze.csv").write_text(SURFACE.replace("surface y", "surface z"))
    with pytest.raises(FileFormatError, match="a column"):
        read(tmp_path / "gaze.csv", format="pupil-cloud")
