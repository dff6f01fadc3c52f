# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil movie``: a private heatmap that moves, with its guarantee."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._releasing import ReleaseRequest, releases, takes_settings
from gazeveil.errors import OptionError
from gazeveil.terminal.printing import command_app, progress

if TYPE_CHECKING:
    from gazeveil.aggregate.movie import HeatmapMovie
    from gazeveil.release.study import Stimulus

app = command_app()


@app.command(
    epilog="Example: `gazeveil movie study/ --stimulus film --bin-seconds 0.5 --duration 20 --epsilon 3 --out film "
    "--ledger ledger.sqlite --account study-7`"
)
@releases
@takes_settings("movie")
def movie(
    request: ReleaseRequest,
    stimulus: Annotated[str, typer.Option("--stimulus", help="Which stimulus.")],
    settings: dict[str, Any],
    picture: Annotated[Path | None, typer.Option("--picture", help="A still (PNG): drawn over, and a prior.")] = None,
    frames: Annotated[
        Path | None,
        typer.Option(
            "--frames", help="The film: a video file, or a folder with its frames as PNG, evenly over the time."
        ),
    ] = None,
    speed: Annotated[float, typer.Option("--speed", help="How fast videos run; 1 is real time.")] = 1.0,
) -> None:
    """Release a private heatmap that changes over time.

    The folder holds a map for each time bin, videos, error bars, and the guarantee in words.
    """
    from gazeveil.aggregate.movie import HeatmapMovie

    mechanism = HeatmapMovie(**settings)
    study = request.study().with_picture(stimulus, picture)
    if frames is not None:
        if not settings["picture_prior"]:
            raise OptionError("--no-picture-prior excludes --frames", hint="frames are there for the prior alone")
        if frames.is_dir():
            mechanism = _following(frames, mechanism, study.stimulus(stimulus), as_json=request.as_json)
        else:
            study = study.with_file(stimulus, "film", frames)
    request.release(study, mechanism, stimulus=stimulus, speed=speed)


def _following(frames: Path, mechanism: HeatmapMovie, shown: Stimulus, *, as_json: bool) -> HeatmapMovie:
    """Return the mechanism with what the frame in the middle of each bin says."""
    from gazeveil.aggregate.saliency import Saliency
    from gazeveil.release.map_files import read_picture
    from gazeveil.release.study import find_frames

    bins = mechanism.bins(shown.seconds)
    found: dict[Path, Saliency] = {}
    wanted = find_frames(frames, bins)
    with progress("looking at frames", quiet=as_json) as tell:
        for done, path in enumerate(dict.fromkeys(wanted)):
            tell(done, bins)
            found[path] = Saliency.of(read_picture(path, shown.screen))
    return replace(mechanism, pictures=tuple(found[path] for path in wanted))
