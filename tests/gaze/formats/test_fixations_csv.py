# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of fixations in the shapes that vendors write them: starts, places and durations, and no rate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, read, screen
from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, GazeveilError, InputError
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats.base import FORMATS, WritableFormat
from gazeveil.gaze.reading import Reading, find_format
from gazeveil.geometry import Unit

DESK = screen(1280, 1024)
MS: dict[str, Any] = {"geometry": DESK, "time_unit": "ms"}


def listed(folder: Path, text: str, name: str = "list.csv", **options: object) -> Reading:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    if "format" not in options:
        assert find_format(path) == "fixations-csv"
    return read(path, **options)  # type: ignore[arg-type]


def rows(recording: Recording) -> list[tuple[float, ...]]:
    assert recording.durations is not None
    return list(zip(recording.t, recording.x, recording.y, recording.durations, strict=True))


def test_sr_fixation_reports_are_in_milliseconds_by_trial(tmp_path: Path) -> None:
    text = (
        "RECORDING_SESSION_LABEL\tTRIAL_INDEX\tCURRENT_FIX_X\tCURRENT_FIX_Y\tCURRENT_FIX_START\tCURRENT_FIX_END\t"
        "CURRENT_FIX_DURATION\timage\n"
        "ann\t1\t10.5\t20\t100\t299\t200\tcat.png\nann\t1\t30\t40\t320\t.\t90\tcat.png\n"
        "ann\t2\t50\t60\t5\t104\t100\tdog.png\n"
    )
    first, second = listed(tmp_path, text, geometry=DESK)
    assert first.key == ("ann", "cat.png", "1", "1")
    assert rows(first) == [(0.1, 10.5, 20, 0.2), (0.32, 30, 40, 0.09)]
    assert second.key == ("ann", "dog.png", "1", "2")
    assert first.geometry == DESK
    assert np.isnan(first.rate)
    assert first.duration == pytest.approx(0.31)


def test_a_report_without_trials_counts_them_by_times_that_begin_anew(tmp_path: Path) -> None:
    head = "RECORDING_SESSION_LABEL\tCURRENT_FIX_START\tCURRENT_FIX_DURATION\tCURRENT_FIX_X\tCURRENT_FIX_Y\n"
    lines = [f"{who}\t{start}\t200\t1\t2" for who in ("ann", "bob") for start in (0, 300, 10, 290, 700)]
    reading = listed(tmp_path, head + "\n".join(lines), geometry=DESK, chunk_rows=2)
    assert [(each.observer, each.trial, len(each)) for each in reading] == [
        ("ann", "1", 2),
        ("ann", "2", 3),
        ("bob", "1", 2),
        ("bob", "2", 3),
    ]


def test_tobii_studios_list_says_screen_and_subject_before_its_table(tmp_path: Path) -> None:
    text = (
        "Data properties:\n\nSubject: P105\nRecording: Rec 61\nScreen resolution: 1280 x 1024\n\nFilter settings:\n\n"
        "FixationIndex\tTimestamp\tFixationDuration\tMappedFixationPointX\tMappedFixationPointY\t\n"
        "12\t26\t633\t513\t518\t\n13\t659\t849\t595\t527\t\n"
    )
    [recording] = listed(tmp_path, text, "P61.tsv")
    assert (recording.observer, recording.session, recording.geometry) == ("P105", "Rec 61", DESK)
    assert rows(recording) == [(0.026, 513, 518, 0.633), (0.659, 595, 527, 0.849)]


