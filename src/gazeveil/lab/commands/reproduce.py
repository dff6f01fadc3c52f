# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab reproduce``: the measurements of papers again, beside their numbers."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil import __version__
from gazeveil.errors import InputError, OptionError
from gazeveil.files import replacing, write_all
from gazeveil.lab.commands import _usefulness
from gazeveil.lab.commands._shared import MostPeople, NoiseSeed, names_in
from gazeveil.lab.commands.attack import Enrolled
from gazeveil.terminal.printing import AsJson, command_app, json_text, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.lab.reproduction.wilson_tables import Plan


_TABLES = (2, 3, 5)
_FOLDER = "vr_objects_jov2024"


def wilson(
    table: Annotated[int | None, typer.Option("--table", help="2, 3 or 5 alone.")] = None,
    figure: Annotated[int | None, typer.Option("--figure", help="2 alone.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the figure and all numbers.")] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help=f"The folder {_FOLDER} (default: found under data/ or shared/data/ here or above; "
                     "if there is none, simulated participants)."),
    ] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulate gaze even if data are found.")] = False,
    recognisers: Annotated[str, typer.Option("--recognisers", help="Comma-separated, such as lda or lda+pupil.")] = "",
    attacks: Annotated[str, typer.Option("--attacks", help="Comma-separated; all by default.")] = "",
    veils: Annotated[str, typer.Option("--veils", help="Names of table 3, semicolon-separated; all by default.")] = "",
    people: MostPeople = 26,
    seconds: Annotated[float, typer.Option("--seconds", help="Length of records in table 3 and figure 2.")] = 90.0,
    enrolled: Annotated[
        Enrolled, typer.Option("--enrolled", help="Known from one other session, as in the paper, or from all others.")
    ] = Enrolled.ONE,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of mechanisms with noise, for hits.")] = 3,
    seed: NoiseSeed = 1,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes for table 3.")] = 1,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Folder for results of table 3: a stopped run resumes from it.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Six participants, 30 s, one repeat.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Identification, attacks, cost and hits (Wilson et al. 2024, tables 2, 3 and 5, figure 2) beside the paper's."""
    if table is not None and table not in _TABLES:
        raise OptionError(f"table {table} is not measured here", hint="choose 2, 3 or 5, or --figure 2")
    if figure is not None and figure != 2:
        raise OptionError(f"figure {figure} is not measured here", hint="choose 2: hits on objects over strength")
    from gazeveil.lab.attacks.judging import DRAWS
    from gazeveil.lab.datasets import found_above
    from gazeveil.lab.reproduction import wilson_tables

    everything = table is None and figure is None
    folder = None if simulated else data or found_above(_FOLDER)
    plan = wilson_tables.Plan(
        data=folder,
        recognisers=names_in(recognisers),
        attacks=names_in(attacks),
        people=min(people, wilson_tables.QUICK_PEOPLE) if quick else people,
        seconds=min(seconds, wilson_tables.QUICK_SECONDS) if quick else seconds,
        enrolled="one" if enrolled is Enrolled.ONE else "others",
        seed=seed,
        draws=100 if quick else DRAWS,
    )
    told: dict[str, Any] = {"paper": "Wilson et al. 2024"}
    if everything or table == 2:
        with progress("table 2: by length", quiet=as_json) as tell:
            told["table_2"] = wilson_tables.table_2(plan, tell=tell)
    if everything or table == 3:
        with progress("table 3: mechanisms and attacks", quiet=as_json) as tell:
            told["table_3"] = wilson_tables.table_3(
                plan, veils=names_in(veils, ";"), workers=workers, keep=keep, tell=tell
            )
    if everything or table == 5:
        from gazeveil.lab.reproduction.wilson_tables import table_5

        with progress("table 5: cost", quiet=as_json) as tell:
            told["table_5"] = table_5(steps=2000, streams=20, tell=tell) if quick else table_5(tell=tell)
    if everything or figure == 2:
        told["figure_2"] = _figure(plan, out, repeats, quick, as_json)
    if out is not None:
        _write(told, out)
    if as_json:
        print_json(told)
        return
    if markdown:
        from gazeveil.lab.reproduction.wilson_tables import to_markdown

        print(to_markdown(told))
        return
    _print(told, out)


def _write(told: Mapping[str, Any], out: Path) -> None:
    """Write each table as JSON."""
    for name, part in told.items():
        if name.startswith("table"):
            with replacing(out / f"{name.replace('_', '-')}.json") as temporary:
                temporary.write_text(json_text(part, indent=1) + "\n", encoding="utf-8", newline="\n")


def _figure(plan: Plan, out: Path | None, repeats: int, quick: bool, as_json: bool) -> dict[str, Any]:
    from gazeveil.lab.reproduction import wilson_figures

    with progress("figure 2: strengths", quiet=as_json) as tell:
        return wilson_figures.reproduce(2, out, data=plan.data, repeats=repeats, quick=quick, plan=plan, tell=tell)


