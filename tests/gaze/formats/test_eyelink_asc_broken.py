# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC: what is broken is named by its line or dropped and counted, and nothing is invented."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Recording, read
from gazeveil.errors import FileFormatError, GazeveilError
from tests.gaze.formats.eyelink_files import COORDS, PREAMBLE, asc, block, header, only, read_text, same, samples

BROKEN_SAMPLES = [
    ("1001\t 1.0\t 2.0\t...", None, "5 fields"),
    ("1001\t 1.0\t 2.0\t 3.0\t 4.0\t...", None, "5 fields"),
    ("1001\t 1.0\t 2.0\t 3.0", None, "5 fields"),
    ("1001", None, "5 fields"),
    ("1001\t abc\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("1001\t 1.0\t 2.0.1\t 3.0\t...", "left y", "a number or a dot"),
    ("1001\t 1.0\t inf\t 3.0\t...", "left y", "a number or a dot"),
    ("1001\t 1.0\t 2.0\t 1e999\t...", "left pupil", "a number or a dot"),
    ("1001\t 1_0\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("1001\t 1,5\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("1001\t ٣\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("1001\t --1\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("1001\t -.\t 2.0\t 3.0\t...", "left x", "a number or a dot"),
    ("10x1\t 1.0\t 2.0\t 3.0\t...", "time", "a number"),
    ("1001\t 1.0\t 2.0\t 3.0\t....", "flags", "3 dots or capitals"),
    ("1001\t 1.0\t 2.0\t 3.0\t.c.", "flags", "3 dots or capitals"),
    ("1001\t 1.0\t 2.0\t 3.0\t...1002\t 1.0\t 2.0\t 3.0\t...", None, "5 fields"),
    ("1001\x0b 1.0\t 2.0\t 3.0\t...", "time", "a number"),
    ("-1001\t 1.0\t 2.0\t 3.0\t...", None, "a sample, an event or a message"),
    (" 1001\t 1.0\t 2.0\t 3.0\t...", None, "a sample, an event or a message"),
    ("NaN\t 1.0\t 2.0\t 3.0\t...", None, "a sample, an event or a message"),
    ("what is this", None, "a sample, an event or a message"),
]


@pytest.mark.parametrize(("line", "column", "expected"), BROKEN_SAMPLES)
def test_a_broken_sample_line_is_named_or_dropped_and_counted(
    tmp_path: Path, line: str, column: str | None, expected: str
) -> None:
    text = COORDS + block(samples(1000, 2) + line + "\n" + samples(1002, 2))
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text)
    assert (caught.value.line, caught.value.column) == (10, column)
    assert caught.value.expected.startswith(expected)
    assert "--skip-bad" in caught.value.hint
    reading = read_text(tmp_path, text, skip_bad=True)
    assert reading.report.bad_lines == 1
    assert reading.report.first_bad[0].line == 10
    assert same(only(reading).t, [1.0, 1.001, 1.002, 1.003])
    assert same(only(reading).x, [100.5, 101.5, 100.5, 101.5])


@pytest.mark.parametrize(
    ("tail", "column"),
    [
        ("\t 1.0\t 2.0\t x.0\t.............", "head target"),
        ("\t 1.0\t 2.0\t 3.0\t............", "head target flags"),
        ("\t 1.0\t 2.0\t.............", None),
        ("", None),
    ],
)
def test_a_broken_head_target_is_named_or_dropped_and_counted(tmp_path: Path, tail: str, column: str | None) -> None:
    remote = samples(1000, 2).replace("\t...", "\t...\t 5172.0\t 3402.0\t  676.0 .............")
    broken = f"1002\t 1.0\t 2.0\t 3.0\t...{tail}\n"
    text = COORDS + block(remote + broken + remote, options="\tHTARGET")
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text)
    assert (caught.value.line, caught.value.column) == (10, column)
    reading = read_text(tmp_path, text, skip_bad=True)
    assert (len(only(reading)), reading.report.bad_lines) == (4, 1)


BROKEN_LINES = [
    ("EFIX L 1000 1009 10 1.0 2.0", None),
    ("EFIX L 1000 1009 10 1.0 2.0 3 4", None),
    ("EFIX X 1000 1009 10 1.0 2.0 3", "eye"),
    ("EFIX L 1000 1009 10 1.0 abc 3", "y"),
    ("EFIX L 1000 1009 10 1.0 1_0 3", "y"),
    ("EFIX L 1000 1009 10 1.0 2.0 inf", "pupil"),
    ("EFIX L . 1009 10 1.0 2.0 3", "start time"),
    ("EFIX L 1009 1000 10 1.0 2.0 3", "end time"),
    ("ESACC L 1000 1009 10 1.0 2.0 3.0 4.0 5.0", None),
    ("ESACC L 1000 1009 10 1.0 2.0 3.0 4.0 5.0 1.2.3", "peak velocity"),
    ("EBLINK L 1000", None),
    ("EBLINK L 1000 nan 9", "end time"),
    ("MSG\tsoon hello", "time"),
    ("MSG", "time"),
    ("BUTTON\t. 2 1", "time"),
    ("INPUT", "time"),
    ("EFIXL 1000", None),
]


@pytest.mark.parametrize(("line", "column"), BROKEN_LINES)
def test_a_broken_event_or_message_is_named_or_dropped_and_counted(
    tmp_path: Path, line: str, column: str | None
) -> None:
    text = COORDS + block(samples(1000, 2) + line + "\n" + samples(1002, 2))
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text)
    assert (caught.value.line, caught.value.column) == (10, column)
    reading = read_text(tmp_path, text, skip_bad=True)
    assert (reading.report.bad_lines, len(only(reading))) == (1, 4)
    assert only(reading).events["kind"].to_list() == ["message"]