def test_tobiis_eye_movements_are_taken_once_however_many_samples_they_stand_on(tmp_path: Path) -> None:
    head = (
        "Recording timestamp [μs]\tParticipant name\tPresented Stimulus name\tEye movement type\t"
        "Gaze event duration [ms]\tEye movement type index\tFixation point X [DACS px]\tFixation point Y [DACS px]\t"
        "Fixation point X [MCS norm]\tFixation point Y [MCS norm]\n"
    )
    body = [
        "1000\tann\tcat\tFixation\t200\t1\t10\t20\t0.1\t0.2",
        "9000\tann\tcat\tFixation\t200\t1\t10\t20\t0.1\t0.2",
        "209000\tann\tcat\tSaccade\t20\t1\t\t\t\t",
        "229000\tann\tcat\tFixation\t150\t2\t30\t40\t0.3\t0.4",
        "237000\tann\tcat\tFixation\t150\t2\t30\t40\t0.3\t0.4",
    ]
    for chunk_rows in (1, 1000):
        reading = listed(tmp_path, head + "\n".join(body), "a.tsv", geometry=DESK, chunk_rows=chunk_rows)
        [recording] = reading
        assert rows(recording) == [(0.001, 10, 20, 0.2), (0.229, 30, 40, 0.15)]
        assert reading.report.remarks["rows of other eye movements were left out"] == 1


def test_gazepoints_list_is_known_by_its_name_and_its_places_are_fractions(tmp_path: Path) -> None:
    text = (
        "MEDIA_ID,MEDIA_NAME,CNT,TIME(2024/05/01),FPOGX,FPOGY,FPOGS,FPOGD,FPOGID,FPOGV,USER\n"
        "0,page,14,0.23,0.4,0.5,0.0,0.23,1,1,x\n0,page,42,0.69,0.3,0.4,0.345,0.345,2,0,x\n"
    )
    [recording] = listed(tmp_path, text, "User 1_fixations.csv")
    assert (recording.observer, recording.stimulus, recording.geometry.unit) == ("User 1", "page", Unit.FRACTION)
    assert recording.t.tolist() == [0.0, 0.345]
    assert recording.durations is not None
    assert recording.durations.tolist() == [0.23, 0.345]
    assert recording.tracked.tolist() == [True, False]


def test_pupil_cores_list_begins_at_the_bottom_left_and_lasts_milliseconds(tmp_path: Path) -> None:
    head = "id,start_timestamp,duration,start_frame_index,norm_pos_x,norm_pos_y,dispersion,confidence,base_data\n"
    reading = listed(tmp_path, head + "65,329.5,202.5,4,0.5,0.25,1.3,0.99,1 2\n", "fixations.csv")
    assert rows(reading.recordings[0]) == [(329.5, 0.5, 0.75, 0.2025)]
    assert reading.recordings[0].observer == tmp_path.name
    assert "does not say who looked" in next(iter(reading.report.remarks))


def test_pupil_clouds_list_takes_wearer_and_camera_from_the_download(tmp_path: Path) -> None:
    (tmp_path / "info.json").write_text('{"module_serial_number": "1", "wearer_id": "ann", "recording_id": "r"}')
    head = (
        "section id,recording id,fixation id,start timestamp [ns],end timestamp [ns],duration [ms],"
        "fixation x [px],fixation y [px],azimuth [deg],elevation [deg]\n"
    )
    [recording] = listed(tmp_path, head + "s,r,1,1000000000,1112000000,112,632.5,643,7,8\n", "fixations.csv")
    assert (recording.observer, recording.session, recording.geometry) == ("ann", "r", screen(1600, 1200))
    assert rows(recording) == [(1.0, 632.5, 643, 0.112)]


def test_smi_lists_of_events_keep_one_eyes_fixations(tmp_path: Path) -> None:
    head = "Stimulus,Participant,Category,Eye L/R,Index,Event Start Trial Time [ms],Event Duration [ms],"
    head += "Fixation Position X [px],Fixation Position Y [px]\n"
    text = head + "cat,ann,Visual Intake,Left,1,0,200,1,2\ncat,ann,Saccade,Left,1,200,30,,\n"
    [recording] = listed(tmp_path, text, geometry=DESK)
    assert rows(recording) == [(0.0, 1, 2, 0.2)]
    both = text + "cat,ann,Visual Intake,Right,1,0,190,3,4\n"
    with pytest.raises(FileFormatError, match="fixations of one eye"):
        listed(tmp_path, both, geometry=DESK)
    [right] = listed(tmp_path, both, geometry=DESK, eye="right")
    assert rows(right) == [(0.0, 3, 4, 0.19)]


