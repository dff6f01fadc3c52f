# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Finding columns by what they are called, whatever the spelling.

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

from gazeveil.errors import FileFormatError

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
