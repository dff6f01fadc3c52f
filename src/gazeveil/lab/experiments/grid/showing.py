# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What mechanisms do to gaze and to maps, to look at.

Participants who do not exist are shown, whatever a grid is about.
"""

from __future__ import annotations

from typing import Any

from gazeveil.lab.experiments.grid import _plots, gaze_data, map_data
from gazeveil.lab.experiments.grid.asked import Grid, Level
from gazeveil.lab.experiments.grid.contract import NONE, USES
from gazeveil.lab.experiments.grid.released import released
from gazeveil.lab.experiments.grid.standing import named
from gazeveil.release import visual_report
from gazeveil.release.visual_report import ReportSection

_SECONDS = 6.0
_MOST = 18
_SEED = 1


def pictures(grid: Grid) -> ReportSection | None:
    """Return pictures of what the mechanisms of a grid do; None if there is nothing to show."""
    pieces: list[str] = []
    veils = _levels(grid, ("live", "dataset"))
    if veils:
        data = gaze_data.simulated(None, 4, 1, _SECONDS)
        shown, failed = _each(veils, lambda use, level: _gaze(data, use, level))
        pieces += [
            visual_report.html_picture(
                _plots.veiled_gaze(data.recordings[0], shown),
                "Horizontal gaze of a simulated participant over time: grey before, blue behind the mechanism",
            ),
            *map(visual_report.paragraph, failed),
        ]
    makers = _levels(grid, ("heatmap",))
    if makers:
        scenes = map_data.simulated(None, 15, 1)
        drawn, failed = _each(makers, lambda use, level: _map(scenes, use, level))
        caption = "Released maps of one scene and 15 simulated participants, each on its own scale of colours"
        pieces += [visual_report.html_picture(_plots.maps(drawn), caption), *map(visual_report.paragraph, failed)]
    if not pieces:
        return None
    lead = "These participants do not exist, whichever data the grid is about: a report shows no real gaze."
    return ReportSection("What mechanisms do", (visual_report.paragraph(lead), *pieces))


def _levels(grid: Grid, uses: tuple[str, ...]) -> list[tuple[str, Level]]:
    found = {
        (level.label, level.level): (part.use, level)
        for part in grid.parts
        if part.use in uses
        for level in part.levels
        if part.use == "heatmap" or level.label != NONE
    }
    return list(found.values())[:_MOST]


def _each(levels: list[tuple[str, Level]], draw: Any) -> tuple[list[tuple[str, Any]], list[str]]:
    """Draw each; what cannot be drawn is stated, and costs no other picture."""
    drawn, failed = [], []
    for use, level in levels:
        name = named(level.label, level.level)
        try:
            drawn.append((name, draw(use, level)))
        except Exception as error:  # noqa: BLE001  (a mechanism of somebody's own may fail in any way)
            failed.append(f"{name} cannot be shown: {type(error).__name__}: {error}")
    return drawn, failed


def _gaze(data: gaze_data.GazeData, use: str, level: Level) -> Any:
    return released(data, USES[use].make(level.wanted, data), _SEED)[0]


def _map(data: map_data.MapData, use: str, level: Level) -> Any:
    return data.released(USES[use].make(level.wanted, data).mechanism, 0, _SEED)