def test_ends_stand_in_for_durations(tmp_path: Path) -> None:
    [recording] = listed(tmp_path, "fixation_index,start_ms,end_ms,x,y\n1,100,350,1,2\n2,380,600,3,4\n", geometry=DESK)
    assert rows(recording) == [(0.1, 1, 2, 0.25), (0.38, 3, 4, 0.22)]


def test_lists_that_state_places_alone_say_that_each_counts_once(tmp_path: Path) -> None:
    text = "fixation_index,fix_x,fix_y\n1,5,6\n2,7,8\n"
    reading = listed(tmp_path, text, geometry=DESK, format="fixations-csv")
    recording = reading.recordings[0]
    assert recording.durations is not None
    assert np.isnan(recording.t).all()
    assert np.isnan(recording.durations).all()
    assert "the list does not say how long fixations lasted: each counts once" in reading.report.remarks


def test_a_list_without_a_header_is_read_by_the_numbers_of_its_columns(tmp_path: Path) -> None:
    text = "1, 592.6, 421.6, 224\n2, 600, 400, 180\n"
    columns = {"x": "2", "y": "3", "duration": "4 [ms]"}
    reading = listed(tmp_path, text, geometry=DESK, format="fixations-csv", columns=columns)
    recording = reading.recordings[0]
    assert recording.durations is not None
    assert recording.durations.tolist() == [0.224, 0.18]
    assert recording.x.tolist() == [592.6, 600]
    with pytest.raises(FileFormatError, match="header line") as caught:
        listed(tmp_path, text, geometry=DESK, format="fixations-csv")
    assert "--column x=2" in caught.value.hint


def test_units_of_time_are_stated_and_never_guessed(tmp_path: Path) -> None:
    text = "label,x,y,start,duration\nfixation,1,2,1564666170370000,240\nsaccade,3,4,1564666170610000,30\n"
    text += "fixation,3,4,1564666170640000,170\n"
    with pytest.raises(FileFormatError, match="unit of time in the column's name"):
        listed(tmp_path, text, geometry=DESK)
    with pytest.raises(FileFormatError, match=r"fixations last 0.000205 s") as caught:
        listed(tmp_path, text, geometry=DESK, time_unit="us")
    assert "--column 'duration=NAME [ms]'" in caught.value.hint
    [recording] = listed(tmp_path, text, geometry=DESK, columns={"t": "start [us]", "duration": "duration [ms]"})
    assert rows(recording) == [(1564666170.37, 1, 2, 0.24), (1564666170.64, 3, 4, 0.17)]


def test_starts_in_another_unit_than_durations_are_found_out(tmp_path: Path) -> None:
    text = "x,y,start,duration\n" + "".join(f"1,2,{300_000 * k},200\n" for k in range(5))
    with pytest.raises(FileFormatError, match="begin every 300 s"):
        listed(tmp_path, text, **MS)


def test_a_column_called_label_that_holds_no_eye_movements_is_no_filter(tmp_path: Path) -> None:
    [recording] = listed(tmp_path, "label,x,y,start,duration\nface,1,2,0,200\nhand,3,4,300,200\n", **MS)
    assert len(recording) == 2


