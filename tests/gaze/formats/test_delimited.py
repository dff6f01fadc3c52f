# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Generic CSV and TSV: columns by name or mapping, units, and what we write reads back exactly."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze import schema
from gazeveil.gaze.formats.base import FORMATS, Chunk, WritableFormat
from gazeveil.gaze.reading import Reading, find_format, read
from gazeveil.gaze.recording import Eye, Key, Recording
from gazeveil.geometry import headset, normalised, screen

SCREEN = screen(1000, 800, 400, 300, 600)


def read_text(folder: Path, text: str, name: str = "gaze.csv", **options: Any) -> Reading:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, format="csv", **{"geometry": SCREEN, **options})


def write_csv(recordings: Iterable[Recording], path: Path) -> None:
    writer = FORMATS["csv"]
    assert isinstance(writer, WritableFormat)
    writer.write([chunk_of(recording) for recording in recordings], path)


def chunk_of(recording: Recording) -> Chunk:
    return Chunk(recording.key, recording.to_frame(), recording.geometry, recording.events)


def test_common_names_are_understood(tmp_path: Path) -> None:
    text = "Subject,Image,Trial,time_ms,Gaze_X,Gaze_Y,Pupil Diameter\nP1,a.png,3,0,10,20,3.5\nP1,a.png,3,4,,,\n"
    [recording] = read_text(tmp_path, text).recordings
    assert recording.key == Key("P1", "a.png", "1", "3")
    np.testing.assert_array_equal(recording.t, [0.0, 0.004])
    np.testing.assert_array_equal(recording.x, [10.0, np.nan])
    np.testing.assert_array_equal(recording.tracked, [True, False])
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3.5, np.nan])
    assert recording.geometry == SCREEN


def test_both_eyes_make_the_gaze(tmp_path: Path) -> None:
    text = "t [s];left_x;left_y;right_x;right_y;right_valid\n0;1;1;3;3;1\n0,002;1;1;3;3;0\n"
    [recording] = read_text(tmp_path, text).recordings
    np.testing.assert_array_equal(recording.x, [2.0, 1.0])
    assert recording.right is not None
    np.testing.assert_array_equal(recording.right.tracked, [True, False])
    [right] = read_text(tmp_path, text, eye="right").recordings
    np.testing.assert_array_equal(right.x, [3.0, np.nan])


def test_a_mapping_says_which_column_is_which(tmp_path: Path) -> None:
    text = "when,across,down,time,who\n5,1,2,0,A\n6,3,4,1,A\n"
    columns = {"t": "when", "x": "across", "y": "down", "observer": "who"}
    reading = read_text(tmp_path, text, columns=columns, time_unit="ms")
    [recording] = reading.recordings
    np.testing.assert_array_equal(recording.t, [0.005, 0.006])
    assert recording.observer == "A"


def test_a_mapping_to_a_column_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="did you mean 'gaze_x1'"):
        read_text(tmp_path, "t,gaze_x1,y\n0,1,2\n", columns={"x": "gaze_x"})
    with pytest.raises(OptionError, match="we have no column 'z'"):
        read_text(tmp_path, "t,x,y\n0,1,2\n", columns={"z": "x"})


def test_a_table_without_gaze_says_what_it_has_and_how_to_map(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, "t,horizontal,vertical\n0,1,2\n")
    assert "'t', 'horizontal', 'vertical'" in caught.value.found
    assert "--column x=NAME" in caught.value.hint
    with pytest.raises(FileFormatError, match="a column of time"):
        read_text(tmp_path, "when,x,y\n0,1,2\n")
    with pytest.raises(FileFormatError, match="of the left eye"):
        read_text(tmp_path, "t,x,y\n0,1,2\n", eye="left")


def test_two_columns_that_could_be_it_are_not_guessed(tmp_path: Path) -> None:
    text = "time,timestamp,x,y\n0,1,2,3\n1,2,3,4\n"
    with pytest.raises(FileFormatError, match="one column for t, found 2: 'time', 'timestamp'"):
        read_text(tmp_path, text)
    assert len(read_text(tmp_path, text, columns={"t": "time"}).recordings[0]) == 2
    our_name_wins = "t,timestamp,x,y\n0,1,2,3\n1,2,3,4\n"
    assert len(read_text(tmp_path, our_name_wins).recordings[0]) == 2


