# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil aoi``: private statistics of areas of interest, with error bars and their promise."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from gazeveil.aggregate.aoi import STATISTICS, AoiStatistics, GroupComparison, Statistic, read_groups
from gazeveil.aggregate.engine import engine_at
from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.cli._spending import check_apart
from gazeveil.errors import OptionError, OutputError
from gazeveil.gaze.aoi import AreasOfInterest
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.events import DETECTORS
from gazeveil.noise import NoiseSource
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.release import sidecar_of
from gazeveil.privacy.unit import Neighbours

app = command_app()

_CAPS = "Public limits on what one observer adds"


@app.command(
    epilog="Example: `gazeveil aoi study/ --stimulus forest.png --areas areas.json --statistic dwell --epsilon 1 "
    "--delta 1e-6 --out dwell.csv --ledger ledger.sqlite --dataset study-7`"
)
def aoi(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    stimulus: Annotated[list[str], typer.Option("--stimulus", help="Which stimulus; repeatable.")],
    areas: Annotated[
        list[Path], typer.Option("--areas", help="A JSON file with its areas; one for each --stimulus, in order.")
    ],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="NUMBER", help="The ε of everything together; above 10 is weak.")
    ],
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="NUMBER", help="The δ of everything together; none: pure ε.")
    ] = None,
    statistic: Annotated[
        list[str] | None, typer.Option("--statistic", help=f"{', '.join(STATISTICS.names())}; repeatable.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="A CSV file with the columns observer and group.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the table here: .csv, .parquet or .json.")] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", envvar="GAZEVEIL_LEDGER", help="A file, or postgresql://…")
    ] = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Keep no account of this release.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only predict the error; spend and write nothing.")
    ] = False,
    neighbours: Annotated[
        Neighbours, typer.Option("--neighbours", help="How neighbouring data sets differ.")
    ] = Neighbours.REPLACE_ONE,
    observers: Annotated[int | None, typer.Option("--observers", help="How many people, if that is public.")] = None,
    detector: Annotated[str, typer.Option("--detector", help="What finds fixations: idt or ivt.")] = "idt",
    confidence: Annotated[float, typer.Option("--confidence", help="What intervals cover with.")] = 0.95,
    most_fixations: Annotated[
        int, typer.Option("--most-fixations", help="Fixations that count in a viewing.", rich_help_panel=_CAPS)
    ] = 12,
    within: Annotated[
        float, typer.Option("--within", help="Seconds; later counts as never.", rich_help_panel=_CAPS)
    ] = 5.0,
    order_length: Annotated[
        int, typer.Option("--order-length", help="Visits in an order: 1, 2 or 3.", rich_help_panel=_CAPS)
    ] = 3,
    most_orders: Annotated[
        int, typer.Option("--most-orders", help="Orders that count for an observer.", rich_help_panel=_CAPS)
    ] = 4,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release private statistics of areas of interest: dwell, fixations, first fixations, transitions, visit order."""
    where = None if dry_run else _where(out, corpus, ledger, dataset, no_ledger=no_ledger, overwrite=overwrite)
    if len(set(stimulus)) < len(stimulus):
        raise OptionError("a stimulus is named twice", hint="draw all of its areas in one file")
    if len(areas) != len(stimulus):
        raise OptionError(f"there are {len(stimulus)} --stimulus and {len(areas)} --areas: give one for each")
    limits: dict[str, dict[str, Any]] = {
        "fixations": {"most": most_fixations},
        "first-fixation": {"within": within},
        "reached": {"within": within},
        "visit-order": {"length": order_length, "most": most_orders},
    }
    asked: tuple[Statistic, ...] = tuple(STATISTICS[name](**limits.get(name, {})) for name in statistic or ["dwell"])
    mechanism = AoiStatistics(
        {name: AreasOfInterest.from_json(path) for name, path in zip(stimulus, areas, strict=True)},
        asked,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        observers=observers,
        detector=DETECTORS[detector](),
        confidence=confidence,
    )
    groups = None if compare is None else GroupComparison(mechanism, read_groups(compare))
    whole = Corpus.open(corpus)
    people, predicted, cautions = _before(whole, mechanism, groups)
    if not as_json:
        _show_prediction(predicted, cautions, people)
    told: dict[str, Any] = {
        "guarantee": (groups or mechanism).guarantee.to_dict(),
        "observers": people,
        "predicted": predicted.to_dicts(),
        "cautions": cautions,
    }
    if where is None:
        _tell({**told, "spent": False}, "Nothing was spent: this was a dry run.", as_json=as_json)
        return
    noise = NoiseSource.secure() if seed is None else NoiseSource.seeded(seed)
    with nullcontext() if where.ledger is None else Ledger.open(where.ledger) as book:
        if book is not None:
            book.account(dataset)  # a ledger without this account is told before the work, not after
        with progress("summing over observers", quiet=as_json) as tell:
            release = (groups or mechanism).release(whole, noise=noise, engine=engine_at(engine), tell=tell)
        write = _write_json if where.out.suffix.lower() == ".json" else None
        release = release.save(where.out, ledger=book, dataset=dataset, write=write, overwrite=overwrite)
    if not as_json:
        _show(release.value)
    _tell(
        {
            **told,
            "guarantee": release.guarantee.to_dict(),
            "spent": release.receipt is not None,
            "out": where.out,
            "sidecar": sidecar_of(where.out),
            "statement": release.statement().paragraph(),
            "rows": release.value.to_dicts(),
        },
        f"wrote {where.out}\n{release.statement().paragraph()}",
        as_json=as_json,
    )


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a release goes, and who is told what it costs."""

    out: Path
    ledger: str | None


