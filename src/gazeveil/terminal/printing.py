# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands print and return: JSON for programs, tables for readers, progress, errors, exit codes."""

from __future__ import annotations

import io
import json
import math
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from gazeveil.errors import GazeveilError, OutputError

if TYPE_CHECKING:
    import polars as pl


EXIT_OK = 0
EXIT_FINDING = 1
"""The command ran and its answer is no: a violated guarantee, a file with faults."""
EXIT_USAGE = 2
EXIT_INPUT = 3
EXIT_OUTPUT = 4
EXIT_REFUSED = 5
"""Refused for privacy: the budget does not allow it."""
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]


def command_app(**options: Any) -> typer.Typer:
    """Return the app of one command file."""
    return typer.Typer(add_completion=False, rich_markup_mode="markdown", **options)


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json_text(values))


def json_text(values: Mapping[str, Any], indent: int | None = None) -> str:
    """Return values as JSON: what is not a number is null."""
    return json.dumps(_plain(values), ensure_ascii=False, allow_nan=False, indent=indent)


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: no NaN, no paths, no numpy scalars."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_line(word: str, text: str) -> None:
    """Print what a word is about; on a terminal, long lines go on under the text and not under the word."""
    line = f"{word:<10}{text}"
    if sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns - 1, 40)
        line = textwrap.fill(line, width, subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False)
    print(line)


def print_error(error: GazeveilError, *, as_json: bool) -> None:
    """Print an error: to standard error for users, as JSON on standard output for programs."""
    if as_json:
        print_json(error.details())
        return
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


def show_preview(preview: pl.DataFrame | None) -> None:
    """Show what to expect of single numbers, or of the designs that were compared, if that is known."""
    if preview is not None:
        columns = [name.replace("_", " ") for name in preview.columns]
        print_table("what to expect", columns, [list(row) for row in preview.iter_rows()])


def check_free(out: Path, *, overwrite: bool) -> None:
    """Check, before the work, that its result would replace nothing.

    Raises:
        OutputError: If it would, and may not.
    """
    if out.exists() and not overwrite:
        raise OutputError(f"{out} exists already", hint="choose another name, or add --overwrite")


def use_utf8() -> None:
    """Make every letter printable: files and pipes get UTF-8, and a terminal shows what it can.

    Windows gives pipes a code page that has no ε, and what cannot be printed would end the program.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")


# --- Progress.


FIRST_LINE_S, LINE_EVERY_S = 3.0, 5.0
"""When a job whose output goes to a file reports how far it is: rarely, because lines stay there."""


class Progress(Protocol):
    """What a long job calls to report how far it is."""

    def __call__(self, done: float, total: float | None = None) -> None:
        """Report how far the job is."""
        ...


@contextmanager
def progress(what: str, *, quiet: bool = False, shares: bool = True) -> Iterator[Progress]:
    """Show on standard error how far a job is: a bar on a terminal, lines where it goes to a file or another program.

    Args:
        what: The job, in words.
        quiet: Show nothing.
        shares: Whether lines may say how far the job is, and when. Of a release they may not: a file of them could be
            published with it, and what is printed must not depend on the data.
    """
    if quiet:
        yield lambda done, total=None: None
        return
    if not sys.stderr.isatty():
        if not shares:
            print(f"{what} …", file=sys.stderr, flush=True)
        yield _Lines(what) if shares else lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total=None: bars.update(bar, completed=done, total=total)


class _Lines:
    """Prints a line every few seconds, the first one only if a job takes long."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._next = self._began + FIRST_LINE_S

    def __call__(self, done: float, total: float | None = None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LINE_EVERY_S
        far = f"{done / total:.0%} done, " if total else ""
        print(f"{self._what}: {far}{now - self._began:.0f} s", file=sys.stderr, flush=True)


# --- Tables.


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