def test_samples_are_not_taken_for_fixations(tmp_path: Path) -> None:
    text = "FPOGX,FPOGY,FPOGS,FPOGD,FPOGID\n" + "".join(f"0.5,0.5,0,{k / 60},1\n" for k in range(1, 5))
    with pytest.raises(FileFormatError, match=r"line 3, column FPOGID: expected one row for each fixation"):
        listed(tmp_path, text, "User 1_all_gaze.csv", format="fixations-csv")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2,0,-5", "expected a duration of 0 or more, found '-5.0'|found -5.0|-5"),
        ("1,2,0,", "expected a number"),
        ("1,2,,200", "expected a number"),
        ("1,2,0,inf", "expected a number"),
        ("1,2,0,long", "expected a number"),
    ],
)
def test_a_broken_row_is_named_or_counted(tmp_path: Path, row: str, message: str) -> None:
    text = f"x,y,start_ms,duration_ms\n9,9,0,200\n{row}\n8,8,500,200\n"
    with pytest.raises(FileFormatError, match=rf"line 3, column .*({message})"):
        listed(tmp_path, text, geometry=DESK)
    reading = listed(tmp_path, text, geometry=DESK, skip_bad=True)
    assert reading.report.bad_lines == 1
    assert reading.recordings[0].x.tolist() == [9, 8]


@pytest.mark.parametrize("text", ["x,duration\n1,2\n", "kind,x,y,duration_ms\nsaccade,1,2,30\n"])
def test_a_table_without_places_or_without_fixations_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(GazeveilError, match=r"list\.csv"):
        listed(tmp_path, text.replace("kind", "event type"), format="fixations-csv", geometry=DESK)


def test_a_screen_is_asked_for_where_places_are_pixels(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="to know what x and y are") as caught:
        listed(tmp_path, "x_px,y_px,start_ms,duration_ms\n1,2,0,200\n")
    assert "--screen 1920x1080" in caught.value.hint


@pytest.mark.parametrize(("name", "file"), [("csv", "a.csv"), ("parquet", "a.parquet"), ("parquet", "corpus")])
def test_lists_that_are_written_read_back_the_same(tmp_path: Path, name: str, file: str) -> None:
    recording = Recording([0.1, 0.4, 0.9], [1, np.nan, 3], [4, 5, 6], DESK, "ann", "cat", durations=[0.2, 0.3, 0.1])  # type: ignore[arg-type]
    writer = FORMATS[name]
    assert isinstance(writer, WritableFormat)
    writer.write([chunk_of(recording)], tmp_path / file)
    about: dict[str, Any] = {"geometry": DESK} if name == "csv" else {}
    [back] = read(tmp_path / file, **about)
    assert back.equals(recording)


def test_bids_writes_no_lists_of_fixations(tmp_path: Path) -> None:
    writer = FORMATS["bids"]
    assert isinstance(writer, WritableFormat)
    recording = Recording([0.1], [1], [4], DESK, "ann", durations=[0.2])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="list of fixations"):
        writer.write([chunk_of(recording)], tmp_path / "bids")
    assert not (tmp_path / "bids").exists()


def test_a_data_frame_with_durations_is_a_list_and_says_its_unit() -> None:
    frame = pl.DataFrame({"observer": ["ann"] * 3, "x": [1.0, 2, 3], "y": [1.0, 2, 3], "duration": [200, 300, 250]})
    with pytest.raises(InputError, match="long for seconds"):
        read(frame, geometry=DESK)
    [recording] = read(frame, **MS)
    assert recording.durations is not None
    assert recording.durations.tolist() == [0.2, 0.3, 0.25]
    assert np.isnan(recording.t).all()


def test_info_shows_counts_and_durations_instead_of_a_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.csv"
    path.write_text("x,y,start_ms,duration_ms\n" + "".join(f"1,2,{300 * k},{200 + k}\n" for k in range(9)))
    assert run(["info", str(path), "--screen", "1280x1024"]) == 0
    said = capsys.readouterr().out
    assert "204 ms (median)" in said
    assert "Hz" not in said


def test_detectors_and_veils_say_that_they_need_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.csv"
    path.write_text("x,y,start_ms,duration_ms\n1,2,0,200\n3,4,300,200\n")
    assert run(["events", str(path), "--screen", "1280x1024", "--size-mm", "400x300", "--distance-mm", "600"]) != 0
    assert "the detector ivt needs gaze samples" in capsys.readouterr().err
