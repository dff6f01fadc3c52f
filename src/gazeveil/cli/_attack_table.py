# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil attack table`` and ``keep``: the table of measured identification rates."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil import __version__
from gazeveil.cli._output import AsJson, print_json, print_table
from gazeveil.errors import FileFormatError

TablePath = Annotated[
    Path | None, typer.Option("--table", help="Another table than the one that gazeveil comes with and reads.")
]


def attack_table(table: TablePath = None, as_json: AsJson = False) -> None:
    """Show what was measured: the table that statements, the gateway and plans read."""
    from gazeveil.samples import identification

    read = identification.read_table(table or identification.PACKAGED)
    if as_json:
        print_json({"version": read.version, "rows": [row.to_dict() for row in read.rows]})
        return
    print_table(
        f"how often participants were identified, version {read.version}",
        ["mechanism", "attack", "recogniser", "known from", "seconds", "identified", "95 % interval", "chance", "data"],
        [
            [
                "none" if row.mechanism is None else row.mechanism.in_words(),
                row.attack or "none",
                row.recogniser,
                row.known,
                row.seconds,
                f"{row.rate:.0%}",
                f"{row.interval[0]:.0%} to {row.interval[1]:.0%}",
                f"{row.chance:.0%}",
                row.data,
            ]
            for row in read.rows
        ],
    )


def attack_keep(
    results: Annotated[
        list[Path],
        typer.Argument(help="What `attack run --json` or `reproduce wilson --json` printed, or a file of its --keep."),
    ],
    command: Annotated[str, typer.Option("--command", help="The command that measured it.")],
    table: TablePath = None,
    date: Annotated[str | None, typer.Option("--date", help="When it was measured; by default today (UTC).")] = None,
    as_json: AsJson = False,
) -> None:
    """Add what an attack measured to the table; it replaces what was measured in the same way before."""
    from gazeveil.samples import identification

    path = table or identification.PACKAGED
    before = identification.read_table(path) if path.exists() else identification.Table(0, ())
    day = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = [
        identification.row_of(judged, software=f"gazeveil {__version__}", date=day, command=command)
        for result in results
        for judged in _judgements(result)
    ]
    after = before.with_rows(rows)
    after.save(path)
    if as_json:
        print_json({"table": path, "version": after.version, "rows": len(after.rows), "taken": len(rows)})
    else:
        print(f"{path} is version {after.version} now: {len(rows)} rows taken, {len(after.rows)} in all")


def _judgements(path: Path) -> list[dict[str, Any]]:
    """Find judgements wherever they stand in a file: alone, in a table, or by the recogniser's name."""
    try:
        text = path.read_text(encoding="utf-8")
        values = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    except (OSError, ValueError) as error:
        raise FileFormatError(path, expected="judgements as JSON", found=str(error)) from None
    if found := list(_anywhere(values)):
        return found
    raise FileFormatError(path, expected="judgements as JSON", found="none", hint="gazeveil attack run … --json")


def _anywhere(values: Any) -> Iterator[dict[str, Any]]:
    if isinstance(values, dict) and {"accuracy", "recipe"} <= values.keys():
        yield values
    elif isinstance(values, dict | list):
        for each in values.values() if isinstance(values, dict) else values:
            yield from _anywhere(each)
