# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil movie``: a private heatmap that moves, with its guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.aggregate.dynamic import DynamicHeatmap
from gazeveil.cli._door import Delta, Door, Epsilon, releases
from gazeveil.cli._output import command_app

app = command_app()


@app.command(
    epilog="Example: `gazeveil movie study/ --stimulus film --bin 0.5 --duration 20 --epsilon 3 --out film "
    "--ledger ledger.sqlite --account study-7`"
)
@releases
def movie(
    door: Door,
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    epsilon: Epsilon,
    delta: Delta = None,
    duration: Annotated[
        float | None,
        typer.Option("--duration", help="Seconds from the first sample of each recording; by default the study's."),
    ] = None,
    bin_seconds: Annotated[float, typer.Option("--bin", help="Seconds of a bin.")] = 0.5,
    strategy: Annotated[str, typer.Option("--strategy", help="What is noted of maps: bumps, histogram.")] = "bumps",
    cell_deg: Annotated[float, typer.Option("--cell-deg", help="Size of a cell in degrees.")] = 1.0,
    blur_deg: Annotated[float, typer.Option("--blur-deg", help="Blur of the pictures in degrees.")] = 1.1,
    overlay: Annotated[Path | None, typer.Option("--overlay", help="A still as a PNG, to draw over.")] = None,
    speed: Annotated[float, typer.Option("--speed", help="How fast videos run; 1 is real time.")] = 1.0,
) -> None:
    """Release a private heatmap that changes over time.

    The folder holds a map for each time bin, videos, error bars, and the guarantee in words.
    """
    mechanism = DynamicHeatmap(
        epsilon=epsilon,
        delta=delta,
        bin_seconds=bin_seconds,
        duration=duration,
        strategy=strategy,
        cell_deg=cell_deg,
        blur_deg=blur_deg,
    )
    study = door.study().with_picture(stimulus, overlay)
    door.release(study, mechanism, stimulus=stimulus, speed=speed)
