# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil features design`` and ``gazeveil features release``: feature series with their promise."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from gazeveil.cli._output import AsJson, print_json
from gazeveil.cli._spending import LedgerAt, check_apart, ledger_of, noise_of, opened
from gazeveil.errors import InputError, OptionError, OutputError
from gazeveil.features.basis import COSINES
from gazeveil.features.bins import BinRules
from gazeveil.features.design import Design
from gazeveil.features.group import GroupSeries
from gazeveil.features.learning import learn
from gazeveil.features.names import INFORMATIVE
from gazeveil.features.own import OwnSeries, RawGaze
from gazeveil.features.panel import Panel, panel_of
from gazeveil.features.publish import OwnRelease, about_raw_gaze, as_numbers, group_table, release_group
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.features.table import BINS, FeatureTable
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import Release
from gazeveil.privacy.unit import Observer

TableFile = Annotated[Path, typer.Argument(help="A table that `gazeveil features extract` wrote.")]
OnlyTask = Annotated[str | None, typer.Option("--task", help="Only this task.")]
OnlyFeatures = Annotated[
    str | None, typer.Option("--features", help="Which features, with commas between; by default all that vary.")
]
PupilRange = Annotated[
    str | None, typer.Option("--pupil-range", metavar="LOW,HIGH", help="Plausible pupil sizes; needed if not in mm.")
]
Steps = Annotated[int | None, typer.Option("--steps", help="The public length of a series, in steps.")]


