# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Columns found by their names, whatever the spelling, and rules of validity applied to them.

``Gaze point left X [DACS px]``, ``GazePointLeftX (ADCSpx)`` and ``gaze_point_left_x`` are the same words
(``gazepointleftx``); what stands in brackets, or after the last underscore if it is a unit, is the unit.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from gazeveil.arrays import BoolArray
from gazeveil.errors import FileFormatError, OptionError
from gazeveil.gaze.fileio.numbers import is_one_of, parse_numbers
from gazeveil.gaze.formats.base import ReadReport
from gazeveil.gaze.validity import ValidityRule

_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]\s*$")
_NO_WORD = re.compile(r"[\W_]+")

TIME_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "insecs"), "s"),
        **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), "ms"),
        **dict.fromkeys(("us", "usec", "usecs", "microsecond", "microseconds"), "us"),
        **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    }
)
GAZE_UNITS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("px", "pix", "pixel", "pixels"), "px"),
        **dict.fromkeys(("deg", "degs", "degree", "degrees", "dva"), "deg"),
        **dict.fromkeys(("norm", "normalized", "normalised", "fraction"), "norm"),
    }
)


class ColumnName(NamedTuple):
    """A column's name: its letters and digits in lower case, and its unit."""

    words: str
    unit: str


def parse_name(name: str) -> ColumnName:
    """Split a column's name into words and unit."""
    # compatibility normalisation makes the micro sign and the Greek mu one letter
    text = unicodedata.normalize("NFKC", name).strip().lower().replace("μ", "u")
    brackets = _BRACKETS.search(text)
    if brackets:
        return ColumnName(_squeezed(text[: brackets.start()]), _squeezed(brackets[1]))
    tokens = [token for token in _NO_WORD.split(text) if token]
    if len(tokens) > 1 and (tokens[-1] in TIME_UNITS or tokens[-1] in GAZE_UNITS or tokens[-1] == "mm"):
        return ColumnName("".join(tokens[:-1]), tokens[-1])
    return ColumnName("".join(tokens), "")


def first_line(head: bytes) -> str:
    """Return the first line of a file's beginning that is not empty."""
    return next((line for line in head.splitlines() if line.strip()), b"").decode(errors="replace")


def header_words(head: bytes, around: str = "") -> Iterator[set[str]]:
    """Return the words of the columns in a file's first line, cut at commas, semicolons and tabs in turn.

    Args:
        head: The beginning of the file.
        around: Letters that may stand around a name.
    """
    return _cut_words(first_line(head), ",;\t", around)


def words_in(line: str, marks: str = "\t;,", around: str = "") -> set[str]:
    """Return the words of the columns that a line names, by whichever mark cuts it into most of them."""
    return max(_cut_words(line, marks, around), key=len)


def _cut_words(line: str, marks: str, around: str) -> Iterator[set[str]]:
    for mark in marks:
        yield {parse_name(name.strip(around)).words for name in line.split(mark)}


def _squeezed(text: str) -> str:
    return _NO_WORD.sub("", text)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a file."""

    path: Path
    names: tuple[str, ...]
    line: int | None = 1

    def find(self, *spellings: str) -> str | None:
        """Return the first column with one of these words, in the order of the spellings."""
        parsed = [(name, parse_name(name).words) for name in self.names if name]
        return next((name for spelling in spellings for name, words in parsed if words == spelling), None)

    def find_each(self, spellings: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
        """Return our names → the columns with one of their words, for those that are there."""
        each = {ours: (words,) if isinstance(words, str) else words for ours, words in spellings.items()}
        return {ours: found for ours, words in each.items() if (found := self.find(*words))}

    def find_with_unit(self, spelling: str, units: Sequence[str]) -> str | None:
        """Return the column with these words and the first of these units that there is."""
        return next((name for unit in units for name in self.names if parse_name(name) == (spelling, unit)), None)

    def need(self, example: str, *spellings: str, hint: str = "") -> str:
        """Return the column with one of these words.

        Raises:
            FileFormatError: If there is none; it lists the columns and the nearest spelling.
        """
        found = self.find(*spellings)
        if found is None:
            raise self.missing(example, spellings, hint)
        return found

    def missing(self, example: str, spellings: Sequence[str] = (), hint: str = "") -> FileFormatError:
        """Return the error that says a column is not there."""
        by_words = {parse_name(name).words: name for name in self.names if name}
        near = [words for s in spellings for words in difflib.get_close_matches(s, by_words, n=1, cutoff=0.75)]
        guess = f"did you mean {by_words[near[0]]!r}? " if near else ""
        return FileFormatError(
            self.path,
            line=self.line,
            expected=f"a column {example}",
            found=f"columns {_listed(self.names)}",
            hint=f"{guess}{hint}".strip(),
        )

    def check_distinct(self) -> None:
        """Refuse two columns of one name: which of them is meant cannot be known.

        Raises:
            FileFormatError: If a name comes twice.
        """
        seen: set[str] = set()
        for name in self.names:
            if name and name in seen:
                raise FileFormatError(
                    self.path,
                    line=self.line,
                    column=name,
                    expected="columns with different names",
                    found=f"{self.names.count(name)} columns called {name!r}",
                    hint="rename one of them",
                )
            seen.add(name)


def _listed(names: Sequence[str], most: int = 40) -> str:
    shown = ", ".join(repr(name) for name in names[:most] if name)
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown or "none"


# --- Rules of validity: which column of a file each means, and in which rows it holds.


HOLDS: Final = "holds"
"""The column, after an eye's prefix, that says where all rules hold; `combined` takes it into account."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a rule holds, and which rows have a value it cannot be compared with."""

    holds: pl.Series
    unclear: BoolArray