def test_binary_garbage_in_the_middle_is_found_on_its_line(tmp_path: Path) -> None:
    begin = COORDS + header() + samples(1000, 3000)
    text = begin.encode() + b"4000\t\xff\x00\x17\t 2.0\t 3.0\t...\n" + samples(4001, 2).encode()
    path = asc(tmp_path, text + b"END\t5000\n")
    with pytest.raises(FileFormatError) as caught:
        read(path)
    assert caught.value.line == 3008
    reading = read(path, skip_bad=True)
    assert (len(only(reading)), reading.report.bad_lines) == (3002, 1)


@pytest.mark.parametrize("kind", ["HREF", "PUPIL"])
def test_positions_that_are_not_on_a_screen_are_refused(tmp_path: Path, kind: str) -> None:
    text = COORDS + block(samples(), kind=kind)
    with pytest.raises(FileFormatError, match="expected GAZE") as caught:
        read_text(tmp_path, text)
    assert (caught.value.line, caught.value.found) == (7, kind)
    assert "edf2asc -sg" in caught.value.hint
    with pytest.raises(FileFormatError, match="none that can be read"):
        read_text(tmp_path, text, skip_bad=True)
    reading = read_text(tmp_path, text + block(samples(3000)), skip_bad=True)
    assert only(reading).t[0] == 3.0
    assert reading.report.bad_lines == 4


@pytest.mark.parametrize(
    ("found", "replaced", "column"),
    [
        ("SAMPLES\tGAZE", "SAMPLES\tGAZZ", "position type"),
        ("SAMPLES\tGAZE\tLEFT", "SAMPLES\tGAZE\tNEITHER", "eyes"),
        ("SAMPLES\tGAZE\tLEFT\tRATE\t1000.00", "SAMPLES\tGAZE\tLEFT\tRATE\t-3", "RATE"),
        ("PRESCALER\t1\nV", "PRESCALER\t10\nV", "PRESCALER"),
        ("START\t1000", "START\tnow", "time"),
        ("START\t1000 \tLEFT", "START\t1000 \t", "eyes"),
    ],
)
def test_a_header_that_cannot_be_is_refused(tmp_path: Path, found: str, replaced: str, column: str) -> None:
    text = COORDS + block(samples())
    assert found in text
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text.replace(found, replaced))
    assert caught.value.column == column


