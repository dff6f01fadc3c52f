# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmaps``: the private heatmaps of all stimuli of a study, under one promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.aggregate.engine import engine_at
from gazeveil.aggregate.study_plan import LEAST_CARRIED, StudyEstimate
from gazeveil.aggregate.whole_study import PrivateStudy, too_little
from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.cli._spending import LedgerAt, check_spending, noise_of, opened, warning_of
from gazeveil.gaze.corpus import Corpus
from gazeveil.privacy.unit import Neighbours

app = command_app()


@app.command(
    epilog="Example: `gazeveil heatmaps study/ --epsilon 3 --out maps --ledger ledger.sqlite --dataset study-7`"
)
def heatmaps(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="How much may be spent on all of it together.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    delta: Annotated[float, typer.Option("--delta", help="Chance of failure that may be spent on all of it.")] = 1e-5,
    stimulus: Annotated[
        list[str] | None, typer.Option("--stimulus", help="Which stimuli; repeatable. By default all.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--weights", help="A TOML file: [weights] with a number for some stimuli.")
    ] = None,
    most_stimuli: Annotated[
        int | None, typer.Option("--most-stimuli", help="How many stimuli an observer was shown at most, if public.")
    ] = None,
    mean_only: Annotated[bool, typer.Option("--mean-only", help="Release nothing but the mean over stimuli.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", "--yes", help="Go on where little about single stimuli will be left.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what to expect; spend nothing.")] = False,
    strategy: Annotated[str, typer.Option("--strategy", help="What is noted of maps: bumps, histogram.")] = "bumps",
    neighbours: Annotated[
        Neighbours, typer.Option("--neighbours", help="How neighbouring data sets differ.")
    ] = Neighbours.REPLACE_ONE,
    observers: Annotated[int | None, typer.Option("--observers", help="How many people, if that is public.")] = None,
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the pictures in degrees.")] = 1.1,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", help="A folder with the stimuli as PNG, to draw over.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    ledger: LedgerAt = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Keep no account of this release.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release the private heatmaps of many stimuli together: maps, error bars, their mean, and the promise."""
    from gazeveil.release import study_files  # noqa: PLC0415  (loads the plotting parts)
    from gazeveil.release.heatmap_files import check_place  # noqa: PLC0415

    if not dry_run:
        ledger = check_spending(out, corpus, ledger, dataset, no_ledger=no_ledger, overwrite=overwrite)
    mechanism = PrivateStudy(
        epsilon=epsilon,
        delta=delta,
        stimuli=None if not stimulus else tuple(stimulus),
        weights={} if weights is None else study_files.read_weights(weights),
        most_stimuli=most_stimuli,
        strategy=strategy,
        neighbours=neighbours,
        observers=observers,
        mean_only=mean_only,
        cell_deg=cell_deg,
        blur_deg=blur_deg,
    )
    whole = Corpus.open(corpus)
    geometry, people, stimuli = mechanism.public_facts(whole)
    under = None if pictures is None else study_files.read_pictures(pictures, stimuli, geometry)
    told: dict[str, Any] = {"observers": people, "stimuli": len(stimuli), "expected": None}
    if not mean_only:
        plan = mechanism.plan(geometry, people, stimuli)
        told["expected"] = plan.carried()
        if not as_json:
            print(f"expected correlation beyond the study's mean: {told['expected']:.2f}")
        if not (dry_run or anyway) and told["expected"] < LEAST_CARRIED:
            raise too_little(plan, told["expected"])
    if dry_run:
        if as_json:
            print_json({**told, "spent": False, "enough": mean_only or told["expected"] >= LEAST_CARRIED})
        else:
            print("Nothing was spent: this was a dry run.")
        return
    check_place(out)
    with opened(ledger) as book, progress("summing over observers", quiet=as_json) as tell:
        release = mechanism.release(
            whole,
            noise=noise_of(seed),
            ledger=book,
            dataset=dataset,
            engine=engine_at(engine),
            tell=tell,
            anyway=anyway,
        )
    with progress("drawing", quiet=as_json) as tell:
        files = study_files.write_study(release, geometry, out, pictures=under, tell=tell)
    study: StudyEstimate = release.value
    shares = {name: estimate.data_share for name, estimate in study.maps.items()}
    if as_json:
        print_json(
            {
                **told,
                "out": out,
                "files": files,
                "guarantee": release.guarantee.to_dict(),
                "data_share": {"mean": study.mean.data_share, "stimuli": shares},
                "charged": release.receipt is not None,
                "warning": warning_of(epsilon),
            }
        )
        return
    print(f"wrote {len(files)} files to {out}")
    print(f"promise   {release.statement().paragraph()}")
    print(f"mean      {study.mean.data_share:.0%} of the mean over stimuli is data, the rest is prior")
    if shares:
        rows = [[name, share] for name, share in shares.items()]
        print_table("how much of what sets a stimulus apart is data", ["stimulus", "share"], rows)
    if warning_of(epsilon):
        print(f"warning   {warning_of(epsilon)}")