def column_of(rule: ValidityRule, columns: Columns) -> str:
    """Return the file's column that a rule means: the one of that name, else the one of these words.

    Raises:
        FileFormatError: If there is none, with the columns there are.
        OptionError: If several could be meant.
    """
    if rule.column in columns.names:
        return rule.column
    words = parse_name(rule.column).words
    fitting = [name for name in columns.names if name and parse_name(name).words == words]
    if len(fitting) > 1:
        raise OptionError(
            f"--valid {rule}: {rule.column!r} may be {' or '.join(map(repr, fitting))}",
            hint="write the column as the file does",
        )
    if not fitting:
        raise columns.missing(f"{rule.column!r} (for --valid)", (words,), "--valid names a column of the file")
    return fitting[0]


def verdict(rule: ValidityRule, values: pl.Series, decimal: str = ".") -> Verdict:
    """Say where a rule holds. A missing number holds no rule; a missing text is the empty text.

    Raises:
        OptionError: If a text is compared with a column of numbers.
    """
    nothing_unclear = np.zeros(len(values), dtype=np.bool_)
    if values.dtype == pl.Boolean:
        values = values.cast(pl.Int8) if rule.is_of_numbers else values.cast(pl.String)
    if rule.is_of_numbers:
        unclear = nothing_unclear
        if values.dtype == pl.String:
            values, unclear = parse_numbers(values, decimal)
        else:
            values = values.cast(pl.Float64).fill_nan(None)
        return Verdict(_compared(rule, values).fill_null(False), unclear)
    if values.dtype.is_numeric():
        raise OptionError(
            f"--valid {rule}: {rule.column!r} is a column of numbers", hint="compare it with a number without quotes"
        )
    found = is_one_of(values.cast(pl.String).fill_null(""), rule.values.__contains__)
    return Verdict(~found if rule.sign == "!=" else found, nothing_unclear)


def _compared(rule: ValidityRule, values: pl.Series) -> pl.Series:
    other = rule.values[0]
    match rule.sign:
        case "<":
            return values < other
        case "<=":
            return values <= other
        case ">":
            return values > other
        case ">=":
            return values >= other
        case "!=":
            return values != other
        case _:
            return values.is_in(list(rule.values))


def apply_rules(
    frame: pl.DataFrame, columns: Mapping[ValidityRule, str], path: Path, report: ReadReport
) -> pl.DataFrame:
    """Return a table in our columns whose samples are valid only where all rules hold.

    Raises:
        FileFormatError: If a value cannot be compared, or a rule is about an eye that the table has not.
    """
    verdicts = [verdict(rule, frame[name]) for rule, name in columns.items()]
    for (rule, name), each in zip(columns.items(), verdicts, strict=True):
        if each.unclear.any():
            found = repr(frame[name][int(np.flatnonzero(each.unclear)[0])])
            raise FileFormatError(
                path, column=rule.column, expected=f"a number, to compare by --valid {rule}", found=found
            )
        if rule.eye and f"{rule.eye}_x" not in frame.columns:
            raise no_such_eye(rule.eye)
        note_lost(rule, each, report)
    report.rules_kept = True
    frame = frame.with_columns(rule_columns(list(columns), verdicts))
    stated = {
        f"{prefix}valid": pl.all_horizontal(
            pl.col(name).fill_null(False)
            for name in dict.fromkeys((f"{prefix}valid", HOLDS, f"{prefix}{HOLDS}"))
            if name in frame.columns
        )
        for prefix in ("", "left_", "right_")
        if not prefix or f"{prefix}x" in frame.columns
    }
    return frame.with_columns(**stated)


def note_lost(rule: ValidityRule, each: Verdict, report: ReadReport) -> None:
    """Report in how many rows a rule does not hold."""
    if lost := len(each.holds) - int(each.holds.sum()):
        report.remark(f"a row where --valid {rule} does not hold is not valid", lost)


def no_such_eye(eye: str) -> OptionError:
    """Return the error that says a rule is about an eye that is not there."""
    return OptionError(
        f"--valid has a rule about the {eye} eye, whose own gaze is not in the file",
        hint=f"without '{eye}:' the rule is about the sample",
    )


def rule_columns(rules: Sequence[ValidityRule], verdicts: Sequence[Verdict]) -> list[pl.Series]:
    """Return the columns that say where all rules hold, one for the sample and one for each eye that has rules."""
    found: dict[str, pl.Series] = {}
    for rule, each in zip(rules, verdicts, strict=True):
        name = f"{rule.eye}_{HOLDS}" if rule.eye else HOLDS
        found[name] = (found[name] & each.holds if name in found else each.holds).alias(name)
    return list(found.values())
