# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment membership`` and ``reconstruction``: attacks on released data sets."""

from __future__ import annotations

from typing import Annotated

import typer

from gazeveil.cli._experiment_common import Out, Seed, check_drawing, names_in, show_found
from gazeveil.cli._output import AsJson, progress

People = Annotated[int, typer.Option("--participants", "--people", min=3, help="Participants.")]
Epsilon = Annotated[float, typer.Option("--epsilon", min=0.01, max=100, help="ε of what is released with noise.")]


def experiment_membership(
    products: Annotated[str, typer.Option("--products", help="Products, comma-separated; all by default.")] = "",
    target: Annotated[
        str, typer.Option("--target", help="`typical`, or `extreme`: a participant who stares where no one else looks.")
    ] = "typical",
    people: People = 10,
    epsilon: Epsilon = 1.0,
    releases: Annotated[int, typer.Option("--releases", min=8, help="Releases judged, with and without.")] = 400,
    seed: Seed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Membership inference by an attacker who knows all other participants, compared with the bound of (ε, δ)."""
    from gazeveil.lab.experiments.dataset_attacks import _plots, worlds
    from gazeveil.lab.experiments.dataset_attacks.membership import attack_all

    check_drawing(out)
    made = worlds.products(people, epsilon, target, seed, names_in(products))
    with progress("releasing", quiet=as_json) as tell:
        found = attack_all(made, releases, seed, tell)
    told = {"target": target, "people": people, "seed": seed, "rows": [row.to_dict() for row in found]}
    table = (
        f"{people} simulated participants, the target is {target}; {releases} releases with and without. "
        "Advantage: true less false accusations, at best",
        [
            "release",
            "guaranteed ε",
            "AUC",
            "from",
            "to",
            "advantage",
            "allowed",
            "found, none accused falsely",
            "ε proven",
        ],
        [
            [
                row.words,
                "none" if row.epsilon is None else f"{row.epsilon:g}",
                row.auc,
                *row.auc_interval,
                row.advantage,
                row.allowed,
                row.at_no_false,
                row.proven,
            ]
            for row in found
        ],
    )
    show_found(out, "membership", told, lambda: _plots.roc_curves(found), [table], as_json=as_json)


def experiment_reconstruction(
    people: People = 10,
    epsilon: Epsilon = 1.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Releases with noise.")] = 10,
    movies: Annotated[bool, typer.Option(help="Attack dynamic maps, too; they take seconds each.")] = True,
    seed: Seed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Reconstruct one participant's data, knowing all others (Liu et al. 2019, table 1)."""
    from gazeveil.lab.experiments.dataset_attacks import _plots
    from gazeveil.lab.experiments.dataset_attacks.reconstruction import reconstruct

    check_drawing(out)
    with progress("releasing", quiet=as_json) as tell:
        found = reconstruct(people, epsilon, repeats, seed, movies=movies, tell=tell)
    told = {"people": people, "epsilon": epsilon, "seed": seed, "rows": [row.to_dict() for row in found]}
    table = (
        f"One of {people} simulated participants, all others known; ε = {epsilon:g} where there is noise",
        ["data", "release", "measure", "reconstructed", "from", "to", "without the release", "exactly"],
        [[row.data, row.release, row.measure, row.guess, *row.guess_interval, row.without, row.exact] for row in found],
    )
    show_found(out, "reconstruction", told, lambda: _plots.got_back(found), [table], as_json=as_json)
