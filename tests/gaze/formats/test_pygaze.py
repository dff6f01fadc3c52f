# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""PyGaze's logs: the Eye Tribe's states, Tobii's validities old and new, messages, recordings, and the display."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.geometry import screen

EYETRIBE = "timestamp\ttime\tfix\tstate\trawx\trawy\tavgx\tavgy\tpsize\tLrawx\tLrawy\tLpsize\tRrawx\tRrawy\tRpsize"
REPORT = [
    "pygaze initiation report start",
    "display resolution: 1280x1024",
    "display size in cm: 33.8x27.1",
    "pygaze initiation report end",
    "distance between participant and display: 57.0 cm",
]
TOBII = (
    "TimeStamp\tEvent\tGazePointXLeft\tGazePointYLeft\tValidityLeft\tGazePointXRight\tGazePointYRight\tValidityRight"
    "\tGazePointX\tGazePointY\tPupilSizeLeft\tPupilValidityLeft\tPupilSizeRight\tPupilValidityRight"
)
LEGACY = (
    "TimeStamp\tGazePointXLeft\tGazePointYLeft\tLeftPupil\tValidityLeft\tGazePointXRight\tGazePointYRight\tRightPupil"
    "\tValidityRight\tGazePointX\tGazePointY\tEvent"
)


def sample(step: int, state: object = 7, x: float = 100.5, left: float = 99.5) -> str:
    values = [x, 200.0, 1.0, 2.0, 20.0, left, 201.0 if left else 0.0, 21.0, 101.5, 199.0, 0.0]
    return "\t".join(["2016-05-14 17:34:31.938", str(5000 + 16 * step), "False", str(state), *map(str, values)])


def said(step: int, text: str) -> str:
    return f"MSG\t2016-05-14 17:34:31.938\t{5000 + 16 * step}\t{text}"


def read_log(folder: Path, *lines: str, **options: Any) -> Reading:
    path = folder / "p1.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read(path, **options)


def test_the_eye_tribe_is_read_from_each_start_of_the_recording(tmp_path: Path) -> None:
    begin = [EYETRIBE, *(said(-9, text) for text in REPORT)]
    lines = [said(-1, "start_recording"), sample(0), said(1, "go"), sample(1), said(2, "stop_recording")]
    again = [said(9, "start_recording"), said(9, "TRIAL 2"), sample(10), said(11, "stop_recording")]
    first, second = read_log(tmp_path, *begin, *lines, *again).recordings
    assert find_format(tmp_path / "p1.tsv") == "pygaze"
    assert (first.observer, first.trial, second.trial) == ("p1", "1", "2")
    assert first.geometry == screen(1280, 1024, 338, 271, 570)
    np.testing.assert_array_equal(first.t, [5.0, 5.016])
    assert (first.x[0], first.y[0]) == (100.5, 200.0)
    np.testing.assert_array_equal(first.pupil, [20.0, 20.0])
    assert first.events["text"].to_list()[-3:] == ["start_recording", "go", "stop_recording"]
    assert second.events["text"].to_list() == ["start_recording", "TRIAL 2", "stop_recording"]


def test_gaze_is_lost_where_the_state_does_not_say_that_it_is_tracked(tmp_path: Path) -> None:
    lines = [sample(0, 7), sample(1, 4), sample(2, 8), sample(3, 1), sample(4, 16), sample(5, 0)]
    zero = sample(6).replace("100.5\t200.0", "0.0\t0.0")
    [recording] = read_log(tmp_path, EYETRIBE, *lines, zero, geometry=screen(1280, 1024)).recordings
    assert recording.tracked.tolist() == [True, False, False, True, False, False, False]
    assert np.isnan(recording.x[1:3]).all()


def test_an_eye_at_zero_is_lost_alone(tmp_path: Path) -> None:
    lines = [EYETRIBE, sample(0), sample(1, left=0.0)]
    [recording] = read_log(tmp_path, *lines, geometry=screen(1280, 1024), eye="left").recordings
    np.testing.assert_array_equal(recording.x, [99.5, np.nan])


@pytest.mark.parametrize("state", ["-1", "32", "6.5", "yes", ""])
def test_a_state_that_cannot_be_is_a_bad_line(tmp_path: Path, state: str) -> None:
    lines = [EYETRIBE, sample(0), sample(1, state), sample(2)]
    with pytest.raises(FileFormatError, match="line 3, column state: expected a"):
        read_log(tmp_path, *lines, geometry=screen(1280, 1024))
    assert read_log(tmp_path, *lines, geometry=screen(1280, 1024), skip_bad=True).report.bad_lines == 1