def design(
    table: TableFile,
    out: Annotated[Path, typer.Option("--out", help="Write the design to this .json file.")],
    source: Annotated[str, typer.Option("--source", help="Where these people come from, in words.")],
    steps: Steps = None,
    features: OnlyFeatures = None,
    pupil_range: PupilRange = None,
    shapes: Annotated[str, typer.Option("--shapes", help="Shapes over time: cosines or haar.")] = COSINES,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn a public design from people whose data are public, or simulated. Never from those to be protected."""
    if out.suffix != ".json":
        raise OptionError(f"a design goes to a .json file, not {out.name!r}")
    found, ranges = _opened(table, None, features, pupil_range)
    length = steps or max(len(series.values) for series in found.series())
    panel = panel_of(found, ranges, length)
    tasks = sorted(set(panel.tasks))
    rows = [[row for row, task in enumerate(panel.tasks) if task == one] for one in tasks]
    made = learn([panel.values[some] for some in rows], ranges, source, shapes)
    made.save(out, overwrite=overwrite)
    if as_json:
        print_json({"out": out, "digest": made.digest, "steps": length, "features": ranges.names, "tasks": tasks})
        return
    print(f"wrote a design of {len(ranges)} features over {length:,} steps, from {len(panel.keys):,} series, to {out}")
    print(f"digest    {made.digest}")


def release(
    table: TableFile,
    mechanism: Annotated[
        str,
        typer.Option("--mechanism", help="low-rank, group, or lpa, fpa, c-fpa, dc-fpa, efpa, spa, exponential, …"),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", help="What all features of a person cost together.")],
    out: Annotated[Path, typer.Option("--out", help="Write the release to this .parquet file.")],
    delta: Annotated[str, typer.Option("--delta", help="Chance of failure that may be spent; 0 for none.")] = "0",
    steps: Steps = None,
    chunk: Annotated[int | None, typer.Option("--chunk", help="Steps of a chunk, for c-fpa and dc-fpa.")] = None,
    kept: Annotated[int | None, typer.Option("--kept", help="How many bins are kept, for the fpa family.")] = None,
    stretch: Annotated[
        int | None, typer.Option("--stretch", help="Hide any so many consecutive steps, instead of the whole person.")
    ] = None,
    hide_seconds: Annotated[
        float | None, typer.Option("--hide-seconds", help="Hide any so many seconds of raw gaze (tables of bins).")
    ] = None,
    design_file: Annotated[
        Path | None, typer.Option("--design", help="The public design, for low-rank and group.")
    ] = None,
    series: Annotated[int, typer.Option("--series", help="How many series a person has at most; ε is split.")] = 1,
    length_epsilon: Annotated[
        str | None, typer.Option("--length-epsilon", help="Also tell noisy lengths, for this ε more.")
    ] = None,
    task: OnlyTask = None,
    group: Annotated[str | None, typer.Option("--group", help="Only this group of people.")] = None,
    features: OnlyFeatures = None,
    pupil_range: PupilRange = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Spend even if little better than no data.")] = False,
    ledger: LedgerAt = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Keep no account of this release.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release feature series: everybody's own, or the mean of a group, with the promise and what it is about."""
    ledger = ledger_of(ledger, dataset, no_ledger=no_ledger)
    if out.suffix != ".parquet":
        raise OptionError(f"a release of features goes to a .parquet file, not {out.name!r}")
    if out.exists() and not overwrite:
        raise OutputError(f"{out} exists already", hint="choose another name, or add --overwrite")
    check_apart(out, table, ledger)
    public = None if design_file is None else Design.load(design_file)
    found, ranges = _opened(table, task, features, pupil_range)
    if group is not None:
        found = _only(found, "group", group)
    if public is not None:
        ranges = public.ranges
    length = public.steps if public is not None else steps
    if length is None:
        raise OptionError(
            "say with --steps how long a series is", hint="it is public: the planned length, not the longest at hand"
        )
    panel = panel_of(found, ranges, length, None if public is None else public.mean)
    job = _Job(found, ranges, panel, noise_of(seed))
    asked = {"epsilon": epsilon, "delta": delta, "stretch": stretch, "chunk": chunk, "kept": kept}
    if mechanism == GroupSeries.name:
        made: GroupSeries | OwnRelease = GroupSeries(
            epsilon=epsilon, delta=delta, people=len(panel.observers), design=_needed(public, mechanism)
        )
    else:
        own = _own(mechanism, asked, hide_seconds, public, found, len(ranges), length)
        made = OwnRelease(mechanism=own, series=series, people=len(panel.observers), length_epsilon=length_epsilon)
    told = _told_before(made)
    if told.get("warning") and not anyway:
        raise OptionError(str(told["warning"]), hint="raise --epsilon, release fewer features, or add --anyway")
    if told and not as_json:
        print(f"expected  an error of {told['expected_error']:.3f} of the range; {told['floor']:.3f} without any data")
    released = _charged(made, job, ledger, dataset)
    value = released.value
    if isinstance(made, GroupSeries):
        value = group_table(released.value, ranges, found.info.step)
    released.save(out, write=lambda _, path: _write(value, path), overwrite=overwrite)
    _report(released, made, job, out, told, as_json=as_json)


def add_to(app: typer.Typer) -> None:
    """Enter both commands."""
    app.command(epilog="Example: `gazeveil features design public.parquet --source 'simulated' --out design.json`")(
        design
    )
    app.command(
        epilog="Example: `gazeveil features release features.parquet --mechanism dc-fpa --epsilon 3 --chunk 32 "
        "--steps 1200 --out released.parquet --no-ledger`"
    )(release)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    table: FeatureTable
    ranges: Ranges
    panel: Panel
    noise: NoiseSource


def _opened(path: Path, task: str | None, features: str | None, pupil_range: str | None) -> tuple[FeatureTable, Ranges]:
    from gazeveil.cli.features import ranges_of  # noqa: PLC0415  (that module imports this one)

    found = FeatureTable.read(path)
    if task is not None:
        found = _only(found, "task", task)
    ranges = ranges_of(found, pupil_range)
    if features is not None:
        names = [name.strip() for name in features.split(",") if name.strip()]
        return found, ranges.only(names)
    if found.info.kind == BINS:
        return found, ranges
    return found, ranges.only([name for name in ranges.names if name in INFORMATIVE])


def _only(found: FeatureTable, column: str, value: str) -> FeatureTable:
    known = sorted(found.rows[column].unique().to_list())
    if value not in known:
        raise InputError(f"the table has no {column} {value!r}", hint=f"it has {', '.join(known[:12]) or 'none'}")
    return found.where(pl.col(column) == value)


def _needed(public: Design | None, mechanism: str) -> Design:
    if public is None:
        raise OptionError(
            f"{mechanism} needs a public design: --design FILE", hint="make one with `gazeveil features design`"
        )
    return public


def _own(
    name: str,
    asked: dict[str, Any],
    hide_seconds: float | None,
    public: Design | None,
    found: FeatureTable,
    features: int,
    steps: int,
) -> Any:
    if hide_seconds is not None and (name != OwnSeries.name or found.info.kind != BINS):
        raise OptionError(
            "only low-rank on a table of bins can promise to hide seconds of raw gaze: windows overlap (erratum B10)",
            hint="extract with `gazeveil features extract --bins 0.5`",
        )
    given = {key: value for key, value in asked.items() if value is not None}
    if name == OwnSeries.name:
        if given.keys() & {"chunk", "kept"}:
            raise OptionError("low-rank has no chunk and no kept: the design decides")
        raw = None if hide_seconds is None else RawGaze(hide_seconds, BinRules(**found.info.settings))
        return OwnSeries(design=_needed(public, name), raw=raw, **given)
    kind = SERIES_MECHANISMS[name]
    known = {field.name for field in fields(kind)}
    if unknown := given.keys() - known:
        raise OptionError(f"{name} has no option {', '.join(sorted(unknown))}")
    return kind(steps=steps, features=features, **given)


def _told_before(made: GroupSeries | OwnRelease) -> dict[str, Any]:
    """Return the error to expect, where the mechanism knows it, and a warning if it is hardly better than no data."""
    of = made if isinstance(made, GroupSeries) else made.each
    if not isinstance(of, GroupSeries | OwnSeries):
        return {}
    plan = of.plan()
    warning = ""
    if plan.error > 0.9 * plan.floor:
        warning = (
            f"at this ε the release would be hardly better than the public mean: an error of {plan.error:.3f} of the "
            f"range is expected, and {plan.floor:.3f} without any data"
        )
    return {"expected_error": plan.error, "floor": plan.floor, "warning": warning}


def _charged(made: GroupSeries | OwnRelease, job: _Job, ledger: str | None, dataset: str) -> Release:
    with opened(ledger) as book:
        return _made(made, job, book, dataset)


def _made(made: GroupSeries | OwnRelease, job: _Job, book: Ledger | None, dataset: str) -> Release:
    if isinstance(made, GroupSeries):
        about = {"step": job.table.info.step, "features": list(job.ranges.names)}
        return release_group(made, job.panel, noise=job.noise, ledger=book, dataset=dataset, about=about)
    return made.release(job.panel, job.ranges, job.table.info, noise=job.noise, ledger=book, dataset=dataset)


def _write(value: Any, path: Path) -> None:
    if isinstance(value, FeatureTable):
        value.write(path, overwrite=True)
    else:
        value.write_parquet(path)


def _report(
    released: Release, made: GroupSeries | OwnRelease, job: _Job, out: Path, told: dict[str, Any], *, as_json: bool
) -> None:
    stretches: list[dict[str, float]] = []
    receipt: list[dict[str, float]] = []
    if isinstance(made, OwnRelease) and released.recipe_values().get("stretch"):
        stretches = as_numbers(made.mechanism.promises())
        if isinstance(made.mechanism, OwnSeries) and made.mechanism.raw is not None:
            receipt = [{"seconds": s, "epsilon": float(price)} for s, price in made.mechanism.receipt()]
    if as_json:
        print_json(
            {
                "out": out,
                "guarantee": released.guarantee.to_dict(),
                "recipe": released.recipe_values(),
                "charged": released.receipt is not None,
                **told,
                "stretches": stretches,
                "raw_gaze": receipt,
                "series": len(job.panel.keys),
                "people": len(job.panel.observers),
                "not_to_publish": {
                    "clipped": {name: count for name, count in job.panel.clipped.counts.items() if count},
                    "filled": job.panel.filled,
                    "cut": job.panel.cut,
                    "absent": job.panel.absent,
                },
            }
        )
        return
    print(f"wrote {out}")
    print(f"promise   {released.statement().paragraph()}")
    for row in receipt or stretches:
        what = f"any {row['seconds']:g} s of raw gaze" if receipt else f"any {row['steps']:.0f} steps of the series"
        print(f"          {what}: ε = {row['epsilon']:.4g}")
    if stretches and not receipt:
        print(f"note      {about_raw_gaze(int(released.recipe_values()['stretch']), job.table.info)}")
    if isinstance(made, OwnRelease) and isinstance(released.guarantee.unit, Observer) and told:
        print("note      a person's own series at the level of persons says little up to an ε of 3")
    print(f"for you   {job.panel.told()} (not published)", file=sys.stderr)
