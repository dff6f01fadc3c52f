# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Text files as blocks of whole lines: the floor that all text formats stand on.

What comes out is UTF-8 without byte order mark, lines end in a line feed whatever the file used, and no line is
longer than `MAX_LINE_BYTES`. What cannot be had that way is an error that names the line.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.formats.base import HEAD_BYTES, ReadReport

MAX_LINE_BYTES = 1 << 20
BLOCK_BYTES = 8 << 20

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class TextBlock(NamedTuple):
    """Whole lines of a file, and the number of the first of them (counted from 1)."""

    first_line: int
    data: bytes


def read_head(path: Path) -> bytes:
    """Return the beginning of a file, decompressed and as UTF-8 if it is text; for sniffing."""
    try:
        with open_binary(path) as stream:
            raw = stream.read(HEAD_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""
    except OSError as error:
        raise _unreadable(path, error) from None
    for mark, encoding in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, errors="ignore").encode()
    return raw


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacking gzip if it is packed."""
    with path.open("rb") as raw, _unpacked(raw) as stream:
        yield stream


@contextmanager
def _unpacked(raw: IO[bytes]) -> Iterator[IO[bytes]]:
    packed = raw.read(2) == _GZIP_MAGIC
    raw.seek(0)
    if packed:
        with gzip.open(raw, "rb") as unpacked:
            yield cast("IO[bytes]", unpacked)
    else:
        yield raw


def text_blocks(
    path: Path, report: ReadReport, encoding: str = "utf-8", block_bytes: int = BLOCK_BYTES
) -> Iterator[TextBlock]:
    """Yield a text file as blocks of whole lines.

    Raises:
        FileFormatError: If the file is empty, binary, cut off, or (unless bad lines are skipped) holds a line that
            is too long or not in the encoding.
    """
    try:
        with path.open("rb") as raw, _unpacked(raw) as stream:
            size = path.stat().st_size
            for block in _blocks(path, stream, report, encoding, block_bytes):
                report.fraction = raw.tell() / size
                yield block
    except (EOFError, zlib.error) as error:
        raise FileFormatError(
            path,
            expected="a complete gzip file",
            found=f"one that is cut off or damaged ({error})",
            hint="copy or download the file again",
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _blocks(path: Path, stream: IO[bytes], report: ReadReport, encoding: str, block_bytes: int) -> Iterator[TextBlock]:
    line = 1
    rest = b""
    dropping = False
    for piece in _utf8_pieces(path, stream, encoding, block_bytes):
        data = rest + piece
        if dropping:
            end = data.find(b"\n")
            if end < 0:
                rest = b""
                continue
            data, dropping, line = data[end + 1 :], False, line + 1
        cut = data.rfind(b"\n") + 1
        whole, rest = data[:cut], data[cut:]
        if whole:
            count = whole.count(b"\n")
            yield TextBlock(line, _checked(path, whole, line, report))
            line += count
        if len(rest) > MAX_LINE_BYTES:
            report.bad(
                FileFormatError(
                    path, line=line, expected=f"lines of at most {MAX_LINE_BYTES:,} bytes", found="a longer one"
                )
            )
            rest, dropping = b"", True
    if rest and not dropping:
        yield TextBlock(line, _checked(path, rest + b"\n", line, report))
    elif line == 1 and not dropping:
        raise FileFormatError(path, expected="gaze data", found="an empty file", hint="export the recording again")


def _utf8_pieces(path: Path, stream: IO[bytes], encoding: str, block_bytes: int) -> Iterator[bytes]:
    """Yield the file's bytes as UTF-8 with line feeds; a byte order mark overrides ``encoding``."""
    raw = stream.read(block_bytes)
    for mark, marked_encoding in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            encoding = marked_encoding
            break
    else:
        if b"\0" in raw[:HEAD_BYTES]:
            raise FileFormatError(
                path,
                expected="text",
                found="binary data",
                hint="export the recording as text from the tracker's software",
            )
    try:
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(
            f"no text encoding is called {encoding!r}", hint="for example utf-8, latin-1, utf-16"
        ) from None
    held_return = b""
    offset = 0
    while raw:
        if not is_utf8:
            try:
                raw = decoder.decode(raw).encode()
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    path,
                    expected=f"text in {encoding}",
                    found=f"other bytes near byte {offset + error.start:,}",
                    hint="name the right one with --encoding",
                ) from None
        offset += len(raw)
        raw = held_return + raw
        held_return = b"\r" if raw.endswith(b"\r") else b""
        raw = raw[: len(raw) - len(held_return)]
        yield raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw
        raw = stream.read(block_bytes)
    if held_return:
        yield b"\n"


def _checked(path: Path, block: bytes, first_line: int, report: ReadReport) -> bytes:
    """Check encoding and line length of a block; blank out the lines that fail when bad lines are skipped."""
    if block.isascii() and _longest_line_fits(block):
        return block
    try:
        block.decode()
    except UnicodeDecodeError:
        pass
    else:
        if _longest_line_fits(block):
            return block
    lines = block.split(b"\n")
    for index, text in enumerate(lines):
        problem = _problem_of_line(text)
        if problem:
            expected, found, hint = problem
            report.bad(FileFormatError(path, line=first_line + index, expected=expected, found=found, hint=hint))
            lines[index] = b""
    return b"\n".join(lines)


def _longest_line_fits(block: bytes) -> bool:
    """Whether all lines are short enough, by hopping: each hop of one limit must pass a line end."""
    position = 0
    while len(block) - position > MAX_LINE_BYTES:
        end = block.rfind(b"\n", position, position + MAX_LINE_BYTES + 1)
        if end < 0:
            return False
        position = end + 1
    return True


def _problem_of_line(text: bytes) -> tuple[str, str, str] | None:
    if len(text) > MAX_LINE_BYTES:
        return f"lines of at most {MAX_LINE_BYTES:,} bytes", f"{len(text):,} bytes", ""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return (
            "text in utf-8",
            f"byte 0x{text[error.start]:02x} at position {error.start + 1}",
            "name the right encoding, for example --encoding latin-1",
        )
    return None


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot read {path}: {error.strerror or error}", hint="check the path and its permissions")
