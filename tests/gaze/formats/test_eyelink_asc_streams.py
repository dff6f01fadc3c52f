# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""EyeLink ASC: files of any make, in chunks of any size, read as they were written."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazeveil import read, screen
from gazeveil.errors import FileFormatError
from gazeveil.gaze import schema
from gazeveil.gaze.fileio import eyelink, text_kernels
from gazeveil.gaze.fileio.eyelink import seconds_of
from gazeveil.gaze.formats import eyelink_asc
from gazeveil.gaze.formats.base import FORMATS, Chunk, ReadOptions, ReadReport
from gazeveil.gaze.reading import find_format
from tests.gaze.formats.eyelink_files import COORDS, PREAMBLE, asc, block, header, only, read_text, same, samples


def test_samples_without_any_header_are_read(tmp_path: Path) -> None:
    desk = screen(1920, 1080)
    reading = read_text(tmp_path, samples(), geometry=desk)
    assert only(reading).left is None
    assert only(reading).right is None
    assert same(only(reading).x, [100.5, 101.5, 102.5])
    assert list(reading.report.remarks) == ["the file does not say which eyes were tracked"]
    assert same(only(read_text(tmp_path, samples(), geometry=desk, eye="left")).x, [100.5, 101.5, 102.5])
    both = "1000\t 1.0\t 2.0\t 3.0\t 4.0\t 5.0\t 6.0\t.....\n"
    assert only(read_text(tmp_path, both, geometry=desk)).right is not None
    assert only(read_text(tmp_path, both.replace("\t.....", ""), geometry=desk)).right is not None
    with pytest.raises(FileFormatError, match="numbers in a sample line"):
        read_text(tmp_path, "1000 1.0 2.0 3.0 4.0 5.0\n" * 3, geometry=desk)


def test_samples_outside_of_blocks_are_kept(tmp_path: Path) -> None:
    text = COORDS + block(samples(1000)) + samples(1003) + block(samples(3000))
    one, two = read_text(tmp_path, text).recordings
    assert (len(one), len(two)) == (6, 3)
    no_start = "\n".join(line for line in (COORDS + block(samples())).split("\n") if not line.startswith("START"))
    assert len(only(read_text(tmp_path, no_start))) == 3


def test_without_a_samples_line_the_start_line_names_the_eyes(tmp_path: Path) -> None:
    text = "\n".join(line for line in (COORDS + block(samples())).split("\n") if not line.startswith("SAMPLES"))
    recording = only(read_text(tmp_path, text))
    assert (recording.left is not None, recording.right is not None) == (True, False)
    assert same(recording.x, [100.5, 101.5, 102.5])


def test_a_second_samples_line_begins_another_trial(tmp_path: Path) -> None:
    again = "SAMPLES\tGAZE\tLEFT\tRIGHT\tRATE\t500.00\n1003\t 1.0\t 2.0\t 3.0\t 4.0\t 5.0\t 6.0\t.....\n"
    one, two = read_text(tmp_path, COORDS + block(samples() + again)).recordings
    assert (one.right, one.rate_hz) == (None, 1000.0)
    assert two.right is not None
    assert two.rate_hz == 500.0


def test_the_rate_is_taken_from_the_trackers_configuration_if_need_be(tmp_path: Path) -> None:
    text = block(samples()).replace("RATE\t1000.00\t", "")
    assert only(read_text(tmp_path, COORDS + text)).rate_hz is None
    assert only(read_text(tmp_path, COORDS + "MSG\t995 RECCFG CR 250 2 1 L\n" + text)).rate_hz == 250.0


def test_comments_blank_lines_and_text_between_blocks_are_passed_over(tmp_path: Path) -> None:
    text = PREAMBLE + "free text\n" + COORDS + block("\n# one\n; two\n/ three\n   \n" + samples()) + "more text\n"
    reading = read_text(tmp_path, text)
    assert (len(only(reading)), reading.report.bad_lines) == (3, 0)


