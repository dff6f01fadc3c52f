# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Which lines of a block are rows of a table: counts fields and checks quotes, a whole block at a time.

Fields are quoted as in RFC 4180: a field that begins with a quote ends with one, and a quote inside is doubled.
A quoted field ends on its line; one that does not is a bad line, never glued to the next.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, IntArray
from gazeveil.gaze.formats._text import TextBlock

_NEWLINE = 10
_QUOTE = 34


class Rows(NamedTuple):
    """Lines that all have the same number of fields, and where they stood in the file."""

    data: bytes
    lines: IntArray
    quoted: bool


class Fault(NamedTuple):
    """A line that is no row: what was expected there and what was found."""

    line: int
    expected: str
    found: str


class Line(NamedTuple):
    """A line of a file that was put aside."""

    number: int
    text: str


class Aside:
    """Takes lines that are no rows, such as messages between samples, out of a table, and keeps them."""

    def __init__(self, pattern: re.Pattern[bytes], mark: bytes = b"") -> None:
        """Begin.

        Args:
            pattern: What such a line begins with; in multi-line mode, and the whole line, where there is no mark.
            mark: What each such line has in it, which finds them faster.
        """
        self._pattern = pattern
        self._mark = mark
        self._lines: list[Line] = []

    def take(self, block: TextBlock) -> TextBlock:
        """Return the block with such lines left empty, so that the numbers of lines stay right."""
        pieces, kept, number = [], 0, block.first_line
        for start, end in self._spans(block.data):
            number += block.data.count(b"\n", kept, start)
            self._lines.append(Line(number, block.data[start:end].decode()))
            pieces.append(block.data[kept:start])
            kept = end
        return block._replace(data=b"".join((*pieces, block.data[kept:]))) if pieces else block

    def taken(self) -> list[Line]:
        """Return the lines that were put aside since the last call."""
        lines, self._lines = self._lines, []
        return lines

    def _spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        if not self._mark:
            yield from (found.span() for found in self._pattern.finditer(data))
            return
        at = data.find(self._mark)
        while at >= 0:
            start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            if self._pattern.match(data, start, end):
                yield start, end
            at = data.find(self._mark, end)


def rows_of(block: TextBlock, delimiter: str, width: int, complain: Callable[[Fault], None]) -> Rows:
    """Return the lines of ``block`` that have ``width`` fields; blank lines are left out, others complained about."""
    octets = np.frombuffer(block.data, dtype=np.uint8)
    ends = np.flatnonzero(octets == _NEWLINE)
    delimiters = np.flatnonzero(octets == ord(delimiter))
    quoted = b'"' in block.data
    if not quoted and _all_regular(ends, delimiters, width):
        return Rows(block.data, np.arange(len(ends)) + block.first_line, quoted=False)
    starts = np.concatenate(([0], ends[:-1] + 1))
    suspicious = np.zeros(len(ends), dtype=np.bool_)
    if quoted:
        suspicious, delimiters = _check_quotes(octets, ends, delimiters, delimiter)
    fields = _count_per_line(delimiters, ends) + 1
    blank = starts == ends
    good = ~blank & ~suspicious & (fields == width)
    if good.all():
        return Rows(block.data, np.arange(len(ends)) + block.first_line, quoted)
    if (blank | good).all():
        # a blank line is nothing but its end
        return Rows(np.delete(octets, ends[blank]).tobytes(), np.flatnonzero(good) + block.first_line, quoted)
    return _mend(block, delimiter, width, complain, fields, blank | good, good)


def _all_regular(ends: IntArray, delimiters: IntArray, width: int) -> bool:
    """Whether every line has exactly ``width`` fields, for blocks without quotes."""
    between = width - 1
    if between == 0 or len(delimiters) != len(ends) * between:
        return False
    by_line = delimiters.reshape(len(ends), between)
    return bool((by_line[:, -1] < ends).all() and (by_line[1:, 0] > ends[:-1]).all())


def _count_per_line(positions: IntArray, ends: IntArray) -> IntArray:
    return np.diff(np.searchsorted(positions, ends), prepend=0)


def _check_quotes(
    octets: NDArray[np.uint8], ends: IntArray, delimiters: IntArray, delimiter: str
) -> tuple[BoolArray, IntArray]:
    """Return the lines whose quotes need a closer look, and the delimiters that stand outside quotes."""
    quotes = np.flatnonzero(octets == _QUOTE)
    per_line = _count_per_line(quotes, ends)
    first_of_line = np.cumsum(per_line) - per_line
    line_of_quote = np.repeat(np.arange(len(ends)), per_line)
    closes = (np.arange(len(quotes)) - first_of_line[line_of_quote]) % 2 == 1
    before = np.where(quotes > 0, octets[quotes - 1], _NEWLINE)
    after = octets[quotes + 1]  # a block ends with a line feed, so there is always one more byte
    neighbour = np.where(closes, after, before)
    misplaced = ~np.isin(neighbour, (ord(delimiter), _NEWLINE, _QUOTE))
    suspicious = per_line % 2 == 1
    suspicious[line_of_quote[misplaced]] = True
    if (per_line % 2 == 0).all():
        # then quotes need not be counted anew on each line
        quotes_before = np.cumsum(octets == _QUOTE, dtype=np.uint8)[delimiters]
    else:
        line_of_delimiter = np.searchsorted(ends, delimiters)
        quotes_before = np.searchsorted(quotes, delimiters) - first_of_line[line_of_delimiter]
    return suspicious, delimiters[quotes_before % 2 == 0]


def _mend(
    block: TextBlock,
    delimiter: str,
    width: int,
    complain: Callable[[Fault], None],
    fields: IntArray,
    settled: BoolArray,
    good: BoolArray,
) -> Rows:
    """Look at the lines that are not settled one by one: rewrite what can be read, complain about the rest."""
    texts = block.data.split(b"\n")
    keep = good.copy()
    for index in np.flatnonzero(~settled).tolist():
        text = texts[index]
        if not text.strip():
            continue
        line = block.first_line + index
        found = int(fields[index])
        if b'"' in text:
            try:
                parsed = next(csv.reader([text.decode()], delimiter=delimiter, strict=True))
            except csv.Error as error:
                complain(Fault(line, "quoted fields that end on their line", str(error)))
                continue
            found = len(parsed)
            texts[index] = _quoted(parsed, delimiter)
        if found == width:
            keep[index] = True
        else:
            complain(Fault(line, f"{width} columns", f"{found}"))
    chosen = np.flatnonzero(keep)
    data = b"".join(texts[index] + b"\n" for index in chosen.tolist())
    return Rows(data, chosen + block.first_line, quoted=b'"' in data)


def _quoted(fields: list[str], delimiter: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="").writerow(fields)
    return text.getvalue().encode()
