# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil userstudy``: what does privacy cost the person who plays?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazeveil.cli._output import AsJson, command_app, print_json, print_line, print_table
from gazeveil.errors import OptionError

app = command_app(help="Judge what mechanisms cost people who use them: power before the study, tests after it.")


@app.command("power", epilog="Example: `gazeveil userstudy power --participants 18 --conditions 6`")
def userstudy_power(
    participants: Annotated[int | None, typer.Option("--participants", min=2, help="How many come.")] = None,
    difference: Annotated[
        float | None,
        typer.Option("--difference", min=0.01, help="What to find, in standard deviations of differences."),
    ] = None,
    conditions: Annotated[int, typer.Option("--conditions", min=1, help="Conditions compared with none.")] = 6,
    wanted: Annotated[float, typer.Option("--power", min=0.05, max=0.999, help="The chance to find it.")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Say how many participants find a difference, or which difference so many find: Wilcoxon's ranks, after Holm."""
    from gazeveil.userstudy.statistics.power import participants_for, power, smallest_difference  # noqa: PLC0415

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
        found = f"{participants} participants find a difference of {told['difference_found']:.2f} standard deviations"
        print_line("finds", f"{found} with a chance of {wanted:.0%}, for each of {conditions} conditions")
    if difference is not None:
        needed = told["participants_needed"]
        people = "more than 10,000" if needed is None else f"{needed}"
        print_line("needs", f"a difference of {difference:g} standard deviations needs {people} participants")
    if "power_then" in told:
        print_line(
            "together", f"{participants} participants find {difference:g} with a chance of {told['power_then']:.0%}"
        )


@app.command("report", epilog="Example: `gazeveil userstudy report measures.csv --out report`")
def userstudy_report(
    measures: Annotated[Path, typer.Argument(metavar="TABLE", help="Tidy CSV or Parquet: a row for each number.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the report.")],
    title: Annotated[str, typer.Option("--title", help="The heading of the report.")] = "User study",
    as_json: AsJson = False,
) -> None:
    """Compare every condition with none: tests over participants, effect sizes, Bayes factors, pictures."""
    from gazeveil.userstudy.measures import read_measures  # noqa: PLC0415
    from gazeveil.userstudy.report import write_user_study  # noqa: PLC0415

    found = write_user_study(read_measures(measures), out, title)
    if as_json:
        print_json({"out": str(out), **found.to_dict()})
        return
    for one in found.found:
        print_table(
            f"{one.measure.words}; control: {one.control}",
            ["condition", "mean", "difference", "p (Holm)", "in words"],
            [
                [next(iter(one.means)).name, float(next(iter(one.means.values())).mean()), "", "", ""],
                *(
                    [
                        each.condition.name,
                        float(one.means[each.condition].mean()),
                        each.ranks.shift,
                        each.p_holm,
                        each.in_words,
                    ]
                    for each in one.comparisons
                ),
            ],
        )
    for remark in found.remarks:
        print_line("remark", remark)
    print_line("wrote", f"{out / 'report.html'}, measures.parquet and analysis.json")
