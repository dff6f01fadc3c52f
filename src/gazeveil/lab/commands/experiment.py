# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab experiment``: how useful releases are, beside other methods, and what attacks find in them."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.errors import OptionError, closest
from gazeveil.lab.commands import _usefulness
from gazeveil.lab.commands._shared import (
    MostPeople,
    NoiseSeed,
    Out,
    Seed,
    Table,
    Veils,
    check_drawing,
    data_with,
    gallery_of,
    names_in,
    numbers_in,
    run_experiment,
    show_found,
)
from gazeveil.lab.commands._usefulness import EVERY, TrustOptions, trust
from gazeveil.terminal import NamesOf
from gazeveil.terminal.options import DistanceMm, ScreenPx, SizeMm, print_assumed, sizes_of
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_table, progress

if TYPE_CHECKING:
    from gazeveil.lab.bench.runner import Follow, Progress


def experiment_attributes(
    veils: Veils = "",
    sets: Annotated[str, typer.Option("--sets", help="`vr`, `simulated`, or both with a comma.")] = "vr,simulated",
    recogniser: Annotated[
        str, typer.Option("--recogniser", metavar=NamesOf("recogniser"), help="Recogniser.")
    ] = "clusterfix",
    data: Annotated[Path | None, data_with("vr_objects_jov2024")] = None,
    people: MostPeople = 16,
    seconds: Annotated[float, typer.Option("--seconds", min=20, help="Seconds used of every session.")] = 90.0,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Infer identity and traits behind mechanisms; the attacker is trained behind the same one (Kaleido, figure 12)."""
    from gazeveil.lab.datasets import find_data

    options = {"sets": names_in(sets), "mechanisms": names_in(veils), "recogniser": recogniser, "seconds": seconds}
    run_experiment(
        "attributes",
        {**options, "data": find_data(data), "participants": people, "seed": seed},
        out,
        as_json=as_json,
    )


def experiment_geometry(
    data: Annotated[Path | None, data_with("jemr2022_vr")] = None,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Identity and attributes from what trackers give beside gaze: error, noise, and the distance of the eyes."""
    from gazeveil.lab.datasets import JEMR_FOLDER, need_data

    folder = need_data(data, "give the folder with --data") / JEMR_FOLDER
    run_experiment("geometry", {"data": folder, "seed": seed}, out, as_json=as_json)


def experiment_heads(
    data: Annotated[Path | None, data_with("vr_objects_jov2024")] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=20, help="Seconds used of every session.")] = 120.0,
    seed: NoiseSeed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Identity from where the head points: a mechanism for eyes and head against one for the eyes alone."""
    from gazeveil.lab.datasets import VR_FOLDER, need_data

    folder = need_data(data, "give the folder with --data") / VR_FOLDER
    run_experiment("heads", {"data": folder, "seconds": seconds, "seed": seed}, out, as_json=as_json)


# --- ``gazeveil lab experiment membership`` and ``reconstruction``: attacks on released data sets.


People = Annotated[int, typer.Option("--participants", min=3, help="Participants.")]
Epsilon = Annotated[float, typer.Option("--epsilon", min=0.01, max=100, help="ε of what is released with noise.")]


def experiment_membership(
    products: Annotated[str, typer.Option("--products", help="Products, comma-separated; all by default.")] = "",
    target: Annotated[
        str,
        typer.Option(
            "--target",
            metavar=NamesOf("target"),
            help="`typical`, or `extreme`: a participant who stares where no one else looks.",
        ),
    ] = "typical",
    people: People = 10,
    epsilon: Epsilon = 1.0,
    releases: Annotated[int, typer.Option("--releases", min=8, help="Releases judged, with and without.")] = 400,
    seed: Seed = 1,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Membership inference by an attacker who knows all other participants, compared with the bound of (ε, δ)."""
    options = {"people": people, "epsilon": epsilon, "target": target, "products": names_in(products)}
    run_experiment("membership", {**options, "releases": releases, "seed": seed}, out, as_json=as_json)


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
    options = {"people": people, "epsilon": epsilon, "repeats": repeats, "movies": movies, "seed": seed}
    run_experiment("reconstruction", options, out, as_json=as_json)


