# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment attributes``, ``geometry`` and ``heads``: identity and attributes of participants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import (
    MostPeople,
    NoiseSeed,
    Out,
    Veils,
    check_drawing,
    data_with,
    names_in,
    show_found,
)
from gazeveil.cli._output import AsJson, print_json, print_table, progress


def experiment_attributes(
    veils: Veils = "",
    sets: Annotated[str, typer.Option("--sets", help="`vr`, `simulated`, or both with a comma.")] = "vr,simulated",
    recogniser: Annotated[str, typer.Option("--recogniser", help="Recogniser.")] = "clusterfix",
    data: Annotated[Path | None, data_with("vr_objects_jov2024")] = None,
    people: MostPeople = 16,
    seconds: Annotated[float, typer.Option("--seconds", min=20, help="Seconds used of every session.")] = 90.0,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Infer identity and traits behind mechanisms; the attacker is trained behind the same one (Kaleido, figure 12)."""
    from gazeveil.lab.attacks import RECOGNISERS
    from gazeveil.lab.datasets.folder import find_data
    from gazeveil.lab.experiments.attributes import _plots, veiled
    from gazeveil.lab.experiments.veils import VEILS

    check_drawing(out)
    who = RECOGNISERS[recogniser]()
    found = veiled.trait_sets(find_data(data), names_in(sets), people=people, seconds=seconds)
    with progress("inferring", quiet=as_json) as tell:
        rows = veiled.measure(found, names_in(veils) or VEILS, who, seed=seed, tell=tell)
    told = {"recogniser": recogniser, "seed": seed, "rows": [row.to_dict() for row in rows]}
    tables = [
        (
            f"{one.title}; macro F1, one session left out, trained behind the same mechanism",
            ["question", "mechanism", "F1", "from", "to", "guessing"],
            [
                [row.question, row.veil, row.found.f1, *row.found.f1_interval, row.found.guessing]
                for row in rows
                if row.people == one.name
            ],
        )
        for one in found
    ]
    show_found(out, "attributes", told, lambda: _plots.behind_veils(rows), tables, as_json=as_json)


def experiment_geometry(
    data: Annotated[Path | None, data_with("jemr2022_vr")] = None,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Identity and attributes from what trackers give beside gaze: error, noise, and the distance of the eyes."""
    from gazeveil.lab.datasets.folder import need_data
    from gazeveil.lab.datasets.jemr2022 import JEMR_FOLDER
    from gazeveil.lab.experiments.attributes import _plots, geometry

    check_drawing(out)
    folder = need_data(data, "give the folder with --data")
    with progress("recognising participants", quiet=as_json) as tell:
        rows = geometry.measure(folder / JEMR_FOLDER, seed, tell)
    told = {"seed": seed, "rows": [row.to_dict() for row in rows]}
    table = (
        "18 participants in a headset over days (Schuetz and Fiehler 2022)",
        ["question", "sees", "left out", "measure", "value", "from", "to", "guessing"],
        [
            [
                row.question,
                " + ".join(row.sees),
                row.left_out,
                row.measure,
                row.value,
                *row.value_interval,
                row.guessing,
            ]
            for row in rows
        ],
    )
    show_found(out, "geometry", told, lambda: _plots.from_geometry(rows), [table], as_json=as_json)


def experiment_heads(
    data: Annotated[Path | None, data_with("vr_objects_jov2024")] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=20, help="Seconds used of every session.")] = 120.0,
    seed: NoiseSeed = 1,
    as_json: AsJson = False,
) -> None:
    """Identity from where the head points: a mechanism for eyes and head against one for the eyes alone."""
    from gazeveil.lab.datasets.folder import need_data
    from gazeveil.lab.experiments.attributes import heads

    folder = need_data(data, "give the folder with --data")
    with progress("recognising participants", quiet=as_json) as tell:
        rows = heads.measure(folder, seed, tell, seconds)
    if as_json:
        print_json({"seed": seed, "seconds": seconds, "rows": [row.to_dict() for row in rows]})
        return
    print_table(
        f"{rows[0].people} participants in a headset, other sessions known; guessing is right in {rows[0].chance:.3f}",
        ["what leaves", "epsilon", "window", "attacker sees", "identified", "from", "to", "gaze off", "head", "world"],
        [
            [
                row.leaves,
                row.epsilon or "-",
                row.window or "-",
                " + ".join(row.sees),
                row.accuracy,
                *row.accuracy_interval,
                *("-" if off is None else off for off in row.off),
            ]
            for row in rows
        ],
    )