@pytest.mark.parametrize("make", ["crlf", "cr", "gzip", "utf-8-sig", "utf-16", "latin-1"])
def test_line_ends_packing_and_encoding_do_not_matter(tmp_path: Path, make: str) -> None:
    text = PREAMBLE + COORDS + block(samples() + "MSG\t1003 größer\n")
    content = {
        "crlf": text.replace("\n", "\r\n").encode(),
        "cr": text.replace("\n", "\r").encode(),
        "gzip": gzip.compress(text.encode()),
        "utf-8-sig": text.encode("utf-8-sig"),
        "utf-16": text.encode("utf-16"),
        "latin-1": text.encode("latin-1"),
    }[make]
    path = asc(tmp_path, content, "ann.asc.gz" if make == "gzip" else "ann.asc")
    assert find_format(path) == "eyelink-asc"
    recording = only(read(path, encoding="latin-1" if make == "latin-1" else "utf-8"))
    assert recording.equals(only(read(asc(tmp_path, text))))
    assert recording.events["text"].to_list()[-1] == "größer"


@pytest.mark.parametrize(
    ("name", "text", "is_ours"),
    [
        ("ann.asc", PREAMBLE, True),
        ("ann.txt", COORDS + header(), True),
        ("ann.asc", samples(), True),
        ("ann.asc.gz", samples(), True),
        ("ann.txt", samples(), False),
        ("ann.asc", "t,x,y\n1,2,3\n", False),
        ("ann.tsv", "Recording timestamp\tGaze point X\n1\t2\n", False),
        ("ann.csv", "START,END\n1,2\n", False),
        ("ann.asc", "", False),
    ],
)
def test_its_files_are_recognised(name: str, text: str, is_ours: bool) -> None:
    assert FORMATS["eyelink-asc"].sniff(Path(name), text.encode()) is is_ours


def chunks_of(path: Path, **options: Any) -> list[Chunk]:
    return list(FORMATS["eyelink-asc"].read(path, ReadOptions(**options), ReadReport()))


@pytest.mark.parametrize("chunk_rows", [1, 7, 100, 10**9])
@pytest.mark.parametrize("block_bytes", [64, 1000, 1 << 21])
def test_chunks_of_any_size_hold_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_rows: int, block_bytes: int
) -> None:
    text = PREAMBLE + COORDS
    text += block("".join(samples(1000 + 5 * step, 5) + f"MSG\t{1000 + step} number {step}\n" for step in range(9)))
    text += block(samples(2000, 40), "RIGHT") + "MSG\t3000 bye\n"
    path = asc(tmp_path, text)
    whole = read(path).recordings
    monkeypatch.setattr(eyelink_asc, "_BLOCK_BYTES", block_bytes)
    chunks = chunks_of(path, chunk_rows=chunk_rows)
    assert max(len(chunk.samples) for chunk in chunks) <= chunk_rows
    assert len({(chunk.key, tuple(chunk.samples.schema.items())) for chunk in chunks}) == 2
    parts = read(path, chunk_rows=chunk_rows).recordings
    assert all(one.equals(other) for one, other in zip(whole, parts, strict=True))


def test_chunks_are_in_the_schema_with_nulls_for_what_is_missing(tmp_path: Path) -> None:
    (chunk,) = chunks_of(asc(tmp_path, COORDS + block("1000\t .\t .\t 0.0\t...\n" + samples(1001, 1))))
    assert {name: schema.SAMPLES[name] for name in chunk.samples.columns} == dict(chunk.samples.schema)
    assert set(schema.REQUIRED) < set(chunk.samples.columns)
    assert chunk.samples.row(0, named=True) == {
        **dict.fromkeys(("x", "y", "pupil", "left_x", "left_y", "left_pupil"), None),
        "t": 1.0,
        "valid": False,
        "left_valid": False,
    }


def test_many_events_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eyelink_asc, "_MOST_EVENTS", 100)
    monkeypatch.setattr(eyelink_asc, "_BLOCK_BYTES", 1000)
    monkeypatch.setattr(eyelink, "_MOST_WAITING", 50)
    messages = "".join(f"MSG\t{number} text\n" for number in range(500))
    path = asc(tmp_path, COORDS + messages + block(samples() + messages) + messages)
    chunks = chunks_of(path)
    assert max(len(chunk.events) for chunk in chunks) < 300
    assert sum(len(chunk.events) for chunk in chunks) == 1050
    assert read(path).report.remarks["a message far from any sample was left out"] == 451


def test_more_odd_lines_than_are_noted_at_once_are_all_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eyelink_asc, "_LINES_TO_NOTE", 3)
    lines = "".join(f"{1000 + step}\t1e1\t 2.0\t 3.0\t...\nMSG\t{1000 + step} m\nbad\n" for step in range(20))
    reading = read_text(tmp_path, COORDS + block(lines), skip_bad=True)
    assert same(only(reading).t, [(1000 + step) / 1000 for step in range(20)])
    assert same(only(reading).x, [10.0] * 20)
    assert (len(only(reading).events), reading.report.bad_lines) == (21, 20)


