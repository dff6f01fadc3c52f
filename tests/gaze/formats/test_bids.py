# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""BIDS eye tracking as others write it: eyes side by side, inheritance, events, what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.fileio.bids import validate
from gazeveil.gaze.formats.base import FORMATS
from gazeveil.gaze.reading import find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import screen

PHYSIO = {
    "PhysioType": "eyetrack",
    "SamplingFrequency": 1000,
    "SampleCoordinateSystem": "gaze-on-screen",
    "Columns": ["timestamp", "x_coordinate", "y_coordinate", "pupil_size"],
    "timestamp": {"Units": "ms"},
    "x_coordinate": {"Units": "pixel"},
    "y_coordinate": {"Units": "pixel"},
    "pupil_size": {"Units": "a.u.", "Description": "Pupil area."},
}
EVENTS = {
    "StimulusPresentation": {
        "ScreenDistance": 0.6,
        "ScreenOrigin": ["top", "left"],
        "ScreenResolution": [1024, 768],
        "ScreenSize": [0.386, 0.29],
    }
}
LOGGED = {"Columns": ["onset", "duration", "trial_type", "blink", "message"], "OnsetSource": "timestamp"}
STEM = "sub-01_ses-02_task-search_run-03"


def foreign(
    folder: Path,
    eyes: dict[str, str],
    logged: str | None = None,
    physio: dict[str, Any] | None = None,
    events: dict[str, Any] | None = None,
) -> Path:
    """Write a data set that leans on inheritance: most metadata in the root."""
    place = folder / "sub-01" / "ses-02" / "func"
    place.mkdir(parents=True)
    (folder / "dataset_description.json").write_text('{"Name": "n", "BIDSVersion": "1.11.0"}')
    (folder / "task-search_physio.json").write_text(json.dumps(PHYSIO if physio is None else physio))
    (folder / "task-search_events.json").write_text(json.dumps(EVENTS if events is None else events))
    (folder / "task-search_physioevents.json").write_text(json.dumps(LOGGED))
    for number, (eye, rows) in enumerate(eyes.items(), start=1):
        stem = place / f"{STEM}_recording-eye{number}"
        Path(f"{stem}_physio.json").write_text(json.dumps({"RecordedEye": eye, "StartTime": 0}))
        Path(f"{stem}_physio.tsv.gz").write_bytes(gzip.compress(rows.encode()))
        if logged is not None and number == 1:
            Path(f"{stem}_physioevents.tsv.gz").write_bytes(gzip.compress(logged.encode()))
    return place / f"{STEM}_recording-eye1_physio.tsv.gz"


LEFT = "7186799\t416.25\t267.5\t4612.0\n7186800\tn/a\tn/a\tn/a\n"
RIGHT = "7186799\t418.25\t269.5\t4600.0\n7186800\t420.0\t270.0\t4601.0\n"


def test_a_recording_of_others_is_read_with_inherited_metadata(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT, "right": RIGHT})
    assert find_format(path) == "bids"
    reading = read(path)
    [mine] = reading.recordings
    assert mine.key == Key("01", "search", "02", "03")
    assert mine.geometry == screen(1024, 768, 386, 290, 600)
    assert mine.rate_hz == 1000
    np.testing.assert_array_equal(mine.t, [7186.799, 7186.8])
    np.testing.assert_array_equal(mine.x, [417.25, 420.0])
    assert mine.left is not None
    np.testing.assert_array_equal(mine.left.tracked, [True, False])
    assert mine.pupil is not None
    np.testing.assert_array_equal(mine.pupil, [4606.0, 4601.0])
    assert mine.pupil_unit == ""


def test_a_data_set_is_read_whole_and_each_recording_once(tmp_path: Path) -> None:
    foreign(tmp_path, {"left": LEFT, "right": RIGHT, "cyclopean": RIGHT})
    assert find_format(tmp_path) == "bids"
    [mine] = read(tmp_path).recordings
    np.testing.assert_array_equal(mine.x, [418.25, 420.0])
    assert mine.left is not None
    assert validate(tmp_path) == []


def test_one_eye_alone_can_be_read(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT, "right": RIGHT})
    [mine] = read(path, eye="left").recordings
    np.testing.assert_array_equal(mine.x, [416.25, np.nan])
    assert mine.right is None
    (tmp_path / "b").mkdir()
    with pytest.raises(FileFormatError, match="expected a recording of the right eye, found left"):
        read(foreign(tmp_path / "b", {"left": LEFT}), eye="right")


def test_eyes_that_do_not_run_together_are_refused(tmp_path: Path) -> None:
    later = RIGHT.replace("7186800", "7186801")
    with pytest.raises(FileFormatError, match=r"line 2, column timestamp: expected the other eye's time") as caught:
        read(foreign(tmp_path, {"left": LEFT, "right": later}))
    assert "--eye left" in caught.value.hint


def test_an_eye_with_more_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="line 3: expected as many rows as the other eye's file has"):
        read(foreign(tmp_path, {"left": LEFT, "right": RIGHT + "7186801\t1\t1\t1\n"}))


def test_a_bad_row_of_one_eye_takes_the_other_eyes_row_along(tmp_path: Path) -> None:
    third = "7186801\t1.0\t1.0\t1.0\n"
    bad = LEFT.replace("7186800\tn/a", "7186800\toops")
    reading = read(foreign(tmp_path, {"left": bad + third, "right": RIGHT + third}), skip_bad=True)
    [mine] = reading.recordings
    np.testing.assert_array_equal(mine.t, [7186.799, 7186.801])
    assert reading.report.bad_lines == 1
    assert reading.report.remarks == {"rows that are bad in one eye's file were left out of the other's": 1}