# --- ``gazeveil lab experiment identify``: how often participants are recognised from raw gaze.


def experiment_identify(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder with vr_objects_jov2024, eyetribe_contextlab and dorr2010; found above."),
    ] = None,
    experiment: Annotated[
        str, typer.Option("--experiment", help="`vr`, `eyetribe`, `days`, or several with commas.")
    ] = ("vr,eyetribe"),
    recognisers: Annotated[str, typer.Option("--recognisers", help="Recognisers, comma-separated.")] = "committee",
    allow: Annotated[
        str,
        typer.Option(
            "--allow", help="What they may use beside movement, comma-separated: `nothing`, `pupil`, `position+pupil`."
        ),
    ] = "nothing,position+pupil",
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate", help="Sampling rate in Hz to analyse; `inf`: as recorded. Default: chosen on the reference."
        ),
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Leave out one reference session at a time instead.")
    ] = False,
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Participants in three public data sets, recognised in later sessions from earlier ones, without a mechanism."""
    from gazeveil.lab.datasets import need_data
    from gazeveil.lab.experiments import identification as study

    folder = need_data(data)
    names = names_in(experiment)
    if unknown := [name for name in names if name not in study.EXPERIMENTS]:
        raise OptionError(f"no experiment is called {unknown[0]!r}", hint=closest(unknown[0], study.EXPERIMENTS))
    seen = [frozenset(part.split("+")) - {"nothing"} for part in names_in(allow)]
    plan = [
        (name, study.recogniser_of(who, what, rate)) for name in names for who in names_in(recognisers) for what in seen
    ]
    measure, rows, loaded = study.chosen_on if held_out else study.identify, [], {}
    with progress("recognising participants", quiet=as_json) as tell:
        for done, (name, recogniser) in enumerate(plan):
            tell(done, len(plan))
            if name not in loaded:
                loaded[name] = study.EXPERIMENTS[name].load(folder)
            rows.append(measure(study.EXPERIMENTS[name], loaded[name], recogniser, seed=seed))
    if as_json:
        print_json({"held_out": held_out, "seed": seed, "rows": [row.to_dict() for row in rows]})
        return
    for name in names:
        one = study.EXPERIMENTS[name]
        inside = "one reference session left out at a time" if held_out else one.title
        found = [row for row in rows if row.experiment == name]
        print_table(
            f"{name}: {inside}; chance {found[0].chance:.2f}; share recognised, 95 % interval over participants",
            ["recogniser", "sees", f"per {one.trial}", f"per {one.session}", *(_SCENES if one.scenes else ())],
            [
                [
                    row.recogniser,
                    ", ".join(row.sees) or "movement alone",
                    row.trials,
                    row.sessions,
                    *((row.trials_in_scene, row.sessions_in_scene) if one.scenes else ()),
                ]
                for row in found
            ],
        )


_SCENES = ("per trial, same scene", "per session, same scene")


# --- ``gazeveil lab experiment baselines``: baselines for whole data sets, measured as our own mechanisms are.


SETS = ("vr", "simulated", "readers", "eyetribe")


def experiment_baselines(
    sets: Annotated[
        str,
        typer.Option("--sets", help="Of gaze: `vr`, `simulated`. Of features: `readers`, `eyetribe`. Comma-separated."),
    ] = "simulated,readers",
    baselines: Annotated[
        str,
        typer.Option(
            "--baselines", help="Space-separated: k-same-synth:k=8 event-synth:k=2,gamma=3; a dozen by default."
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
    from gazeveil.lab.experiments import baselines_compared, plots
    from gazeveil.lab.experiments.baselines_compared import FEATURE_PEERS, SAMPLE_PEERS, gaze_set, series_set

    check_drawing(out)
    names = names_in(sets)
    if unknown := [name for name in names if name not in SETS]:
        raise OptionError(f"no set of participants is called {unknown[0]!r}", hint=closest(unknown[0], SETS))
    who = [RECOGNISERS[name]() for name in names_in(recognisers)]
    chosen = tuple(baselines.split())
    gaze: list[baselines_compared.SamplesRow] = []
    series: list[baselines_compared.FeaturesRow] = []
    for name in names:
        with progress(f"protecting {name}", quiet=as_json) as tell:
            if name in SETS[:2]:
                some = gaze_set(name, data, people, seconds)
                gaze += baselines_compared.measure_samples(some, chosen or SAMPLE_PEERS, who, seed=seed, tell=tell)
            else:
                rows = series_set(name, data, people, 5 * seconds)
                series += baselines_compared.measure_features(rows, chosen or FEATURE_PEERS, seed=seed, tell=tell)
    told = {"seed": seed, "gaze": [row.to_dict() for row in gaze], "features": [row.to_dict() for row in series]}
    tables: list[Table] = []
    for name in dict.fromkeys(row.people for row in gaze):
        mine = [row for row in gaze if row.people == name]
        ways = [(who, way) for who, found in mine[0].identified.items() for way in found]
        tables.append(
            (
                f"{name}: identified (chance {mine[0].chance:.3f}), and what is left of gaze",
                [
                    "baseline",
                    *(f"{who}, {way}" for who, way in ways),
                    *baselines_compared.UTILITIES,
                    "answered",
                    "guarantee",
                ],
                [
                    [
                        row.peer,
                        *(row.identified[who][way][0] for who, way in ways),
                        *(row.utilities[measure] for measure in baselines_compared.UTILITIES),
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
    show_found(out, "baselines", told, lambda: plots.baselines_drawn(gaze, series), tables, as_json=as_json)


# --- ``gazeveil lab experiment scanpaths``: what mechanisms leave of scanpaths.


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
    from gazeveil.lab.datasets import find_data
    from gazeveil.lab.experiments import plots
    from gazeveil.lab.experiments.named_mechanisms import VEILS
    from gazeveil.lab.experiments.scanpath_privacy import measure, scene_sets

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
    show_found(out, "scanpaths", told, lambda: plots.scanpaths_drawn(found), tables, as_json=as_json)


# --- ``gazeveil lab experiment veils``: presets of stream mechanisms by every measure.


def experiment_veils(
    presets: Annotated[
        str, typer.Option("--presets", help="Presets, comma-separated; by default those of both papers.")
    ] = "",
    data: Annotated[Path | None, data_with("vr_objects_jov2024 and lund2013")] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Runs of mechanisms with noise.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Four recordings of each set.")] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Usefulness of a stream behind each preset: distance, areas of interest, maps, lag, jitter, fixations."""
    from gazeveil.lab.datasets import find_data

    options = {"data": find_data(data), "presets": names_in(presets), "repeats": repeats, "quick": quick}
    run_experiment("veils", options, out, as_json=as_json)


