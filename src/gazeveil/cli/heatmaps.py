# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil heatmaps``: the private heatmaps of all stimuli of a study, under one guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.cli._releasing import ReleaseRequest, releases, takes_settings
from gazeveil.terminal.printing import command_app

app = command_app()


@app.command(
    epilog="Example: `gazeveil heatmaps study/ --epsilon 3 --out maps --ledger ledger.sqlite --account study-7`"
)
@releases
@takes_settings("heatmaps")
def heatmaps(
    request: ReleaseRequest,
    settings: dict[str, Any],
    stimulus: Annotated[
        list[str] | None, typer.Option("--stimulus", help="Which stimuli; repeatable. By default all.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--weights", help="A TOML file: [weights] with a number for some stimuli.")
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option("--pictures", help="A folder with the stimuli as PNG: drawn over, and priors.")
    ] = None,
) -> None:
    """Release private heatmaps of many stimuli under one budget.

    The folder holds the maps, error bars, their mean, and the guarantee in words.
    """
    from gazeveil.aggregate.study_heatmaps import PrivateHeatmaps
    from gazeveil.release.study import find_pictures, read_weights

    study = request.study()
    names = stimulus or [each.name for each in study.stimuli]
    for name, picture in ({} if pictures is None else find_pictures(pictures, names)).items():
        study = study.with_picture(name, picture)
    mechanism = PrivateHeatmaps(weights={} if weights is None else read_weights(weights), **settings)
    request.release(study, mechanism, stimuli=names)
