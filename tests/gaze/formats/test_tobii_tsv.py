# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro Lab and Tobii Studio exports: header spellings, sensors, trials, events, messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.gaze.recording import Key
from gazeveil.geometry import Unit, screen

PRO_LAB = [
    "Recording timestamp [μs]",
    "Sensor",
    "Participant name",
    "Recording name",
    "Recording resolution width [px]",
    "Recording resolution height [px]",
    "Presented Stimulus name",
    "Event",
    "Event value",
    "Gaze point X [DACS px]",
    "Gaze point Y [DACS px]",
    "Gaze point left X [DACS px]",
    "Gaze point left Y [DACS px]",
    "Gaze point right X [DACS px]",
    "Gaze point right Y [DACS px]",
    "Pupil diameter left [mm]",
    "Pupil diameter right [mm]",
    "Validity left",
    "Validity right",
    "Eye movement type",
    "Gaze event duration [ms]",
    "Eye movement type index",
    "Fixation point X [DACS px]",
    "Fixation point Y [DACS px]",
]

STUDIO = [
    "ParticipantName",
    "RecordingName",
    "RecordingResolution",
    "MediaName",
    "RecordingTimestamp",
    "StudioEvent",
    "StudioEventData",
    "FixationIndex",
    "SaccadeIndex",
    "GazeEventType",
    "GazePointIndex",
    "GazePointLeftX (ADCSpx)",
    "GazePointLeftY (ADCSpx)",
    "GazePointRightX (ADCSpx)",
    "GazePointRightY (ADCSpx)",
    "GazePointX (ADCSpx)",
    "GazePointY (ADCSpx)",
    "GazePointX (MCSpx)",
    "GazePointY (MCSpx)",
    "PupilLeft",
    "PupilRight",
    "ValidityLeft",
    "ValidityRight",
]

SAMPLE = {
    "Sensor": "Eye Tracker",
    "Participant name": "P1",
    "Recording name": "R1",
    "Recording resolution width [px]": "1920",
    "Recording resolution height [px]": "1080",
    "Presented Stimulus name": "img",
    "Gaze point X [DACS px]": "100",
    "Gaze point Y [DACS px]": "200",
    "Validity left": "Valid",
    "Validity right": "Valid",
}


def export(folder: Path, rows: list[dict[str, Any]], header: list[str] = PRO_LAB, encoding: str = "utf-8") -> Path:
    lines = ["\t".join(header), *("\t".join(str(row.get(name, "")) for name in header) for row in rows)]
    path = folder / "export.tsv"
    path.write_text("\r\n".join(lines) + "\r\n", encoding=encoding, newline="")
    return path


def sample(time: int, **values: Any) -> dict[str, Any]:
    named = {"who": "Participant name", "stimulus": "Presented Stimulus name", "session": "Recording name"}
    return {**SAMPLE, PRO_LAB[0]: time, **{named.get(name, name): value for name, value in values.items()}}


def message(time: int, text: str, **values: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("Sensor", "Gaze point X [DACS px]", "Gaze point Y [DACS px]"), "")
    return sample(time, **{**nothing, "Event": text, **values})


def read_rows(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Reading:
    return read(export(folder, rows), **options)


def test_a_pro_lab_export_is_read(tmp_path: Path) -> None:
    rows = [
        sample(0, **{"Gaze point left X [DACS px]": 98, "Gaze point left Y [DACS px]": 199}),
        sample(
            8333, **{"Gaze point left X [DACS px]": 98, "Gaze point left Y [DACS px]": 199, "Validity left": "Invalid"}
        ),
        sample(
            16667, **{"Gaze point X [DACS px]": "", "Gaze point Y [DACS px]": "", "Pupil diameter left [mm]": "3.5"}
        ),
    ]
    reading = read_rows(tmp_path, rows)
    [recording] = reading.recordings
    assert reading.format == "tobii-tsv"
    assert recording.key == Key("P1", "img", "R1", "1")
    assert recording.geometry == screen(1920, 1080)
    np.testing.assert_array_equal(recording.t, [0.0, 0.008333, 0.016667])
    np.testing.assert_array_equal(recording.x, [100.0, 100.0, np.nan])
    np.testing.assert_array_equal(recording.tracked, [True, True, False])
    assert recording.left is not None
    np.testing.assert_array_equal(recording.left.tracked, [True, False, False])
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [np.nan, np.nan, 3.5])
    assert recording.pupil_unit == "mm"


