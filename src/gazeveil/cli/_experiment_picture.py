# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment picture-model``: train and judge the model that predicts gaze from a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.cli._experiment_common import Seed, names_in
from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.errors import InputError, MissingExtra, OptionError
from gazeveil.files import replacing

if TYPE_CHECKING:
    from gazeveil.lab.experiments.picture_model.judging import Score
    from gazeveil.types import FloatArray


def experiment_picture_model(
    folder: Annotated[Path, typer.Argument(help="One folder per set, each with `images` and `fixations.csv`.")],
    out: Annotated[Path | None, typer.Option("--out", help="File for the readout, such as readout.npz.")] = None,
    maps: Annotated[
        Path | None,
        typer.Option("--maps", help="File for the predicted maps of the tested pictures."),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            "--folds",
            min=0,
            help="Test all pictures that are trained on: N parts, each by readouts of the other parts; 0 is off.",
        ),
    ] = 0,
    without: Annotated[
        str, typer.Option("--without", help="Sets that are tested but not trained on; with --folds, neither.")
    ] = "",
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

    With --folds it is tested on all other pictures instead: a part at a time, by readouts of the other parts.
    It runs on a GPU where PyTorch finds one; on a processor it takes hours.
    """
    try:
        import torch
    except ImportError as missing:
        raise MissingExtra("torch", "attacks", "training the picture model") from missing
    import numpy as np

    from gazeveil.gaze.predicted.backbone import backbone
    from gazeveil.lab.experiments.picture_model import pictures
    from gazeveil.lab.experiments.picture_model.judging import contents, judge, mean_score
    from gazeveil.lab.experiments.picture_model.network import Frozen, stored
    from gazeveil.lab.experiments.picture_model.training import train_readouts

    _check_folds(folds, out, maps)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places, left_out = _sets_in(folder, without)
    with progress("training", quiet=as_json) as tell:
        sets = [pictures.read_set(each, held_share=held_out, seed=seed) for each in places]
        trained = [each for each in sets if each.name not in left_out]
        if not trained:
            raise OptionError("--without leaves no set to train on")
        # sets that are judged, and sets that are trained on for it
        rounds = [(part, part) for part in pictures.folds(trained, folds, seed)] if folds else [(sets, trained)]
        frozen = Frozen(backbone(), device)
        channels = [int(each.shape[1]) for each in frozen(torch.zeros(1, 3, 64, 64, device=device))]
        judged: list[list[Score]] = []
        content: dict[str, FloatArray] = {}
        for which, (tested, seen) in enumerate(rounds):

            def step(share: float, before: int = which) -> None:
                tell(before + share, len(rounds))

            readouts = train_readouts(
                frozen, channels, seen, count=seeds, seed=seed, device=device, epochs=epochs, tell=step
            )
            judged.append([judge(frozen, readouts, each, seen, device) for each in tested])
            if maps is not None:
                for each in tested:
                    content |= contents(frozen, readouts, each, seen, device)
        scores = [mean_score(parts) for parts in zip(*judged, strict=True)]
    for place, arrays in ((out, stored(readouts)), (maps, content)):
        if place is not None:
            with replacing(place) as part, part.open("wb") as file:
                np.savez_compressed(file, **arrays)
    if as_json:
        told = {"seeds": seeds, "epochs": epochs, "folds": folds, "scores": [each.to_dict() for each in scores]}
        print_json({**told, "out": out})
        return
    _print_scores(scores)


def _check_folds(folds: int, out: Path | None, maps: Path | None) -> None:
    if folds == 1:
        raise OptionError("--folds 1 leaves nothing to train on", hint="at least 2; 0 is off")
    if folds and out is not None:
        raise OptionError("--folds takes no --out", hint="each part has readouts of its own, and none is kept")
    if folds and maps is None:
        raise OptionError("--folds needs --maps", hint="--maps FILE keeps the predicted maps")


def _sets_in(folder: Path, without: str) -> tuple[list[Path], set[str]]:
    """Return the folders of the sets, and the names of those that are not trained on."""
    places = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    if not places:
        raise InputError(
            f"{folder} holds no sets of pictures", hint="one folder per set, with images and fixations.csv"
        )
    left_out = set(names_in(without))
    if unknown := left_out - {each.name for each in places}:
        raise OptionError(f"there is no set called {min(unknown)!r}", hint=f"sets: {', '.join(p.name for p in places)}")
    return places, left_out


def _print_scores(scores: Sequence[Score]) -> None:
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
