# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment identify``: how often participants are recognised from raw gaze."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import Seed, names_in
from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.errors import OptionError, closest


def experiment_identify(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder with vr_objects_jov2024, eyetribe_contextlab and dorr2010; found above."),
    ] = None,
    experiment: Annotated[
        str, typer.Option("--experiment", help="`vr`, `eyetribe`, `days`, or several with commas.")
    ] = ("vr,eyetribe"),
    recognisers: Annotated[str, typer.Option("--recognisers", help="Recognisers, comma-separated.")] = "committee",
    allow: Annotated[
        str,
        typer.Option(
            "--allow", help="What they may use beside movement, comma-separated: `nothing`, `pupil`, `position+pupil`."
        ),
    ] = "nothing,position+pupil",
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", help="Sampling rate in Hz to analyse; `inf`: as recorded. Default: chosen on the reference."
        ),
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Leave out one reference session at a time instead.")
    ] = False,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Participants in three public data sets, recognised in later sessions from earlier ones, without a mechanism."""
    from gazeveil.lab.datasets.folder import need_data
    from gazeveil.lab.experiments.wilson import identification as study

    folder = need_data(data)
    names = names_in(experiment)
    if unknown := [name for name in names if name not in study.EXPERIMENTS]:
        raise OptionError(f"no experiment is called {unknown[0]!r}", hint=closest(unknown[0], study.EXPERIMENTS))
    seen = [frozenset(part.split("+")) - {"nothing"} for part in names_in(allow)]
    plan = [
        (name, study.recogniser_of(who, what, rate)) for name in names for who in names_in(recognisers) for what in seen
    ]
    measure, rows, loaded = study.chosen_on if held_out else study.identify, [], {}
    with progress("recognising participants", quiet=as_json) as tell:
        for done, (name, recogniser) in enumerate(plan):
            tell(done, len(plan))
            if name not in loaded:
                loaded[name] = study.EXPERIMENTS[name].load(folder)
            rows.append(measure(study.EXPERIMENTS[name], loaded[name], recogniser, seed=seed))
    if as_json:
        print_json({"held_out": held_out, "seed": seed, "rows": [row.to_dict() for row in rows]})
        return
    for name in names:
        one = study.EXPERIMENTS[name]
        inside = "one reference session left out at a time" if held_out else one.title
        found = [row for row in rows if row.experiment == name]
        print_table(
            f"{name}: {inside}; chance {found[0].chance:.2f}; share recognised, 95 % interval over participants",
            ["recogniser", "sees", f"per {one.trial}", f"per {one.session}", *(_SCENES if one.scenes else ())],
            [
                [
                    row.recogniser,
                    ", ".join(row.sees) or "movement alone",
                    row.trials,
                    row.sessions,
                    *((row.trials_in_scene, row.sessions_in_scene) if one.scenes else ()),
                ]
                for row in found
            ],
        )


_SCENES = ("per trial, same scene", "per session, same scene")