def test_one_eye_can_make_the_gaze(tmp_path: Path) -> None:
    rows = [sample(0, **{"Gaze point right X [DACS px]": 7, "Gaze point right Y [DACS px]": 8})]
    [recording] = read_rows(tmp_path, rows, eye="right").recordings
    assert (recording.x[0], recording.y[0]) == (7.0, 8.0)
    header = [name for name in PRO_LAB if "left" not in name]
    with pytest.raises(FileFormatError, match="'Gaze point left X'"):
        read(export(tmp_path, rows, header), eye="left")


@pytest.mark.parametrize(
    ("spelling", "times", "seconds"),
    [
        ("Recording timestamp [μs]", (0, 8333), 0.008333),
        ("Recording timestamp [µs]", (0, 8333), 0.008333),
        ("Recording timestamp [us]", (0, 8333), 0.008333),
        ("Recording timestamp [ms]", (0, 8), 0.008),
        ("Recording timestamp", (0, 8333), 0.008333),
        ("Recording timestamp", (0, 17), 0.017),
        ("RecordingTimestamp", (0, 200), 0.2),
        ("Eyetracker timestamp [μs]", (0, 8333), 0.008333),
        ("Eye tracker timestamp", (0, 8333), 0.008333),
    ],
)
def test_every_spelling_of_the_timestamp_is_known(
    tmp_path: Path, spelling: str, times: tuple[int, int], seconds: float
) -> None:
    header = [spelling, *PRO_LAB[1:]]
    rows = [{**sample(0), spelling: time} for time in times]
    [recording] = read(export(tmp_path, rows, header)).recordings
    np.testing.assert_array_equal(recording.t, [0.0, seconds])


def test_a_timestamp_without_unit_and_typical_step_is_asked_for(tmp_path: Path) -> None:
    header = ["Recording timestamp", *PRO_LAB[1:]]
    rows = [{**sample(0), "Recording timestamp": time} for time in (0, 200)]
    with pytest.raises(FileFormatError, match="milliseconds or microseconds") as caught:
        read(export(tmp_path, rows, header))
    assert "--time-unit" in caught.value.hint
    [recording] = read(export(tmp_path, rows, header), time_unit="ms").recordings
    assert recording.t[1] == 0.2