def _where(
    out: Path | None, corpus: Path, ledger: str | None, dataset: str, *, no_ledger: bool, overwrite: bool
) -> _Where:
    if out is None:
        raise OptionError("say where to write with --out, or predict the error only with --dry-run")
    if out.suffix.lower() not in {".csv", ".parquet", ".json"}:
        raise OptionError(f"the table goes to a .csv, .parquet or .json file, not {out.name!r}")
    if out.exists() and not overwrite:
        raise OutputError(f"{out} exists already", hint="choose another name, or add --overwrite")
    check_apart(out, corpus, None if no_ledger else ledger)
    if no_ledger:
        return _Where(out, None)
    if ledger is None or not dataset:
        raise OptionError(
            "say which ledger to charge with --ledger and --dataset, or --no-ledger to keep no account",
            hint="make one with `gazeveil ledger init DATASET --epsilon 3 --delta 1e-6`",
        )
    return _Where(out, ledger)


def _before(
    corpus: Corpus, mechanism: AoiStatistics, groups: GroupComparison | None
) -> tuple[dict[str, int] | int, pl.DataFrame, list[str]]:
    """Return what is known before anything is spent: how many people, how far off, what to be careful about."""
    if groups is not None:
        groups.check_people(corpus)
        return {name: len(people) for name, people in groups.groups}, groups.predicted_error(), groups.cautions()
    people = mechanism.people_in(corpus)
    return people, mechanism.predicted_error(people), mechanism.cautions(people)


def _show_prediction(predicted: pl.DataFrame, cautions: list[str], people: dict[str, int] | int) -> None:
    sizes = people if isinstance(people, int) else sum(people.values())
    shown = predicted.rename({"study_reach": "± these people", "population_reach": "± people like them"})
    print_table(f"predicted error for {sizes:,} observers", shown.columns, [list(row) for row in shown.iter_rows()])
    for caution in cautions:
        print(f"warning: {caution}", file=sys.stderr)


def _show(table: pl.DataFrame) -> None:
    columns = [name for name in table.columns if name != "unclipped" and table[name].null_count() < len(table)]
    print_table("released", columns, [list(row) for row in table.select(columns).iter_rows()])


def _tell(values: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json(values)
    else:
        print(sentence)


def _write_json(value: pl.DataFrame, path: Path) -> None:
    path.write_text(value.write_json() + "\n", encoding="utf-8")
