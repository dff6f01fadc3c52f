# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmap``: a private heatmap of many observers, with its promise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.aggregate.choice import tells_much
from gazeveil.aggregate.engine import engine_at
from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.aggregate.saliency import Saliency
from gazeveil.cli._output import AsJson, command_app, print_json, progress
from gazeveil.cli._spending import LedgerAt, check_spending, noise_of, opened, warning_of
from gazeveil.errors import InputError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.geometry import Geometry
from gazeveil.privacy.unit import Neighbours

app = command_app()


@app.command(epilog="Example: `gazeveil heatmap study/ --stimulus forest.png --epsilon 1 --out forest --no-ledger`")
def heatmap(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder, as `gazeveil convert` makes it.")],
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="How much may be spent; 1 is strong, above 10 is weak.")],
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")],
    delta: Annotated[float, typer.Option("--delta", help="Chance of failure that may be spent.")] = 1e-5,
    strategy: Annotated[
        str, typer.Option("--strategy", help="auto, modes, bumps, histogram or hierarchical.")
    ] = "auto",
    neighbours: Annotated[
        Neighbours, typer.Option("--neighbours", help="How neighbouring data sets differ.")
    ] = Neighbours.REPLACE_ONE,
    observers: Annotated[int | None, typer.Option("--observers", help="How many people, if that is public.")] = None,
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the picture in degrees.")] = 1.1,
    overlay: Annotated[Path | None, typer.Option("--overlay", help="The stimulus as a PNG, to draw it over.")] = None,
    saliency: Annotated[
        Path | None, typer.Option("--saliency", help="The stimulus as a PNG, whose pixels the decoder may use.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or a Spark master.")] = "local",
    ledger: LedgerAt = None,
    dataset: Annotated[str, typer.Option("--dataset", help="The data set's name in the ledger.")] = "",
    no_ledger: Annotated[bool, typer.Option("--no-ledger", help="Keep no account of this release.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable noise, for trying out: not private.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release a private heatmap: the map, pictures, error bars, and the promise in words."""
    from gazeveil.release.heatmap_files import check_place, read_picture, write_heatmap  # noqa: PLC0415  (loads the plotting parts)

    ledger = check_spending(out, corpus, ledger, dataset, no_ledger=no_ledger, overwrite=overwrite)
    mechanism = PrivateHeatmap(
        epsilon=epsilon,
        delta=delta,
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
    if saliency is not None:
        mechanism = replace(mechanism, picture=Saliency.of(read_picture(saliency, geometry)))
    check_place(out)
    with opened(ledger) as book, progress("summing over observers", quiet=as_json) as tell:
        release = mechanism.release(
            whole, stimulus, noise=noise_of(seed), ledger=book, dataset=dataset, engine=engine_at(engine), tell=tell
        )
    files = write_heatmap(release, geometry, out, picture=picture)
    told: dict[str, Any] = {
        "out": out,
        "files": files,
        "guarantee": release.guarantee.to_dict(),
        "strategy": release.recipe_values()["strategy"],
        "data_share": release.value.data_share,
        "picture_share": release.value.picture_share,
        "observers": release.provenance["observers"],
        "charged": release.receipt is not None,
        "warning": _warning(mechanism, geometry, release.provenance["observers"]),
    }
    if as_json:
        print_json(told)
        return
    print(f"wrote {', '.join(path.name for path in files)} to {out}")
    print(f"promise   {release.statement().paragraph()}")
    print(f"data      {release.value.data_share:.0%} of the picture is data, the rest is what gaze is like anywhere")
    if saliency is not None:
        print(f"picture   {release.value.picture_share:.0%} of that follows the pixels of {saliency.name}")
    if told["warning"]:
        print(f"warning   {told['warning']}")


def _warning(mechanism: PrivateHeatmap, geometry: Geometry, observers: int) -> str:
    """Say what is to be expected of the public numbers."""
    if told := warning_of(mechanism.epsilon):
        return told
    if not tells_much(mechanism.plan(geometry, observers).task):
        return "with so few people a head's noise hides nearly everything: the map is nearly all prior"
    return ""