# --- ``gazeveil lab experiment run``, ``compare`` and ``leaderboard``: the grid.


_MINUTE = 60.0
_SHOWN = 40


def experiment_run(
    grid: Annotated[Path, typer.Argument(help="What to measure, as TOML.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run; runs/NAME by default.")] = None,
    own: Annotated[
        list[Path] | None, typer.Option("--with", help="A Python file that registers your own mechanism; repeatable.")
    ] = None,
    data: Annotated[Path | None, typer.Option("--data", help="Folder of data sets; found here or above.")] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=0, help="One a core by default. 0: this process alone, no time limit."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", help="Where large corpora are worked on: `local`, or a Spark master.")
    ] = "local",
    retry: Annotated[bool, typer.Option("--retry", help="Try cells again that broke before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure every mechanism against every attack and for every use. A stopped run resumes."""
    from gazeveil.display import canvas
    from gazeveil.lab.datasets import find_data
    from gazeveil.lab.grid import results as tables
    from gazeveil.lab.grid.grid_file import read_grid
    from gazeveil.lab.grid.report import write_report
    from gazeveil.lab.grid.running import BROKEN, Setting, run_cells

    canvas()  # says at once, not after a night's work, that what draws is not installed
    asked = read_grid(grid, own or ())
    folder = Path("runs") / asked.name if out is None else out
    workers = workers if workers is not None else 1 if engine != "local" else os.cpu_count() or 1
    setting = Setting(asked, find_data(data), engine)
    begun = time.monotonic()
    with _followed(as_json) as follow:
        cells = run_cells(setting, folder, workers=workers, retry=retry, follow=follow)
    table = tables.table_of(asked.name, cells)
    tables.write_table(table, folder / tables.FILE)
    command = shlex.join(
        ["gazeveil", "lab", "experiment", "run", grid.name, *(f"--with={one.name}" for one in own or ())]
    )
    report = write_report(asked, table, folder, command)
    done = table.unique("digest")
    broken = done.filter(done["status"] == BROKEN)
    found: dict[str, Any] = {
        "run": asked.name,
        "cells": len(done),
        "broken": len(broken),
        "numbers": len(table),
        "seconds": time.monotonic() - begun,
        "table": folder / tables.FILE,
        "report": report,
    }
    if as_json:
        print_json(found)
        return
    for row in broken.head(_SHOWN).iter_rows(named=True):
        print(f"broken: {row['mechanism']} {row['level']}, {row['measure']}, seed {row['seed']}: {row['error']}")
    print(f"{found['cells']} cells, {found['broken']} broken; wrote {tables.FILE} and {report.name} to {folder}")


def experiment_compare(
    first: Annotated[Path, typer.Argument(help="A run: its folder, or its grid.parquet.")],
    second: Annotated[Path, typer.Argument(help="Another.")],
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0.0, help="Relative change that still counts as equal.")
    ] = 1e-12,
    as_json: AsJson = False,
) -> None:
    """Compare two runs: which numbers changed, by how much, and whether data, recipe or software changed."""
    from gazeveil.lab.grid.results import compare, read_table

    changes = compare(read_table(first), read_table(second), tolerance)
    if as_json:
        print_json(changes.to_dict())
        return
    print(
        f"{changes.same} numbers are the same, {len(changes.changed)} changed, "
        f"{len(changes.only_first)} are only in {first}, {len(changes.only_second)} only in {second}"
    )
    if len(changes.changed):
        columns = ["use", "mechanism", "level", "measure", "metric", "seed", "value", "now", "difference",
                   "within_interval", "because"]  # fmt: skip
        shown = changes.changed.head(_SHOWN).select(columns)
        rows = [[float("nan") if cell is None else cell for cell in row] for row in shown.iter_rows()]
        print_table("largest changes first", [name.replace("_", " ") for name in columns], rows)


