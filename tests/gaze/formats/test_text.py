# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The floor of all text formats: whatever a file's bytes are, out come numbered lines or a clear error."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import FileFormatError, GazeveilError, InputError
from gazeveil.gaze.fileio import text as _text
from gazeveil.gaze.fileio.text import MAX_LINE_BYTES, read_head, text_blocks
from gazeveil.gaze.formats.base import HEAD_BYTES, ReadReport


def lines_of(
    path: Path, report: ReadReport | None = None, encoding: str = "utf-8", block_bytes: int = 1 << 16, **options: bool
) -> dict[int, bytes]:
    """Read a file and return its lines by their numbers; blocks must follow one another without gap."""
    found: dict[int, bytes] = {}
    next_line = 1
    for block in text_blocks(path, report or ReadReport(), encoding, block_bytes, **options):
        lines = block.data.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        assert block.first_line >= next_line
        found |= {block.first_line + index: line for index, line in enumerate(lines)}
        next_line = block.first_line + len(lines)
    return found


def a_file(folder: Path, content: bytes) -> Path:
    path = folder / "gaze.txt"
    path.write_bytes(content)
    return path


THREE = {1: b"one", 2: "zwölf".encode(), 3: b"three"}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 16, 8])
def test_a_byte_order_mark_and_any_line_end_give_the_same_lines(
    tmp_path: Path, mark: bytes, encoding: str, ending: str, block_bytes: int
) -> None:
    text = ending.join(["one", "zwölf", "three", ""])
    path = a_file(tmp_path, mark + text.encode(encoding))
    assert lines_of(path, block_bytes=block_bytes) == THREE
    assert read_head(path).split()[0] == b"one"


def test_mixed_line_ends_in_one_file_are_all_line_ends(tmp_path: Path) -> None:
    assert lines_of(a_file(tmp_path, b"a\r\nb\rc\nd\r\n\r\ne")) == dict(
        enumerate([b"a", b"b", b"c", b"d", b"", b"e"], 1)
    )


@pytest.mark.parametrize("block_bytes", range(1, 12))
def test_a_line_end_split_between_blocks_is_still_one(tmp_path: Path, block_bytes: int) -> None:
    content = b"ab\r\ncd\r\n\r\nef\r\r\n"
    path = a_file(tmp_path, content)
    assert lines_of(path, block_bytes=block_bytes) == dict(enumerate([b"ab", b"cd", b"", b"ef", b""], 1))


def test_a_missing_last_line_end_is_mended_or_left_as_the_format_wants(tmp_path: Path) -> None:
    path = a_file(tmp_path, b"a\nb")
    assert b"".join(block.data for block in text_blocks(path, ReadReport())) == b"a\nb\n"
    assert b"".join(block.data for block in text_blocks(path, ReadReport(), mend_last_line=False)) == b"a\nb"
    ended = a_file(tmp_path, b"a\nb\n")
    assert b"".join(block.data for block in text_blocks(ended, ReadReport(), mend_last_line=False)) == b"a\nb\n"


@pytest.mark.parametrize(
    "content",
    [b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, gzip.compress(b"")],
    ids=["nothing", "utf-8 mark", "utf-16 mark", "packed"],  # the packed bytes hold the time of day
)
def test_an_empty_file_says_so(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileFormatError, match="empty file"):
        lines_of(a_file(tmp_path, content), ReadReport(skip_bad=True))


def test_gzip_is_unpacked_whatever_the_name(tmp_path: Path) -> None:
    path = a_file(tmp_path, gzip.compress("one\nzwölf\nthree".encode()))
    assert lines_of(path) == THREE
    assert read_head(path) == "one\nzwölf\nthree".encode()


