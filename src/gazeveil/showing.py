# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How values show themselves in a notebook: one small table, and lists that stay short."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import fields
from html import escape
from itertools import islice
from typing import Any

MOST_ROWS = 30
_LONGEST = 48


def html_table(caption: str, rows: Iterable[tuple[object, ...]], *, most: int = MOST_ROWS) -> str:
    """Return a table of texts, the first column as headings; of many rows the first, and how many more there are."""
    shown = list(rows)
    more = len(shown) - most
    cells = "".join(_row(row) for row in shown[:most])
    end = f'<tr><td colspan="{max(map(len, shown))}">and {more:,} more</td></tr>' if more > 0 else ""
    return f"<table><caption>{escape(caption)}</caption>{cells}{end}</table>"


def _row(row: tuple[object, ...]) -> str:
    first, *others = (escape(str(cell)) for cell in row)
    return f'<tr><th align="left">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'


def a_few(names: Collection[object], most: int = 3) -> str:
    """Return names with commas between; of many the first, and how many more there are."""
    shown = ", ".join(str(name)[:60] for name in islice(names, most))
    return f"{shown} and {len(names) - most:,} more" if len(names) > most else shown


def plain_number(number: float) -> str:
    """Write a number as someone would, and exactly."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(float(number))


def brief(self: Any) -> str:
    """Return what a dataclass holds, long fields cut short: for ``__repr__ = brief``."""
    shown = [f"{each.name}={_cut(repr(getattr(self, each.name)))}" for each in fields(self) if each.repr]
    return f"{type(self).__name__}({', '.join(shown)})"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 2]} …"
