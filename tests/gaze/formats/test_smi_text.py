# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""SMI's text: lost gaze, messages and the stimuli they name, the screen, both kinds of export, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import screen

PREAMBLE = """\
## [iView]
## Converted from:\tC:\\data\\p7.idf
## Sample Rate:\t120
## [Run]
## Subject:\tp7          \n## [Calibration]
## Calibration Area:\t1680\t1050
## [Geometry]
## Stimulus Dimension [mm]:\t474\t297
## Head Distance [mm]:\t700
## Format:\tLEFT, RIGHT, POR, MSG
##
"""
HEADER = (
    "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]\tR POR X [px]\tR POR Y [px]"
    "\tL Mapped Diameter [mm]\tL Validity\tAux1"
)
SCREEN = screen(1680, 1050)


def row(
    step: int, left: str = "100.00 200.00", right: str = "110.00 220.00", pupil: str = "3.10", found: int = 1
) -> str:
    return "\t".join([str(1_000_000 + 8000 * step), "SMP", "1", *left.split(), *right.split(), pupil, str(found), ""])


def message(step: float, text: str) -> str:
    return f"{round(1_000_000 + 8000 * step)}\tMSG\t1\t# Message: {text}"


def read_text(folder: Path, *lines: str, preamble: str = PREAMBLE, header: str = HEADER, **options: Any) -> Reading:
    path = folder / "p7_Samples.txt"
    path.write_text(preamble + "\n".join([header, *lines]) + "\n", encoding="utf-8")
    return read(path, **options)


def test_samples_are_read_with_the_screen_and_the_rate_that_stand_before_them(tmp_path: Path) -> None:
    [recording] = read_text(tmp_path, row(0), row(1), row(2)).recordings
    assert find_format(tmp_path / "p7_Samples.txt") == "smi-text"
    assert recording.key == Key("p7", "", "1", "1")
    assert recording.geometry == screen(1680, 1050, 474, 297, 700)
    assert recording.rate_hz == 120
    np.testing.assert_array_equal(recording.t, [1.0, 1.008, 1.016])
    assert (recording.x[0], recording.y[0]) == (105.0, 210.0)
    np.testing.assert_array_equal(recording.pupil, [3.1, 3.1, 3.1])
    assert recording.pupil_unit == "mm"


def test_gaze_at_zero_is_lost_also_where_the_eye_was_found(tmp_path: Path) -> None:
    lines = [
        row(0),
        row(1, left="0.00 0.00"),
        row(2, left="0.00 0.00", right="0.00 0.00"),
        row(3, left="0.00 12.00", right="0.00 0.00", pupil="0.00"),
        row(4, left="7.00 7.00", found=0),
    ]
    [recording] = read_text(tmp_path, *lines).recordings
    assert recording.tracked.tolist() == [True, True, False, True, True]
    np.testing.assert_array_equal(recording.x, [105, 110, np.nan, 0, 110])
    np.testing.assert_array_equal(recording.pupil, [3.1, 3.1, 3.1, np.nan, 3.1])


def test_one_eye_can_be_asked_for(tmp_path: Path) -> None:
    [recording] = read_text(tmp_path, row(0), row(1), eye="right").recordings
    assert recording.x.tolist() == [110, 110]
    header = HEADER.replace("R POR X", "R Raw X")
    with pytest.raises(FileFormatError, match="the right eye's gaze"):
        read_text(tmp_path, row(0), header=header, eye="right")


def test_a_message_with_a_file_name_begins_a_stimulus(tmp_path: Path) -> None:
    lines = [
        row(0),
        message(0.5, "a.jpg"),
        row(1),
        row(2),
        message(2.2, "key"),
        message(2.5, "b.avi"),
        row(3),
        message(3.5, "a.jpg"),
        row(4),
        message(4.5, "end"),
    ]
    recordings = read_text(tmp_path, *lines).recordings
    assert [(each.stimulus, each.trial, len(each)) for each in recordings] == [
        ("", "1", 1),
        ("a.jpg", "1", 2),
        ("b.avi", "1", 1),
        ("a.jpg", "2", 1),
    ]
    assert [each.events["text"].to_list() for each in recordings] == [[], ["a.jpg", "key"], ["b.avi"], ["a.jpg", "end"]]
    assert recordings[1].events["onset"].to_list() == [1.004, 1.0176]


def test_messages_before_the_first_sample_are_kept(tmp_path: Path) -> None:
    [recording] = read_text(tmp_path, message(-2, "hello"), message(-1, "c.png"), row(0), row(1)).recordings
    assert (recording.stimulus, recording.events["text"].to_list()) == ("c.png", ["hello", "c.png"])


def test_names_follow_a_rule_where_there_is_one(tmp_path: Path) -> None:
    lines = [message(-1, "a.jpg"), message(-0.5, "trial 7"), row(0), row(1), message(1.5, "show x"), row(2)]
    first, second = read_text(tmp_path, *lines, stimulus_from="MSG show").recordings
    assert (first.stimulus, second.stimulus, len(first)) == ("", "x", 2)
    [recording] = read_text(tmp_path, *lines, stimulus_from="none").recordings
    assert (recording.stimulus, len(recording)) == ("", 3)
    [recording] = read_text(tmp_path, *lines, trial_from="MSG trial").recordings
    assert recording.key == Key("p7", "a.jpg", "1", "7")


def test_small_blocks_give_the_same_as_one(tmp_path: Path) -> None:
    lines = [line for k in range(400) for line in (message(k - 0.5, f"{k // 9}.png"), row(k))]
    whole = read_text(tmp_path, *lines).recordings
    pieces = read_text(tmp_path, *lines, chunk_rows=1).recordings
    assert len(whole) == 400
    assert all(one.equals(other) for one, other in zip(whole, pieces, strict=True))


