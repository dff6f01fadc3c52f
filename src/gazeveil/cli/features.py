# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil features``: eye-movement features over time."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli import _feature_release
from gazeveil.cli._feature_release import (
    Bins,
    Declared,
    PupilRange,
    Radius,
    Step,
    Window,
    low_and_high,
    table_and_settings,
)
from gazeveil.cli._output import AsJson, check_free, command_app, print_json, print_table, progress
from gazeveil.cli._screens import DistanceMm, FovDeg, ScreenPx, SizeMm, sizes_of
from gazeveil.errors import OptionError

app = command_app()


@app.callback()
def features() -> None:
    """Extract, describe and release eye-movement features over time."""


@app.command(epilog="Example: `gazeveil features extract study/ --out features.parquet`")
def extract(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    out: Annotated[Path, typer.Option("--out", help="Write the table to this .parquet file.")],
    study_file: Annotated[
        Path | None, typer.Option("--study", metavar="study.toml", help="The declared study that decides how.")
    ] = None,
    window: Window = None,
    step: Step = None,
    bins: Bins = None,
    radius: Radius = None,
    groups: Annotated[
        Path | None, typer.Option("--groups", help="A CSV file with the columns observer and group.")
    ] = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    fov_deg: FovDeg = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute the 52 features in a sliding window, or bins with finite reach. Not private: keep the table safe."""
    from gazeveil.aggregate.aoi import read_groups
    from gazeveil.engines import engine_at
    from gazeveil.features.extract import check_pupil_units, of_corpus
    from gazeveil.features.settings import extract_one
    from gazeveil.features.table import FeatureTable
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.release.binding import bind
    from gazeveil.release.feature_facts import observed_facts, settings_of
    from gazeveil.release.study import Study

    if out.suffix != ".parquet":
        raise OptionError(f"features go to a .parquet file, not {out.name!r}")
    check_free(out, overwrite=overwrite)
    members = {} if groups is None else {who: name for name, people in read_groups(groups).items() for who in people}
    whole = Corpus.open(corpus)
    sizes = sizes_of(screen, size_mm, distance_mm, fov_deg)
    study = (observed_facts(whole) if study_file is None else Study.open(study_file)).on_screen(**sizes)
    settings = settings_of(study, window=window, step=step, bins=bins, radius=radius)
    if study_file is None:
        check_pupil_units(whole)
    else:
        members = {**study.recordings.groups, **members}
    if study_file is not None or sizes:
        whole = bind(study, whole).corpus
    tasks = {stimulus.name: stimulus.task for stimulus in study.stimuli if stimulus.task}
    with progress("extracting features", quiet=as_json) as tell:
        one = partial(extract_one, settings=settings)
        extracted = of_corpus(whole, one, tasks=tasks, groups=members, tell=tell, engine=engine_at(engine))
    info = replace(extracted.table.info, declared_by="" if study_file is None else study.name)
    extracted = replace(extracted, table=FeatureTable(extracted.table.rows, info))
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
    table: Annotated[Path, typer.Argument(help="A table that `gazeveil features extract` wrote, or one of --study.")],
    study_file: Declared = None,
    pupil_range: PupilRange = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show each feature's mean and spread, its declared range, and how much of it that would clip. Not private."""
    import polars as pl

    from gazeveil.features.describe import describe as describe_table
    from gazeveil.features.settings import Settings

    found, settings = table_and_settings(table, study_file)
    if task is not None:
        tasks = sorted(found.rows["task"].unique().to_list())
        if task not in tasks:
            raise OptionError(f"the table has no task {task!r}", hint=f"it has {', '.join(tasks[:12]) or 'none'}")
        found = found.where(pl.col("task") == task)
    pupil = low_and_high(pupil_range)
    ranges = settings.ranges(None, pupil, every=True) if isinstance(settings, Settings) else settings.ranges()
    summary = describe_table(found, ranges)
    usable = int(found.rows["usable"].sum())
    if as_json:
        print_json({"rows": len(found), "usable": usable, "features": summary.to_dicts()})
        return
    title = f"{len(found.observers):,} participants, {len(found):,} {found.info.kind}, {usable:,} usable"
    print_table(title, summary.columns, [list(row) for row in summary.iter_rows()])


_feature_release.add_to(app)
