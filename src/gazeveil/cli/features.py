# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil features``: eye-movement features over time."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from gazeveil.aggregate.aoi import read_groups
from gazeveil.aggregate.engine import engine_at
from gazeveil.cli import _feature_release
from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.errors import InputError, OptionError, OutputError
from gazeveil.features.bins import BinRules, bin_ranges, extract_bin_corpus
from gazeveil.features.declared import PUPIL_MM, declared_ranges
from gazeveil.features.describe import describe as describe_table
from gazeveil.features.extract import STEP_S, WINDOW_S, extract_corpus, rules_of
from gazeveil.features.ranges import Ranges
from gazeveil.features.table import BINS, FeatureTable
from gazeveil.gaze.corpus import Corpus

app = command_app()


@app.callback()
def features() -> None:
    """Eye-movement features over time: extract them, look at them, release them."""


@app.command(epilog="Example: `gazeveil features extract study/ --out features.parquet`")
def extract(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    out: Annotated[Path, typer.Option("--out", help="Write the table to this .parquet file.")],
    window: Annotated[float, typer.Option("--window", help="Seconds a window lasts.")] = WINDOW_S,
    step: Annotated[float, typer.Option("--step", help="Seconds from one window to the next.")] = STEP_S,
    bins: Annotated[
        float | None, typer.Option("--bins", metavar="SECONDS", help="Non-overlapping bins instead of windows.")
    ] = None,
    radius: Annotated[
        float | None, typer.Option("--radius", help="Of a fixation, in degrees (or in fractions of the plane).")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option("--groups", help="A CSV file with the columns observer and group.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute the 52 features in a sliding window, or bins with finite reach. Not private: keep the table safe."""
    if out.suffix != ".parquet":
        raise OptionError(f"features go to a .parquet file, not {out.name!r}")
    if out.exists() and not overwrite:
        raise OutputError(f"{out} exists already", hint="choose another name, or add --overwrite")
    if bins is not None and radius is not None:
        raise OptionError("--radius is about windows; bins tell fixations by velocity")
    members = {} if groups is None else {who: name for name, people in read_groups(groups).items() for who in people}
    whole, at = Corpus.open(corpus), engine_at(engine)
    with progress("extracting features", quiet=as_json) as tell:
        if bins is not None:
            extracted = extract_bin_corpus(whole, width=bins, groups=members, tell=tell, engine=at)
        else:
            rules = rules_of(whole)
            rules = rules if radius is None else replace(rules, radius=radius)
            extracted = extract_corpus(
                whole, window=window, step=step, rules=rules, groups=members, tell=tell, engine=at
            )
    table = extracted.table
    table.write(out, overwrite=overwrite)
    usable = int(table.rows["usable"].sum())
    if as_json:
        print_json(
            {
                "out": out,
                "kind": table.info.kind,
                "rows": len(table),
                "usable": usable,
                "features": len(table.names),
                "observers": len(table.observers),
                "recordings": len(list(table.series())),
                "unit": table.info.unit,
                "reach_s": table.info.reach,
                "left_out": [{**key._asdict(), "reason": reason} for key, reason in extracted.left_out.items()],
            }
        )
        return
    print(f"wrote {len(table):,} {table.info.kind} of {len(table.names)} features, {usable:,} usable, to {out}")
    for key, reason in list(extracted.left_out.items())[:10]:
        print(f"left out {'/'.join(part for part in key if part)}: {reason}", file=sys.stderr)
    if len(extracted.left_out) > 10:
        print(f"… and {len(extracted.left_out) - 10:,} recordings more (all with --json)", file=sys.stderr)


@app.command(epilog="Example: `gazeveil features describe features.parquet`")
def describe(
    table: Annotated[Path, typer.Argument(help="A table that `gazeveil features extract` wrote.")],
    pupil_range: Annotated[
        str | None,
        typer.Option("--pupil-range", metavar="LOW,HIGH", help="Plausible pupil sizes; needed if not in mm."),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show each feature's mean and spread, its declared range, and how much of it that would clip. Not private."""
    found = FeatureTable.read(table)
    if task is not None:
        tasks = sorted(found.rows["task"].unique().to_list())
        if task not in tasks:
            raise OptionError(f"the table has no task {task!r}", hint=f"it has {', '.join(tasks[:12]) or 'none'}")
        found = found.where(pl.col("task") == task)
    summary = describe_table(found, ranges_of(found, pupil_range))
    usable = int(found.rows["usable"].sum())
    if as_json:
        print_json({"rows": len(found), "usable": usable, "features": summary.to_dicts()})
        return
    title = f"{len(found.observers):,} people, {len(found):,} {found.info.kind}, {usable:,} usable"
    print_table(title, summary.columns, [list(row) for row in summary.iter_rows()])


def ranges_of(table: FeatureTable, pupil_range: str | None = None) -> Ranges:
    """Return the declared ranges that fit a table: its window or bin, its unit, its pupil."""
    pupil = PUPIL_MM if table.info.pupil_unit == "mm" else None
    if pupil_range is not None:
        low, comma, high = pupil_range.partition(",")
        try:
            pupil = (float(low), float(high))
        except ValueError:
            comma = ""
        if not comma:
            raise OptionError(f"--pupil-range must be LOW,HIGH, not {pupil_range!r}", hint="for example 1.5,9")
    info = table.info
    if info.kind == BINS:
        try:
            rules = BinRules(**info.settings)
        except TypeError:
            raise InputError("the table does not say by which rules its bins were made") from None
        return bin_ranges(rules, pupil)
    radius = info.settings.get("rules", {}).get("radius")
    return declared_ranges(window=info.window, unit=info.unit, radius=radius, pupil_range=pupil)


_feature_release.add_to(app)
