# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Text tables read block by block, for all formats that are tables, and small files beside the samples.

Fields are quoted as in RFC 4180: a field that begins with a quote ends with one, and a quote inside is doubled.
A quoted field ends on its line; one that does not is a bad line, never glued to the next.

A `Table` finds delimiter and header, then yields `Batch`es of typed columns. A row with a field that should be a
number and is not is a bad line, with its line number, column and what stood there. Missing is: nothing, ``nan``,
``n/a`` and the other spellings in `numbers.MISSING`; infinite numbers are bad.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray, IntArray
from gazeveil.errors import FileFormatError, InputError, InternalError
from gazeveil.gaze.fileio.columns import Columns, column_of, note_lost, rule_columns, verdict
from gazeveil.gaze.fileio.numbers import MISSING, as_flags, check_decimal, look_for_decimal, parse_numbers
from gazeveil.gaze.fileio.text import BLOCK_BYTES, TextBlock, open_binary, text_blocks
from gazeveil.gaze.formats.base import ReadOptions, ReadReport
from gazeveil.gaze.validity import ValidityRule, parse_rules

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


class TextLine(NamedTuple):
    """A line of a file that is no row."""

    number: int
    text: str


class NonRowLines:
    """Lines that are no rows, such as messages between samples: they are taken out of a table and kept."""

    def __init__(self, pattern: re.Pattern[bytes], mark: bytes = b"") -> None:
        """Begin.

        Args:
            pattern: What such a line begins with; in multi-line mode, and the whole line, where there is no mark.
            mark: What each such line has in it, which finds them faster.
        """
        self._pattern = pattern
        self._mark = mark
        self._lines: list[TextLine] = []

    def take(self, block: TextBlock) -> TextBlock:
        """Return the block with such lines left empty, so that the numbers of lines stay right."""
        pieces, kept, number = [], 0, block.first_line
        for start, end in self._spans(block.data):
            number += block.data.count(b"\n", kept, start)
            self._lines.append(TextLine(number, block.data[start:end].decode()))
            pieces.append(block.data[kept:start])
            kept = end
        return block._replace(data=b"".join((*pieces, block.data[kept:]))) if pieces else block

    def taken(self) -> list[TextLine]:
        """Return the lines that were taken out since the last call."""
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
    return _repair(block, delimiter, width, complain, fields, blank | good, good)


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


