# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment heatmap-decoder``: train a decoder of heatmaps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._output import AsJson, print_json, progress
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.files import replacing

_OFTEN = {"osie": 2.0}
"""Sets that are drawn from more often than others."""
STUDIES, SCENES, _SIMULATED = 6, 24, 4.0
"""Simulated studies and the scenes of each, and how often they are drawn from beside a set."""


def experiment_heatmap_decoder(
    folder: Annotated[Path, typer.Argument(help="One folder per set, each with `images` and `fixations.csv`.")],
    out: Annotated[Path, typer.Option("--out", help="File for the weights, such as learned_bumps.npz.")],
    decoder: Annotated[
        str,
        typer.Option(
            "--decoder",
            help="`bumps`, `bumps_coarse`, `modes`, `modes_coarse`, or `pictured` (`bumps` where a picture is known).",
        ),
    ] = "bumps",
    contents: Annotated[
        list[Path] | None,
        typer.Option(
            "--contents", help="For `pictured`: maps of pictures that a model never saw; may be given several times."
        ),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--start", help="Weights to continue training from, at half the learning rate.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="How many steps of training.", show_default="as shipped")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a decoder of heatmaps on public fixations and on simulated participants.

    It runs on a GPU where PyTorch finds one; on a processor it takes hours. Contents are what
    `gazeveil judge experiment picture-model --maps` writes.
    """
    try:
        import torch
    except ImportError as missing:
        raise MissingExtra("torch", "attacks", "training the decoder") from missing
    import numpy as np

    from gazeveil.lab.experiments.heatmap_decoder.network import stored
    from gazeveil.lab.experiments.heatmap_decoder.training import COURSES, fits, train
    from gazeveil.lab.experiments.heatmap_decoder.viewers import read_contents, read_looks, simulated_looks
    from gazeveil.lab.experiments.usefulness._scene_pictures import read_arrays

    if decoder not in COURSES:
        raise OptionError(f"there is no decoder {decoder!r}", hint=f"decoders: {', '.join(COURSES)}")
    course, files = COURSES[decoder], contents or []
    if course.mixture.pictured != bool(files):
        raise OptionError(
            f"--decoder {decoder} {'needs' if course.mixture.pictured else 'takes no'} --contents",
            hint="only the decoder `pictured` learns what pictures are worth",
        )

    begun = None if start is None else read_arrays(start, "the weights of a decoder", "this command writes such a file")
    if begun is not None and not fits(course, begun):
        raise OptionError(f"{start} does not hold the weights of --decoder {decoder}", hint="it has other layers")

    places = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    if not places:
        raise InputError(
            f"{folder} holds no sets of fixations", hint="one folder per set, with images and fixations.csv"
        )
    said = [read_contents(each) for each in files]
    sets = [read_looks(each, _OFTEN.get(each.name, 1.0), said) for each in places]
    with progress("training", quiet=as_json) as tell:
        everything = [*sets, simulated_looks(STUDIES, SCENES, _SIMULATED, len(said))]
        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = train(course, everything, seed=seed, device=device, steps=steps, start=begun, tell=tell)
    with replacing(out) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **stored(network))
    counts = {place.name: len(each.values) for place, each in zip(places, sets, strict=True)}
    if as_json:
        print_json({"decoder": decoder, "steps": steps or course.steps, "seed": seed, "pictures": counts, "out": out})
        return
    shown = ", ".join(f"{count} of {name}" for name, count in counts.items())
    typer.echo(f"trained {decoder} for {steps or course.steps} steps on pictures: {shown}; weights are in {out}")
