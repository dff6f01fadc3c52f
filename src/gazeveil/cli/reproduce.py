# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge reproduce``: tables of papers, measured again; one sub-command per paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from gazeveil.cli import _experiment_features, _reproduce_all, _wilson
from gazeveil.cli._output import AsJson, command_app, print_json, print_table, progress
from gazeveil.errors import InputError

app = command_app(no_args_is_help=True)

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Folder with the paper's data (default: found under data/ or shared/data/ here or above)."
    ),
]


@app.callback()
def reproduce() -> None:
    """Repeat the measurements of a paper, beside its numbers."""


@app.command(epilog="Example: `gazeveil judge reproduce andersson --data data/lund2013`")
def andersson(data: Data = None, as_json: AsJson = False) -> None:
    """Fixation and saccade detection against two experts (Andersson et al. 2017)."""
    from gazeveil.lab.experiments.detector_agreement import DETECTORS, compare

    with progress("comparing with the experts", quiet=as_json):
        rows = compare(_lund2013() if data is None else data)
    if as_json:
        used = [{"who": who, "parameters": name, "detector": str(detector)} for who, name, detector in DETECTORS]
        print_json({"paper": "Andersson et al. 2017", "detectors": used, "rows": [row.to_dict() for row in rows]})
        return
    print_table(
        "agreement with two experts, sample by sample (Andersson et al. 2017, lund2013 data)",
        ["event", "stimuli", "who", "parameters", "F1", "kappa", "published F1", "published kappa"],
        [
            [row.event, row.stimuli, row.who, row.parameters, *map(_told, (row.f1, row.kappa)),
             *map(_told, (row.published_f1, row.published_kappa))]
            for row in rows
        ],
    )  # fmt: skip
    print("published: the article's own detectors with the article's thresholds; for the experts, Dar et al. 2021")


@app.command(epilog="Example: `gazeveil judge reproduce realism --data data`, a table for docs/concepts/simulator.md")
def realism(data: Data = None, as_json: AsJson = False) -> None:
    """Compare simulated with real eye movements, data set by data set."""
    from gazeveil.lab.experiments.simulator.realism import run, to_markdown

    with progress("comparing with real eyes", quiet=as_json):
        rows = run(_lund2013().parent if data is None else data)
    if as_json:
        print_json({"rows": rows})
        return
    print(to_markdown(rows))