def test_a_studio_export_is_read(tmp_path: Path) -> None:
    common: dict[str, Any] = {"ParticipantName": "P01", "RecordingName": "Rec 01", "MediaName": "face.jpg"}
    common |= {"RecordingResolution": "1280 x 1024", "GazePointX (ADCSpx)": 10, "GazePointY (ADCSpx)": 20}
    eyes = {"GazePointLeftX (ADCSpx)": 9, "GazePointLeftY (ADCSpx)": 19, "PupilLeft": "2,80", "PupilRight": "2,60"}
    rows = [
        {**common, **eyes, "RecordingTimestamp": 3, "GazePointIndex": 1, "ValidityLeft": 0, "ValidityRight": 1},
        {**common, **eyes, "RecordingTimestamp": 19, "GazePointIndex": 2, "ValidityLeft": 2, "ValidityRight": 4},
        {**common, "RecordingTimestamp": 25, "StudioEvent": "MouseClick", "StudioEventData": "Left"},
        {**common, **eyes, "RecordingTimestamp": 36, "GazePointIndex": 3, "ValidityLeft": 4, "ValidityRight": 0},
    ]
    reading = read(export(tmp_path, rows, STUDIO))
    [recording] = reading.recordings
    assert recording.key == Key("P01", "face.jpg", "Rec 01", "1")
    assert recording.geometry == screen(1280, 1024)
    np.testing.assert_array_equal(recording.t, [0.003, 0.019, 0.036])
    assert recording.left is not None
    np.testing.assert_array_equal(recording.left.tracked, [True, False, False])
    assert recording.pupil is not None
    np.testing.assert_allclose(recording.pupil, 2.7)
    assert recording.events.select("kind", "onset", "text").rows() == [("message", 0.025, "MouseClick: Left")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_exports_come_in_several_encodings(tmp_path: Path, encoding: str) -> None:
    path = export(tmp_path, [sample(0, who="Zoë"), sample(8333, who="Zoë")], encoding=encoding)
    assert find_format(path) == "tobii-tsv"
    assert read(path).recordings[0].observer == "Zoë"


def test_decimal_commas_are_decimal_marks(tmp_path: Path) -> None:
    rows = [
        sample(8333 * i, **{"Gaze point X [DACS px]": "100,25", "Pupil diameter left [mm]": "3,14"}) for i in range(2)
    ]
    [recording] = read_rows(tmp_path, rows).recordings
    assert recording.x[0] == 100.25
    assert recording.pupil is not None
    assert recording.pupil[0] == 3.14


def test_rows_of_other_sensors_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [sample(0), sample(5, Sensor="Mouse"), sample(6, Sensor="GSR"), sample(7, Sensor="Mouse"), sample(8333)]
    reading = read_rows(tmp_path, rows)
    assert len(reading.recordings[0]) == 2
    assert reading.report.remarks == {
        "rows of the sensor 'Mouse' were left out": 2,
        "rows of the sensor 'GSR' were left out": 1,
    }


def test_each_presentation_of_a_stimulus_is_a_trial(tmp_path: Path) -> None:
    shown = ["cross", "cross", "img", "cross", "img", "", "img"]
    rows = [sample(8333 * i, stimulus=stimulus) for i, stimulus in enumerate(shown)]
    keys = [recording.key[1::2] for recording in read_rows(tmp_path, rows).recordings]
    assert keys == [("cross", "1"), ("img", "1"), ("cross", "2"), ("img", "2"), ("", "1"), ("img", "3")]


def test_people_and_sessions_stay_apart(tmp_path: Path) -> None:
    people = [("a/b", "R1"), ("a/b", "R2"), ('c "d"', "R1")]
    rows = [sample(8333 * i, who=who, session=session) for who, session in people for i in range(2)]
    recordings = read_rows(tmp_path, rows).recordings
    assert [recording.key[::2] for recording in recordings] == people
    assert {len(recording) for recording in recordings} == {2}


def test_eye_movements_become_events(tmp_path: Path) -> None:
    rows = []
    for i, (kind, index) in enumerate(
        [("Fixation", 1), ("Fixation", 1), ("Saccade", 1), ("Unclassified", 1), ("Fixation", 2), ("Fixation", 3)]
    ):
        place = (
            {"Fixation point X [DACS px]": 50 + index, "Fixation point Y [DACS px]": 60} if kind == "Fixation" else {}
        )
        rows.append(sample(10000 * i, **{"Eye movement type": kind, "Eye movement type index": index, **place}))
    [recording] = read_rows(tmp_path, rows).recordings
    assert recording.events.select("kind", "onset", "offset", "x").rows() == [
        ("fixation", 0.0, 0.01, 51.0),
        ("saccade", 0.02, 0.02, None),
        ("fixation", 0.04, 0.04, 52.0),
        ("fixation", 0.05, 0.05, 53.0),
    ]
    assert recording.events["source"].unique().to_list() == ["tracker"]


def long_export(folder: Path) -> Path:
    """Many short presentations with fixations and messages, so that every kind of thing meets a chunk's border."""
    rows: list[dict[str, Any]] = []
    for i in range(3000):
        stimulus = "cross" if i % 100 < 30 else f"img{i // 100 % 3}"
        rows.append(
            sample(
                8333 * i,
                who=f"P{i // 1000}",
                stimulus=stimulus,
                **{
                    "Gaze point X [DACS px]": i % 1900,
                    "Eye movement type": "Fixation" if i % 20 < 12 else "Saccade",
                    "Eye movement type index": i // 20,
                    "Fixation point X [DACS px]": i // 20,
                },
            )
        )
        if i % 37 == 0:
            rows.append(message(8333 * i + 10, f"key {i}", who=f"P{i // 1000}", stimulus=stimulus))
    return export(folder, rows)


def test_chunks_do_not_change_what_is_read(tmp_path: Path) -> None:
    path = long_export(tmp_path)
    whole = read(path).recordings
    for chunk_rows in (1, 33, 500):
        pieces = read(path, chunk_rows=chunk_rows).recordings
        assert [recording.key for recording in pieces] == [recording.key for recording in whole]
        for mine, other in zip(whole, pieces, strict=True):
            assert mine.to_frame().equals(other.to_frame())
            assert mine.events.sort("onset", "kind").equals(other.events.sort("onset", "kind"))
    assert sum(recording.events.filter(kind="message").height for recording in whole) == 82


def test_messages_go_to_the_recording_around_them(tmp_path: Path) -> None:
    rows = [
        message(0, "RecordingStart", stimulus=""),
        sample(10, stimulus="a"),
        message(15, "during a", stimulus="a"),
        message(18, "end of a", stimulus="a"),
        message(19, "start of b", stimulus="b"),
        sample(8343, stimulus="b"),
        message(8350, "RecordingEnd", stimulus="", **{"Event value": "ok"}),
        message(1, "RecordingStart", stimulus="", who="P2"),
        sample(10, stimulus="b", who="P2"),
        message(20, "stray", stimulus="", who="P3"),
    ]
    reading = read_rows(tmp_path, rows)
    said = {recording.key[:2]: recording.events["text"].to_list() for recording in reading.recordings}
    assert said == {
        ("P1", "a"): ["RecordingStart", "during a", "end of a"],
        ("P1", "b"): ["start of b", "RecordingEnd: ok"],
        ("P2", "b"): ["RecordingStart"],
    }
    assert reading.report.remarks == {"messages outside any recording were left out": 1}


def test_gaze_on_media_takes_the_size_of_the_media(tmp_path: Path) -> None:
    header = ["Recording timestamp [ms]", "Sensor", "Gaze point X [MCS px]", "Gaze point Y [MCS px]"]
    header += ["Presented Media name", "Presented Media width [px]", "Presented Media height [px]"]
    rows = [
        {
            header[0]: 10 * i,
            "Sensor": "Eye Tracker",
            header[2]: 1,
            header[3]: 2,
            header[4]: name,
            header[5]: w,
            header[6]: h,
        }
        for i, (name, w, h) in enumerate([("a.png", 640, 480), ("b.png", 800, 600)])
    ]
    recordings = read(export(tmp_path, rows, header)).recordings
    assert [recording.geometry for recording in recordings] == [screen(640, 480), screen(800, 600)]


def test_normalised_gaze_is_a_fraction(tmp_path: Path) -> None:
    header = ["Recording timestamp [ms]", "Gaze point X [DACS norm]", "Gaze point Y [DACS norm]"]
    [recording] = read(export(tmp_path, [{header[0]: 0, header[1]: 0.5, header[2]: 0.25}], header)).recordings
    assert recording.geometry.unit is Unit.FRACTION
    assert recording.x[0] == 0.5


def test_the_physical_screen_comes_from_the_user_and_pixels_from_the_file(tmp_path: Path) -> None:
    given = screen(1, 1, 500, 300, 650)
    [recording] = read_rows(tmp_path, [sample(0)], geometry=given).recordings
    assert recording.geometry == screen(1920, 1080, 500, 300, 650)


def test_an_export_without_resolution_asks_for_it(tmp_path: Path) -> None:
    header = [name for name in PRO_LAB if "resolution" not in name]
    with pytest.raises(FileFormatError, match="screen's size in pixels") as caught:
        read(export(tmp_path, [sample(0)], header))
    assert "--screen" in caught.value.hint
    assert read(export(tmp_path, [sample(0)], header), geometry=screen(800, 600)).recordings[0].geometry == screen(
        800, 600
    )


def test_a_validity_that_is_none_is_a_bad_line(tmp_path: Path) -> None:
    rows = [sample(0), sample(8333, **{"Validity left": "maybe"}), sample(16666)]
    with pytest.raises(FileFormatError, match="line 3, column Validity left: expected Valid, Invalid"):
        read_rows(tmp_path, rows)
    assert len(read_rows(tmp_path, rows, skip_bad=True).recordings[0]) == 2


def test_a_sample_without_time_is_a_bad_line(tmp_path: Path) -> None:
    rows = [sample(0), {**sample(0), PRO_LAB[0]: ""}, sample(8333)]
    with pytest.raises(
        FileFormatError, match=r"line 3, column Recording timestamp \[μs\]: expected a time, found nothing"
    ):
        read_rows(tmp_path, rows)


def test_an_export_of_eye_movements_alone_says_what_is_missing(tmp_path: Path) -> None:
    header = ["Recording timestamp", "Sensor", "Participant name", "Eye movement type", "Fixation point X"]
    path = export(tmp_path, [{"Recording timestamp": 0, "Sensor": "Eye Tracker"}], header)
    assert find_format(path) == "tobii-tsv"
    with pytest.raises(FileFormatError, match=r"'Gaze point X \[DACS px\]'") as caught:
        read(path)
    assert "export the gaze point" in caught.value.hint


def test_a_screen_without_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="a screen that can exist"):
        read_rows(tmp_path, [sample(0, **{"Recording resolution width [px]": 0})])