def _repair(
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


# --- Blocks of a table whose fields are all plainly written, read in one pass over their bytes.


_BYTES_PER_RUN = 512
"""Texts that change more often than once in this many bytes are faster to read by polars."""

_SPELLINGS = np.array([list(each.encode().ljust(16, b"\0")) for each in MISSING], dtype=np.uint8)


class PlainRows(NamedTuple):
    """Rows under our names, the lines they stood on, and whether any number is not whole."""

    frame: pl.DataFrame
    lines: IntArray
    has_decimals: bool


def plain_rows(
    block: TextBlock,
    marks: tuple[str, str],
    names: Sequence[str],
    text: Mapping[str, str],
    numbers: Mapping[str, str],
    read_text: Callable[[Sequence[str]], pl.DataFrame],
) -> PlainRows | None:
    """Read whole lines; None if a row has another width, or a field that is neither plainly a number nor missing.

    Args:
        block: Whole lines.
        marks: What stands between fields, and before decimals.
        names: The file's columns, as many as a row has fields.
        text: Our name → the file's column, for columns of text.
        numbers: Our name → the file's column, for columns of numbers.
        read_text: Reads columns of text that change on nearly every row.
    """
    from gazeveil.gaze.fileio.text_kernels import NUMBER, TEXT, read_rows  # noqa: PLC0415

    as_numbers, as_text = set(numbers.values()), set(text.values()) - set(numbers.values())
    kinds = np.array([NUMBER if name in as_numbers else TEXT * (name in as_text) for name in names], dtype=np.int8)
    of_numbers, of_text = (
        [name for name, kind in zip(names, kinds, strict=True) if kind == which] for which in (NUMBER, TEXT)
    )
    values = np.empty((len(of_numbers), block.lines))
    runs = np.empty((len(of_text), len(block.data) // _BYTES_PER_RUN + 16, 3), dtype=np.int64)
    counts = np.zeros(len(of_text), dtype=np.int64)
    lines = np.empty(block.lines, dtype=np.int64)
    seen = np.zeros(len(of_numbers) + 1, dtype=np.bool_)
    delimiter, decimal = (ord(mark) for mark in marks)
    octets = np.frombuffer(block.data, dtype=np.uint8)
    rows = read_rows(
        octets, (delimiter, decimal), kinds, _SPELLINGS, values, values.view(np.uint64), runs, counts, lines, seen
    )
    if rows < 0:
        return None
    found = {name: pl.Series(values[at, :rows], nan_to_null=bool(seen[at])) for at, name in enumerate(of_numbers)}
    said = {
        name: _repeated(block.data, runs[at, : counts[at]], rows) for at, name in enumerate(of_text) if counts[at] >= 0
    }
    if varied := [name for name in dict.fromkeys(text.values()) if name not in said]:
        if rows < block.lines:
            return None  # polars would not skip empty lines
        said |= read_text(varied).to_dict()
    columns = {ours: said[theirs] for ours, theirs in text.items()}
    columns |= {ours: found[theirs] for ours, theirs in numbers.items()}
    return PlainRows(pl.DataFrame(columns), lines[:rows] + block.first_line, bool(seen[-1]))


def _repeated(data: bytes, runs: IntArray, rows: int) -> pl.Series:
    """Return a column of text from its runs; null where a field is empty and not quoted."""
    # plain lists of numbers: many small tuples would start the garbage collector
    starts, ends = runs[:, 0].tolist(), runs[:, 1].tolist()
    texts = [
        data[start:end].decode() if end > start or data[start - 1 : start] == b'"' else None
        for start, end in zip(starts, ends, strict=True)
    ]
    values = pl.Series(texts, dtype=pl.String)
    if len(texts) == 1:
        return values.new_from_index(0, rows)
    return values[np.repeat(np.arange(len(texts), dtype=np.uint32), np.diff(runs[:, 2], append=rows))]


# --- The table.


WHITESPACE: Final = " "
"""As a delimiter: any run of spaces and tabs."""

_COLUMN_MARKS = "\t;,|"
_MOST_REPORTED = 10
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
        non_rows: NonRowLines | None = None,
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
            non_rows: Takes out lines that are no rows.
        """
        self.path = path
        self.report = report
        self.rows = 0
        self._may_be_empty = may_be_empty
        self._non_rows = non_rows
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
        """Turn our column ``name`` of words into true and false; rows with any other word are bad."""
        tokens = batch.frame[name]
        is_good, unclear = as_flags(tokens, good, bad)
        flagged = Batch(batch.frame.with_columns(is_good.alias(name)), batch.lines)
        return self.reject(flagged, unclear, column, expected, tokens)

    def _judge(self, batch: Batch, columns: Mapping[ValidityRule, str], names: Mapping[str, str]) -> Batch:
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
        return self._settle(Batch(kept.with_columns(rule_columns(list(columns), verdicts)), batch.lines), bad)

    @property
    def _separator(self) -> str:
        return "\t" if self.delimiter == WHITESPACE else self.delimiter

    def _first_block(self, comments: bool, is_header: Callable[[str], bool] | None) -> TextBlock:
        """Return the first block from its first line that is not empty, or from the header."""
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
        return self._tabbed(block if self._non_rows is None else self._non_rows.take(block))

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
        for row in rows[:_MOST_REPORTED].tolist():
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
        self.report.bad_lines += max(0, len(rows) - _MOST_REPORTED)
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


# --- Files beside the samples: small tables read at once, and series of the same time, such as pupil sizes.


class SeriesBesideSamples:
    """Looks values up by time in a stream of tables.

    Of each group, only what is not older than the samples is held in memory. What comes before its turn is held too:
    tables may be sorted by group, and groups may be recordings of different days.
    """

    def __init__(self, tables: Iterator[pl.DataFrame], tolerance: float, report: ReadReport) -> None:
        """Begin.

        Args:
            tables: Tables with columns t (seconds), group (text) and value (null where it was lost), each group
                roughly in the order of time.
            tolerance: How far in time a value may lie from a sample, in seconds.
            report: Where it is remarked if values were passed over.
        """
        self._tables = tables
        self._tolerance = tolerance
        self._report = report
        self._held: dict[str, _Series] = {}

    def nearest(self, times: FloatArray, groups: list[str]) -> list[FloatArray]:
        """Return, for each group, the value nearest in time to each sample; NaN where none is near.

        A value that was lost at a sample's own time is NaN, whatever is near.
        """
        if not len(times):
            return [times for _ in groups]
        series = [self._held.setdefault(group, _Series()) for group in groups]
        start, stop = float(times.min()) - self._tolerance, float(times.max()) + self._tolerance
        if any(start < each.dropped_before for each in series):
            self._report.remark("the time jumps back: values beside the samples may be missing there")
        while any(each.latest < stop for each in series):
            table = next(self._tables, None)
            if table is None:
                break
            for (group,), rows in table.partition_by("group", as_dict=True).items():
                self._held.setdefault(str(group), _Series()).add(rows)
        return [each.nearest(times, start, self._tolerance) for each in series]


@dataclass(slots=True)
class _Series:
    """The rows of one group that are held."""

    tables: list[pl.DataFrame] = field(default_factory=list)
    latest: float = -np.inf
    dropped_before: float = -np.inf

    def add(self, rows: pl.DataFrame) -> None:
        self.tables.append(rows.select("t", "value"))
        self.latest = max(self.latest, float(rows["t"].max()))  # type: ignore[arg-type]

    def nearest(self, times: FloatArray, start: float, tolerance: float) -> FloatArray:
        """Return the values nearest to samples, and drop what is older than these."""
        if not self.tables:
            return np.full(len(times), np.nan)
        rows = pl.concat(self.tables).filter(pl.col("t") >= start).sort("t", maintain_order=True)
        self.tables, self.dropped_before = [rows], max(start, self.dropped_before)
        known, lost = rows.drop_nulls("value"), rows.filter(pl.col("value").is_null())["t"].to_numpy()
        if not known.height:
            return np.full(len(times), np.nan)
        at, values = known["t"].to_numpy(), known["value"].to_numpy()
        after = np.searchsorted(at, times).clip(max=len(at) - 1)
        before = (after - 1).clip(min=0)
        closer = np.where(np.abs(times - at[before]) <= np.abs(at[after] - times), before, after)
        closer = np.where(at[after] == times, after, closer)
        away = np.abs(at[closer] - times)
        was_lost = (away > 0) & np.isin(times, lost)
        return np.where((away <= tolerance) & ~was_lost, values[closer], np.nan)


def read_whole(
    path: Path, options: ReadOptions, report: ReadReport, text: Mapping[str, str], numbers: Mapping[str, str]
) -> pl.DataFrame:
    """Read a small table that lies beside the samples (fixations, blinks, …) at once.

    The mappings give our name → the words of the column, and after a space its unit where the words alone do not
    tell. Columns that the file lacks are null.
    """
    table = Table(path, options.beside(), quiet_report(report), delimiter=",", may_be_empty=True)
    found = {ours: name for ours, words in {**text, **numbers}.items() if (name := _find_beside(table.columns, words))}
    parts = [
        batch.frame
        for batch in table.batches(
            {ours: name for ours, name in found.items() if ours in text},
            {ours: name for ours, name in found.items() if ours in numbers},
        )
    ]
    add_bad_lines(report, table.report)
    empty = pl.DataFrame(schema=dict.fromkeys(text, pl.String) | dict.fromkeys(numbers, pl.Float64))
    return pl.concat([empty, *parts], how="diagonal")


def _find_beside(columns: Columns, words: str) -> str | None:
    spelling, _, unit = words.partition(" ")
    return columns.find_with_unit(spelling, (unit,)) if unit else columns.find(spelling)


def quiet_report(report: ReadReport) -> ReadReport:
    """Return a report for a file that lies beside the one being read, so that progress stays the main file's."""
    return ReadReport(skip_bad=report.skip_bad)


def add_bad_lines(report: ReadReport, of: ReadReport) -> None:
    """Add the bad lines of a file beside, and what was remarked there, to the main report."""
    report.remarks.update(of.remarks)
    report.bad_lines += of.bad_lines
    report.first_bad.extend(of.first_bad[: max(0, 10 - len(report.first_bad))])


def is_blank(path: Path) -> bool:
    """Whether a file, unpacked, holds nothing at all; a damaged one does not count."""
    try:
        with open_binary(path) as stream:
            return not stream.read(1)
    except (OSError, EOFError, zlib.error):
        return False