def test_a_table_without_header_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="expected a header line"):
        read_text(tmp_path, "0,1.5,2\n1,2,3\n")


@pytest.mark.parametrize(
    ("header", "scale"),
    [("t [s]", 1.0), ("time_ms", 1e3), ("timestamp (us)", 1e6), ("timestamp [μs]", 1e6), ("time_ns", 1e9)],
)
def test_the_unit_of_time_stands_in_the_header(tmp_path: Path, header: str, scale: float) -> None:
    reading = read_text(tmp_path, f"{header},x,y\n100,1,2\n900,1,2\n")
    np.testing.assert_array_equal(reading.recordings[0].t, [100 / scale, 900 / scale])
    assert not reading.report.remarks


def test_the_unit_of_time_is_guessed_from_the_step_and_told(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "t,x,y\n0,1,2\n4,1,2\n8,1,2\n")
    np.testing.assert_array_equal(reading.recordings[0].t, [0.0, 0.004, 0.008])
    assert "taken to be in ms" in next(iter(reading.report.remarks))


@pytest.mark.parametrize("rows", ["0,1,2\n", "0,1,2\n300,1,2\n600,1,2\n"], ids=["one sample", "odd step"])
def test_an_unclear_unit_of_time_is_asked_for(tmp_path: Path, rows: str) -> None:
    with pytest.raises(FileFormatError, match="tell the unit of time") as caught:
        read_text(tmp_path, f"t,x,y\n{rows}")
    assert "--time-unit" in caught.value.hint
    assert read_text(tmp_path, f"t,x,y\n{rows}", time_unit="ms").recordings


def test_what_x_and_y_are_has_to_be_known(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="what x and y are") as caught:
        read_text(tmp_path, "time_ms,x,y\n0,1,2\n", geometry=None)
    assert "--screen 1920x1080" in caught.value.hint
    with pytest.raises(FileFormatError, match="what x and y are"):
        read_text(tmp_path, "time_ms,x_px,y_px\n0,1,2\n", geometry=None)


def test_a_unit_in_the_header_wins_and_says_enough(tmp_path: Path) -> None:
    text = "time_ms,x [deg],y [deg]\n0,1,2\n"
    assert read_text(tmp_path, text, geometry=None).recordings[0].geometry == headset()
    assert read_text(tmp_path, text, geometry=SCREEN).recordings[0].geometry == SCREEN.in_unit("deg")
    with pytest.raises(FileFormatError, match="expected gaze in deg, found columns in px"):
        read_text(tmp_path, "time_ms,x_px,y_px\n0,1,2\n", geometry=headset())
    with pytest.raises(FileFormatError, match="one unit for x and y, found deg and px"):
        read_text(tmp_path, "time_ms,x_px,y_deg\n0,1,2\n")


@pytest.mark.parametrize(("geometry", "flipped"), [(SCREEN, 790.0), (normalised(), -9.0), (headset(), -10.0)])
def test_y_that_grows_upwards_is_turned(tmp_path: Path, geometry: Any, flipped: float) -> None:
    [recording] = read_text(
        tmp_path, "time_ms,x,y,left_x,left_y\n0,1,10,1,10\n", y_up=True, geometry=geometry
    ).recordings
    assert recording.y[0] == flipped
    assert recording.left is not None
    assert recording.left.y[0] == flipped


def test_several_people_in_one_table_stay_apart(tmp_path: Path) -> None:
    text = 'observer,time_ms,x,y\n"a/b, ""c""",0,1,2\n"a/b, ""c""",1,1,2\nd,0,3,4\n'
    recordings = read_text(tmp_path, text).recordings
    assert [(recording.observer, len(recording)) for recording in recordings] == [('a/b, "c"', 2), ("d", 1)]


def test_rows_of_people_in_turn_are_refused_not_mixed(tmp_path: Path) -> None:
    text = "observer,time_ms,x,y\n" + "a,0,1,2\nb,0,3,4\n" * 3
    with pytest.raises(FileFormatError, match="line 4: expected the rows of each recording together") as caught:
        read_text(tmp_path, text)
    assert "sort the file" in caught.value.hint