def test_long_eyes_meet_row_by_row_whatever_the_chunk(tmp_path: Path) -> None:
    left = "".join(f"{i}\t{i}.5\t1.0\tn/a\n" for i in range(3000))
    right = "".join(f"{i}\t{i}.123456789\t-1.0\t4000.25\n" for i in range(3000))
    path = foreign(tmp_path, {"left": left, "right": right})
    [whole] = read(path).recordings
    [pieces] = read(path, chunk_rows=70).recordings
    assert len(whole) == 3000
    assert whole.equals(pieces)
    np.testing.assert_allclose(whole.x, np.arange(3000) + (0.5 + 0.123456789) / 2)


def test_events_beside_come_along(tmp_path: Path) -> None:
    logged = (
        '7184392\tn/a\tn/a\tn/a\t"RECCFG CR ""1000"" R"\n'
        "7186806\t72\tfixation\t0\tn/a\n7186879\t231\tsaccade\t1\tn/a\n7187000\t9\tn/a\t1\tn/a\n"
    )
    [mine] = read(foreign(tmp_path, {"right": LEFT}, logged)).recordings
    assert mine.events.select("kind", "eye", "onset", "text").rows() == [
        ("message", "right", 7184.392, 'RECCFG CR "1000" R'),
        ("fixation", "right", 7186.806, None),
        ("saccade", "right", 7186.879, None),
        ("blink", "right", 7187.0, None),
    ]
    np.testing.assert_allclose(mine.events["offset"].to_numpy(), [7184.392, 7186.878, 7187.11, 7187.009])


def test_events_whose_onsets_are_not_times_are_left_out_and_told(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"right": LEFT}, "0\tn/a\tn/a\tn/a\thello\n")
    (tmp_path / "task-search_physioevents.json").write_text(json.dumps({**LOGGED, "OnsetSource": "n/a"}))
    reading = read(path)
    assert reading.recordings[0].events.height == 0
    assert "onsets refer to 'n/a'" in next(iter(reading.report.remarks))


@pytest.mark.parametrize(
    ("origin", "x", "y"),
    [(["top", "left"], 100.0, 200.0), (["bottom", "left"], 100.0, 568.0), (["center", "center"], 612.0, 584.0)],
)
def test_coordinates_are_turned_to_begin_at_the_top_left(tmp_path: Path, origin: list[str], x: float, y: float) -> None:
    events = {"StimulusPresentation": {**EVENTS["StimulusPresentation"], "ScreenOrigin": origin}}
    [mine] = read(foreign(tmp_path, {"left": "0\t100\t200\t1\n"}, events=events)).recordings
    assert (mine.x[0], mine.y[0]) == (x, y)


def test_without_timestamps_rows_are_counted(tmp_path: Path) -> None:
    physio = {**PHYSIO, "Columns": ["x_coordinate", "y_coordinate"]}
    [mine] = read(foreign(tmp_path, {"left": "1\t2\n3\t4\n"}, physio=physio)).recordings
    np.testing.assert_array_equal(mine.t, [0.0, 0.001])


@pytest.mark.parametrize(
    ("physio", "message"),
    [
        ({**PHYSIO, "SamplingFrequency": 0}, "SamplingFrequency: expected a number above 0"),
        ({name: value for name, value in PHYSIO.items() if name != "SamplingFrequency"}, "SamplingFrequency in the"),
        ({**PHYSIO, "Columns": "timestamp"}, "expected a list of names"),
        ({**PHYSIO, "Columns": ["timestamp", "x", "y", "pupil_size"]}, "'x_coordinate'"),
        ({**PHYSIO, "timestamp": {}}, "its Units in the sidecar"),
        ({**PHYSIO, "x_coordinate": {"Units": "furlong"}}, "the same Units for x and y"),
        ({**PHYSIO, "RecordedEye": "third"}, None),
    ],
)
def test_a_sidecar_that_says_too_little_is_told(tmp_path: Path, physio: dict[str, Any], message: str | None) -> None:
    path = foreign(tmp_path, {"left": LEFT}, physio=physio)
    if message is None:  # nearer sidecars win
        assert read(path).recordings
        return
    with pytest.raises(FileFormatError, match=message):
        read(path)


def test_pixels_without_a_screen_are_asked_for(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT}, events={})
    with pytest.raises(FileFormatError, match="ScreenResolution"):
        read(path)
    assert read(path, geometry=screen(800, 600)).recordings[0].geometry == screen(800, 600)


def test_two_files_of_one_eye_are_refused(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT, "right": RIGHT})
    other = path.with_name(path.name.replace("eye1", "eye2").replace(".tsv.gz", ".json"))
    other.write_text('{"RecordedEye": "left", "StartTime": 0}')
    with pytest.raises(FileFormatError, match="one file of the left eye"):
        read(path)


def test_physiology_that_is_not_gaze_is_left_alone(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT}, physio={**PHYSIO, "PhysioType": "generic"})
    assert not FORMATS["bids"].sniff(path, b"")
    with pytest.raises(FileFormatError, match="a data set without"):
        read(tmp_path)


def test_a_broken_sidecar_is_told(tmp_path: Path) -> None:
    path = foreign(tmp_path, {"left": LEFT})
    path.with_name(path.name.replace(".tsv.gz", ".json")).write_text("{")
    with pytest.raises(FileFormatError, match="expected a JSON object"):
        read(path)
