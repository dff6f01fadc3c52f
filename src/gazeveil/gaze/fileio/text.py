# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Text files as blocks of whole lines, and files of one JSON object on each line.

What comes out is UTF-8 without byte order mark, lines end in a line feed whatever the file used, and no line is
longer than `MAX_LINE_BYTES`. What cannot be had that way is an error that names the line.
"""

from __future__ import annotations

import codecs
import gzip
import itertools
import json
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, cast

import numpy as np

from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import FileFormatError, InputError
from gazeveil.gaze.formats.base import HEAD_BYTES, ReadOptions, ReadReport

MAX_LINE_BYTES = 1 << 20
BLOCK_BYTES = 8 << 20

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4
_MARK_ERRORS = "gazeveil.mark"
# What cannot be decoded becomes a lone surrogate, which is no UTF-8 either, so it is found where lines are counted.
codecs.register_error(_MARK_ERRORS, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


class TextBlock(NamedTuple):
    """Whole lines of a file, the number of the first of them (counted from 1), and how many there are."""

    first_line: int
    data: bytes
    lines: int


def read_head(path: Path) -> bytes:
    """Return the beginning of a file, decompressed and as UTF-8 if it is text; for sniffing."""
    head = b""
    try:
        with open_binary(path) as stream:
            while len(head) < HEAD_BYTES and (piece := stream.read(min(4096, HEAD_BYTES - len(head)))):
                head += piece
    except _GZIP_ERRORS:
        pass  # what came before the damage may still tell the format, whose reader then tells of the damage
    except OSError as error:
        raise _unreadable(path, error) from None
    text, encoding = _without_mark(head, "")
    return text.decode(encoding, errors="ignore").encode() if encoding else head


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
    path: Path,
    report: ReadReport,
    encoding: str = "utf-8",
    block_bytes: int = BLOCK_BYTES,
    *,
    mend_last_line: bool = True,
) -> Iterator[TextBlock]:
    """Yield a text file as blocks of whole lines.

    A line that is too long, not in the encoding or has a NUL byte is bad; if bad lines are skipped, it becomes an
    empty line, so that line numbers stay right.

    Args:
        path: The file, packed with gzip or not.
        report: Counts bad lines, and how much is read.
        encoding: How the text is encoded; a byte order mark in the file overrides it.
        block_bytes: How much to read at once.
        mend_last_line: Whether to end the last line if the file does not; for formats to which a cut matters, no.

    Raises:
        FileFormatError: If the file is empty, binary or cut off, or (unless bad lines are skipped) has a bad line.
    """
    try:
        with path.open("rb") as raw, _unpacked(raw) as stream:
            size = path.stat().st_size
            for block in _blocks(path, stream, report, encoding, block_bytes, mend_last_line):
                report.fraction = raw.tell() / size
                yield block
    except _GZIP_ERRORS as error:
        raise _damaged(path, error) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _blocks(
    path: Path, stream: IO[bytes], report: ReadReport, encoding: str, block_bytes: int, mend_last_line: bool
) -> Iterator[TextBlock]:
    raw, encoding = _without_mark(stream.read(max(block_bytes, _LONGEST_MARK)), encoding)
    line = 1
    rest = b""
    dropping = False
    for piece in _utf8_pieces(path, stream, raw, encoding, block_bytes):
        start = 0
        if dropping:
            start = piece.find(b"\n") + 1
            if start == 0:
                continue
            dropping, line = False, line + 1
        cut = piece.rfind(b"\n") + 1
        if cut <= start:
            rest += piece[start:]
        else:
            whole = b"".join((rest, memoryview(piece)[start:cut]))
            rest = piece[cut:]
            lines = whole.count(b"\n")
            yield TextBlock(line, _checked(path, whole, line, report, encoding), lines)
            line += lines
        if len(rest) > MAX_LINE_BYTES:
            report.bad(
                FileFormatError(
                    path, line=line, expected=f"lines of at most {MAX_LINE_BYTES:,} bytes", found="a longer one"
                )
            )
            rest, dropping = b"", True
    if rest and not dropping:
        last = _checked(path, rest, line, report, encoding)
        yield TextBlock(line, last + b"\n" if mend_last_line or not last else last, 1)
    elif line == 1 and not dropping:
        raise FileFormatError(path, expected="gaze data", found="an empty file", hint="export the recording again")


def _without_mark(raw: bytes, encoding: str) -> tuple[bytes, str]:
    """Return the bytes after the byte order mark and the encoding it stands for, which overrides ``encoding``."""
    for mark, marked_encoding in _BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :], marked_encoding
    return raw, encoding


def _utf8_pieces(path: Path, stream: IO[bytes], raw: bytes, encoding: str, block_bytes: int) -> Iterator[bytes]:
    """Yield ``raw`` and the rest of the stream as UTF-8 with line feeds."""
    held_return = b""
    seen = 0
    for piece in _decoded(path, stream, raw, encoding, block_bytes):
        if seen < HEAD_BYTES and b"\0" in piece[: HEAD_BYTES - seen]:
            raise FileFormatError(
                path,
                expected="text",
                found="binary data",
                hint="export the recording as text, or name its encoding, for example --encoding utf-16",
            )
        seen += len(piece)
        text = held_return + piece
        held_return = b"\r" if text.endswith(b"\r") else b""
        text = text[: len(text) - len(held_return)]
        yield text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    if held_return:
        yield b"\n"


def _decoded(path: Path, stream: IO[bytes], raw: bytes, encoding: str, block_bytes: int) -> Iterator[bytes]:
    """Yield ``raw`` and the rest of the stream as UTF-8; what is not in the encoding becomes invalid UTF-8."""
    try:
        b"a".decode(encoding, "ignore")  # refuses what is no text encoding, such as hex
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        decoder = codecs.getincrementaldecoder(encoding)(errors=_MARK_ERRORS)
    except (LookupError, ValueError):
        raise no_such_encoding(encoding) from None
    while raw:
        yield raw if is_utf8 else _as_utf8(path, decoder, encoding, raw)
        raw = stream.read(block_bytes)
    if not is_utf8:
        yield _as_utf8(path, decoder, encoding, b"", final=True)


def _as_utf8(
    path: Path, decoder: codecs.IncrementalDecoder, encoding: str, raw: bytes, *, final: bool = False
) -> bytes:
    try:
        return decoder.decode(raw, final).encode("utf-8", "surrogatepass")
    except ValueError as error:  # of encodings that know no way around an error
        raise FileFormatError(
            path, expected=f"text in {encoding}", found=str(error), hint="name the right one with --encoding"
        ) from None


def _checked(path: Path, block: bytes, first_line: int, report: ReadReport, encoding: str) -> bytes:
    """Check encoding and line length of a block; blank out the lines that fail when bad lines are skipped."""
    if _is_utf8(block) and b"\0" not in block and _longest_line_fits(block):
        return block
    lines = block.split(b"\n")
    for index, text in enumerate(lines):
        problem = _problem_of_line(text, encoding)
        if problem:
            expected, found, hint = problem
            report.bad(FileFormatError(path, line=first_line + index, expected=expected, found=found, hint=hint))
            lines[index] = b""
    return b"\n".join(lines)


def _is_utf8(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _longest_line_fits(block: bytes) -> bool:
    """Whether all lines are short enough, by hopping: each hop of one limit must pass a line end."""
    position = 0
    while len(block) - position > MAX_LINE_BYTES:
        end = block.rfind(b"\n", position, position + MAX_LINE_BYTES + 1)
        if end < 0:
            return False
        position = end + 1
    return True


def _problem_of_line(text: bytes, encoding: str) -> tuple[str, str, str] | None:
    if len(text) > MAX_LINE_BYTES:
        return f"lines of at most {MAX_LINE_BYTES:,} bytes", f"{len(text):,} bytes", ""
    if b"\0" in text:
        return "text", f"a NUL byte at position {text.index(0) + 1}", ""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        is_utf8 = codecs.lookup(encoding).name == "utf-8"
        found = f"byte 0x{text[error.start]:02x}" if is_utf8 else "something else"
        hint = "name the right encoding, for example --encoding latin-1"
        return f"text in {encoding}", f"{found} at position {error.start + 1}", hint
    return None


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot read {path}: {error.strerror or error}", hint="check the path and its permissions")


def whole_text(path: Path, encoding: str = "utf-8") -> str:
    """Return all of a text file, for formats that cannot be read line by line.

    Raises:
        FileFormatError: If the file is empty, binary, cut off or in another encoding.
    """
    try:
        with open_binary(path) as stream:
            raw, encoding = _without_mark(stream.read(), encoding)
    except _GZIP_ERRORS as error:
        raise _damaged(path, error) from None
    except OSError as error:
        raise _unreadable(path, error) from None
    if not raw.strip():
        raise FileFormatError(path, expected="gaze data", found="an empty file", hint="export the recording again")
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise no_such_encoding(encoding) from None
    except UnicodeDecodeError as error:
        hint = "name the right encoding, for example --encoding latin-1"
        found = f"something else at byte {error.start + 1:,}"
        raise FileFormatError(path, expected=f"text in {encoding}", found=found, hint=hint) from None
    if "\0" in text:
        raise FileFormatError(path, expected="text", found="binary data", hint="export the recording as text")
    return text


def _damaged(path: Path, error: Exception) -> FileFormatError:
    return FileFormatError(
        path,
        expected="a complete gzip file",
        found=f"one that is cut off or damaged ({error})",
        hint="copy or download the file again",
    )


def no_such_encoding(encoding: str) -> InputError:
    """Return the error that says an encoding is unknown."""
    return InputError(f"no text encoding is called {encoding!r}", hint="for example utf-8, latin-1, utf-16")


# --- Files of one JSON object on each line, a block at a time; a line that is none is a bad line.


JsonLine = tuple[int, dict[str, Any]]

_MOST_SHAPES = 200
_TEXT_OR_NUMBER = re.compile(rb'("(?:[^"\\]|\\.)*")|-?\d[\d.]*')


@dataclass(frozen=True, slots=True)
class Shaped:
    """Lines of one shape: the object that each is, with a count from 0 in the place of every number.

    ``numbers`` are those of all lines; ``first`` is where each of these lines has its first.
    """

    shape: dict[str, Any]
    lines: IntArray
    first: IntArray
    numbers: FloatArray

    def columns(self, *places: Any) -> list[FloatArray] | None:
        """Return the numbers at places of the shape; None if one of them holds no number."""
        if not all(type(place) is int for place in places):
            return None
        return [self.numbers[self.first + place] for place in places]


def json_blocks(path: Path, options: ReadOptions, report: ReadReport) -> Iterator[TextBlock]:
    """Yield a file as blocks of whole lines."""
    size = min(BLOCK_BYTES, max(4096, options.chunk_rows * 64))
    return text_blocks(path, report, options.encoding, block_bytes=size)


def json_lines(path: Path, block: TextBlock, report: ReadReport) -> list[JsonLine]:
    """Return a block's objects with their lines' numbers."""
    texts = enumerate(block.data.split(b"\n"), block.first_line)
    lines = [(number, text.strip()) for number, text in texts if text and not text.isspace()]
    return _at_once(lines) or _one_by_one(path, lines, report)


def by_shape(block: TextBlock) -> list[Shaped] | None:
    """Return a block's objects by their shapes, which is many times faster; None if a line needs a closer look."""
    from gazeveil.gaze.fileio import text_kernels  # noqa: PLC0415  (numba loads on use)

    data = np.frombuffer(block.data, dtype=np.uint8)
    height = block.data.count(b"\n")
    if not height or data[-1] != ord("\n"):
        return None
    lines, shapes = np.empty((height + 1, 2), np.int64), np.empty(height, np.uint64)
    numbers = np.empty(len(data) // 2 + 1)
    height, _count = text_kernels.take_apart(data, lines, shapes, numbers)
    if height < 0:
        return None
    lengths = np.diff(lines[:, 1])
    first, which = np.unique(shapes, return_index=True, return_inverse=True)[1:]
    if len(first) > _MOST_SHAPES:
        return None
    found = []
    for place, row in enumerate(first.tolist()):
        mine = np.flatnonzero(which == place)
        text = block.data[lines[row, 0] : lines[row + 1, 0]]
        if not text.strip():
            continue
        shape = _shape_of(text)
        if shape is None or (lengths[mine] != lengths[row]).any():
            return None
        found.append(Shaped(shape, mine + block.first_line, lines[mine, 1], numbers))
    return found


def _shape_of(text: bytes) -> dict[str, Any] | None:
    """Return the object on a line with its numbers counted from 0; None if it is none."""
    try:
        parse_json(text)
        places = itertools.count()
        # what stands in quotes stays as it is
        counted = _TEXT_OR_NUMBER.sub(lambda found: found[1] or b"%d" % next(places), text)
        shape = parse_json(counted)
    except ValueError:
        return None
    return shape if isinstance(shape, dict) else None


def number_in(value: object) -> float | None:
    """Return a value as a finite number; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def point_in(value: object) -> tuple[float, float] | None:
    """Return a value as a pair of finite numbers; None if it is none."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    x, y = number_in(value[0]), number_in(value[1])
    return None if x is None or y is None else (x, y)


def numbers_in(values: list[Any]) -> FloatArray | None:
    """Return values as finite numbers, all at once; None if one of them is none."""
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def parse_json(text: str | bytes) -> Any:
    """Return a JSON value; NaN and infinities, which JSON has not, are refused.

    Raises:
        ValueError: If it is no JSON.
    """
    try:
        return _quick()(text)
    except (ValueError, RecursionError):
        pass  # Python's own takes more numbers and names of letters, and says what is wrong
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


@cache
def _quick() -> Callable[[str | bytes], Any]:
    """Return what reads JSON several times as fast where msgspec is installed, else what reads nothing."""
    try:
        from msgspec.json import decode  # noqa: PLC0415
    except ImportError:
        return _nothing
    return decode


def _nothing(text: str | bytes) -> NoReturn:
    raise ValueError("there is nothing to read it with")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _at_once(lines: list[tuple[int, bytes]]) -> list[JsonLine] | None:
    """Parse a block as one list, which is several times faster; None if a line needs a closer look."""
    # every line opens and closes an object, so that halves of two lines cannot make one
    if not all(text.startswith(b"{") and text.endswith(b"}") for _, text in lines):
        return None
    try:
        values = parse_json(b"[" + b",".join(text for _, text in lines) + b"]")
    except ValueError:
        return None
    if len(values) != len(lines):
        return None
    return [(number, value) for (number, _), value in zip(lines, values, strict=True)]


def _one_by_one(path: Path, lines: list[tuple[int, bytes]], report: ReadReport) -> list[JsonLine]:
    good = []
    for number, text in lines:
        try:
            value = parse_json(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            good.append((number, value))
        else:
            found = repr(text[:60].decode(errors="replace"))
            report.bad(FileFormatError(path, line=number, expected="a JSON object on the line", found=found))
    return good