STUDIO_2_PREAMBLE = (
    "System Properties:\nOperating System:\t Windows\n\nData properties:\n\nRecording name:\t Rec 7\n"
    "Recording resolution:\t 1280 x 1024\n\nParticipant:\t P9\nParticipant properties:\n\nHand:\t right\n\n"
)
STUDIO_2 = (
    "Timestamp\tNumber\tGazePointXLeft\tGazePointYLeft\tCamXLeft\tPupilLeft\tValidityLeft\tGazePointXRight\t"
    "GazePointYRight\tPupilRight\tValidityRight\tFixationIndex\tGazePointX\tGazePointY\tEvent\tDescriptor\tStimuliName\t\n"
)
STUDIO_2_ROWS = (
    "0\t\t\t\t\t\t\t\t\t\t\t\t\t\tKeyPress\tSpace\t\t\n"
    "16\t1\t600\t500\t0,4\t3,25\t0\t620\t510\t3,5\t0\t1\t610\t505\t\t\tshot\t\n"
    "33\t2\t-1280\t-1024\t-1\t-1\t4\t620\t510\t3,5\t0\t1\t620\t510\t\t\tshot\t\n"
    "50\t3\t-1280\t-1024\t-1\t-1\t4\t-1280\t-1024\t-1\t4\t\t0\t0\t\t\tshot\t\n"
    "66\t4\t0\t0\t0,4\t3,25\t0\t0\t0\t3,5\t0\t\t0\t0\t\t\tshot\t\n"
)


