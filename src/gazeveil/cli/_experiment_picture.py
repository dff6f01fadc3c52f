# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment picture-model``: train and judge the model that predicts gaze from a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import Seed, names_in
from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.files import replacing


def experiment_picture_model(
    folder: Annotated[Path, typer.Argument(help="One folder per set, each with `images` and `fixations.csv`.")],
    out: Annotated[Path | None, typer.Option("--out", help="File for the readout, such as readout.npz.")] = None,
    maps: Annotated[
        Path | None, typer.Option("--maps", help="File for the predicted maps of the held-out pictures.")
    ] = None,
    without: Annotated[str, typer.Option("--without", help="Sets that are tested but not trained on.")] = "",
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out", min=0.0, max=0.9, help="Share of pictures for testing; held_out.txt takes precedence."
        ),
    ] = 0.17,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many readouts are averaged.")] = 3,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="How often each picture is seen.")] = 16,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train the picture model on public pictures and fixations, and test it on pictures that were held out.

    It runs on a GPU where PyTorch finds one; on a processor it takes hours.
    """
    try:
        import torch
    except ImportError as missing:
        raise MissingExtra("torch", "attacks", "training the picture model") from missing
    import numpy as np

    from gazeveil.experiments.picture_model.judging import judge, judged_pictures, predicted
    from gazeveil.experiments.picture_model.network import Frozen, Trained, stored
    from gazeveil.experiments.picture_model.pictures import read_set
    from gazeveil.experiments.picture_model.training import train
    from gazeveil.gaze.predicted.backbone import backbone

    device = "cuda" if torch.cuda.is_available() else "cpu"
    places = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    if not places:
        raise InputError(
            f"{folder} holds no sets of pictures", hint="one folder per set, with images and fixations.csv"
        )
    left_out = set(names_in(without))
    if unknown := left_out - {each.name for each in places}:
        raise OptionError(f"there is no set called {min(unknown)!r}", hint=f"sets: {', '.join(p.name for p in places)}")
    with progress("training", quiet=as_json) as tell:
        sets = [read_set(each, held_share=held_out, seed=seed) for each in places]
        trained = [each for each in sets if each.name not in left_out]
        if not trained:
            raise OptionError("--without leaves no set to train on")
        frozen = Frozen(backbone(), device)
        channels = [int(each.shape[1]) for each in frozen(torch.zeros(1, 3, 64, 64, device=device))]
        readouts: list[Trained] = []
        for which in range(seeds):

            def step(done: int, of: int, before: int = which) -> None:
                tell(before * of + done, seeds * of)

            readouts.append(
                train(frozen, channels, trained, seed=seed + which, device=device, epochs=epochs, tell=step)
            )
        scores = [judge(frozen, readouts, each, trained, device) for each in sets]
        content = {
            f"{each.name}/{picture.name}": np.exp(predicted(frozen, readouts, picture, device).cpu().numpy())
            for each in sets
            if maps is not None
            for picture in judged_pictures(each, trained)
        }
    for place, arrays in ((out, stored(readouts)), (maps, content)):
        if place is not None:
            with replacing(place) as part, part.open("wb") as file:
                np.savez_compressed(file, **arrays)
    if as_json:
        print_json({"seeds": seeds, "epochs": epochs, "scores": [each.to_dict() for each in scores], "out": out})
        return
    print_table(
        "correlation with where participants looked, pictures that were not trained on",
        ("set", "pictures", "trained on", "its centre", "content", "with the common centre", "with its own"),
        [
            (
                each.set,
                each.pictures,
                "yes" if each.seen else "no",
                *(f"{value:.3f}" for value in (each.centre, each.content, each.common, each.own)),
            )
            for each in scores
        ],
    )
