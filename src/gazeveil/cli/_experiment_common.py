# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What experiments have in common on the command line: options, lists with commas, and how results are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from gazeveil.cli._output import json_text, print_json
from gazeveil.cli._table import print_table
from gazeveil.errors import OptionError
from gazeveil.files import write_all

MostPeople = Annotated[int, typer.Option("--participants", "--people", min=2, help="Maximum number of participants.")]
NoiseSeed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all noise.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the numbers and a picture.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Veils = Annotated[
    str,
    typer.Option("--veils", help="Mechanisms, comma-separated: none, presets, kaleido-lphu …; by default fifteen."),
]


def data_with(sets: str) -> Any:
    """Return the option for the folder that holds data sets."""
    return typer.Option("--data", help=f"Folder that holds {sets}; found here or above.")


Number = TypeVar("Number", int, float)
Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]
"""Title, columns and rows."""


def names_in(text: str, mark: str = ",") -> tuple[str, ...]:
    """Return the names of a list with commas, or other marks, between."""
    return tuple(name.strip() for name in text.split(mark) if name.strip())


def numbers_in(text: str, kind: Callable[[str], Number], option: str) -> tuple[Number, ...]:
    """Return the numbers of a list with commas between.

    Raises:
        OptionError: If one of them is none.
    """
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"{option} takes numbers with commas between them, not {text!r}") from None


def check_drawing(out: Path | None) -> None:
    """Say at once, not after the work, that what draws is not installed."""
    from gazeveil.pictures import canvas

    if out is not None:
        canvas()


def show_found(
    out: Path | None,
    name: str,
    told: Mapping[str, Any],
    draw: Callable[[], bytes],
    tables: Iterable[Table],
    *,
    as_json: bool,
) -> None:
    """Write ``NAME.json`` and ``NAME.png`` if there is a folder for them, and print the numbers as JSON or tables."""
    files: dict[str, bytes] = {}
    if out is not None:
        files = {f"{name}.json": (json_text(told, indent=1) + "\n").encode(), f"{name}.png": draw()}
        write_all(out, files)
    if as_json:
        print_json({**told, "files": list(files)})
        return
    for title, columns, rows in tables:
        print_table(title, columns, rows)
    if files:
        print(f"wrote {', '.join(files)} to {out}")
