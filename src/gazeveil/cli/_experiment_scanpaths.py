# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment scanpaths``: what mechanisms leave of scanpaths."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import MostPeople, Out, Seed, Veils, check_drawing, data_with, names_in, show_found
from gazeveil.cli._output import AsJson, progress


def experiment_scanpaths(
    veils: Veils = "",
    sets: Annotated[str, typer.Option("--sets", help="`simulated`, `osie`, or both with a comma.")] = "simulated,osie",
    data: Annotated[Path | None, data_with("osie")] = None,
    people: MostPeople = 20,
    scenes: Annotated[int, typer.Option("--scenes", min=0, help="Maximum number of scenes; 0 for all.")] = 0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of mechanisms with noise.")] = 1,
    seed: Seed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Similarity, linkage and outliers of scanpaths behind mechanisms (Kaleido, figures 10, 11)."""
    from gazeveil.lab.datasets.folder import find_data
    from gazeveil.lab.experiments.scanpaths import _plots
    from gazeveil.lab.experiments.scanpaths.data import scene_sets
    from gazeveil.lab.experiments.scanpaths.measuring import measure
    from gazeveil.lab.experiments.veils import VEILS

    check_drawing(out)
    chosen = names_in(veils) or VEILS
    found = []
    for some in scene_sets(find_data(data), names_in(sets), people=people, scenes=scenes, seed=seed):
        with progress(f"veiling {some.name}", quiet=as_json) as tell:
            found.append(measure(some, chosen, repeats=repeats, seed=seed, tell=tell))
    told = {"seed": seed, "repeats": repeats, "sets": [one.to_dict() for one in found]}
    tables = [
        (
            f"{one.title}. Similarity: different participants {one.between_people['mean']:.3f}, "
            f"random scanpaths {one.random['mean']:.3f}. Chance of a link {1 / one.people:.3f}.",
            [
                "mechanism",
                "similarity",
                "linked",
                "by warping",
                "outliers F1",
                "at random",
                "AUC",
                "with ≥ 3 fixations",
            ],
            [
                [row.veil, row.mean, row.linked, row.warped, row.outlier_f1, row.random_f1, row.outlier_auc, row.found]
                for row in one.rows
            ],
        )
        for one in found
    ]
    show_found(out, "scanpaths", told, lambda: _plots.drawn(found), tables, as_json=as_json)
