# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge reproduce all``: every figure and table of the four papers in one run, with one page about them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from gazeveil import __version__
from gazeveil.cli._experiment_common import names_in
from gazeveil.cli._output import AsJson, json_text, print_json, print_table, progress
from gazeveil.errors import OptionError
from gazeveil.files import write_all


def reproduce_all(
    only: Annotated[str, typer.Option("--only", help="Names with commas, such as liu-3,kaleido-10; else all.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer participants and repeats: some minutes.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of the data sets; by default data/ or shared/data/ here or above."),
    ] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulated gaze, whatever data there are.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for index.html and index.json.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes to use.")] = 2,
    limit: Annotated[float, typer.Option("--limit", help="Seconds after which one measurement is given up.")] = 1500.0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the index as Markdown.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Repeat every figure and table of the four papers, and say of each whether ours agrees.

    A figure that cannot be measured is a marked row; the rest goes on.
    """
    from gazeveil.lab.datasets.folder import find_data
    from gazeveil.lab.experiments.reproduction import page, parts
    from gazeveil.lab.experiments.reproduction.running import run
    from gazeveil.pictures import canvas

    if out is not None and out.exists() and not out.is_dir():
        raise OptionError(f"{out} is not a folder")
    canvas()  # says at once, not after the work, that what draws is not installed
    names = names_in(only)
    wanted = parts.chosen(names)
    folder = None if simulated else find_data(data)
    began, cpu = time.perf_counter(), _cpu()
    with progress("measuring", quiet=as_json) as tell:
        found = run(wanted, folder, quick=quick, workers=workers, limit_s=limit, tell=tell)
    kept = sorted((one for one in found if not names or one.name in names), key=lambda one: parts.ORDER.index(one.name))
    about = {
        "software": f"gazeveil {__version__}",
        "quick": quick,
        "workers": workers,
        "data": "simulated gaze alone" if folder is None else f"data sets of {folder.name}/ and simulated gaze",
        "wall_s": time.perf_counter() - began,
        "cpu_s": _cpu() - cpu,
        "cores": os.cpu_count(),
    }
    told = page.to_json(kept, about)
    if out is not None:
        pages = {"index.html": page.to_html(kept, about), "index.json": json_text(told, indent=1) + "\n"}
        write_all(out, {name: text.encode() for name, text in pages.items()})
    if as_json:
        print_json(told | {"files": [] if out is None else ["index.html", "index.json"]})
        return
    if markdown:
        print(page.to_markdown(kept))
        return
    print_table(
        f"{page.summary(kept)}; {about['data']}",
        ["figure", "paper states", "ours", "data", "verdict"],
        [page.index_row(one) for one in kept],
    )
    print(f"took {about['wall_s']:.0f} s, {about['cpu_s']:.0f} s of processor time")
    if out is not None:
        print(f"wrote index.html and index.json to {out}")


def _cpu() -> float:
    """Return the processor seconds of this process and of those that it started and that ended (not on Windows)."""
    return sum(os.times()[:4])
