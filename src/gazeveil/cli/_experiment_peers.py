# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment baselines``: baselines for whole data sets, measured as our own mechanisms are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import (
    MostPeople,
    NoiseSeed,
    Out,
    Table,
    check_drawing,
    data_with,
    names_in,
    show_found,
)
from gazeveil.cli._output import AsJson, progress
from gazeveil.errors import OptionError, closest

SETS = ("vr", "simulated", "readers", "eyetribe")


def experiment_peers(
    sets: Annotated[
        str,
        typer.Option("--sets", help="Of gaze: `vr`, `simulated`. Of features: `readers`, `eyetribe`. Comma-separated."),
    ] = "simulated,readers",
    peers: Annotated[
        str,
        typer.Option(
            "--peers", help="Baselines, space-separated: k-same-synth:k=8 event-synth:k=2,gamma=3; a dozen by default."
        ),
    ] = "",
    recognisers: Annotated[str, typer.Option("--recognisers", help="Identification model.")] = "committee,rbf",
    data: Annotated[Path | None, data_with("the public data sets")] = None,
    people: MostPeople = 16,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=20, help="Seconds used of every session; documents are read five times as long."),
    ] = 60.0,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Identification and usefulness behind k-same, k-same-synth, event-synth, Steil's mechanism and smoothing."""
    from gazeveil.lab.attacks import RECOGNISERS
    from gazeveil.lab.experiments.peers import _plots, features, samples
    from gazeveil.lab.experiments.peers.naming import FEATURE_PEERS, SAMPLE_PEERS
    from gazeveil.lab.experiments.peers.sets import gaze_set, series_set

    check_drawing(out)
    names = names_in(sets)
    if unknown := [name for name in names if name not in SETS]:
        raise OptionError(f"no set of participants is called {unknown[0]!r}", hint=closest(unknown[0], SETS))
    who = [RECOGNISERS[name]() for name in names_in(recognisers)]
    chosen = tuple(peers.split())
    gaze: list[samples.Row] = []
    series: list[features.Row] = []
    for name in names:
        with progress(f"protecting {name}", quiet=as_json) as tell:
            if name in SETS[:2]:
                some = gaze_set(name, data, people, seconds)
                gaze += samples.measure(some, chosen or SAMPLE_PEERS, who, seed=seed, tell=tell)
            else:
                rows = series_set(name, data, people, 5 * seconds)
                series += features.measure(rows, chosen or FEATURE_PEERS, seed=seed, tell=tell)
    told = {"seed": seed, "gaze": [row.to_dict() for row in gaze], "features": [row.to_dict() for row in series]}
    tables: list[Table] = []
    for name in dict.fromkeys(row.people for row in gaze):
        mine = [row for row in gaze if row.people == name]
        ways = [(who, way) for who, found in mine[0].identified.items() for way in found]
        tables.append(
            (
                f"{name}: identified (chance {mine[0].chance:.3f}), and what is left of gaze",
                ["baseline", *(f"{who}, {way}" for who, way in ways), *samples.UTILITIES, "answered", "guarantee"],
                [
                    [
                        row.peer,
                        *(row.identified[who][way][0] for who, way in ways),
                        *(row.utilities[measure] for measure in samples.UTILITIES),
                        row.answered,
                        row.guarantee,
                    ]
                    for row in mine
                ],
            )
        )
    for name in dict.fromkeys(row.people for row in series):
        rows_of = [row for row in series if row.people == name]
        ways = [(who, way) for who, found in rows_of[0].identified.items() for way in found]
        tables.append(
            (
                f"{name}: identified (chance {rows_of[0].chance:.3f}), and what is left of series",
                ["baseline", *(f"{who}, {way}" for who, way in ways), "documents found", "error", "guarantee"],
                [
                    [row.peer, *(row.identified[who][way] for who, way in ways), row.document, row.error, row.guarantee]
                    for row in rows_of
                ],
            )
        )
    show_found(out, "peers", told, lambda: _plots.drawn(gaze, series), tables, as_json=as_json)