@pytest.mark.parametrize("flags", ["\t.....", ""])
@pytest.mark.parametrize("declared", ["RIGHT", "LEFT"])
def test_a_block_whose_lines_disagree_about_the_eyes_is_refused(tmp_path: Path, flags: str, declared: str) -> None:
    lines = f"1000\t 1.0\t 2.0\t 3.0\t 4.0\t 5.0\t 6.0{flags}\n" * 3
    text = header("LEFT RIGHT").replace("SAMPLES\tGAZE\tLEFT\tRIGHT", f"SAMPLES\tGAZE\t{declared}") + lines
    with pytest.raises(FileFormatError, match="expected 4 numbers in a sample line, found 7 numbers") as caught:
        read_text(tmp_path, COORDS + text)
    assert caught.value.line == 8
    reading = read_text(tmp_path, COORDS + text + block(samples()), skip_bad=True)
    assert (reading.report.bad_lines, len(only(reading))) == (3, 3)
    with pytest.raises(FileFormatError, match="expected 7 numbers in a sample line, found 4 numbers"):
        read_text(tmp_path, COORDS + block(samples(), "LEFT RIGHT"))


def test_a_first_line_that_is_broken_does_not_spoil_its_block(tmp_path: Path) -> None:
    for broken in ("1000\t 1.0\n", "1000\t 1.0\t 2.0\t 3.0\n", "1000 garbage\n", "1000\t..\n"):
        text = COORDS + block(broken + samples(1001, 5))
        with pytest.raises(FileFormatError) as caught:
            read_text(tmp_path, text)
        assert caught.value.line == 8
        reading = read_text(tmp_path, text, skip_bad=True)
        assert (len(only(reading)), reading.report.bad_lines) == (5, 1)
    nothing_else = COORDS + block("1000 garbage\n" * 9)
    with pytest.raises(FileFormatError, match="9 bad lines"):
        read_text(tmp_path, nothing_else, skip_bad=True)


@pytest.mark.parametrize("cut", range(1, len("1003\t  103.5\t  200.5\t  441.0\t...")))
def test_a_last_line_that_is_cut_off_is_found_wherever_the_cut_is(tmp_path: Path, cut: int) -> None:
    text = COORDS + header() + samples(1000, 3) + "1003\t  103.5\t  200.5\t  441.0\t..."[:cut]
    with pytest.raises(FileFormatError) as caught:
        read_text(tmp_path, text)
    assert caught.value.line == 11
    reading = read_text(tmp_path, text, skip_bad=True)
    assert (len(only(reading)), reading.report.bad_lines) == (3, 1)
    assert any("no END" in remark for remark in reading.report.remarks)


@pytest.mark.parametrize(
    "last", ["1001 1.0 2.0 44", "1001 1.0 2.0 441.0", "EFIX L 1000 1002 3 1.0 2.0 4", "INPUT 1002 12"]
)
def test_a_last_number_that_may_have_lost_digits_is_not_believed(tmp_path: Path, last: str) -> None:
    text = COORDS + header() + "1000 1.0 2.0 441.0\n" + last
    with pytest.raises(FileFormatError, match="expected a line end") as caught:
        read_text(tmp_path, text)
    assert caught.value.line == 9
    assert "cut off" in caught.value.hint
    assert len(only(read_text(tmp_path, text, skip_bad=True))) == 1