def studio_2(folder: Path, text: str) -> Path:
    path = folder / "All-Data.tsv"
    path.write_text(text, encoding="utf-8")
    return path


def test_studio_2_says_who_and_where_before_the_table(tmp_path: Path) -> None:
    path = studio_2(tmp_path, STUDIO_2_PREAMBLE + STUDIO_2 + STUDIO_2_ROWS)
    assert find_format(path) == "tobii-tsv"
    [recording] = read(path).recordings
    assert recording.key == Key("P9", "shot", "Rec 7", "1")
    assert recording.geometry == screen(1280, 1024)
    np.testing.assert_array_equal(recording.t, [0.016, 0.033, 0.05, 0.066])
    assert recording.events.filter(kind="message")["text"].to_list() == ["KeyPress: Space"]
    assert recording.events.filter(kind="fixation")["offset"].to_list() == [0.033]


def test_studio_2s_numbers_for_lost_gaze_are_no_gaze(tmp_path: Path) -> None:
    [recording] = read(studio_2(tmp_path, STUDIO_2_PREAMBLE + STUDIO_2 + STUDIO_2_ROWS)).recordings
    # the corner is gaze where Studio says that it found the eyes
    np.testing.assert_array_equal(recording.x, [610, 620, np.nan, 0])
    assert recording.left is not None
    np.testing.assert_array_equal(recording.left.x, [600, np.nan, np.nan, 0])
    assert recording.left.pupil is not None
    np.testing.assert_array_equal(recording.left.pupil, [3.25, np.nan, np.nan, 3.25])


