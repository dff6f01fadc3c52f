# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmaps``: the private heatmaps of all stimuli of a study, under one guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._releasing import Delta, Door, Epsilon, releases
from gazeveil.terminal.options import NamesOf
from gazeveil.terminal.printing import command_app

app = command_app()


@app.command(
    epilog="Example: `gazeveil heatmaps study/ --epsilon 3 --out maps --ledger ledger.sqlite --account study-7`"
)
@releases
def heatmaps(
    door: Door,
    epsilon: Epsilon,
    delta: Delta = None,
    stimulus: Annotated[
        list[str] | None, typer.Option("--stimulus", help="Which stimuli; repeatable. By default all.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--weights", help="A TOML file: [weights] with a number for some stimuli.")
    ] = None,
    most_stimuli: Annotated[
        int | None, typer.Option("--most-stimuli", help="The most stimuli a participant was shown, if public.")
    ] = None,
    mean_only: Annotated[bool, typer.Option("--mean-only", help="Release nothing but the mean over stimuli.")] = False,
    strategy: Annotated[
        str, typer.Option("--strategy", metavar=NamesOf("strategies"), help="How the maps are measured.")
    ] = "bumps",
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the pictures in degrees.")] = 1.1,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", help="A folder with the stimuli as PNG: drawn over, and priors.")
    ] = None,
    no_picture_prior: Annotated[
        bool, typer.Option("--no-picture-prior", help="Neither pictures nor maps of likely gaze shape the prior.")
    ] = False,
) -> None:
    """Release private heatmaps of many stimuli under one budget.

    The folder holds the maps, error bars, their mean, and the guarantee in words.
    """
    from gazeveil.aggregate.whole_study import PrivateHeatmaps
    from gazeveil.release.study_files import find_pictures, read_weights

    study = door.study()
    names = stimulus or [each.name for each in study.stimuli]
    for name, picture in ({} if pictures is None else find_pictures(pictures, names)).items():
        study = study.with_picture(name, picture)
    mechanism = PrivateHeatmaps(
        epsilon=epsilon,
        delta=delta,
        weights={} if weights is None else read_weights(weights),
        most_stimuli=most_stimuli,
        strategy=strategy,
        mean_only=mean_only,
        cell_deg=cell_deg,
        blur_deg=blur_deg,
        follow_declared=not no_picture_prior,
    )
    door.release(study, mechanism, stimuli=names)
