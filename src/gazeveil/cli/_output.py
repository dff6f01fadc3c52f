# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What commands print: JSON for programs, tables for readers, progress for the impatient, errors for both."""

from __future__ import annotations

import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from gazeveil.errors import GazeveilError

if TYPE_CHECKING:
    import polars as pl

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


def print_error(error: GazeveilError, *, as_json: bool) -> None:
    """Print an error: to standard error for participants, as JSON on standard output for programs."""
    if as_json:
        print_json(error.details())
        return
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"hint: {error.hint}", file=sys.stderr)


def print_line(word: str, text: str) -> None:
    """Print what a word is about; on a terminal, long lines go on under the text and not under the word."""
    line = f"{word:<10}{text}"
    if sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns - 1, 40)
        line = textwrap.fill(line, width, subsequent_indent=" " * 10, break_long_words=False, break_on_hyphens=False)
    print(line)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table for reading; numbers are right-aligned."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_header=any(columns))
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_words(value)) for value in row))
    width = None if sys.stdout.isatty() else 200
    console = Console(width=width)
    console.print(Text(title, style="bold"))
    console.print(table)


class Progress(Protocol):
    """What a long job calls as it goes."""

    def __call__(self, done: float, total: float | None = None) -> None:
        """Say how far the job is."""
        ...


def show_preview(preview: pl.DataFrame | None) -> None:
    """Show what to expect of single numbers, or of the designs that were compared, if that is known."""
    if preview is not None:
        columns = [name.replace("_", " ") for name in preview.columns]
        print_table("what to expect", columns, [list(row) for row in preview.iter_rows()])


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Progress]:
    """Show a progress bar on standard error while a job runs; silent where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total=None: bars.update(bar, completed=done, total=total)


def _words(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:,.4g}"
    return str(value)


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
