# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil features``: extract, describe, design and release eye-movement features over time."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.cli._program import product_settings
from gazeveil.cli._releasing import ReleaseRequest, releases
from gazeveil.errors import OptionError
from gazeveil.privacy.protection import IN_SHORT
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, FovDeg, ScreenPx, SizeMm, setting_option, sizes_of
from gazeveil.terminal.printing import AsJson, check_free, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.features.external_tables import ExternalFeatures
    from gazeveil.features.settings import Settings
    from gazeveil.features.table import FeatureTable


app = command_app()
_SET = product_settings("features")
OnlyFeatures = Annotated[
    str | None, typer.Option("--features", help="Features, comma-separated; by default all that vary.")
]
PupilRange = Annotated[
    str | None, typer.Option("--pupil-range", metavar="LOW,HIGH", help="Plausible pupil sizes; needed if not in mm.")
]
Steps = Annotated[int | None, setting_option(_SET["--steps"])]
Window = Annotated[float | None, typer.Option("--window", help="Seconds a window lasts; 30 by default.")]
Step = Annotated[float | None, typer.Option("--step", help="Seconds from one window to the next; 0.5 by default.")]
Bins = Annotated[
    float | None, typer.Option("--bins", metavar="SECONDS", help="Non-overlapping bins instead of windows.")
]
Radius = Annotated[
    str | None,
    typer.Option("--radius", help="Of a fixation: 1deg; where degrees are not known, 1% of the viewing plane."),
]
Declared = Annotated[
    Path | None,
    typer.Option("--study", metavar="study.toml", help="The study that declares a table from elsewhere."),
]


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
    from gazeveil.features.extraction import check_pupil_units, of_corpus
    from gazeveil.features.settings import extract_one
    from gazeveil.features.table import FeatureTable
    from gazeveil.gaze.corpus import Corpus
    from gazeveil.release.data import bind
    from gazeveil.release.feature_settings import observed_facts, study_settings
    from gazeveil.release.study import Study

    if out.suffix != ".parquet":
        raise OptionError(f"features go to a .parquet file, not {out.name!r}")
    check_free(out, overwrite=overwrite)
    members = {} if groups is None else {who: name for name, people in read_groups(groups).items() for who in people}
    whole = Corpus.open(corpus)
    sizes = sizes_of(screen, size_mm, distance_mm, fov_deg)
    study = (observed_facts(whole) if study_file is None else Study.open(study_file)).on_screen(**sizes)
    settings = study_settings(study, window=window, step=step, bins=bins, radius=radius)
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

    from gazeveil.features.settings import Settings
    from gazeveil.features.table import describe as describe_table

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