def test_without_validity_the_corner_is_lost_gaze_in_studio_2(tmp_path: Path) -> None:
    text = (STUDIO_2 + STUDIO_2_ROWS).replace("ValidityLeft", "a").replace("ValidityRight", "b")
    [recording] = read(studio_2(tmp_path, text), geometry=screen(1280, 1024)).recordings
    np.testing.assert_array_equal(recording.x, [610, 620, np.nan, np.nan])


def test_bad_lines_after_a_preamble_are_counted_from_the_top_of_the_file(tmp_path: Path) -> None:
    text = STUDIO_2_PREAMBLE + STUDIO_2 + STUDIO_2_ROWS.replace("\t610\t", "\toops\t")
    with pytest.raises(FileFormatError, match="column GazePointX: expected a number") as caught:
        read(studio_2(tmp_path, text))
    assert caught.value.line == text[: text.index("oops")].count("\n") + 1


def test_a_preamble_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        read(studio_2(tmp_path, STUDIO_2_PREAMBLE), format="tobii-tsv")


@pytest.mark.parametrize("header", ["Timestamp\tEvent\tEventKey\t"])
def test_studio_2s_lists_of_events_are_refused_as_such(tmp_path: Path, header: str) -> None:
    path = studio_2(tmp_path, f"{STUDIO_2_PREAMBLE}{header}\n1\t26\t633\t\n")
    with pytest.raises(FileFormatError, match="Studio's list of events") as caught:
        read(path)
    assert "export all data" in caught.value.hint


def test_a_table_that_only_resembles_studio_2_is_not_taken_for_it(tmp_path: Path) -> None:
    text = "TimeStamp\tGazePointXLeft\tGazePointYLeft\tValidityLeft\tGazePointX\tGazePointY\n1\t2\t3\t1\t2\t3\n"
    with pytest.raises(FileFormatError, match="a column 'Recording timestamp"):
        read(studio_2(tmp_path, text), format="tobii-tsv")


def test_a_pupil_of_minus_one_is_none(tmp_path: Path) -> None:
    rows = [sample(0, **{"Pupil diameter left [mm]": -1}), sample(8333, **{"Pupil diameter left [mm]": 3})]
    [recording] = read_rows(tmp_path, rows).recordings
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [np.nan, 3])


def test_the_rate_comes_from_the_span_of_the_times_and_not_from_their_rounding(tmp_path: Path) -> None:
    header = ["Recording timestamp [ms]", "Gaze point X [DACS norm]", "Gaze point Y [DACS norm]"]
    times = [round(step * 1000 / 60) for step in range(600)]
    del times[100:130]
    rows = [{header[0]: time, header[1]: 0.5, header[2]: 0.5} for time in times]
    [recording] = read(export(tmp_path, rows, header)).recordings
    assert recording.rate == pytest.approx(60, rel=1e-3)


def test_a_row_for_each_fixation_is_no_table_of_samples(tmp_path: Path) -> None:
    path = tmp_path / "fixations.csv"
    header = "RecordingTimestamp;FixationIndex;GazeEventDuration(mS);GazePointIndex;GazePointX(px);GazePointY(px)\n"
    path.write_text(header + "".join(f"{200 * n};{n};150;{60 * n};{400 + n};300\n" for n in range(1, 30)))
    with pytest.raises(FileFormatError, match="found a row for each fixation"):
        read(path, geometry=screen(1920, 1080))
    path.write_text(header + "".join(f"{8 * n};{n // 20};150;{n};{400 + n};300\n" for n in range(1, 30)))
    [recording] = read(path, geometry=screen(1920, 1080)).recordings
    assert len(recording) == 29
