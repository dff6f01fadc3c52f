# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil movie``: a private heatmap that moves, with its promise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.aggregate.dynamic import DynamicHeatmap
from gazeveil.aggregate.engine import engine_at
from gazeveil.aggregate.movie_plan import MovieEstimate
from gazeveil.cli._output import AsJson, command_app, print_json, progress
from gazeveil.cli._spending import LedgerAt, check_spending, noise_of, opened, warning_of
from gazeveil.errors import InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.privacy.unit import Neighbours

app = command_app()


@app.command(
    epilog="Example: `gazeveil movie study/ --stimulus film --bin 0.5 --duration 20 --epsilon 3 --out film "
    "--ledger ledger.sqlite --dataset study-7`"
)
def movie(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    duration: Annotated[
        float, typer.Option("--duration", help="Seconds from the first sample of each recording; public.")
    ],
    epsilon: Annotated[float, typer.Option("--epsilon", help="How much may be spent on the whole course.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    bin_seconds: Annotated[float, typer.Option("--bin", help="Seconds of a bin.")] = 0.5,
    delta: Annotated[float, typer.Option("--delta", help="Chance of failure that may be spent.")] = 1e-5,
    strategy: Annotated[str, typer.Option("--strategy", help="What is noted of maps: bumps, histogram.")] = "bumps",
    neighbours: Annotated[
        Neighbours, typer.Option("--neighbours", help="How neighbouring data sets differ.")
    ] = Neighbours.REPLACE_ONE,
    observers: Annotated[int | None, typer.Option("--observers", help="How many people, if that is public.")] = None,
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the pictures in degrees.")] = 1.1,
    overlay: Annotated[Path | None, typer.Option("--overlay", help="A still as a PNG, to draw over.")] = None,
    speed: Annotated[float, typer.Option("--speed", help="How fast videos run; 1 is real time.")] = 1.0,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    ledger: LedgerAt = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Keep no account of this release.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release a private dynamic heatmap: a map for each stretch of time, videos, error bars, and the promise."""
    from gazeveil.release.heatmap_files import check_place, read_picture  # noqa: PLC0415  (loads the plotting parts)
    from gazeveil.release.study_files import write_movie  # noqa: PLC0415

    ledger = check_spending(out, corpus, ledger, dataset, no_ledger=no_ledger, overwrite=overwrite)
    if not 0 < speed < float("inf"):
        raise OptionError(f"--speed must be a positive number, not {speed!r}")
    mechanism = DynamicHeatmap(
        epsilon=epsilon,
        delta=delta,
        bin_seconds=bin_seconds,
        duration=duration,
        strategy=strategy,
        neighbours=neighbours,
        observers=observers,
        cell_deg=cell_deg,
        blur_deg=blur_deg,
    )
    whole = Corpus.open(corpus)
    if stimulus not in whole.stimuli:
        raise InputError(
            f"the corpus has no stimulus {stimulus!r}", hint=f"it has {', '.join(whole.stimuli[:12]) or 'none'}"
        )
    geometry = whole.select(stimulus=stimulus).geometry
    picture = None if overlay is None else read_picture(overlay, geometry)
    check_place(out)
    with opened(ledger) as book, progress("summing over observers", quiet=as_json) as tell:
        release = mechanism.release(
            whole, stimulus, noise=noise_of(seed), ledger=book, dataset=dataset, engine=engine_at(engine), tell=tell
        )
    with progress("drawing", quiet=as_json) as tell:
        files = write_movie(release, geometry, out, picture=picture, speed=speed, tell=tell)
    value: MovieEstimate = release.value
    share = float(value.frames.data_share.mean())
    if as_json:
        print_json(
            {
                "out": out,
                "files": files,
                "bins": len(value.frames.maps),
                "observers": release.provenance["observers"],
                "guarantee": release.guarantee.to_dict(),
                "data_share": {"mean": value.frames.mean.data_share, "bins": value.frames.data_share.tolist()},
                "charged": release.receipt is not None,
                "warning": warning_of(epsilon),
            }
        )
        return
    print(f"wrote {len(value.frames.maps)} maps, videos and pictures to {out}")
    print(f"promise   {release.statement().paragraph()}")
    print(f"data      {share:.0%} of what sets a moment apart from the mean is data, the rest is likely course")
    if warning_of(epsilon):
        print(f"warning   {warning_of(epsilon)}")
