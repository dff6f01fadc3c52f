# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One table of a TOML file, read field by field; errors state file, line, field, and what was expected.

The standard parser does not give lines. The scan for them only has to point to the right place, so it knows headers,
keys and strings over several lines; where it is unsure it gives the nearest line above.

`Table.done` refuses every key that was not read: a file with a misspelt limit must not be used without it.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, GazeveilError, closest
from gazeveil.exact import exact

Where = tuple[str | int, ...]
"""A field's place: names of tables and keys, and numbers within lists of tables, counted from 0."""

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")


def lines_of(text: str) -> dict[Where, int]:
    """Return the line of every table and key, counted from 1."""
    found: dict[Where, int] = {(): 1}
    counts: Counter[Where] = Counter()
    table: Where = ()
    within = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if within:
            within = _still_within(line, within)
            continue
        if header := _HEADER.match(line):
            table = _table(_parts(header[2]), counts, listed=header[1] == "[[")
            for length in range(1, len(table) + 1):
                found.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            place = table
            for part in _parts(key[1]):
                place = (*place, part)
                found.setdefault(place, number)
        within = _still_within(line, "")
    return found


def line_of(lines: dict[Where, int], where: Where) -> int:
    """Return the line of a field, or of what it is in."""
    return next(lines[where[:length]] for length in range(len(where), -1, -1) if where[:length] in lines)


def _table(names: list[str], counts: Counter[Where], *, listed: bool) -> Where:
    place: Where = ()
    for index, name in enumerate(names):
        place = (*place, name)
        if listed and index == len(names) - 1:
            counts[place] += 1
        if counts[place]:
            place = (*place, counts[place] - 1)
    return place


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(dotted)]


def _still_within(line: str, within: str) -> str:
    """Return the triple quotes that are open at the end of a line; empty for none."""
    for quotes in re.findall(r'"""|\'\'\'', line):
        if not within:
            within = quotes
        elif within == quotes:
            within = ""
    return within


# --- Reading field by field.


LONGEST_NAME = 80
MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class File:
    """The file, for error messages."""

    path: Path
    lines: dict[Where, int]

    def wrong(self, where: Where, expected: str, found: str, hint: str = "") -> FileFormatError:
        """Return the error about a field."""
        named = ".".join(str(part) for part in where if not isinstance(part, int))
        about = f"{expected} for {named}" if named else expected
        return FileFormatError(self.path, line=line_of(self.lines, where), expected=about, found=found, hint=hint)

    def because(self, where: Where, expected: str, error: GazeveilError) -> FileFormatError:
        """Return the error about a field that another check found wrong."""
        return self.wrong(where, expected, error.message, error.hint)

    def beside(self, name: str) -> Path:
        """Return a path that the file gives, relative to the file's own folder."""
        return self.path.parent / Path(name).expanduser()


