# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmap``: a private heatmap of many participants, with its guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.cli._releasing import ReleaseRequest, releases, takes_settings
from gazeveil.errors import OptionError
from gazeveil.terminal.printing import command_app

app = command_app()


@app.command(epilog="Example: `gazeveil heatmap study/ --stimulus forest.png --epsilon 1 --out forest --no-ledger`")
@releases
@takes_settings("heatmap")
def heatmap(
    request: ReleaseRequest,
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    settings: dict[str, Any],
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            help="The stimulus as it filled the screen (PNG): for the prior, and to draw over.",
        ),
    ] = None,
    saliency: Annotated[
        Path | None, typer.Option("--saliency", help="The same, but for the prior alone: nothing is drawn over it.")
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            "--prior", help="A public map of where gaze is likely, in place of a picture: rows x columns, .npy."
        ),
    ] = None,
) -> None:
    """Release a differentially private heatmap of one stimulus.

    The folder holds the map, pictures, error bars, and the guarantee in words.
    """
    from gazeveil.aggregate.heatmap import PrivateHeatmap
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.release.map_files import read_picture

    if saliency is not None and prior is not None:
        raise OptionError("--saliency and --prior exclude each other", hint="give the picture, or a map of your own")
    if not settings["picture_prior"] and (saliency is not None or prior is not None):
        raise OptionError("--no-picture-prior excludes --saliency and --prior", hint="--picture is for drawing, too")
    study = request.study().with_picture(stimulus, picture).with_prior(stimulus, prior)
    said = None if saliency is None else Saliency.of(read_picture(saliency, study.stimulus(stimulus).screen))
    mechanism = PrivateHeatmap(
        **settings,
        picture=said,
    )
    request.release(study, mechanism, stimulus=stimulus)
