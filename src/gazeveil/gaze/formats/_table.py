# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Text tables read block by block: the engine under all table-shaped formats.

A `Table` finds delimiter and header, then yields `Batch`es of typed columns. A row with a field that should be a
number and is not is a bad line, with its line number, column and what stood there. Missing is: nothing, ``nan``,
``n/a`` and the other spellings in `_numbers.MISSING`; infinite numbers are bad.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray, IntArray
from gazeveil.errors import FileFormatError, InputError, InternalError
from gazeveil.gaze.formats._columns import Columns
from gazeveil.gaze.formats._numbers import as_flags, check_decimal, look_for_decimal, parse_numbers
from gazeveil.gaze.formats._plain_rows import plain_rows
from gazeveil.gaze.formats._rules import column_of, held, note_lost, verdict
from gazeveil.gaze.formats._table_lines import Aside, Fault, Rows, rows_of
from gazeveil.gaze.formats._text import BLOCK_BYTES, TextBlock, text_blocks
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.gaze.validity import Rule, parse_rules

WHITESPACE: Final = " "
"""As a delimiter: any run of spaces and tabs."""

_COLUMN_MARKS = "\t;,|"
_MOST_TOLD = 10
_TEXT = re.compile(rb"\S")


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table, and the line each stood on."""

    frame: pl.DataFrame
    lines: IntArray

    def take(self, keep: BoolArray) -> Batch:
        """Return the rows that a mask chooses."""
        if keep.all():
            return self
        return Batch(self.frame.filter(keep), self.lines[keep])


@dataclass(frozen=True, slots=True)
class _BadField:
    """Rows whose field in one column is not what it should be."""

    rows: BoolArray
    column: str
    expected: str
    tokens: pl.Series


class Table:
    """A text table: look at ``columns``, then iterate `batches` once."""

    def __init__(
        self,
        path: Path,
        options: ReadOptions,
        report: ReadReport,
        *,
        delimiter: str | None = None,
        header: Sequence[str] | None = None,
        comments: bool = False,
        may_be_empty: bool = False,
        is_header: Callable[[str], bool] | None = None,
        aside: Aside | None = None,
    ) -> None:
        """Open the table and find its columns.

        Args:
            path: The file.
            options: How to read it.
            report: Where bad lines go.
            delimiter: The field separator; None to find it by looking.
            header: The columns' names, for files without a header line.
            comments: Whether lines that begin with ``#`` may stand before the header.
            may_be_empty: Whether a file with a header and no rows is all right.
            is_header: Whether a line is the header, for files that say something else before it.
            aside: Takes out lines that are no rows.
        """
        self.path = path
        self.report = report
        self.rows = 0
        self._may_be_empty = may_be_empty
        self._aside = aside
        self._rules = parse_rules(options.valid)
        self._decimal = check_decimal(options.decimal, delimiter)
        self._width: int | None = None
        size = min(BLOCK_BYTES, max(4096, options.chunk_rows * 64))
        self._source = text_blocks(path, report, options.encoding, block_bytes=size)
        first = self._first_block(comments, is_header)
        self.delimiter = delimiter or _find_delimiter(path, first)
        self._waiting = first
        if header is None:
            # without its header a table cannot be read, so a bad line before it is never skipped
            for error in report.first_bad:
                if error.line is not None and error.line < first.first_line:
                    raise error
            line, self._waiting = _split_first_line(self._tabbed(first))
            header = [name.strip() for name in _fields(line.decode(), self._separator)]
        self.columns = Columns(path, tuple(header), first.first_line)
        self.columns.check_distinct()

    def batches(
        self, text: Mapping[str, str], numbers: Mapping[str, str], required: Sequence[str] = ()
    ) -> Iterator[Batch]:
        """Yield the rows.

        Args:
            text: Our name → the file's column, for columns of text (null where empty).
            numbers: Our name → the file's column, for columns of numbers (null where missing).
            required: Which of our number columns may not be missing anywhere.

        Raises:
            FileFormatError: If there is no row at all, or at a bad line unless bad lines are skipped.
        """
        judged = {rule: column_of(rule, self.columns) for rule in self._rules}
        names = {theirs: ours for ours, theirs in numbers.items()}
        more = {theirs: f"for rules {theirs}" for theirs in judged.values() if theirs not in names}
        text = {**text, **{ours: theirs for theirs, ours in more.items()}}
        for block in self._blocks():
            batch = self._plain_batch(block, text, numbers, required)
            if batch is None:
                rows = rows_of(block, self._separator, self._width_of(block), self._complain)
                if not len(rows.lines):
                    continue
                batch = self._careful_batch(rows, text, numbers, required)
            if judged:
                batch = self._judge(batch, judged, {**names, **more})
            self.rows += len(batch.lines)
            if len(batch.lines):
                yield batch
        if not self.rows and not self._may_be_empty:
            found = "only bad lines" if self.report.bad_lines else "only a header"
            raise FileFormatError(
                self.path, expected="samples", found=found, hint="was the export stopped early? export it again"
            )

    def reject(self, batch: Batch, bad: pl.Series, column: str, expected: str, tokens: pl.Series) -> Batch:
        """Report the rows that ``bad`` marks as bad lines and return the others."""
        if not bad.has_nulls() and not bad.any():
            return batch
        return self._settle(batch, [_BadField(bad.fill_null(True).to_numpy(), column, expected, tokens)])

    def with_flag(
        self, batch: Batch, name: str, column: str, good: Collection[str], bad: Collection[str], expected: str
    ) -> Batch:
        """Turn our column ``name`` of words into true and false; rows that say neither, and something, are bad."""
        tokens = batch.frame[name]
        is_good, unclear = as_flags(tokens, good, bad)
        flagged = Batch(batch.frame.with_columns(is_good.alias(name)), batch.lines)
        return self.reject(flagged, unclear, column, expected, tokens)

    def _judge(self, batch: Batch, columns: Mapping[Rule, str], names: Mapping[str, str]) -> Batch:
        """Add the columns that say where the user's rules hold, and report what cannot be compared."""
        frame = batch.frame
        verdicts = [verdict(rule, frame[names[theirs]], self._decimal or ".") for rule, theirs in columns.items()]
        bad = [
            _BadField(each.unclear, theirs, f"a number, to compare by --valid {rule}", frame[names[theirs]])
            for (rule, theirs), each in zip(columns.items(), verdicts, strict=True)
            if each.unclear.any()
        ]
        for rule, each in zip(columns, verdicts, strict=True):
            note_lost(rule, each, self.report)
        self.report.rules_kept = True
        kept = frame.drop(ours for theirs, ours in names.items() if ours == f"for rules {theirs}")
        return self._settle(Batch(kept.with_columns(held(list(columns), verdicts)), batch.lines), bad)

    @property
    def _separator(self) -> str:
        return "\t" if self.delimiter == WHITESPACE else self.delimiter

    def _first_block(self, comments: bool, is_header: Callable[[str], bool] | None) -> TextBlock:
        """Return the first block from its first line that says something, or from the header."""
        for block in self._source:
            rest = block
            while rest.data:
                line, after = _split_first_line(rest)
                if is_header is not None:
                    begins = is_header(line.decode())
                else:
                    begins = bool(line.strip()) and not (comments and line.lstrip().startswith(b"#"))
                if begins:
                    return rest
                rest = after
        raise FileFormatError(
            self.path, expected="a table", found="only blank lines", hint="was the export stopped early?"
        )

    def _blocks(self) -> Iterator[TextBlock]:
        if self._waiting.data:
            yield self._rows_only(self._waiting)
        for block in self._source:
            yield self._rows_only(block)

    def _rows_only(self, block: TextBlock) -> TextBlock:
        return self._tabbed(block if self._aside is None else self._aside.take(block))

    def _tabbed(self, block: TextBlock) -> TextBlock:
        if self.delimiter != WHITESPACE:
            return block
        bare = re.sub(rb"(?m)^[ \t]+|[ \t]+$", b"", block.data)
        return block._replace(data=re.sub(rb"[ \t]+", b"\t", bare))

    def _width_of(self, block: TextBlock) -> int:
        if self._width is None:
            self._width = self._width_of_rows(block)
        return self._width

    def _width_of_rows(self, block: TextBlock) -> int:
        """Return how many fields rows have: as many as the header, give or take one empty field at the line's end."""
        names = self.columns.names
        at = text.start() if (text := _TEXT.search(block.data)) else 0
        first = block.data[block.data.rfind(b"\n", 0, at) + 1 : block.data.find(b"\n", at)].decode()
        fields = len(_fields(first, self._separator))
        if fields == len(names) + 1 and first.endswith(self._separator):
            return fields
        if fields == len(names) - 1 and not names[-1]:
            return fields
        return len(names)

    def _complain(self, fault: Fault) -> None:
        self.report.bad(FileFormatError(self.path, line=fault.line, expected=fault.expected, found=fault.found))

    def _plain_batch(
        self, block: TextBlock, text: Mapping[str, str], numbers: Mapping[str, str], required: Sequence[str]
    ) -> Batch | None:
        """Read a block in one pass; None if a line needs a closer look."""
        width = self._width_of(block)
        names = (*self.columns.names, "")[:width]
        marks = (self._separator, self._decimal or ".")
        read_text = partial(self._as_text, block.data, b'"' in block.data)
        found = plain_rows(block, marks, names, text, numbers, read_text)
        if found is None or any(found.frame[ours].has_nulls() for ours in required):
            return None
        if found.has_decimals:
            self._decimal = self._decimal or "."
        return Batch(found.frame, found.lines)

    def _careful_batch(
        self, rows: Rows, text: Mapping[str, str], numbers: Mapping[str, str], required: Sequence[str]
    ) -> Batch:
        """Parse all as text, then turn fields into numbers and report those that are none."""
        raw = self._as_text(rows.data, rows.quoted, [*text.values(), *numbers.values()])
        if raw.height != len(rows.lines):
            raise InternalError(f"{self.path}: parsed {raw.height:,} rows from {len(rows.lines):,} lines")
        if self._decimal is None:
            self._decimal = look_for_decimal(raw, numbers.values())
        columns = [raw[theirs].alias(ours) for ours, theirs in text.items()]
        bad: list[_BadField] = []
        for ours, theirs in numbers.items():
            tokens = raw[theirs]
            values, is_bad = parse_numbers(tokens, self._decimal or ".")
            if ours in required:
                is_bad |= values.is_null().to_numpy()
            if is_bad.any():
                bad.append(_BadField(is_bad, theirs, "a number", tokens))
            columns.append(values.alias(ours))
        return self._settle(Batch(pl.DataFrame(columns), rows.lines), bad)

    def _as_text(self, data: bytes, quoted: bool, columns: Iterable[str]) -> pl.DataFrame:
        """Return the columns of these names as text, nulls where a field is empty."""
        names = self.columns.names
        wanted = [place for place, name in enumerate(names) if name in set(columns)]
        frame = pl.read_csv(
            data,
            has_header=False,
            separator=self._separator,
            quote_char='"' if quoted else None,
            schema={str(place): pl.String for place in range(self._width or len(names))},
            columns=wanted,
        )
        return frame.rename({str(place): names[place] for place in wanted})

    def _settle(self, batch: Batch, bad: list[_BadField]) -> Batch:
        """Report bad fields in the order of the file, one per line, and return the rows without any."""
        if not bad:
            return batch
        any_bad = np.logical_or.reduce([fields.rows for fields in bad])
        rows = np.flatnonzero(any_bad)
        if not len(rows):
            return batch
        for row in rows[:_MOST_TOLD].tolist():
            fields = next(fields for fields in bad if fields.rows[row])
            token = fields.tokens[row]
            found = "nothing" if token is None else repr(token)
            line = int(batch.lines[row])
            hint = "if a comma is the decimal mark, say --decimal ," if "," in found else ""
            self.report.bad(
                FileFormatError(
                    self.path, line=line, column=fields.column, expected=fields.expected, found=found, hint=hint
                )
            )
        self.report.bad_lines += max(0, len(rows) - _MOST_TOLD)
        return batch.take(~any_bad)


