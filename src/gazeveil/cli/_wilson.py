# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil judge reproduce wilson``: identification behind each mechanism under each attack, and usefulness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._attack_run import Enrolled
from gazeveil.cli._experiment_common import MostPeople, NoiseSeed, names_in
from gazeveil.cli._output import AsJson, json_text, print_json, print_table, progress
from gazeveil.errors import OptionError
from gazeveil.files import replacing

if TYPE_CHECKING:
    from gazeveil.lab.experiments.wilson.tables import Plan

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
        Path | None, typer.Option("--keep", help="Checkpoint of table 3: a stopped run resumes from it.")
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
    from gazeveil.lab.attacks.judging.judge import DRAWS
    from gazeveil.lab.datasets.folder import found_above
    from gazeveil.lab.experiments.wilson import tables

    everything = table is None and figure is None
    folder = None if simulated else data or found_above(_FOLDER)
    plan = tables.Plan(
        data=folder,
        recognisers=names_in(recognisers),
        attacks=names_in(attacks),
        people=min(people, tables.QUICK_PEOPLE) if quick else people,
        seconds=min(seconds, tables.QUICK_SECONDS) if quick else seconds,
        enrolled="one" if enrolled is Enrolled.ONE else "others",
        seed=seed,
        draws=100 if quick else DRAWS,
    )
    told: dict[str, Any] = {"paper": "Wilson et al. 2024"}
    if everything or table == 2:
        with progress("table 2: by length", quiet=as_json) as tell:
            told["table_2"] = tables.table_2(plan, tell=tell)
    if everything or table == 3:
        with progress("table 3: mechanisms and attacks", quiet=as_json) as tell:
            told["table_3"] = tables.table_3(plan, veils=names_in(veils, ";"), workers=workers, keep=keep, tell=tell)
    if everything or table == 5:
        from gazeveil.lab.experiments.wilson.cost import table_5

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
        from gazeveil.lab.experiments.wilson._report import to_markdown

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
    from gazeveil.lab.experiments.wilson import figures as wilson_figures

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