def test_a_last_line_that_is_whole_but_for_its_end_is_read(tmp_path: Path) -> None:
    assert len(only(read_text(tmp_path, (COORDS + header() + samples())[:-1]))) == 3
    assert len(only(read_text(tmp_path, (COORDS + block(samples()))[:-1]))) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        (PREAMBLE, "expected samples, found none"),
        (PREAMBLE + COORDS + header(), "expected samples, found none"),
        (PREAMBLE + COORDS + block("EFIX L 1000 1009 10 1.0 2.0 3\n"), "expected samples, found none"),
        ("\n\n\n", "expected samples, found none"),
    ],
)
def test_a_file_without_samples_says_so(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_text(tmp_path, text)


def test_a_block_without_samples_among_others_is_left_out_and_remarked(tmp_path: Path) -> None:
    reading = read_text(tmp_path, COORDS + block(samples()) + block("") + block(samples(3000)))
    assert [item.trial for item in reading.recordings] == ["1", "3"]
    assert reading.report.remarks["a recording block without samples was left out"] == 1


EVENT_LINES = """\
SFIX L   1000
EFIX L   1000\t1009\t10\t  512.3\t  400.1\t   1107
SSACC R  1010
ESACC R  1010\t1030\t21\t  512.3\t  400.1\t  700.0\t  410.5\t   4.02\t    253
ESACC L  1010\t1030\t21\t   .\t   .\t  700.0\t  410.5\t   4.02\t      .
SBLINK L 1012
EBLINK L 1012\t1020\t9
MSG\t1005.5 hello  wörld \t
BUTTON\t1006\t2\t1
INPUT\t1007\t127
MSG\t1008
"""


Row = tuple[float | None, ...]


def rows_of(recording: Recording) -> list[Row]:
    """Return what each eye saw at each sample, and how many columns tell it."""
    frame = recording.to_frame().select("t", "^(left|right)_.*$").fill_nan(None)
    return [(len(frame.columns), *row) for row in frame.iter_rows()]


BINOCULAR = "".join(
    f"{1000 + step}\t {step}1.5\t {step}2.5\t {step}3.0\t {step}4.5\t {step}5.5\t {step}6.0\t.....\n"
    for step in range(8)
)
SOUND = (
    COORDS
    + block(BINOCULAR + EVENT_LINES + BINOCULAR.replace("\n10", "\n11").replace("1000", "1100", 1), "LEFT RIGHT")
    + block(samples(3000, 5).replace("...", "C.R"), "RIGHT")
)


@pytest.fixture(scope="module")
def sound_rows(tmp_path_factory: pytest.TempPathFactory) -> set[Row]:
    reading = read_text(tmp_path_factory.mktemp("sound"), SOUND)
    return {row for recording in reading.recordings for row in rows_of(recording)}


@settings(max_examples=400, deadline=None)
@given(
    start=st.integers(len(COORDS), len(SOUND)),
    removed=st.integers(0, 30),
    inserted=st.binary(max_size=4) | st.sampled_from([b"\n", b"\r", b"\t", b" ", b".", b"9", b"\n1", b"END\n", b"-"]),
)
def test_damage_gives_a_clear_error_and_skipping_it_never_invents_samples(
    sound_rows: set[Row], tmp_path_factory: pytest.TempPathFactory, start: int, removed: int, inserted: bytes
) -> None:
    sound = SOUND.encode()
    damaged = sound[:start] + inserted + sound[start + removed :]
    path = asc(tmp_path_factory.getbasetemp(), damaged, "damaged.asc")
    with suppress(GazeveilError):
        read(path, format="eyelink-asc")
    try:
        recordings = read(path, format="eyelink-asc", skip_bad=True).recordings
    except GazeveilError:
        return  # binary data, or nothing left
    sound_lines = set(sound.split(b"\n"))
    touched = [line for line in damaged.replace(b"\r", b"\n").split(b"\n") if line not in sound_lines]
    invented = [row for recording in recordings for row in rows_of(recording) if row not in sound_rows]
    assert len(invented) <= sum(line[:1].isdigit() for line in touched)
    assert sum(len(recording) for recording in recordings) <= len(sound_rows)