class Table:
    """The keys of one table, read one by one."""

    def __init__(self, file: File, where: Where, values: object) -> None:
        if not isinstance(values, Mapping):
            raise file.wrong(where, "a table", told(values))
        self.file, self.where, self.values = file, where, values
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def wrong(self, key: str, expected: str, found: str, hint: str = "") -> FileFormatError:
        """Return the error about one of its fields."""
        return self.file.wrong((*self.where, key), expected, found, hint)

    def because(self, key: str, expected: str, error: GazeveilError) -> FileFormatError:
        """Return the error about a field that another check found wrong."""
        return self.file.because((*self.where, key), expected, error)

    def any(self, key: str, default: Any = MISSING, expected: str = "a value") -> Any:
        """Return a field as it is written."""
        self._asked.append(key)
        if key in self.values:
            return self.values[key]
        if default is MISSING:
            raise self.wrong(key, expected, "nothing", f"add {key} = …")
        return default

    def text(self, key: str, default: Any = MISSING, expected: str = "a text") -> Any:
        """Return a field that is a printable text, or the default as it is."""
        value = self.any(key, default, expected)
        if key not in self.values:
            return value
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self.wrong(key, expected, told(value))
        return value

    def name(self, key: str, expected: str) -> str:
        """Return a field that names something."""
        value: str = self.text(key, expected=expected)
        if len(value) > LONGEST_NAME or value != value.strip():
            raise self.wrong(key, f"a name of at most {LONGEST_NAME} letters without blanks at its ends", told(value))
        return value

    def participant(self, expected: str) -> str:
        """Return whose gaze or budget it is, in one spelling: a name typed on two machines is one account."""
        return unicodedata.normalize("NFC", self.name("participant", expected))

    def choice(self, key: str, choices: Sequence[str], default: Any = MISSING) -> Any:
        """Return a field that is one of a few words, or the default as it is."""
        expected = f"one of {', '.join(choices)}"
        value = self.any(key, default, expected)
        if key in self.values and (not isinstance(value, str) or value not in choices):
            raise self.wrong(key, expected, told(value), closest(str(value), choices))
        return value

    def number(self, key: str, low: float, high: float, default: Any = MISSING) -> Any:
        """Return a field that is a number within limits, or the default as it is."""
        expected = f"a number from {low:g} to {high:g}"
        value = self.any(key, default, expected)
        if key not in self.values:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.wrong(key, expected, told(value))
        if not low <= value <= high:
            raise self.wrong(key, expected, told(value))
        return float(value)

    def whole(self, key: str, low: int, high: int, default: Any = MISSING) -> Any:
        """Return a field that is a whole number within limits, or the default as it is."""
        expected = f"a whole number from {low} to {high}"
        value = self.any(key, default, expected)
        if key in self.values and (isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high):
            raise self.wrong(key, expected, told(value))
        return value

    def fraction(self, key: str, default: Any = MISSING) -> Any:
        """Return a field that is a number above 0 and is kept exactly, or the default as it is."""
        expected = "a number above 0"
        value = self.any(key, default, expected)
        if key not in self.values:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self.wrong(key, expected, told(value))
        try:
            number: Fraction = exact(value, key)
        except GazeveilError as error:
            raise self.wrong(key, expected, told(value), error.hint) from None
        if not 0 < number <= 10**9:
            raise self.wrong(key, expected, told(value))
        return number

    def truth(self, key: str, *, default: bool) -> bool:
        """Return a field that is true or false."""
        value = self.any(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false", told(value))
        return value

    def names(self, key: str) -> tuple[str, ...]:
        """Return a field that is a list of texts; empty if it is not there."""
        value = self.any(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, 'a list of texts, such as ["lphu", "mpmu"]', told(value))
        return tuple(value)

    def allowed(self, key: str) -> bool:
        """Return whether a field says ``allow``, the one thing that it may say."""
        return bool(self.choice(key, ("allow",), ""))

    def readable(self, key: str) -> Path:
        """Return a field that is the path of a file, which must be there and may be read."""
        path = self.file.beside(self.text(key, expected="a file"))
        try:
            with path.open("rb"):
                return path
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise self.wrong(key, "a file that can be read", f"{path}: {reason}") from None

    def table(self, key: str, default: Any = MISSING, expected: str = "a table") -> Table:
        """Return a field that is a table."""
        return Table(self.file, (*self.where, key), self.any(key, default, expected))

    def done(self) -> None:
        """Refuse keys that were not read."""
        for key in self.values:
            if key not in self._asked:
                known = sorted(set(self._asked))
                raise self.wrong(key, "a field that is known", f"an unknown one, {key!r}", closest(key, known))


def tables(file: File, values: Mapping[str, Any], key: str) -> list[Table]:
    """Return a list of tables, as ``[[key]]`` writes them."""
    given = values.get(key, [])
    if not isinstance(given, list):
        raise file.wrong((key,), f"a list of tables, each begun with [[{key}]]", told(given))
    return [Table(file, (key, index), entry) for index, entry in enumerate(given)]


def told(value: object) -> str:
    """Return a value for a message: short, and on one line."""
    try:
        text = json.dumps(value, ensure_ascii=True)
    except (TypeError, ValueError):
        text = type(value).__name__
    return text if len(text) <= 80 else f"{text[:77]}…"
