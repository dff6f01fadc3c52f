# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""On which line of a TOML file a field stands.

The standard parser does not tell. This scan only has to be good enough to point a participant to the right place, so it
knows headers, keys and strings over several lines, and where it is unsure it names the nearest line above.
"""

from __future__ import annotations

import re
from collections import Counter

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