@app.command(epilog="Example: `gazeveil features design public.parquet --source 'simulated' --out design.json`")
def design(
    table: Annotated[Path, typer.Argument(help="A table that `gazeveil features extract` wrote, or one of --study.")],
    out: Annotated[Path, typer.Option("--out", help="Write the design to this .json file.")],
    source: Annotated[str, typer.Option("--source", help="Where these participants come from, in words.")],
    study_file: Declared = None,
    steps: Steps = None,
    features: OnlyFeatures = None,
    pupil_range: PupilRange = None,
    shapes: Annotated[str, typer.Option("--shapes", metavar=NamesOf("shapes"), help="Shapes over time.")] = "cosines",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn a public design from participants whose data are public or simulated, never from those to protect."""
    from gazeveil.features.design_learning import learn_from

    if out.suffix != ".json":
        raise OptionError(f"a design goes to a .json file, not {out.name!r}")
    found, settings = table_and_settings(table, study_file)
    ranges = settings.ranges(listed(features), low_and_high(pupil_range))
    length = steps or max((len(series.values) for series in found.series()), default=1)
    made = learn_from(found, ranges, length, source, shapes)
    tasks, series = sorted(found.rows["task"].unique()), sum(1 for _ in found.series())
    made.save(out, overwrite=overwrite)
    if as_json:
        print_json({"out": out, "digest": made.digest, "steps": length, "features": ranges.names, "tasks": tasks})
        return
    print(f"wrote a design of {len(ranges)} features over {length:,} steps, from {series:,} series, to {out}")
    print(f"digest    {made.digest}")


@app.command(
    epilog="Example: `gazeveil features declare public.csv --participant subject --source GazeBase --out f.toml`"
)
def declare(
    table: Annotated[Path, typer.Argument(help="A table of participants whose data are public: .csv, .tsv, .parquet.")],
    out: Annotated[Path, typer.Option("--out", help="Write the declaration to this .toml file.")],
    source: Annotated[
        str, typer.Option("--source", help="Where these participants come from, in words: it is published.")
    ],
    participant: Annotated[str, typer.Option("--participant", help="The column that identifies the participant.")],
    stimulus: Annotated[str, typer.Option("--stimulus", help="The column that identifies the stimulus.")] = "",
    session: Annotated[str, typer.Option("--session", help="The column that identifies the session.")] = "",
    order: Annotated[str, typer.Option("--order", help="The column that sorts the rows of a participant.")] = "",
    rows: Annotated[int | None, typer.Option("--rows", min=1, help="Rows of a participant that are released.")] = None,
    features: OnlyFeatures = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn the ranges of features made elsewhere, from public data, never from the participants to protect."""
    from gazeveil.features.external_tables import learn_ranges
    from gazeveil.files import replacing
    from gazeveil.release.study_toml import features_as_toml

    if out.suffix != ".toml":
        raise OptionError(f"a declaration goes to a .toml file, not {out.name!r}")
    made = learn_ranges(
        table,
        about=source,
        participant=participant,
        stimulus=stimulus,
        session=session,
        order=order,
        rows=rows,
        features=listed(features),
    )
    with replacing(out, overwrite=overwrite) as temporary:
        temporary.write_text(features_as_toml(made), encoding="utf-8", newline="\n")
    if as_json:
        print_json({"out": out, "rows": made.rows, "features": made.declared.to_dict()})
        return
    print(f"wrote     the ranges of {len(made.declared)} features, {made.rows:,} rows of a participant, to {out}")
    print("confirm   check every line: what you keep counts as public. Then put it into study.toml.")


@app.command(
    epilog="Example: `gazeveil features release study/ --mechanism dc-fpa --epsilon 3 --chunk 32 "
    "--steps 1200 --out released --no-ledger`"
)
@releases
def release(
    request: ReleaseRequest,
    mechanism: Annotated[
        str,
        typer.Option(
            "--mechanism",
            metavar=NamesOf("series mechanism"),
            help="Which mechanism; group and low-rank need --design.",
        ),
    ],
    epsilon: Annotated[str, setting_option(_SET["--epsilon"], more=f": {IN_SHORT}")],
    delta: Annotated[str | None, setting_option(_SET["--delta"])] = None,
    steps: Steps = None,
    chunk: Annotated[int | None, setting_option(_SET["--chunk"])] = None,
    kept: Annotated[int | None, setting_option(_SET["--kept"])] = None,
    stretch: Annotated[int | None, setting_option(_SET["--stretch"])] = None,
    hide_seconds: Annotated[
        float | None, typer.Option("--hide-seconds", help="Protect any N seconds of raw gaze (needs bins).")
    ] = None,
    design_file: Annotated[
        Path | None, typer.Option("--design", help="The public design, for low-rank and group.")
    ] = None,
    series: Annotated[
        int | None, typer.Option("--series", help="Series of a stimulus per participant; ε is split among them.")
    ] = None,
    length_epsilon: Annotated[str | None, setting_option(_SET["--length-epsilon"])] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
    group: Annotated[str | None, typer.Option("--group", help="Only this group of participants.")] = None,
    features: OnlyFeatures = None,
    pupil_range: PupilRange = None,
    window: Window = None,
    step: Step = None,
    bins: Bins = None,
    radius: Radius = None,
) -> None:
    """Release feature series of a corpus or a table of features: each participant's own, or a group mean."""
    from gazeveil.features.design import Design
    from gazeveil.features.group_series import GroupSeries
    from gazeveil.features.series_release import ParticipantRelease, participant_mechanism, required_design
    from gazeveil.release.feature_settings import (
        declared_steps,
        observed_facts,
        source_settings,
        stimuli_of,
        with_series,
    )

    study = request.study(observed_facts)
    study = study if series is None else with_series(study, series)
    settings = source_settings(study, request.corpus, window=window, step=step, bins=bins, radius=radius)
    public = None if design_file is None else Design.load(design_file)
    if mechanism == GroupSeries.name:
        spent = study.delta if delta is None else delta
        mean = GroupSeries(epsilon=epsilon, delta=spent, design=required_design(public, mechanism))
        request.release(study, mean, task=task, group=group, settings=settings)
        return
    if public is not None:
        ranges, length = public.ranges, public.steps
    else:
        ranges = settings.ranges(listed(features), low_and_high(pupil_range))
        length = steps or declared_steps(settings, stimuli_of(study, task))
    own = participant_mechanism(
        mechanism,
        settings=settings,
        ranges=ranges,
        steps=length,
        design=public,
        hide_seconds=hide_seconds,
        epsilon=epsilon,
        delta="0" if delta is None else delta,
        stretch=stretch,
        chunk=chunk,
        kept=kept,
    )
    made = ParticipantRelease(mechanism=own, length_epsilon=length_epsilon)
    request.release(study, made, task=task, group=group, settings=settings, ranges=ranges)


def table_and_settings(table: Path, study_file: Path | None) -> tuple[FeatureTable, Settings | ExternalFeatures]:
    """Return a table that gazeveil made, or one from elsewhere that a study declares, and how it was made.

    Raises:
        OptionError: If a study is given that declares no such table.
    """
    from gazeveil.features.external_tables import open_public
    from gazeveil.features.settings import Settings
    from gazeveil.features.table import FeatureTable
    from gazeveil.release.study import Study

    if study_file is None:
        found = FeatureTable.read(table)
        return found, Settings.of(found.info)
    study = Study.open(study_file)
    if study.features is None:
        raise OptionError(f"{study_file} declares no table of features", hint="declare it under [features]")
    how = study.features
    return open_public(table, how, "" if how.stimulus else study.stimuli[0].name), how


def listed(names: str | None) -> list[str] | None:
    """Return names that were given as one text with commas."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def low_and_high(text: str | None) -> tuple[float, float] | None:
    """Return the two ends of a range that was given as ``LOW,HIGH``.

    Raises:
        OptionError: If it was not.
    """
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"--pupil-range must be LOW,HIGH, not {text!r}", hint="for example 1.5,9") from None
    return low, high
