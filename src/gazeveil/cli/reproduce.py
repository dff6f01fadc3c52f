# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil reproduce``: tables of papers, measured again; one sub-command per paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    """Measure again what a paper reports, and print both side by side."""


@app.command(epilog="Example: `gazeveil reproduce andersson --data data/lund2013`")
def andersson(data: Data = None, as_json: AsJson = False) -> None:
    """Fixation and saccade detection against two experts (Andersson et al. 2017)."""
    from gazeveil.study.detector_agreement import DETECTORS, compare  # noqa: PLC0415

    with progress("comparing with the experts", quiet=as_json):
        rows = compare(_folder(data, "lund2013"))
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


@app.command(epilog="Example: `gazeveil reproduce realism --data data`, a table for docs/concepts/simulator.md")
def realism(data: Data = None, as_json: AsJson = False) -> None:
    """How like real eyes the simulated ones are, data set by data set."""
    from gazeveil.study.simulator_realism import run, to_markdown  # noqa: PLC0415

    with progress("comparing with real eyes", quiet=as_json):
        rows = run(data if data is not None else _folder(None, "lund2013").parent)
    if as_json:
        print_json({"rows": rows})
        return
    print(to_markdown(rows))


@app.command(epilog="Example: `gazeveil reproduce liu --out liu-figures`")
def liu(
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the figures and their numbers.")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Noisy heatmaps a point; the paper has 100.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Noise and quality of private gaze maps (Liu et al. 2019, figures 2 and 3), published and sound."""
    from gazeveil.study.liu_figures import reproduce as measure  # noqa: PLC0415

    with progress("adding noise", quiet=as_json) as tell:
        told = measure(out, repeats=repeats, tell=tell)
    if as_json:
        print_json(told)
        return
    figure = told["figure_3"]
    print_table(
        "noise σ of a 300 x 300 map where the paper reads about 1.5 (figure 2)",
        ["privacy", "observers", "published", "sound", "sound, 300 samples each"],
        [
            [row["level"], row["observers"], row["published"], row["sound"], row["bounded"]]
            for row in told["figure_2"]["read_off"]
        ],
    )
    print_table(
        f"{figure['people']} simulated people copied to {figure['observers']:,} (figure 3), {repeats} repeats",
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


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _folder(given: Path | None, name: str) -> Path:
    if given is not None:
        return given
    here = Path.cwd()
    for base in (here, *here.parents):
        for folder in (base / "data" / name, base / "shared" / "data" / name):
            if folder.is_dir():
                return folder
    raise InputError(f"no folder data/{name} here or above", hint="say where the data are with --data")
