# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil advise``: which mechanism and level to use against one kind of harm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.lab.advice.answer import Harm, Use
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_line, progress

app = command_app()


@app.command(epilog="Example: `gazeveil advise study.toml --use heatmap --harm membership`")
def advise(
    study_file: Annotated[Path, typer.Argument(metavar="study.toml", help="The declared study.")],
    use: Annotated[Use, typer.Option("--use", help="What you want to publish.")],
    harm: Annotated[Harm, typer.Option("--harm", help="What must not happen to a participant.")],
    design: Annotated[
        Path | None, typer.Option("--design", help="The public design of feature series, for --use features.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recommend a mechanism and a level, with expected use and expected attack; spends nothing, reads no data.

    Exit code 1 if nothing fits.
    """
    from gazeveil import Study
    from gazeveil.features.design import Design
    from gazeveil.lab.advice.measurements import measurements
    from gazeveil.lab.advice.recommending import advise as ask

    study = Study.open(study_file)
    with progress("asking forecasts and measurements", quiet=as_json):
        found = ask(study, use, harm, measurements(), None if design is None else Design.load(design))
    if as_json:
        print_json(found.to_dict())
    else:
        for word, text in found.lines():
            print_line(word, text)
    if not found.fits:
        raise typer.Exit(1)