@settings(max_examples=500, deadline=None)
@given(text=st.from_regex(r"-?[0-9]{0,9}(\.[0-9]{0,9})?", fullmatch=True))
@example(text="0.1")
@example(text="-0.0")
@example(text="999999999999999")
@example(text="0.00000000000001")
@example(text="9007199254740993")
@example(text="00000000000000001")
@example(text="-")
@example(text="-.")
@example(text="")
def test_a_number_is_read_as_python_reads_it_or_left_alone(text: str) -> None:
    data = np.frombuffer(text.encode() + b"\t\n", dtype=np.uint8)
    value, position, plain = text_kernels.read_eyelink_number(data, np.uint64(0), 0)
    digits = sum(letter.isdigit() for letter in text)
    assert plain == (text == "." or 0 < digits <= 15)
    if not plain:
        return
    assert position == len(text)
    if text == ".":
        assert math.isnan(value)
        return
    assert math.copysign(1, value) == math.copysign(1, float(text))
    assert value == float(text)
    seconds, _, _ = text_kernels.read_eyelink_number(data, np.uint64(0), 3)
    assert seconds == seconds_of(text.encode()) == float(text + "e-3")


number = st.integers(-99999, 99999).map(lambda tenths: f"{tenths / 10:.1f}")
position = st.one_of(st.just("."), number)


@st.composite
def asc_files(draw: st.DrawFn) -> tuple[str, list[tuple[str, np.ndarray]]]:
    """A file, and for each of its trials the eyes and the numbers in its sample lines, NaN where missing."""
    text, expected = PREAMBLE + COORDS, []
    for _ in range(draw(st.integers(1, 4))):
        eyes = draw(st.sampled_from(["LEFT", "RIGHT", "LEFT RIGHT"]))
        options = draw(st.sampled_from(["", "\tINPUT", "\tRES", "\tVEL\tRES\tINPUT"]))
        both = len(eyes.split())
        extra = ("INPUT" in options) + 2 * ("RES" in options) + 2 * both * ("VEL" in options)
        flags = draw(st.sampled_from(["", "." * (1 + 2 * both), "C" * (1 + 2 * both)]))
        rows = draw(
            st.lists(st.lists(position, min_size=3 * both + extra, max_size=3 * both + extra), min_size=1, max_size=12)
        )
        lines = ""
        for step, row in enumerate(rows):
            gap = draw(st.sampled_from(["\t", " ", "\t  "]))
            lines += gap.join([str(1000 + 2 * step), *row, *[flags] * bool(flags)]) + "\n"
            lines += draw(st.sampled_from(["", "MSG\t1000 text\n", "SFIX L   1000\n", "\n", "INPUT\t1000\t127\n"]))
        text += block(lines, eyes, options)
        kept = [[float("nan") if field == "." else float(field) for field in row[: 3 * both]] for row in rows]
        expected.append((eyes, np.array(kept)))
    return text, expected


@settings(max_examples=100, deadline=None)
@given(made=asc_files(), chunk_rows=st.sampled_from([1, 5, 1000]), ending=st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[str, list[Any]], chunk_rows: int, ending: str
) -> None:
    text, expected = made
    has_pupils = any((values[:, 2::3] > 0).any() for _, values in expected)
    recordings = read_text(tmp_path_factory.getbasetemp(), text.replace("\n", ending), chunk_rows=chunk_rows).recordings
    assert [item.trial for item in recordings] == [str(number + 1) for number in range(len(expected))]
    for recording, (eyes, values) in zip(recordings, expected, strict=True):
        assert same(recording.t, [(1000 + 2 * step) / 1000 for step in range(len(values))])
        for index, name in enumerate(eyes.lower().split()):
            x, y, pupil = values[:, 3 * index : 3 * index + 3].T
            seen = pupil != 0 if has_pupils else (x != 0) | (y != 0)  # 0 in the whole file: not recorded
            valid = ~np.isnan(x) & ~np.isnan(y) & seen
            eye = getattr(recording, name)
            assert eye.tracked.tolist() == valid.tolist()
            assert same(eye.x, np.where(valid, x, np.nan).tolist())
            assert same(eye.y, np.where(valid, y, np.nan).tolist())
            assert same(eye.pupil, np.where(valid, pupil, np.nan).tolist())