def test_messages_name_stimuli_and_trials_by_a_rule(tmp_path: Path) -> None:
    lines = [
        EYETRIBE,
        said(-1, "start_recording"),
        said(-1, "TRIAL 7 begins"),
        sample(0),
        said(1, "image a.png"),
        sample(2),
    ]
    options = {"geometry": screen(1280, 1024), "stimulus_from": "MSG image"}
    first, second = read_log(tmp_path, *lines, **options).recordings
    assert (first.stimulus, second.stimulus) == ("", "a.png")
    [recording] = read_log(tmp_path, *lines, geometry=screen(1280, 1024), trial_from="MSG TRIAL").recordings
    assert recording.trial == "7 begins"


def test_tobii_by_the_pro_sdk_is_read_from_the_eyes(tmp_path: Path) -> None:
    rows = [
        "303.085\t\t-1\t-1\t0\t-1\t-1\t0\t-1.0\t-1.0\t-1\t0\t-1\t0",
        "319.733\t\t569.0\t390.0\t1\t568.0\t385.0\t1\t568\t387\t3.4\t1\t3.2\t1",
        "320.1\tTRIALSTART 1",
        "336.5\t\t564.0\t392.0\t1\t-1\t-1\t0\t564\t392\t3.4\t1\t-1\t0",
    ]
    [recording] = read_log(tmp_path, *REPORT, TOBII, *rows).recordings
    assert find_format(tmp_path / "p1.tsv") == "pygaze"
    np.testing.assert_array_equal(recording.x, [np.nan, 568.5, 564])
    np.testing.assert_array_equal(recording.t, [0.303085, 0.319733, 0.3365])
    np.testing.assert_array_equal(recording.pupil, [np.nan, (3.4 + 3.2) / 2, 3.4])
    assert recording.events.select("onset", "text").rows() == [(0.3201, "TRIALSTART 1")]


def test_tobii_before_the_pro_sdk_has_codes_and_a_header_for_each_recording(tmp_path: Path) -> None:
    rows = [
        "0.0\t-1.0000\t-1.0000\t-1.0000\t4\t-1.0000\t-1.0000\t-1.0000\t4\t-1.0000\t-1.0000\t",
        "17.9\t213.0\t143.0\t3.8\t0\t159.0\t134.0\t3.5\t1\t0.2911\t0.2708\t",
        "35.0\t215.0\t153.0\t3.8\t0\t9.0\t9.0\t3.1\t3\t0.1680\t0.1499\t",
    ]
    event = "9.5" + "\t" * 9 + "point_on"
    lines = ["Recording resolution\t1280 x 1024", "", *REPORT, LEGACY, *rows, event, LEGACY, *rows[:2], event, LEGACY]
    first, second = read_log(tmp_path, *lines).recordings
    assert (len(first), len(second), second.trial) == (3, 2, "2")
    np.testing.assert_array_equal(first.x, [np.nan, 186, 215])
    assert first.events.select("onset", "text").rows() == [(0.0095, "point_on")]
    assert second.events.height == 1


@pytest.mark.parametrize(("old", "new"), [("\t1\t568.0", "\t2\t568.0"), ("\t1\t568.0", "\tmaybe\t568.0")])
def test_a_validity_that_cannot_be_is_a_bad_line(tmp_path: Path, old: str, new: str) -> None:
    good = "319.733\t\t569.0\t390.0\t1\t568.0\t385.0\t1\t568\t387\t3.4\t1\t3.2\t1"
    with pytest.raises(FileFormatError, match="column ValidityLeft: expected a"):
        read_log(tmp_path, *REPORT, TOBII, good, good.replace(old, new).replace("319", "336"))


def test_without_a_report_the_display_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the display's resolution") as caught:
        read_log(tmp_path, EYETRIBE, sample(0))
    assert "--screen" in caught.value.hint


def test_a_message_without_a_time_is_a_bad_line(tmp_path: Path) -> None:
    lines = [EYETRIBE, sample(0), "MSG\tnow\tsoon\tgo", sample(1)]
    with pytest.raises(FileFormatError, match="line 3: expected a message with its time"):
        read_log(tmp_path, *lines, geometry=screen(1280, 1024))
    assert read_log(tmp_path, *lines, geometry=screen(1280, 1024), skip_bad=True).report.bad_lines == 1


def test_a_log_without_the_eyes_validity_is_refused(tmp_path: Path) -> None:
    header = TOBII.replace("ValidityRight\tGaze", "Other\tGaze")
    with pytest.raises(FileFormatError, match="expected a column 'validityright'"):
        read_log(tmp_path, *REPORT, header, "1.0" + "\t1" * 13, format="pygaze")