def _find_delimiter(path: Path, block: TextBlock) -> str:
    """Find the delimiter that cuts most of the first lines into as many fields as the header."""
    lines = [line.decode() for line in block.data.split(b"\n", 20)[:20] if line.strip()]
    best, most = "", (0, 0)
    for mark in _COLUMN_MARKS:
        header, *others = [len(_fields(line.removesuffix(mark), mark)) for line in lines]
        agreeing = (sum(count == header for count in others), header)
        if header > 1 and agreeing > most:
            best, most = mark, agreeing
    if best:
        return best
    if len(lines[0].split()) > 1:
        return WHITESPACE
    raise FileFormatError(
        path,
        line=block.first_line,
        expected="columns separated by tab, semicolon, comma, bar or spaces",
        found=repr(lines[0][:80]),
        hint="name the separator with --delimiter",
    )


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return [line]


def _split_first_line(block: TextBlock) -> tuple[bytes, TextBlock]:
    line, _, rest = block.data.partition(b"\n")
    return line, TextBlock(block.first_line + 1, rest, block.lines - 1)


def check_delimiter(delimiter: str | None) -> str | None:
    """Return the user's delimiter.

    Raises:
        InputError: If it is not one character, or one that numbers or quotes use.
    """
    if delimiter is None:
        return None
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in "\"'.+-\n\r":
        raise InputError(
            f"a delimiter is one character such as , or ; or tab, not {delimiter!r}",
            hint="give a single space for any run of spaces",
        )
    return delimiter
