# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmap``: a private heatmap of many participants, with its guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.aggregate.heatmap import PrivateHeatmap
from gazeveil.cli._door import Delta, Door, Epsilon, releases
from gazeveil.cli._output import command_app
from gazeveil.errors import OptionError

app = command_app()


@app.command(epilog="Example: `gazeveil heatmap study/ --stimulus forest.png --epsilon 1 --out forest --no-ledger`")
@releases
def heatmap(
    door: Door,
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    epsilon: Epsilon,
    delta: Delta = None,
    strategy: Annotated[
        str, typer.Option("--strategy", help="auto, modes, bumps, histogram or hierarchical.")
    ] = "auto",
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the picture in degrees.")] = 1.1,
    overlay: Annotated[Path | None, typer.Option("--overlay", help="The stimulus as a PNG, to draw it over.")] = None,
    saliency: Annotated[
        Path | None, typer.Option("--saliency", help="The stimulus as a PNG, whose pixels the decoder may use.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", help="A public map of where gaze is likely, instead of --saliency: rows x columns, .npy."
        ),
    ] = None,
) -> None:
    """Release a differentially private heatmap of one stimulus.

    The folder holds the map, pictures, error bars, and the guarantee in words.
    """
    from gazeveil.aggregate.saliency import Saliency  # noqa: PLC0415
    from gazeveil.release.heatmap_files import read_map, read_picture  # noqa: PLC0415  (loads the plotting parts)

    if saliency is not None and prior is not None:
        raise OptionError("--saliency and --prior exclude each other", hint="give the picture, or a map of your own")
    study = door.study().with_picture(stimulus, overlay).with_prior(stimulus, prior)
    screen = study.stimulus(stimulus).screen
    picture = read_map(prior, screen) if prior is not None else None
    if saliency is not None:
        picture = Saliency.of(read_picture(saliency, screen))
    mechanism = PrivateHeatmap(
        epsilon=epsilon, delta=delta, strategy=strategy, cell_deg=cell_deg, blur_deg=blur_deg, picture=picture
    )
    door.release(study, mechanism, stimulus=stimulus)
