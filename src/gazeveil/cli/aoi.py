# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil aoi``: private statistics of areas of interest, with error bars and their guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._releasing import Door, Epsilon, releases
from gazeveil.errors import OptionError
from gazeveil.terminal.options import NamesOf
from gazeveil.terminal.printing import command_app

if TYPE_CHECKING:
    from gazeveil.gaze.aoi import AreasOfInterest

app = command_app()

_CAPS = "Public limits on what one participant adds"


@app.command(
    epilog="Example: `gazeveil aoi study/ --stimulus forest.png --areas areas.json --statistic dwell --epsilon 1 "
    "--out dwell --ledger ledger.sqlite --account study-7`"
)
@releases
def aoi(
    door: Door,
    epsilon: Epsilon,
    stimulus: Annotated[
        list[str] | None, typer.Option("--stimulus", help="Which stimulus; repeatable. By default all with areas.")
    ] = None,
    areas: Annotated[
        list[Path] | None,
        typer.Option("--areas", help="A JSON file for each --stimulus, in order; by default the study's."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="NUMBER", help="The δ of everything; 0: pure ε. By default the study's."),
    ] = None,
    statistic: Annotated[
        list[str] | None, typer.Option("--statistic", metavar=NamesOf("statistic"), help="Which statistic; repeatable.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="A CSV file that declares groups: columns observer and group.")
    ] = None,
    detector: Annotated[
        str, typer.Option("--detector", metavar=NamesOf("detector"), help="What finds fixations.")
    ] = "idt",
    confidence: Annotated[float, typer.Option("--confidence", help="Confidence of the intervals.")] = 0.95,
    no_picture_prior: Annotated[
        bool, typer.Option("--no-picture-prior", help="Declared pictures do not help with shares of time.")
    ] = False,
    most_fixations: Annotated[
        int, typer.Option("--most-fixations", help="Fixations that count in a viewing.", rich_help_panel=_CAPS)
    ] = 12,
    within: Annotated[
        float, typer.Option("--within", help="Seconds; later counts as never.", rich_help_panel=_CAPS)
    ] = 5.0,
    order_length: Annotated[
        int, typer.Option("--order-length", help="Visits in an order: 1, 2 or 3.", rich_help_panel=_CAPS)
    ] = 3,
    most_orders: Annotated[
        int, typer.Option("--most-orders", help="Orders that count for a participant.", rich_help_panel=_CAPS)
    ] = 4,
) -> None:
    """Release differentially private statistics of areas of interest.

    The statistics: dwell, fixations, first fixations, transitions, visit order.
    """
    from gazeveil.aggregate.aoi import STATISTICS, AoiStatistics, GroupComparison, read_groups
    from gazeveil.gaze.events import DETECTORS

    limits: dict[str, dict[str, Any]] = {
        "fixations": {"most": most_fixations},
        "first-fixation": {"within": within},
        "reached": {"within": within},
        "visit-order": {"length": order_length, "most": most_orders},
    }
    mechanism = AoiStatistics(
        _drawn(stimulus or [], areas) if areas else None,
        tuple(STATISTICS[name](**limits.get(name, {})) for name in statistic or ["dwell"]),
        epsilon=epsilon,
        delta=delta,
        detector=DETECTORS[detector](),
        confidence=confidence,
        follow_declared=not no_picture_prior,
    )
    asked = mechanism if compare is None else GroupComparison(mechanism, read_groups(compare))
    door.release(door.study(), asked, stimuli=stimulus or None)


def _drawn(stimuli: list[str], areas: list[Path]) -> dict[str, AreasOfInterest]:
    from gazeveil.gaze.aoi import AreasOfInterest

    if len(set(stimuli)) < len(stimuli):
        raise OptionError("a stimulus is listed twice", hint="draw all of its areas in one file")
    if len(areas) != len(stimuli):
        raise OptionError(f"there are {len(stimuli)} --stimulus and {len(areas)} --areas: give one for each")
    return {name: AreasOfInterest.from_json(path) for name, path in zip(stimuli, areas, strict=True)}
