# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables, never wider than the terminal: cells are folded, and if that is not enough, rows become lists."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from collections.abc import Sequence

_WITHOUT_TERMINAL = 200
_FRAME = 3
"""What a column takes beside its cell: a line and two spaces."""
_LONGEST_WORDS = (32, 16)
"""A word of more letters may be broken; of more than the second number only where there is too little room."""
_LONGEST_LABEL = 24


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table that fits into the terminal; numbers are right-aligned."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    across = _across()
    cells = [[_words(value) for value in row] for row in rows]
    widths = _widths(columns, cells, across - _FRAME * len(columns) - 1)
    console = Console(width=across, soft_wrap=False)
    console.print(Text(title, style="bold"))
    if widths is None:
        _print_lists(columns, cells, across)
        return
    table = Table(show_header=any(columns))
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _across() -> int:
    """Return how wide tables may be: as wide as the terminal, if there is one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WITHOUT_TERMINAL


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return how wide columns are, so that no short word is broken; None if there is too little room for that."""
    of_columns = list(zip(columns, *cells, strict=True))
    widths = [max(_longest(text.split("\n")) for text in texts) for texts in of_columns]
    for longest_word in _LONGEST_WORDS:
        least = [max(min(_longest(text.split()), longest_word) for text in texts) for texts in of_columns]
        if sum(least) <= room:
            return _shrunk(widths, least, room)
    return None


def _shrunk(widths: list[int], least: list[int], room: int) -> list[int]:
    """Return widths that fit: the widest columns shrink first, none below its least."""
    widths = list(widths)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda index: widths[index] - least[index] and widths[index])
        widths[widest] -= 1
    return widths


def _longest(texts: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max((cell_len(text) for text in texts), default=0)


def _print_lists(columns: Sequence[str], cells: Sequence[Sequence[str]], across: int) -> None:
    """Print each row as a list, a line for each column."""
    label = min(_longest(columns), _LONGEST_LABEL, across // 2)
    for row in cells:
        print()
        for column, cell in zip(columns, row, strict=True):
            names = textwrap.wrap(column, label) or [""]
            values = textwrap.wrap(cell, max(across - label - 4, 8)) or [""]
            for line in range(max(len(names), len(values))):
                name, value = (part[line] if line < len(part) else "" for part in (names, values))
                print(f"  {name:<{label}}  {value}".rstrip())
    sys.stdout.flush()


def _words(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.4g}"
    return str(value)
