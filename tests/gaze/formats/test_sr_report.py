# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sample reports of SR Research's Data Viewer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil import read, screen
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.reading import Reading, find_format

DESK = screen(1920, 1080)
HEADER = (
    "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tpicture\tLEFT_GAZE_X\tLEFT_GAZE_Y\tLEFT_PUPIL_SIZE\tLEFT_IN_BLINK\t"
    "RIGHT_GAZE_X\tRIGHT_GAZE_Y\tRIGHT_PUPIL_SIZE\tRIGHT_IN_BLINK\tRIGHT_IN_SACCADE\tSAMPLE_MESSAGE\tTIMESTAMP"
)
ROWS = [
    "ann\t1\tlake.png\t100.00\t200.00\t800.00\t0\t110.00\t204.00\t900.00\t0\t0\t.\t5529512.00",
    "ann\t1\tlake.png\t101.00\t201.00\t801.00\t0\t.\t.\t.\t0\t1\tDISPLAY ON;SYNCTIME\t5529514.00",
    "ann\t1\tlake.png\t.\t.\t.\t1\t.\t.\t.\t1\t1\t.\t5529516.00",
    "ann\t1\tlake.png\t.\t.\t.\t1\t1e8\t-32768.00\t0.00\t1\t1\t.\t5529518.00",
    "ann\t2\tstreet.png\t102.00\t202.00\t0.00\t0\t112.00\t206.00\t902.00\t0\t0\t.\t5540000.50",
    "bo\t1\t.\t103.00\t203.00\t803.00\t0\t113.00\t207.00\t903.00\t0\t0\tover\t77.00",
]


def read_rows(folder: Path, *rows: str, header: str = HEADER, **options: Any) -> Reading:
    path = folder / "report.txt"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert find_format(path) == "sr-report"
    return read(path, **{"geometry": DESK, **options})


@pytest.mark.parametrize("chunk_rows", [1, 250_000])
def test_participants_trials_and_pictures_become_recordings(tmp_path: Path, chunk_rows: int) -> None:
    ann, second, bo = read_rows(tmp_path, *ROWS, chunk_rows=chunk_rows).recordings
    assert [ann.observer, ann.stimulus, ann.trial] == ["ann", "lake.png", "1"]
    assert [second.observer, second.stimulus, second.trial] == ["ann", "street.png", "2"]
    assert [bo.observer, bo.stimulus, bo.trial] == ["bo", "", "1"]
    np.testing.assert_array_equal(ann.t, [5529.512, 5529.514, 5529.516, 5529.518])
    np.testing.assert_array_equal(ann.x, [105.0, 101.0, np.nan, np.nan])
    np.testing.assert_array_equal(ann.y, [202.0, 201.0, np.nan, np.nan])
    np.testing.assert_array_equal(ann.pupil, [850.0, 801.0, np.nan, np.nan])
    assert second.t.tolist() == [5540.0005]
    assert second.pupil is not None
    assert second.pupil.tolist() == [902.0]
    events = ann.events.select("kind", "onset", "offset", "text").rows()
    assert ("message", 5529.514, 5529.514, "DISPLAY ON;SYNCTIME") in events
    assert ("blink", 5529.516, 5529.518, None) in events


def test_one_eye_can_be_chosen_and_average_gaze_is_read(tmp_path: Path) -> None:
    assert read_rows(tmp_path, *ROWS, eye="right").recordings[0].x[0] == 110.0
    header = "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tTIMESTAMP\tAVERAGE_GAZE_X\tAVERAGE_GAZE_Y"
    [recording] = read_rows(tmp_path, "s1\t1\t5.00\t963.20\t5.5", header=header).recordings
    assert (recording.x[0], recording.y[0]) == (963.2, 5.5)
    with pytest.raises(FileFormatError, match="LEFT_GAZE_X"):
        read_rows(tmp_path, "s1\t1\t5.00\t963.20\t5.5", header=header, eye="left")


def test_a_rule_names_the_column_of_a_trial_variable(tmp_path: Path) -> None:
    header, rows = HEADER.replace("picture", "cond_2"), ROWS[:2]
    assert read_rows(tmp_path, *rows, header=header).recordings[0].stimulus == ""
    found = read_rows(tmp_path, *rows, header=header, stimulus_from="TRIAL_VAR cond_2").recordings[0]
    assert found.stimulus == "lake.png"
    assert read_rows(tmp_path, *rows, stimulus_from="none").recordings[0].stimulus == ""
    assert read_rows(tmp_path, *rows, trial_from="TRIAL_VAR picture").recordings[0].trial == "lake.png"
    with pytest.raises(FileFormatError, match="nowhere"):
        read_rows(tmp_path, *rows, stimulus_from="TRIAL_VAR nowhere")
    with pytest.raises(OptionError, match="sample report"):
        read_rows(tmp_path, *rows, stimulus_from="IMGLOAD")


def test_rows_of_a_trial_that_lie_apart_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="together") as caught:
        read_rows(tmp_path, ROWS[0], ROWS[4], ROWS[1])
    assert caught.value.line == 4


@pytest.mark.parametrize("gone", ["TIMESTAMP", "RIGHT_GAZE_Y", "LEFT_GAZE_X"])
def test_a_missing_column_is_named(tmp_path: Path, gone: str) -> None:
    with pytest.raises(FileFormatError, match=gone):
        read_rows(tmp_path, *ROWS, header=HEADER.replace(gone, "OTHER"))


def test_without_a_screen_the_user_is_asked_for_one(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="resolution") as caught:
        read_rows(tmp_path, *ROWS, geometry=None)
    assert "--screen" in (caught.value.hint or "")


def test_commas_quotes_and_utf_16_are_read_alike(tmp_path: Path) -> None:
    expected = read_rows(tmp_path, *ROWS).recordings
    path = tmp_path / "report.csv"
    lines = [",".join(f'"{field}"' for field in line.split("\t")) for line in (HEADER, *ROWS)]
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-16")
    found = read(path, geometry=DESK)
    assert found.format == "sr-report"
    assert all(one.equals(other) for one, other in zip(found.recordings, expected, strict=True))


def test_a_fixation_report_is_not_taken_for_samples(tmp_path: Path) -> None:
    path = tmp_path / "fixations.txt"
    path.write_text("RECORDING_SESSION_LABEL\tCURRENT_FIX_X\tCURRENT_FIX_Y\tCURRENT_FIX_START\nann\t1\t2\t3\n")
    assert find_format(path) != "sr-report"
