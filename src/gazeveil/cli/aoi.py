# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""``gazeveil aoi``: private statistics of areas of interest, with error bars and their guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazeveil.cli._releasing import ReleaseRequest, releases, takes_settings
from gazeveil.errors import OptionError
from gazeveil.terminal import NamesOf
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
@takes_settings("aoi", dict.fromkeys(("--most-fixations", "--within", "--order-length", "--most-orders"), _CAPS))
def aoi(
    request: ReleaseRequest,
    settings: dict[str, Any],
    stimulus: Annotated[
        list[str] | None, typer.Option("--stimulus", help="Which stimulus; repeatable. By default all with areas.")
    ] = None,
    areas: Annotated[
        list[Path] | None,
        typer.Option("--areas", help="A JSON file for each --stimulus, in order; by default the study's."),
    ] = None,
    statistic: Annotated[
        list[str] | None, typer.Option("--statistic", metavar=NamesOf("statistic"), help="Which statistic; repeatable.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="A CSV file that declares groups: columns observer and group.")
    ] = None,
) -> None:
    """Release differentially private statistics of areas of interest.

    The statistics: dwell, fixations, first fixations, transitions, visit order.
    """
    from gazeveil.aggregate.aoi import STATISTICS, AoiStatistics, GroupComparison, read_groups
    from gazeveil.gaze.events import DETECTORS

    caps = {name: settings.pop(name) for name in ("most_fixations", "within", "order_length", "most_orders")}
    limits: dict[str, dict[str, Any]] = {
        "fixations": {"most": caps["most_fixations"]},
        "first-fixation": {"within": caps["within"]},
        "reached": {"within": caps["within"]},
        "visit-order": {"length": caps["order_length"], "most": caps["most_orders"]},
    }
    mechanism = AoiStatistics(
        _drawn(stimulus or [], areas) if areas else None,
        tuple(STATISTICS[name](**limits.get(name, {})) for name in statistic or ["dwell"]),
        **settings | {"detector": DETECTORS[settings["detector"]]()},
    )
    asked = mechanism if compare is None else GroupComparison(mechanism, read_groups(compare))
    request.release(request.study(), asked, stimuli=stimulus or None)


def _drawn(stimuli: list[str], areas: list[Path]) -> dict[str, AreasOfInterest]:
    from gazeveil.gaze.aoi import AreasOfInterest

    if len(set(stimuli)) < len(stimuli):
        raise OptionError("a stimulus is listed twice", hint="draw all of its areas in one file")
    if len(areas) != len(stimuli):
        raise OptionError(f"there are {len(stimuli)} --stimulus and {len(areas)} --areas: give one for each")
    return {name: AreasOfInterest.from_json(path) for name, path in zip(stimuli, areas, strict=True)}
