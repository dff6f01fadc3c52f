# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge experiment features`` and ``gazeveil judge reproduce bozkir``: feature series judged."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._output import AsJson, print_json, print_table, progress
from gazeveil.errors import OptionError
from gazeveil.files import write_all

if TYPE_CHECKING:
    from gazeveil.lab.experiments.usefulness.features import Cell

Out = Annotated[Path | None, typer.Option("--out", help="Folder for the numbers and pictures.")]


def experiment_features(
    data: Annotated[str, typer.Option("--data", help="`simulated`, or the EyeTribe runs' Parquet file.")] = "simulated",
    people: Annotated[int, typer.Option("--participants", "--people", min=6, help="Simulated private readers.")] = 100,
    seconds: Annotated[float, typer.Option("--seconds", min=60, help="How long each document is read.")] = 300.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of noise.")] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 1,
    epsilons: Annotated[str, typer.Option("--epsilons", help="ε, comma-separated.")] = "0.5,1,3,10,48",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Errors of private feature series, product by product, beside the paper's mechanisms and the public mean."""
    from gazeveil.lab.experiments.feature_people import eyetribe_people, readers
    from gazeveil.lab.experiments.usefulness import raw_gaze_promise
    from gazeveil.lab.experiments.usefulness.features import run
    from gazeveil.lab.experiments.usefulness.group_series import most_telling, picture

    chosen = _numbers(epsilons)
    with progress("simulating and extracting", quiet=as_json):
        if data == "simulated":
            who = readers(private=people, public=max(6, people * 2 // 5), seconds=seconds)
            few = max(6, people * 2 // 5)
            binned = raw_gaze_promise.reader_bins(few, max(4, few // 2), seconds)
        else:
            who, binned = eyetribe_people(Path(data)), raw_gaze_promise.eyetribe_bins(Path(data))
    with progress("releasing", quiet=as_json) as tell:
        cells = run(who, epsilons=chosen, repeats=repeats, seed=seed, tell=tell)
    with progress("protecting raw gaze", quiet=as_json) as tell:
        raw = raw_gaze_promise.run(binned, epsilons=chosen, repeats=repeats, seed=seed, tell=tell)
    sizes = [size for size in (20, 50, 100) if size <= min(len(series) for series in who.private.values())]
    seen = picture(who, most_telling(who), sizes=sizes, seed=seed) if len(who.private) > 1 and sizes else None
    told: dict[str, Any] = {"data": who.name, "cells": [asdict(cell) for cell in cells]}
    told["raw_gaze"] = [asdict(cell) for cell in raw]
    if data != "simulated":
        from gazeveil.lab.experiments.usefulness.feature_recognition import run as recognise

        with progress("recognising participants", quiet=as_json) as tell:
            told["recognised"] = recognise(Path(data), epsilons=chosen, seed=seed, tell=tell)
    if seen is not None:
        told["visible_differences"] = seen.pairs
        told["signs_right"] = [{"people": n, "epsilon": e, "share": share} for (n, e), share in seen.signs.items()]
    if out is not None:
        from gazeveil.lab.experiments.usefulness import _feature_plots as plots

        files = {"usefulness.png": plots.usefulness(cells), "raw-gaze.png": plots.usefulness(raw)}
        if seen is not None:
            files["group-series.png"] = plots.groups(seen.truths, seen.released, seen.feature, 0.5)
        told["files"] = _write(out, files, told)
    if as_json:
        print_json(told)
        return
    _print_cells(f"{who.name}: error as a part of the declared range (in brackets: the forecast)", cells)
    _print_cells(f"{who.name}: means over 30 s with a guarantee about raw gaze, error as a part of the range", raw)
    if "recognised" in told:
        print_table(
            "participants recognised in a run that was left out, by majority vote (and from single windows)",
            ["series", "ε", "nearest", "svm", "forest", "chance"],
            [
                [row["method"], row["epsilon"] or "–",
                 *(f"{row[how]['voted']:.2f} ({row[how]['windows']:.2f})" for how in ("nearest", "svm", "forest")),
                 f"{row['svm']['chance']:.2f}"]
                for row in told["recognised"]
            ],
        )  # fmt: skip
    for row in told.get("signs_right", []):
        print(
            f"{row['people']} participants, ε = {row['epsilon']:g}: the sign of {row['share']:.0%} of the visible "
            "differences between documents is right"
        )


def _print_cells(title: str, cells: list[Cell]) -> None:
    epsilons = sorted({cell.epsilon for cell in cells})
    by_row: dict[tuple[str, str], dict[float, str]] = {}
    for cell in cells:
        expected = "" if cell.expected is None else f" ({cell.expected:.3f})"
        by_row.setdefault((cell.product, cell.method), {})[cell.epsilon] = f"{cell.error:.3f}{expected}"
    print_table(
        title,
        ["product", "method", *(f"ε = {epsilon:g}" for epsilon in epsilons)],
        [[product, method, *(row[e] for e in epsilons)] for (product, method), row in by_row.items()],
    )


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(math.isfinite(number) and number > 0 for number in found):
        raise OptionError(f"--epsilons takes numbers above 0 with commas between, not {text!r}", hint="for example 1,3")
    return found


def bozkir(
    people: Annotated[int, typer.Option("--participants", "--people", min=4, help="How many simulated readers.")] = 20,
    seconds: Annotated[float, typer.Option("--seconds", min=90, help="How long each document is read.")] = 600.0,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Noisy runs in the search for bins.")] = 5,
    every: Annotated[int, typer.Option("--every", min=1, help="Classifiers use every N-th window.")] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the noise.")] = 1,
    epsilons: Annotated[
        str, typer.Option("--epsilons", help="ε of one feature, comma-separated.")
    ] = "0.01,0.05,0.1,0.5,1",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Private eye-movement features of readers (Bozkir et al. 2020): figures 1 to 4 on simulated readers."""
    from gazeveil.lab.experiments.bozkir.figures import AUTHORS, run

    chosen = _numbers(epsilons)
    with progress("noising and classifying", quiet=as_json) as tell:
        figures = run(people=people, seconds=seconds, runs=runs, every=every, seed=seed, epsilons=chosen, tell=tell)
    told = figures.to_dict()
    if out is not None:
        from gazeveil.lab.experiments.bozkir import _plots as plots

        files = {
            "figure-1.png": plots.correlations(figures),
            "figure-2.png": plots.errors(figures),
            "figure-3.png": plots.accuracies(figures, voted=True),
            "figure-4.png": plots.accuracies(figures, voted=False),
        }
        told["files"] = _write(out, files, told)
    if as_json:
        print_json({"paper": "Bozkir et al. 2020", **told})
        return
    print_table(
        "figure 2: error at the ε that is stated, and its true value per participant for declared ranges (comic)",
        ["method", "stated ε", "true ε", "NMSE", "error of range"],
        [
            [row["method"], row["stated_epsilon"], row["true_epsilon"] or "none", f"{row['nmse']:.2g}",
             f"{row['range_error']:.3f}"]
            for row in figures.errors
            if row["document"] == "comic"
        ],
    )  # fmt: skip
    print_table(
        "what the authors published for their readers of a comic: NMSE at an ε of .01, .1 and 1 a feature",
        ["method", ".48", "4.8", "48"],
        [[name, *(f"{value:.1e}" for value in values)] for name, values in AUTHORS.items()],
    )
    print_table(
        "which mechanism is best, as published, for the comic",
        ["stated ε", "authors, NMSE", "ours, NMSE", "ours, error of range"],
        [
            [f"{row['stated_epsilon']:g}",
             *(" < ".join(row[what]) for what in ("authors", "ours_by_nmse", "ours_by_range_error"))]
            for row in told["orderings"]
        ],
    )  # fmt: skip
    print_table(
        "figures 3 and 4: classified by majority vote (and from single windows)",
        ["method", "stated ε", "document", "group", "participant: nearest", "svm", "forest"],
        [
            [row["method"], row["epsilon"] or "–",
             *(f"{row[what]['voted']:.2f} ({row[what]['windows']:.2f})"
               for what in ("document", "group", "participant, nearest", "participant, svm", "participant, forest"))]
            for row in figures.accuracies
        ],
    )  # fmt: skip
    for name, (series, rises) in figures.factors.items():
        print(f"{name}: ε′/ε is {series:.1f} for the series and {rises:.1f} for its differences")
    print("simulated readers, not the paper's: levels differ, orderings may be compared")


def _write(out: Path, pictures: dict[str, bytes], told: dict[str, Any]) -> list[str]:
    import json

    if out.exists() and not out.is_dir():
        raise OptionError(f"{out} is not a folder")
    numbers = json.dumps(told, indent=1, default=str) + "\n"
    return write_all(out, {**pictures, "numbers.json": numbers.encode()})