def test_a_message_without_a_time_is_a_bad_line(tmp_path: Path) -> None:
    lines = [row(0), message(0.5, "x").replace("1004000", "soon"), row(1)]
    with pytest.raises(FileFormatError, match="line 15: expected a message's time, found 'soon'"):
        read_text(tmp_path, *lines)
    assert read_text(tmp_path, *lines, skip_bad=True).report.bad_lines == 1


def test_a_row_of_another_type_is_a_bad_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="expected SMP or MSG, found 'XYZ'"):
        read_text(tmp_path, row(0), row(1).replace("SMP", "XYZ"))


def test_commas_and_the_stimulus_column_of_begaze_are_read(tmp_path: Path) -> None:
    header = "Time,Type,Trial,R POR X [px],R POR Y [px],R Pupil Diameter [mm],R Event Info,Stimulus"
    lines = [
        "1000000,MSG,1,# Message: one, two.bmp",
        *(f"{1000000 + 4000 * k},SMP,1,10.00,20.00,3.00,{'Fixation' if k < 2 else 'Saccade'},a.bmp" for k in range(4)),
        "1016000,SMP,1,11.00,21.00,0.00,Blink,a.bmp",
        "1020000,SMP,2,12.00,22.00,3.00,-,-",
    ]
    first, second = read_text(tmp_path, *lines, header=header, preamble="", geometry=SCREEN).recordings
    assert (first.stimulus, second.stimulus, len(first)) == ("a.bmp", "", 5)
    assert first.tracked.tolist() == [True, True, True, True, False]
    events = first.events.filter(first.events["kind"] != "message")
    assert events.select("kind", "onset", "offset").rows() == [
        ("fixation", 1.0, 1.004),
        ("saccade", 1.008, 1.012),
        ("blink", 1.016, 1.016),
    ]
    assert first.events["text"].drop_nulls().to_list() == ["one, two.bmp"]


RAW = (
    "RecordingTime [ms],Trial,Stimulus,Participant,Category Group,Category Binocular,Index Binocular,"
    "Pupil Diameter Right [mm],Point of Regard Binocular X [px],Point of Regard Binocular Y [px],Content"
)


def test_the_raw_data_export_is_read_by_participant_and_stimulus(tmp_path: Path) -> None:
    lines = [
        "100.0,Trial001,a.avi,ann,Eye,Visual Intake,1,3.1,10.5,20.5,-",
        "116.7,Trial001,a.avi,ann,Eye,Visual Intake,1,3.1,-,-,-",
        "120.0,Trial001,a.avi,ann,Information,User Event,1,-,-,-,# Message: go",
        "133.3,Trial001,a.avi,ann,Eye,Blink,1,0.0,11.5,21.5,-",
        "100.0,Trial001,a.avi,bob,Eye,-,-,3.3,12.5,22.5,-",
    ]
    reading = read_text(tmp_path, *lines, header=RAW, preamble="", geometry=SCREEN)
    ann, bob = reading.recordings
    assert (ann.key, bob.key) == (Key("ann", "a.avi", "1", "1"), Key("bob", "a.avi", "1", "1"))
    assert ann.tracked.tolist() == [True, False, False]
    np.testing.assert_array_equal(ann.t, np.array([100.0, 116.7, 133.3]) / 1000)
    assert set(ann.events["kind"]) == {"fixation", "message", "blink"}
    assert reading.report.remarks["rows of the category 'Information' were left out"] == 1


def test_a_time_in_another_unit_than_the_header_says_is_refused(tmp_path: Path) -> None:
    lines = [f"{0.0166 * k:.4f},Trial001,a.avi,ann,Eye,-,-,3.1,10.5,20.5,-" for k in range(4)]
    with pytest.raises(FileFormatError, match=r"in milliseconds, found a step of 0\.0166") as caught:
        read_text(tmp_path, *lines, header=RAW, preamble="", geometry=SCREEN)
    assert "--time-unit" in caught.value.hint
    [recording] = read_text(tmp_path, *lines, header=RAW, preamble="", geometry=SCREEN, time_unit="s").recordings
    assert recording.t[1] == 0.0166


def test_without_a_screen_its_size_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="the screen's size in pixels") as caught:
        read_text(tmp_path, row(0), preamble="## [iView]\n##\n")
    assert "--screen" in caught.value.hint


def test_a_screen_that_cannot_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="a screen that can exist"):
        read_text(tmp_path, row(0), preamble=PREAMBLE.replace("1680\t1050", "0\t0"))


@pytest.mark.parametrize("first", ["[BeGaze]", "[iView]"])
def test_a_list_of_events_is_read_as_fixations_and_never_as_samples(tmp_path: Path, first: str) -> None:
    path = tmp_path / "p7_Events.txt"
    path.write_text(
        f"{first}\nSample Rate:\t120\nSubject:\tp7\n\nTable Header for Fixations:\n"
        "Event Type\tTrial\tNumber\tStart\tEnd\tDuration\tLocation X\tLocation Y\n\n"
        "Fixation L\t1\t1\t1000000\t1200000\t200000\t100.00\t200.00\n"
    )
    assert find_format(path) == "fixations-csv"
    with pytest.raises(FileFormatError, match="SMI's list of events") as caught:
        read(path, geometry=SCREEN, format="smi-text")
    assert "--format fixations-csv" in caught.value.hint
    [recording] = read(path, geometry=SCREEN)
    assert (recording.observer, recording.t[0], recording.x[0]) == ("p7", 1.0, 100.0)