@pytest.mark.parametrize("skip_bad", [False, True])
@pytest.mark.parametrize("damage", ["cut", "cut early", "checksum", "garbage after"])
def test_a_damaged_gzip_file_says_so_even_when_bad_lines_are_skipped(
    tmp_path: Path, skip_bad: bool, damage: str
) -> None:
    packed = gzip.compress(b"".join(b"%d line\n" % (number * 7919) for number in range(5000)))
    broken = {
        "cut": packed[: len(packed) // 2],
        "cut early": packed[:12],
        "checksum": packed[:-8] + bytes(8),
        "garbage after": packed + b"garbage",
    }[damage]
    with pytest.raises(FileFormatError, match=r"gzip file.*cut off or damaged") as caught:
        lines_of(a_file(tmp_path, broken), ReadReport(skip_bad=skip_bad))
    assert "again" in caught.value.hint


def test_the_head_of_a_cut_gzip_file_still_tells_its_format(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b"%d line\n" % (number * 7919) for number in range(5000)))
    assert read_head(a_file(tmp_path, packed[: len(packed) // 2])).startswith(b"0 line\n7919 line\n")
    assert read_head(a_file(tmp_path, packed[:5])) == b""
    assert len(read_head(a_file(tmp_path, b"x" * (HEAD_BYTES + 10)))) == HEAD_BYTES


@pytest.mark.parametrize("skip_bad", [False, True])
def test_a_binary_file_says_so(tmp_path: Path, skip_bad: bool) -> None:
    with pytest.raises(FileFormatError, match="expected text, found binary data") as caught:
        lines_of(a_file(tmp_path, b"SREDF\0\1\2\3\n" * 9), ReadReport(skip_bad=skip_bad))
    assert "--encoding utf-16" in caught.value.hint


def test_utf_16_without_a_mark_can_be_named(tmp_path: Path) -> None:
    path = a_file(tmp_path, "one\nzwölf\nthree\n".encode("utf-16-le"))
    assert lines_of(path, encoding="utf-16-le") == THREE
    with pytest.raises(FileFormatError, match="binary"):
        lines_of(path)


@pytest.mark.parametrize("bad", [b"\xff\xfe\xfd", "zwölf".encode("latin-1"), b"nul\0byte"])
@pytest.mark.parametrize("block_bytes", [1 << 16, 1 << 10])
def test_a_bad_line_far_into_the_file_is_found_by_number_or_dropped_and_counted(
    tmp_path: Path, bad: bytes, block_bytes: int
) -> None:
    good = [b"line %d" % number for number in range(1, 20_001)]
    content = [*good]
    content[14_999] = bad
    content[16_999] = bad
    path = a_file(tmp_path, b"\n".join(content) + b"\n")
    with pytest.raises(FileFormatError, match="line 15,000") as caught:
        lines_of(path, block_bytes=block_bytes)
    assert caught.value.line == 15_000
    report = ReadReport(skip_bad=True)
    found = lines_of(path, report, block_bytes=block_bytes)
    assert report.bad_lines == 2
    assert [error.line for error in report.first_bad] == [15_000, 17_000]
    assert found[15_000] == found[17_000] == b""
    assert {number: line for number, line in found.items() if number not in (15_000, 17_000)} == {
        number: line for number, line in enumerate(good, 1) if number not in (15_000, 17_000)
    }


def test_the_wrong_encoding_tells_the_byte_and_the_way_out(tmp_path: Path) -> None:
    path = a_file(tmp_path, "one\nzwölf\n".encode("latin-1"))
    with pytest.raises(FileFormatError) as caught:
        lines_of(path)
    assert (caught.value.line, caught.value.found) == (2, "byte 0xf6 at position 3")
    assert "--encoding latin-1" in caught.value.hint
    assert lines_of(path, encoding="latin-1")[2] == "zwölf".encode()


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_mark_does_not_hide_bytes_that_are_no_utf_8(tmp_path: Path, mark: bytes) -> None:
    report = ReadReport(skip_bad=True)
    assert lines_of(a_file(tmp_path, mark + b"one\n\xff\nthree\n"), report) == {1: b"one", 2: b"", 3: b"three"}
    assert [error.line for error in report.first_bad] == [2]


@pytest.mark.parametrize(
    "broken",
    [
        "one\n".encode("utf-16-le") + b"\x00\xdc" + "x\nthree\n".encode("utf-16-le"),  # half of a surrogate pair
        "one\nab\nthree\n".encode("utf-16-le") + b"x",  # an odd byte at the end
    ],
)
def test_broken_utf_16_is_found_on_its_line(tmp_path: Path, broken: bytes) -> None:
    path = a_file(tmp_path, codecs.BOM_UTF16_LE + broken)
    with pytest.raises(FileFormatError, match="text in utf-16-le") as caught:
        lines_of(path)
    report = ReadReport(skip_bad=True)
    found = lines_of(path, report, block_bytes=7)
    assert [error.line for error in report.first_bad] == [caught.value.line]
    assert (found[1], found[3]) == (b"one", b"three")


@pytest.mark.parametrize("name", ["nonsense", "hex", "rot13", "undefined", "a\0b", ""])
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no text encoding"):
        lines_of(a_file(tmp_path, b"one\n"), encoding=name)


def test_a_line_of_100_mb_is_an_error_in_little_memory_or_dropped(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.write(b"one\n")
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\nthree\nfour\n")
    with pytest.raises(FileFormatError, match="line 2: expected lines of at most 1,048,576 bytes"):
        lines_of(path, block_bytes=_text.BLOCK_BYTES)
    report = ReadReport(skip_bad=True)
    assert lines_of(path, report, block_bytes=_text.BLOCK_BYTES) == {1: b"one", 3: b"three", 4: b"four"}
    assert (report.bad_lines, report.first_bad[0].line) == (1, 2)


@pytest.mark.parametrize("block_bytes", [1 << 16, 4 << 20])
def test_the_longest_line_allowed_passes_and_one_byte_more_does_not(tmp_path: Path, block_bytes: int) -> None:
    path = a_file(tmp_path, b"a\n" + b"x" * MAX_LINE_BYTES + b"\n" + b"y" * (MAX_LINE_BYTES + 1) + b"\nd\n")
    report = ReadReport(skip_bad=True)
    found = lines_of(path, report, block_bytes=block_bytes)
    assert (report.bad_lines, report.first_bad[0].line) == (1, 3)
    assert len(found[2]) == MAX_LINE_BYTES
    assert found[4] == b"d"


def test_a_file_that_is_one_endless_line_gives_nothing_but_the_count(tmp_path: Path) -> None:
    report = ReadReport(skip_bad=True)
    assert lines_of(a_file(tmp_path, b"x" * (3 * MAX_LINE_BYTES)), report) == {}
    assert report.bad_lines == 1


def test_a_folder_or_a_missing_file_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.txt"):
        with pytest.raises(InputError, match="cannot read"):
            lines_of(path)
        with pytest.raises(InputError, match="cannot read"):
            read_head(path)


def test_progress_grows_to_the_whole_file(tmp_path: Path) -> None:
    report = ReadReport()
    path = a_file(tmp_path, b"one line\n" * 1000)
    fractions = [report.fraction for _ in text_blocks(path, report, block_bytes=1000)]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


@settings(max_examples=150, deadline=None)
@given(
    content=st.binary(max_size=60)
    | st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\xc3", b"\xbc", b" "])).map(b"".join),
    block_bytes=st.integers(1, 40),
    packed=st.booleans(),
)
def test_any_bytes_in_any_blocks_give_the_same_lines_or_the_same_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, block_bytes: int, packed: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(gzip.compress(content) if packed else content)
    outcomes: list[tuple[object, int]] = []
    for size in (block_bytes, 1 << 16):
        report = ReadReport(skip_bad=True)
        try:
            lines = {number: line for number, line in lines_of(path, report, block_bytes=size).items() if line}
            outcomes.append((lines, report.bad_lines))
        except GazeveilError as error:
            outcomes.append((str(error), -1))
    if packed or not content.startswith(b"\x1f\x8b"):  # a broken gzip file fails early or late
        assert outcomes[0] == outcomes[1]
