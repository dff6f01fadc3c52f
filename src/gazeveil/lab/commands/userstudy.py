# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil lab userstudy``: what does privacy cost participants?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import OptionError
from gazeveil.terminal.printing import AsJson, command_app, print_json, print_line, print_table

if TYPE_CHECKING:
    import polars as pl

    from gazeveil.lab.userstudy.sessions import Overview

app = command_app(no_args_is_help=True)


@app.callback()
def userstudy() -> None:
    """Run user studies of mechanisms: a game, forms, simulated players, tests, power."""


@app.command("power", epilog="Example: `gazeveil lab userstudy power --participants 18 --conditions 6`")
def userstudy_power(
    participants: Annotated[int | None, typer.Option("--participants", min=2, help="Number of participants.")] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", min=0.01, help="Difference to detect, in standard deviations of differences."),
    ] = None,
    conditions: Annotated[int, typer.Option("--conditions", min=1, help="Conditions compared with the control.")] = 6,
    wanted: Annotated[float, typer.Option("--power", min=0.05, max=0.999, help="Statistical power.")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Compute how many participants are needed, or which difference N participants can show (Wilcoxon, Holm)."""
    from gazeveil.lab.userstudy.statistics import participants_for, power, smallest_difference

    if participants is None and difference is None:
        raise OptionError(
            "either the number of participants or the difference is needed",
            hint="give --participants 18, or --difference 0.8, or both",
        )
    told: dict[str, object] = {"conditions": conditions, "power": wanted}
    if participants is not None:
        told |= {
            "participants": participants,
            "difference_found": smallest_difference(participants, wanted, comparisons=conditions),
        }
    if difference is not None:
        told |= {
            "difference": difference,
            "participants_needed": participants_for(difference, wanted, comparisons=conditions),
        }
    if participants is not None and difference is not None:
        told["power_then"] = power(difference, participants, comparisons=conditions)
    if as_json:
        print_json(told)
        return
    if participants is not None:
        found = told["difference_found"]
        finds = (
            f"{participants} participants are too few to find any difference, for each of {conditions} conditions"
            if found is None
            else f"{participants} participants find a difference of {found:.2f} standard deviations with a chance of "
            f"{wanted:.0%}, for each of {conditions} conditions"
        )
        print_line("finds", finds)
    if difference is not None:
        needed = told["participants_needed"]
        people = "more than 10,000" if needed is None else f"{needed}"
        print_line("needs", f"a difference of {difference:g} standard deviations needs {people} participants")
    if "power_then" in told:
        print_line(
            "together", f"{participants} participants find {difference:g} with a chance of {told['power_then']:.0%}"
        )


StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file, userstudy.toml.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where the game is served; 0 for any.")]


@app.command("init", epilog="Example: `gazeveil lab userstudy init my-study`")
def userstudy_init(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write the files.")],
    name: Annotated[str, typer.Option("--name", help="What the study is called.")] = "Gaze game",
    first_port: Annotated[
        int, typer.Option("--first-port", min=1024, max=65000, help="Ten ports from here on.")
    ] = 7400,
    as_json: AsJson = False,
) -> None:
    """Propose a study: Wilson's conditions, the gateway's policy, and texts for consent."""
    from gazeveil.lab.userstudy.proposal import propose

    files = [str(path) for path in propose(folder, name, first_port)]
    if as_json:
        print_json({"files": files})
        return
    for file in files:
        print_line("wrote", file)
    print_line("next", f"read them, then: gazeveil lab userstudy serve {folder / 'userstudy.toml'}")


@app.command("serve", epilog="Example: `gazeveil lab userstudy serve my-study/userstudy.toml`")
def userstudy_serve(study: StudyFile, port: Port = 7399, as_json: AsJson = False) -> None:
    """Run the study: the gateway, and the game for participants, until Ctrl-C."""
    import asyncio

    from gazeveil.lab.userstudy.design import read_user_study
    from gazeveil.lab.userstudy.server import running, until_stopped

    found = read_user_study(study)

    async def serve() -> None:
        async with running(found, port, _say, _turning(found.policy)) as (link, _):
            if as_json:
                print_json({"link": link})
            else:
                print_line("game", f"{link}?participant=p01")
                print_line("stop", "Ctrl-C; participants who have begun can continue later with the same label")
            await until_stopped()

    asyncio.run(serve())


@app.command("play", epilog="Example: `gazeveil lab userstudy play my-study/userstudy.toml --participants 2`")
def userstudy_play(
    study: StudyFile,
    participants: Annotated[int, typer.Option("--participants", min=1, max=500, help="How many.")] = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed, the same participants.")] = 1,
    port: Port = 0,
    as_json: AsJson = False,
) -> None:
    """Let simulated participants play the whole study in Chromium, in real time."""
    import asyncio

    from gazeveil.lab.userstudy.design import read_user_study
    from gazeveil.lab.userstudy.playing import opened_browser, play
    from gazeveil.lab.userstudy.server import running
    from gazeveil.lab.userstudy.sessions import SIMULATED

    found = read_user_study(study)
    labels = [f"{SIMULATED}{seed + number:03}" for number in range(participants)]

    def all_of_them(link: str) -> None:
        with opened_browser() as browser:
            for number, label in enumerate(labels):
                tell = _quiet if as_json else partial(print_line, label)
                play(found, link, label, seed + number, browser, tell)

    async def serve() -> None:
        async with running(found, port, _say, _turning(found.policy)) as (link, _):
            await asyncio.to_thread(all_of_them, link)

    asyncio.run(serve())
    if as_json:
        print_json({"played": labels})
    else:
        print_line("next", f"gazeveil lab userstudy report {study} --out report")


def _quiet(words: str) -> None:
    """Say nothing."""


def _say(words: str) -> None:
    typer.echo(words, err=True)


def _turning(policy: Path) -> Callable[[str, str], None]:
    from gazeveil.gateway.client import ask

    def turn(app_name: str, level: str) -> None:
        ask(policy, "POST", f"/v1/apps/{app_name}/level", {"preset": level})

    return turn


def _played(study: Path) -> tuple[pl.DataFrame, Overview]:
    from gazeveil.lab.userstudy.design import read_user_study
    from gazeveil.lab.userstudy.recordings import identified
    from gazeveil.lab.userstudy.sessions import Sessions, measures_of, overview_of

    found = read_user_study(study)
    sessions = Sessions(found).to_analyse()
    return measures_of(sessions, identified(found, sessions)), overview_of(found, sessions)


@app.command("gaze", epilog="Example: `gazeveil lab userstudy gaze my-study/userstudy.toml --out gaze`")
def userstudy_gaze(
    study: StudyFile,
    out: Annotated[Path, typer.Option("--out", help="Folder of the corpus; its study file lies beside it.")],
    as_json: AsJson = False,
) -> None:
    """Write the gaze that the game received as a corpus with a declared study, ready for private releases."""
    from gazeveil.lab.userstudy.design import read_user_study
    from gazeveil.lab.userstudy.recordings import write_gaze
    from gazeveil.lab.userstudy.sessions import Sessions

    found = read_user_study(study)
    declared = write_gaze(found, Sessions(found).to_analyse(), out)
    if as_json:
        print_json({"corpus": str(out), "study": str(declared)})
        return
    print_line("wrote", f"{out} and {declared}")
    print_line("private", "this is gaze as the game got it; publish releases of it, not the corpus")


@app.command("report", epilog="Example: `gazeveil lab userstudy report measures.csv --out report`")
def userstudy_report(
    measures: Annotated[
        Path, typer.Argument(metavar="STUDY", help="The study file; or a tidy CSV or Parquet, a row for each number.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the report.")],
    title: Annotated[str, typer.Option("--title", help="The heading of the report.")] = "User study",
    as_json: AsJson = False,
) -> None:
    """Compare every condition with none: tests over participants, effect sizes, Bayes factors, pictures."""
    from gazeveil.lab.userstudy.design import read_measures
    from gazeveil.lab.userstudy.report import write_user_study

    table, overview = _played(measures) if measures.suffix == ".toml" else (read_measures(measures), None)
    found = write_user_study(table, out, title, overview)
    if as_json:
        print_json({"out": str(out), **found.to_dict()})
        return
    for one in found.found:
        print_table(
            f"{one.measure.words}; control: {one.control}",
            ["condition", "mean", "difference", "p (Holm)", "in words"],
            [
                [name, mean, *([each.ranks.shift, each.p_holm, each.in_words] if each else ["", "", ""])]
                for name, mean, each in one.rows()
            ],
        )
    for remark in found.remarks:
        print_line("remark", remark)
    print_line("wrote", f"{out / 'report.html'}, measures.parquet and analysis.json")
    print_line("private", "report and measures show each participant's numbers; nothing in them is protected")