def test_a_row_without_observer_is_bad_where_others_have_one(tmp_path: Path) -> None:
    text = "observer,time_ms,x,y\na,0,1,2\n,1,3,4\na,2,5,6\n"
    with pytest.raises(FileFormatError, match="line 3, column observer: expected who looked, found nothing"):
        read_text(tmp_path, text)
    reading = read_text(tmp_path, text, skip_bad=True)
    assert len(reading.recordings[0]) == 2
    assert reading.report.bad_lines == 1


def test_a_validity_that_is_neither_is_bad(tmp_path: Path) -> None:
    text = "time_ms,x,y,valid\n0,1,2,true\n1,1,2,No\n2,1,2,\n3,1,2,perhaps\n"
    with pytest.raises(FileFormatError, match="line 5, column valid: expected true or false, found 'perhaps'"):
        read_text(tmp_path, text)
    [recording] = read_text(tmp_path, text, skip_bad=True).recordings
    np.testing.assert_array_equal(recording.tracked, [True, False, False])


def test_validity_codes_are_not_guessed(tmp_path: Path) -> None:
    text = "time_ms,x,y,Validity\n0,1,2,0\n1,1,2,4\n"
    reading = read_text(tmp_path, text)
    np.testing.assert_array_equal(reading.recordings[0].tracked, [True, True])
    assert "the column 'Validity' is not used" in next(iter(reading.report.remarks))
    with pytest.raises(FileFormatError, match="expected true or false, found '4'"):
        read_text(tmp_path, text, columns={"valid": "Validity"})


def test_labels_come_from_the_options_and_the_name_where_the_file_is_silent(tmp_path: Path) -> None:
    text = "time_ms,x,y\n0,1,2\n"
    assert read_text(tmp_path, text, name="anna.b.csv").recordings[0].key == Key("anna", "", "1", "1")
    labels = {"observer": "o", "stimulus": "s", "session": "2", "trial": "t"}
    assert read_text(tmp_path, text, **labels).recordings[0].key == Key("o", "s", "2", "t")


def test_odd_names_are_asked_for_in_one_line(tmp_path: Path) -> None:
    text = "SubjCode,PicFile,Clock,EyeH,EyeV\nVP01,a.png,0,1,2\nVP02,a.png,0,3,4\n"
    with pytest.raises(FileFormatError) as error:
        read_text(tmp_path, text)
    asked = [f"--column {name}=NAME" for name in ("t", "x", "y", "observer", "stimulus")]
    assert error.value.hint == f"say which column is which: {' '.join(asked)}"


@pytest.mark.parametrize(("ours", "told"), [("observer", "participant"), ("stimulus", "stimulus")])
def test_a_column_that_may_hold_a_label_is_not_passed_over_in_silence(tmp_path: Path, ours: str, told: str) -> None:
    known = {"observer": "one", "stimulus": "one"}
    del known[ours]
    text = "Code,time_ms,x,y\nVP01,0,1,2\nVP01,4,3,4\n"
    [remark] = read_text(tmp_path, text, **known).report.remarks
    assert f"no column names the {told}, so all rows count as of one; is it one of 'Code'?" in remark
    assert f"add --column {ours}=NAME" in remark
    assert not read_text(tmp_path, text, **known, columns={ours: "Code"}).report.remarks


def test_negative_times_are_times_and_time_faults_are_counted(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "time_ms,x,y\n-4,1,2\n-2,1,2\n-2,1,2\n-3,1,2\n")
    np.testing.assert_array_equal(reading.recordings[0].t, [-0.004, -0.002, -0.002, -0.003])
    assert (reading.report.time_backwards, reading.report.time_repeated) == (1, 1)


def test_it_is_asked_last_and_claims_tables_only(tmp_path: Path) -> None:
    assert FORMATS["csv"].priority > max(form.priority for form in FORMATS.values() if form is not FORMATS["csv"])
    table = tmp_path / "table.txt"
    table.write_text("# by hand\na b c\n1 2 3\n")
    assert find_format(table) == "csv"
    assert not FORMATS["csv"].sniff(table, b"\x89PNG\0,,,\n")
    assert not FORMATS["csv"].sniff(table, b"just words\n")


# writing

RECORDING = Recording(
    [0.1, 0.2, 0.3],  # type: ignore[arg-type]
    [1.0, 2.0, np.nan],  # type: ignore[arg-type]
    [1.5, 2.5, np.nan],  # type: ignore[arg-type]
    SCREEN,
    observer="anna",
    stimulus="a.png",
)


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    write_csv([RECORDING], tmp_path / name)
    reading = read(tmp_path / name, geometry=SCREEN)
    assert reading.format == "csv"
    assert not reading.report.remarks
    assert reading.recordings[0].equals(RECORDING)