def _print(told: Mapping[str, Any], out: Path | None) -> None:
    for part in ("table_2", "table_3"):
        if part in told:
            windows = "; ".join(f"{name}: {length}" for name, length in told[part]["windows"].items())
            print(
                f"data: {told[part]['data']}\nwindows: {windows}; participants are known from {told[part]['enrolled']}"
            )
            print(f"they differ from the paper's: {told[part]['differs']}")
            break
    if "table_2" in told:
        _print_table_2(told["table_2"])
    if "table_3" in told:
        _print_table_3(told["table_3"])
    if "table_5" in told:
        _print_table_5(told["table_5"])
    if "figure_2" in told:
        _print_figure_2(told["figure_2"])
    if out is not None:
        print(f"wrote to {out}")


def _print_table_2(told: Mapping[str, Any]) -> None:
    print_table(
        "table 2: share of participants identified from raw gaze, by length of record; the paper's EKYT learnt from "
        "conventional | headset recordings",
        ["seconds", "recogniser", "beside velocity", "identified", "95 % interval", "EER", "d′", "chance", "paper"],
        [
            [row["seconds"], row["recogniser"], *_named(row),
             "–" if row["paper"] is None else " | ".join(map(_percent, row["paper"]))]
            for row in told["rows"]
        ],
    )  # fmt: skip


def _named(row: Mapping[str, Any]) -> list[str]:
    if "missing" in row:
        return ["–", "too short to learn from", *(["–"] * 4)]
    return [
        ", ".join(row["sees"]) or "nothing", _percent(row["accuracy"]), _between(row["accuracy_interval"]),
        _percent(row["eer"]), _number(row["d_prime"]), _percent(row["chance"]),
    ]  # fmt: skip


def _print_table_3(told: Mapping[str, Any]) -> None:
    rows = told["rows"]
    veils = list(dict.fromkeys(row["veil"] for row in rows))
    attacks = list(dict.fromkeys(row["attack"] for row in rows))
    for recogniser in dict.fromkeys(row["recogniser"] for row in rows):
        cells = {(row["veil"], row["attack"]): row for row in rows if row["recogniser"] == recogniser}
        print_table(
            f"table 3: share of participants identified by {recogniser} (95 % interval); the paper's in brackets",
            ["mechanism", *(attack or "no attack" for attack in attacks)],
            [[veil, *(_cell(cells.get((veil, attack))) for attack in attacks)] for veil in veils],
        )
    print_table(
        "the strongest attack on each mechanism, chosen after the fact: an upper bound",
        ["mechanism", "recogniser", "attack", "identified", "95 % interval", "chance"],
        [
            [row["veil"], row["recogniser"], row["attack"] or "no attack", _percent(row["accuracy"]),
             _between(row["accuracy_interval"]), _percent(row["chance"])]
            for row in told["strongest"]
        ],
    )  # fmt: skip
    models = {row["attack"]: row["threat_model"] for row in rows if row.get("threat_model") and row["attack"]}
    print_table("what each attack is granted", ["attack", "threat model"], [list(pair) for pair in models.items()])
    areas = next(iter(told["usefulness"]))["areas"]
    print_table(
        f"usefulness of each mechanism; hits on {areas}",
        ["mechanism", "F1 of hits", "lag (s)", "error (°)"],
        [
            [row["veil"], *(_number(row[name]) for name in ("aoi_f1", "lag_s", "rmse_deg"))]
            for row in told["usefulness"]
        ],
    )


def _print_table_5(told: Mapping[str, Any]) -> None:
    print_table(
        "table 5: cost of a mechanism; the paper measures its whole application, at 72 frames a second",
        ["mechanism", "step (µs)", "99 % (µs)", "of a frame", "memory of a stream (kB)", "paper: MB", "paper: fps"],
        [
            [row["veil"], _number(row["step_us"]), _number(row["step_us_p99"]), f"{100 * row['share_of_frame']:.4f} %",
             _number(row["memory_kb"]), _number(row["paper_memory_mb"]), _number(row["paper_fps"])]
            for row in told["rows"]
        ],
    )  # fmt: skip


def _print_figure_2(told: Mapping[str, Any]) -> None:
    if told["rows"]:
        half = ", utility half" if told.get("half") == "utility" else ""
        print_table(
            f"objects hit with and without a mechanism, {told['sessions']} sessions (Wilson 2024, figure 2{half})",
            ["mechanism", "strength", "paper's", "F1", "SE", "precision", "recall"],
            [
                [row["veil"], row["strength"], row["setting"], row["f1"], row["se"], row["precision"], row["recall"]]
                for row in told["rows"]
            ],
        )
    if told.get("identification"):
        print_table(
            "participants identified behind a mechanism without an attack (Wilson 2024, figure 2)",
            ["recogniser", "mechanism", "strength", "paper's", "identified", "95 % interval"],
            [
                [row["recogniser"], row["veil"], row["strength"], row["setting"], _percent(row["accuracy"]),
                 _between((row["low"], row["high"]))]
                for row in told["identification"]
            ],
        )  # fmt: skip
    print(told["note"])


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "–"
    if "missing" in row:
        return "not installed"
    paper = "" if row["paper"] is None else f" [{_percent(row['paper'])}]"
    return f"{_percent(row['accuracy'])} ({_between(row['accuracy_interval'])}){paper}"


