# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment run``, ``compare`` and ``leaderboard``: the grid."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.errors import OptionError

if TYPE_CHECKING:
    from gazeveil.lab.experiments.grid.running import Follow, Progress

_MINUTE = 60.0
_SHOWN = 40


def experiment_run(
    grid: Annotated[Path, typer.Argument(help="What to measure, as TOML.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run; runs/NAME by default.")] = None,
    own: Annotated[
        list[Path] | None, typer.Option("--with", help="A Python file that registers your own mechanism; repeatable.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of data sets; found here or above.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=0, help="Processes; one a core by default. 0: this one, no time limit.")
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Where large corpora are worked on: `local`, or a Spark master.")
    ] = "local",
    retry: Annotated[bool, typer.Option("--retry", help="Try cells again that broke before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure every mechanism against every attack and for every use. A stopped run resumes."""
    from gazeveil.lab.datasets.folder import find_data
    from gazeveil.lab.experiments.grid import table as tables
    from gazeveil.lab.experiments.grid.asked import read_grid
    from gazeveil.lab.experiments.grid.report import write_report
    from gazeveil.lab.experiments.grid.running import BROKEN, Setting, run_cells
    from gazeveil.pictures import canvas

    canvas()  # says at once, not after a night's work, that what draws is not installed
    asked = read_grid(grid, own or ())
    folder = Path("runs") / asked.name if out is None else out
    workers = jobs if jobs is not None else 1 if engine != "local" else os.cpu_count() or 1
    setting = Setting(asked, find_data(data), engine)
    begun = time.monotonic()
    with _followed(as_json) as follow:
        cells, kept = run_cells(setting, folder, workers=workers, retry=retry, follow=follow)
    table = tables.table_of(asked.name, cells, kept)
    tables.write_table(table, folder / tables.FILE)
    command = shlex.join(
        ["gazeveil", "judge", "experiment", "run", grid.name, *(f"--with={one.name}" for one in own or ())]
    )
    report = write_report(asked, table, folder, command)
    done = table.unique("digest")
    broken = done.filter(done["status"] == BROKEN)
    found: dict[str, Any] = {
        "run": asked.name,
        "cells": len(done),
        "broken": len(broken),
        "numbers": len(table),
        "seconds": time.monotonic() - begun,
        "table": folder / tables.FILE,
        "report": report,
    }
    if as_json:
        print_json(found)
        return
    for row in broken.head(_SHOWN).iter_rows(named=True):
        print(f"broken: {row['mechanism']} {row['level']}, {row['measure']}, seed {row['seed']}: {row['error']}")
    print(f"{found['cells']} cells, {found['broken']} broken; wrote {tables.FILE} and {report.name} to {folder}")


def experiment_compare(
    first: Annotated[Path, typer.Argument(help="A run: its folder, or its grid.parquet.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.0, help="Relative change that still counts as equal.")
    ] = 1e-12,
    as_json: AsJson = False,
) -> None:
    """Compare two runs: which numbers changed, by how much, and whether data, recipe or software changed."""
    from gazeveil.lab.experiments.grid.comparing import compare
    from gazeveil.lab.experiments.grid.table import read_table

    changes = compare(read_table(first), read_table(second), tolerance)
    if as_json:
        print_json(changes.to_dict())
        return
    print(
        f"{changes.same} numbers are the same, {len(changes.changed)} changed, "
        f"{len(changes.only_first)} are only in {first}, {len(changes.only_second)} only in {second}"
    )
    if len(changes.changed):
        columns = ["use", "mechanism", "level", "measure", "metric", "seed", "value", "now", "difference",
                   "within_interval", "because"]  # fmt: skip
        shown = changes.changed.head(_SHOWN).select(columns)
        rows = [[float("nan") if cell is None else cell for cell in row] for row in shown.iter_rows()]
        print_table("largest changes first", [name.replace("_", " ") for name in columns], rows)


def experiment_leaderboard(
    run: Annotated[Path | None, typer.Argument(help="A run; by default the one that comes with gazeveil.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the tables as Markdown into this file; a page keeps what is around its marks."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank mechanisms by their strongest measured attack and their usefulness."""
    from gazeveil.files import replacing
    from gazeveil.lab.experiments.grid.leaderboard import boards, within
    from gazeveil.lab.experiments.grid.standing import standings
    from gazeveil.lab.experiments.grid.stored import measured
    from gazeveil.lab.experiments.grid.table import read_table

    table = measured() if run is None else read_table(run)
    if out is not None:
        if out.is_dir():
            raise OptionError(f"{out} is a folder", hint="name a file, such as leaderboard.md")
        before = out.read_text(encoding="utf-8") if out.is_file() else ""
        with replacing(out) as temporary:
            temporary.write_text(within(before, table), encoding="utf-8", newline="\n")
    if as_json:
        print_json({"rows": standings(table).to_dicts()})
        return
    for board in boards(table):
        print_table(board.title, list(board.columns), [list(row) for row in board.rows])


@contextmanager
def _followed(quiet: bool) -> Iterator[Follow]:
    """Show how far a run is: a bar on a terminal, else a line a minute, so that a log says how long it takes."""
    last = [-_MINUTE]
    with progress("measuring", quiet=quiet or not sys.stderr.isatty()) as bar:

        def follow(now: Progress) -> None:
            bar(now.done, now.total)
            if quiet or sys.stderr.isatty():
                return
            if now.done == now.total or time.monotonic() - last[0] >= _MINUTE:
                last[0] = time.monotonic()
                print(f"{now.done} of {now.total} cells{_told(now)}", file=sys.stderr, flush=True)

        yield follow


def _told(now: Progress) -> str:
    parts = []
    if now.reused:
        parts.append(f"{now.reused} done before")
    if now.broken:
        parts.append(f"{now.broken} broken")
    if now.left_s is not None and now.done < now.total:
        parts.append(f"about {max(1, round(now.left_s / _MINUTE))} min left")
    return "".join(f", {part}" for part in parts)