def test_the_columns_are_ours(tmp_path: Path) -> None:
    write_csv([RECORDING], tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == [
        "observer,stimulus,session,trial,t,x,y,valid",
        "anna,a.png,1,1,0.1,1.0,1.5,true",
        "anna,a.png,1,1,0.2,2.0,2.5,true",
        "anna,a.png,1,1,0.3,,,false",
    ]


def test_a_packed_file_is_the_same_every_time(tmp_path: Path) -> None:
    write_csv([RECORDING], tmp_path / "a.csv.gz")
    write_csv([RECORDING], tmp_path / "b.csv.gz")
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).startswith(b"observer,")


def recording_with(**changes: Any) -> Recording:
    fields: dict[str, Any] = {"t": [0.0], "x": [1.0], "y": [2.0], "geometry": SCREEN, "observer": "o", **changes}
    return Recording(**fields)


@pytest.mark.parametrize(
    ("recordings", "message"),
    [
        ([], "nothing to write"),
        ([recording_with(observer="two\nlines")], "line break"),
        ([recording_with(stimulus="a\rb")], "line break"),
        ([recording_with(t=[np.inf])], "not finite"),
        ([recording_with(pupil=[np.inf])], "not finite"),
        ([recording_with(), recording_with(observer="p", geometry=headset())], "one viewing plane"),
        ([recording_with(), recording_with(observer="p", pupil=[1.0])], "columns that the first has not: pupil"),
    ],
    ids=["nothing", "line feed", "return", "infinite time", "infinite pupil", "two viewing planes", "more columns"],
)
def test_what_a_table_cannot_hold_is_refused_and_leaves_nothing(
    tmp_path: Path, recordings: list[Recording], message: str
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("what was there")
    with pytest.raises(InputError, match=message):
        write_csv(recordings, target)
    assert target.read_text() == "what was there"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


LABEL = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=8)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
TIME = st.floats(-1e300, 1e300)
MAYBE = NUMBER | st.just(float("nan"))


@st.composite
def some_recordings(draw: st.DrawFn) -> list[Recording]:
    keys = draw(st.lists(st.tuples(LABEL.filter(bool), LABEL, LABEL, LABEL), min_size=1, max_size=4, unique=True))
    with_pupil, with_eyes = draw(st.booleans()), draw(st.booleans())

    def column(length: int, of: st.SearchStrategy[Any]) -> Any:
        return np.array(draw(st.lists(of, min_size=length, max_size=length)))

    recordings = []
    for key in keys:
        length = draw(st.integers(1, 20))
        eyes: dict[str, Any] = {}
        if with_eyes:
            eyes = {
                side: Eye(
                    column(length, MAYBE),
                    column(length, MAYBE),
                    column(length, st.booleans()),
                    column(length, MAYBE) if with_pupil else None,
                )
                for side in ("left", "right")
            }
        recordings.append(
            Recording(
                column(length, TIME),
                column(length, MAYBE),
                column(length, MAYBE),
                SCREEN,
                *key,
                valid=column(length, st.booleans()),
                pupil=column(length, MAYBE) if with_pupil else None,
                **eyes,
            )
        )
    return recordings


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(recordings=some_recordings(), tabs=st.booleans(), chunk_rows=st.integers(1, 40))
def test_any_recordings_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, recordings: list[Recording], tabs: bool, chunk_rows: int
) -> None:
    path = tmp_path_factory.mktemp("round") / ("gaze.tsv" if tabs else "gaze.csv")
    write_csv(recordings, path)
    back = read(path, format="csv", geometry=SCREEN, chunk_rows=chunk_rows).recordings
    assert len(back) == len(recordings)
    for mine, other in zip(recordings, back, strict=True):
        assert other.key == mine.key
        assert other.equals(mine)


def test_every_column_of_ours_has_spellings() -> None:
    from gazeveil.gaze.formats.delimited import SPELLINGS

    assert set(SPELLINGS) == {*schema.KEYS, *schema.SAMPLES} - {schema.DURATION}  # which only lists of fixations have