@app.command(epilog="Example: `gazeveil judge reproduce liu --out liu-figures`")
def liu(
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the figures and their numbers.")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Noisy heatmaps per point; the paper has 100.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Noise and quality of private gaze maps (Liu et al. 2019, figures 2 and 3), as published and corrected."""
    from gazeveil.lab.experiments.liu.figures import reproduce as measure

    with progress("adding noise", quiet=as_json) as tell:
        told = measure(out, repeats=repeats, tell=tell)
    if as_json:
        print_json(told)
        return
    figure = told["figure_3"]
    print_table(
        "noise σ of a 300 x 300 map where the paper reads about 1.5 (figure 2)",
        ["privacy", "observers", "published", "sound", "corrected, 300 samples each"],
        [
            [row["level"], row["observers"], row["published"], row["sound"], row["bounded"]]
            for row in told["figure_2"]["read_off"]
        ],
    )
    print_table(
        f"{figure['people']} simulated participants copied to {figure['observers']:,} (figure 3), {repeats} repeats",
        ["mechanism", "ε", "noise σ", "CC", "sd", "MSE", "sd"],
        [
            [row["mechanism"], row["epsilon"], row["noise_sd"], row["cc_mean"], row["cc_sd"], row["mse_mean"],
             row["mse_sd"]]
            for row in figure["points"]
        ],
    )  # fmt: skip
    print(figure["note"])
    if out is not None:
        print(f"wrote {', '.join(told['files'])} to {out}")


@app.command(epilog="Example: `gazeveil judge reproduce kaleido --figure 13 --quick --out kaleido-figures`")
def kaleido(
    figure: Annotated[int, typer.Option("--figure", help="13: error in pixels; 15: saliency maps.")] = 13,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the figure, its numbers and tables.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Folder that holds vr_objects_jov2024 and lund2013 (default: data/ or shared/data/ here or "
            "above; without them, simulated streams alone)."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of each mechanism; the paper has 100.")] = 100,
    quick: Annotated[bool, typer.Option("--quick", help="Few recordings, at most 5 repeats: minutes.")] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes to use.")] = 2,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Accuracy of veiled streams over ε (Kaleido 2021, figures 13 and 15): as published, corrected, ours."""
    from gazeveil.lab.experiments.kaleido.figures import reproduce as measure

    with progress("veiling streams", quiet=as_json) as tell:
        told = measure(figure, out, data=data, repeats=repeats, quick=quick, workers=workers, tell=tell)
    if as_json:
        print_json(told)
        return
    measured, error = ("rmse", "repeat_se") if figure == 13 else ("cc", "cc_se")
    veils = [veil["name"] for veil in told["veils"]]
    for one in told["sets"]:
        cells = {(p["radius"], p["window"], p["epsilon"], p["veil"]): p for p in told["points"]
                 if p["streams"] == one["name"]}  # fmt: skip
        print_table(
            f"{one['title']}; always the centre {one['centre']:.0f} px, own mean {one['own_mean']:.0f} px; "
            f"{told['repeats']} repeats",
            ["r", "w", "ε", *veils],
            [
                [*promise, *(_with_error(cells[*promise, veil][measured], cells[*promise, veil][error], figure)
                             for veil in veils)]
                for promise in sorted({key[:3] for key in cells})
            ],
        )  # fmt: skip
    print_table(
        "the shape that the paper states, in pairs of neighbouring settings: better with ε, worse with w and r",
        ["mechanism", "ε", "w", "r"],
        [
            [row["veil"], *(f"{row[name]} of {row[f'{name}_pairs']}" for name in ("epsilon", "window", "radius"))]
            for row in told["shape"]
        ],
    )
    if figure == 13:
        _print_summary(told)
    if {one["name"] for one in told["sets"]} == {"simulated"}:
        print("recorded streams were not found, so these are simulated; give their folder with --data")
    if out is not None:
        print(f"wrote {', '.join(told['files'])} to {out}")


def _print_summary(told: Mapping[str, Any]) -> None:
    radii = [key for key in told["summary"][0] if key.startswith("r")]
    print_table(
        "error relative to a constant guess (the centre), mean over sets and guarantees (below 1 is useful)",
        ["mechanism", "proven", *(f"r = {key[1:]}" for key in radii), "all", "worse than the centre"],
        [
            [row["veil"], veil["sound"], *(row[key] for key in (*radii, "all")),
             f"{row['worse_than_centre']} of {row['cells']}"]
            for row, veil in zip(told["summary"], told["veils"], strict=True)
        ],
    )  # fmt: skip
    if told["against_the_study"]:
        print_table(
            "against the study that decided the design (gain: share of the error saved; within: by its standard error)",
            ["streams", "mechanism", "gain", "least gain", "better", "within"],
            [
                [row["streams"], row["veil"], row["gain"], row["least_gain"],
                 *(f"{row[name]} of {row['cells']}" for name in ("better", "within"))]
                for row in told["against_the_study"]
            ],
        )  # fmt: skip


def _with_error(value: float, error: float, figure: int) -> str:
    digits = 0 if figure == 13 else 2
    return f"{value:.{digits}f}" if math.isnan(error) else f"{value:.{digits}f} ± {error:.{digits or 1}f}"


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _lund2013() -> Path:
    from gazeveil.lab.datasets.folder import found_above

    folder = found_above("lund2013")
    if folder is None:
        raise InputError("no folder data/lund2013 here or above", hint="give their folder with --data")
    return folder


app.command(epilog="Example: `gazeveil judge reproduce bozkir --people 6 --seconds 120 --every 40 --out bozkir`")(
    _experiment_features.bozkir
)
app.command(epilog="Example: `gazeveil judge reproduce wilson --table 3 --quick --simulated`")(_wilson.wilson)
app.command("all", epilog="Example: `gazeveil judge reproduce all --quick --out reproduced`")(
    _reproduce_all.reproduce_all
)