def experiment_leaderboard(
    run: Annotated[Path | None, typer.Argument(help="A run; by default the one that comes with gazeveil.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write the tables as Markdown into this file; a page keeps what is around its marks."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Rank mechanisms by their strongest measured attack and their usefulness."""
    from gazeveil.files import replacing
    from gazeveil.lab.grid.report import boards, within
    from gazeveil.lab.grid.results import measured, read_table, standings

    table = measured() if run is None else read_table(run)
    if out is not None:
        if out.is_dir():
            raise OptionError(f"{out} is a folder", hint="name a file, such as leaderboard.md")
        before = out.read_text(encoding="utf-8") if out.is_file() else ""
        with replacing(out) as temporary:
            temporary.write_text(within(before, table), encoding="utf-8", newline="\n")
    if as_json:
        print_json({"rows": standings(table).to_dicts()})
        return
    for board in boards(table):
        print_table(board.title, list(board.columns), [list(row) for row in board.rows])


@contextmanager
def _followed(quiet: bool) -> Iterator[Follow]:
    """Show how far a run is: a bar on a terminal, else a line a minute, so that a log says how long it takes."""
    last = [-_MINUTE]
    with progress("measuring", quiet=quiet or not sys.stderr.isatty()) as bar:

        def follow(now: Progress) -> None:
            bar(now.done, now.total)
            if quiet or sys.stderr.isatty():
                return
            if now.done == now.total or time.monotonic() - last[0] >= _MINUTE:
                last[0] = time.monotonic()
                print(f"{now.done} of {now.total} cells{_told(now)}", file=sys.stderr, flush=True)

        yield follow


def _told(now: Progress) -> str:
    parts = []
    if now.reused:
        parts.append(f"{now.reused} done before")
    if now.broken:
        parts.append(f"{now.broken} broken")
    if now.left_s is not None and now.done < now.total:
        parts.append(f"about {max(1, round(now.left_s / _MINUTE))} min left")
    return "".join(f", {part}" for part in parts)


# --- ``gazeveil lab experiment``: how good our own releases are, measured so that anyone can repeat it.


app = command_app(no_args_is_help=True)


@app.callback()
def experiment() -> None:
    """Measure how useful releases are, beside other methods."""


@app.command(epilog="Example: `gazeveil lab experiment heatmap --participants 15,50 --scenes 4 --out usefulness`")
def heatmap(
    data: Annotated[
        str,
        typer.Option(
            "--data",
            help="`simulated`; `osie`, `web-pages`, `eyetribe`, `rooms`, `museum` (found under data/ here or above); "
            "or a folder: OSIE, corpus, or pictures as for picture-model, with durations in ms.",
        ),
    ] = "simulated",
    participants: Annotated[str, typer.Option("--participants", help="Numbers of participants.")] = "15,30,50,100,300",
    epsilon: Annotated[str, typer.Option("--epsilon", help="ε of each map; comma-separated.")] = "1",
    delta: Annotated[float, typer.Option("--delta", help="δ of each map.")] = 1e-5,
    scenes: Annotated[int, typer.Option("--scenes", min=1, help="How many scenes at most.")] = 40,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Draws of participants and noise per scene.")] = 1,
    split: Annotated[
        str,
        typer.Option(
            "--split",
            metavar=NamesOf("split"),
            help="Simulated and OSIE. `test`: scenes that no constant was tuned on; `tune`: the others.",
        ),
    ] = "test",
    methods: Annotated[
        str,
        typer.Option(
            "--methods", help="Methods to compare, comma-separated; all by default. With pictures: right, wrong, none."
        ),
    ] = "",
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="Folder of pictures by the scenes' names; of OSIE those never trained on."),
    ] = None,
    contents: Annotated[
        Path | None,
        typer.Option("--contents", help="Maps predicted from pictures by the scenes' names, as an .npz file."),
    ] = None,
    trusted: Annotated[
        bool,
        typer.Option("--trust", help="Compare releases with their priors, error bars and hot spots with the truth."),
    ] = False,
    only_participants: Annotated[
        str, typer.Option("--only-participants", help="With --trust: these alone, as 9-15.")
    ] = "",
    seed: Seed = 0,
    out: Out = None,
    screen: ScreenPx = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: AsJson = False,
) -> None:
    """Agreement of private heatmaps with the map of everyone, over the number of participants."""
    from gazeveil.lab.experiments import heatmap_usefulness as report
    from gazeveil.lab.experiments import heatmap_usefulness as usefulness

    pictured = pictures is not None or contents is not None
    with_trust = trusted or bool(only_participants) or pictured
    if pictured and data == "simulated":
        raise OptionError("simulated scenes have no pictures", hint="use osie or a corpus of your own")
    plan = usefulness.Plan(
        observers=numbers_in(participants, int, "--participants"),
        epsilons=numbers_in(epsilon, float, "--epsilon"),
        delta=delta,
        methods=() if with_trust else names_in(methods),
        repeats=repeats,
        seed=seed,
    )
    check_drawing(out)
    with progress("gathering gaze", quiet=as_json) as tell:
        some = EVERY if pictured else scenes  # those that have pictures are picked afterwards
        gallery = gallery_of(data, split, some, seed, tell, sizes_of(screen, size_mm, distance_mm))
    if with_trust:
        asked = TrustOptions(
            pictures=pictures, contents=contents, scenes=scenes, participants=only_participants, methods=methods
        )
        trust(gallery, plan, gallery.split, asked, out, as_json)
        return
    with progress("making heatmaps", quiet=as_json) as tell:
        found = usefulness.compare(gallery, plan, split=gallery.split, tell=tell)
    files = [] if out is None else report.write_usefulness(found, out)
    if as_json:
        print_json({**found.to_dict(), "files": files})
        return
    print_assumed(gallery.assumed)
    chosen = plan.chosen()
    print_table(
        report.note(found),
        ["method", "ε", "participants", "CC", "±", "CC without prior", "±", "hot spots found", "±", "oracle's choice"],
        [
            [
                chosen[row.method].title.replace("`", ""),
                f"{row.epsilon:g}",
                row.observers,
                *(f"{value:.3f}" for score in (row.cc, row.residual, row.hits) for value in (score.mean, score.error)),
                row.variant,
            ]
            for row in found.rows
        ],
    )
    if {"ours", "recipe"} <= set(chosen):
        for value in plan.epsilons:
            for count in plan.observers:
                cc, residual, _ = found.gain("ours", "recipe", count, value)
                print(
                    f"ours over an earlier version at ε = {value:g}, n = {count}: CC {cc.mean:+.3f} ± {cc.error:.3f}, "
                    f"without prior {residual.mean:+.3f} ± {residual.error:.3f}"
                )
    if out is not None:
        print(f"wrote {', '.join(files)} to {out}")


_COMMANDS = (
    ("run", experiment_run, "grid.toml --out runs/first"),
    ("compare", experiment_compare, "runs/first runs/second"),
    ("leaderboard", experiment_leaderboard, "runs/first --out leaderboard.md"),
    ("forecast", _usefulness.forecast_command(gallery_of), "--data simulated --participants 15 --scenes 3"),
    ("features", _usefulness.experiment_features, "--participants 20 --seconds 120 --out usefulness"),
    ("veils", experiment_veils, "--presets lphu,gaussian-low --quick"),
    ("identify", experiment_identify, "--experiment vr --recognisers committee,lda"),
    ("heatmap-decoder", _usefulness.experiment_heatmap_decoder, "sets --out learned_bumps.npz"),
    ("picture-model", _usefulness.experiment_picture_model, "sets --out readout.npz"),
    ("scanpaths", experiment_scanpaths, "--veils none,mpmu --participants 6 --scenes 2"),
    ("membership", experiment_membership, "--products heatmap --releases 50"),
    ("reconstruction", experiment_reconstruction, "--participants 6 --no-movies"),
    ("attributes", experiment_attributes, "--sets simulated --veils none,mpmu"),
    ("geometry", experiment_geometry, "--data shared/data"),
    ("heads", experiment_heads, "--data shared/data"),
    ("baselines", experiment_baselines, "--sets readers --participants 12 --out found"),
)
"""Names, commands and what their examples say."""
for _name, _command, _example in _COMMANDS:
    app.command(_name, epilog=f"Example: `gazeveil lab experiment {_name} {_example}`")(_command)
_example = str(app.registered_commands[-1].epilog)