def _between(interval: Sequence[float]) -> str:
    low, high = (f"{100 * value:.0f}" for value in interval)
    return f"{low}–{high}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


# --- ``gazeveil lab reproduce all``: every figure and table of the four papers in one run, with one page about them.


def reproduce_all(
    only: Annotated[str, typer.Option("--only", help="Names with commas, such as liu-3,kaleido-10; else all.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer participants and repeats: some minutes.")] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of the data sets; by default data/ or shared/data/ here or above."),
    ] = None,
    simulated: Annotated[bool, typer.Option("--simulated", help="Simulated gaze, whatever data there are.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for index.html and index.json.")] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes to use.")] = 2,
    limit: Annotated[float, typer.Option("--limit", help="Seconds after which one measurement is given up.")] = 1500.0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the index as Markdown.")] = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Repeat every figure and table of the four papers, and say of each whether ours agrees.

    A figure that cannot be measured is a marked row; the rest goes on.
    """
    from gazeveil.display import canvas
    from gazeveil.lab.datasets import find_data
    from gazeveil.lab.reproduction import all_papers
    from gazeveil.lab.reproduction.all_papers import run

    if out is not None and out.exists() and not out.is_dir():
        raise OptionError(f"{out} is not a folder")
    canvas()  # says at once, not after the work, that what draws is not installed
    names = names_in(only)
    wanted = all_papers.chosen(names)
    folder = None if simulated else find_data(data)
    began, cpu = time.perf_counter(), _cpu()
    with progress("measuring", quiet=as_json) as tell:
        found = run(wanted, folder, quick=quick, workers=workers, limit_s=limit, tell=tell)
    kept = sorted(
        (one for one in found if not names or one.name in names), key=lambda one: all_papers.ORDER.index(one.name)
    )
    about = {
        "software": f"gazeveil {__version__}",
        "quick": quick,
        "workers": workers,
        "data": "simulated gaze alone" if folder is None else f"data sets of {folder.name}/ and simulated gaze",
        "wall_s": time.perf_counter() - began,
        "cpu_s": _cpu() - cpu,
        "cores": os.cpu_count(),
    }
    told = all_papers.to_json(kept, about)
    if out is not None:
        pages = {"index.html": all_papers.to_html(kept, about), "index.json": json_text(told, indent=1) + "\n"}
        write_all(out, {name: text.encode() for name, text in pages.items()})
    if as_json:
        print_json(told | {"files": [] if out is None else ["index.html", "index.json"]})
        return
    if markdown:
        print(all_papers.to_markdown(kept))
        return
    print_table(
        f"{all_papers.summary(kept)}; {about['data']}",
        ["figure", "paper states", "ours", "data", "verdict"],
        [all_papers.index_row(one) for one in kept],
    )
    print(f"took {about['wall_s']:.0f} s, {about['cpu_s']:.0f} s of processor time")
    if out is not None:
        print(f"wrote index.html and index.json to {out}")


def _cpu() -> float:
    """Return the processor seconds of this process and of those that it started and that ended (not on Windows)."""
    return sum(os.times()[:4])


# --- ``gazeveil lab reproduce``: tables of papers, measured again; one sub-command per paper.


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


@app.command(epilog="Example: `gazeveil lab reproduce andersson --data data/lund2013`")
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


@app.command(epilog="Example: `gazeveil lab reproduce realism --data data`, a table for docs/concepts/simulator.md")
def realism(data: Data = None, as_json: AsJson = False) -> None:
    """Compare simulated with real eye movements, data set by data set."""
    from gazeveil.lab.experiments.simulator_realism import run, to_markdown

    with progress("comparing with real eyes", quiet=as_json):
        rows = run(_lund2013().parent if data is None else data)
    if as_json:
        print_json({"rows": rows})
        return
    print(to_markdown(rows))


@app.command(epilog="Example: `gazeveil lab reproduce liu --out liu-figures`")
def liu(
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the figures and their numbers.")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Noisy heatmaps per point; the paper has 100.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Noise and quality of private gaze maps (Liu et al. 2019, figures 2 and 3), as published and corrected."""
    from gazeveil.lab.reproduction.liu_figures import reproduce as measure

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


@app.command(epilog="Example: `gazeveil lab reproduce kaleido --figure 13 --quick --out kaleido-figures`")
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
    from gazeveil.lab.reproduction.kaleido_figures import reproduce as measure

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
    from gazeveil.lab.datasets import found_above

    folder = found_above("lund2013")
    if folder is None:
        raise InputError("no folder data/lund2013 here or above", hint="give their folder with --data")
    return folder


app.command(epilog="Example: `gazeveil lab reproduce bozkir --participants 6 --seconds 120 --every 40 --out bozkir`")(
    _usefulness.bozkir
)
app.command(epilog="Example: `gazeveil lab reproduce wilson --table 3 --quick --simulated`")(wilson)
app.command("all", epilog="Example: `gazeveil lab reproduce all --quick --out reproduced`")(reproduce_all)
