# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment veils``: presets of stream mechanisms by every measure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._experiment_common import data_with, names_in
from gazeveil.cli._output import AsJson, print_json, print_table, progress


def experiment_veils(
    presets: Annotated[
        str, typer.Option("--presets", help="Presets, comma-separated; by default those of both papers.")
    ] = "",
    data: Annotated[Path | None, data_with("vr_objects_jov2024 and lund2013")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of mechanisms with noise.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Four recordings of each set.")] = False,
    as_json: AsJson = False,
) -> None:
    """Usefulness of a stream behind each preset: distance, areas of interest, maps, lag, jitter, fixations."""
    from gazeveil.lab.as_published.wilson_presets import ALL_PRESETS
    from gazeveil.lab.datasets.folder import find_data
    from gazeveil.lab.experiments.stream_data import stream_sets
    from gazeveil.lab.experiments.usefulness.preset_errors import SHOWN, compare

    chosen = names_in(presets) or tuple(ALL_PRESETS)
    sets = stream_sets(find_data(data))
    with progress("veiling streams", quiet=as_json) as tell:
        rows = compare([one.some(4) for one in sets] if quick else sets, chosen, repeats=repeats, tell=tell)
    if as_json:
        print_json({"rows": [row.to_dict() for row in rows]})
        return
    for one in sets:
        print_table(
            f"{one.place}: means over recordings; distance and jitter in degrees, fixations as relative change",
            ["preset", *SHOWN],
            [[row.preset, *(row.measures[name] for name in SHOWN)] for row in rows if row.streams == one.name],
        )
