# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a grid: one HTML file with everything inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil import __version__
from gazeveil.display import Picture
from gazeveil.lab.experiments.grid import _plots
from gazeveil.lab.experiments.grid.asked import Grid
from gazeveil.lab.experiments.grid.leaderboard import TITLES, boards
from gazeveil.lab.experiments.grid.showing import pictures
from gazeveil.lab.experiments.grid.standing import named, standings, winners
from gazeveil.release import visual_report
from gazeveil.release.visual_report import ReportSection

FILE = "report.html"
_SUCCESS = {
    "reidentification": "Who it is",
    "linkage": "Whose known gaze it is",
    "attribute": "What kind of participant",
    "membership": "Membership: who took part",
    "reconstruction": "What the gaze was",
}


def write_report(grid: Grid, table: pl.DataFrame, out: Path, command: str = "") -> Path:
    """Write the report of a run into its folder."""
    shown = pictures(grid)
    sections = [
        _about(grid, table, command),
        *_broken(table),
        *_trade_offs(table, out),
        _winners(table),
        *_boards(table),
        *([] if shown is None else [shown]),
        _guarantees(table),
        *_numbers(table),
    ]
    path = out / FILE
    visual_report.write_report(
        path,
        f"Grid: {grid.name}",
        "Every mechanism against every attack, and what it leaves. Every number can be traced to data, recipe, seed "
        "and software.",
        sections,
    )
    return path


def _about(grid: Grid, table: pl.DataFrame, command: str) -> ReportSection:
    cells = table.unique("digest")
    counts = dict(cells.group_by("status").len().iter_rows())
    rows: list[list[object]] = [
        ["command", command or "–"],
        ["gazeveil", __version__],
        ["cells", str(len(cells))],
        *([status, str(count)] for status, count in sorted(counts.items())),
        ["work", f"{cells['seconds'].sum() / 60:.1f} min"],
        *(["data", words] for words in table["data"].unique(maintain_order=True).to_list() if words),
    ]
    source = visual_report.html_details("grid.toml", f"<pre>{escape(grid.text, quote=False)}</pre>")
    lead = (
        "An attacker's success goes from guessing (0) to certainty (1). Usefulness goes from a release without any "
        "data (0) to raw data (1). Intervals are 95 %, by bootstrap over participants or scenes."
    )
    return ReportSection(
        "What was measured", (visual_report.paragraph(lead), visual_report.html_table(["", ""], rows), source)
    )


def _broken(table: pl.DataFrame) -> list[ReportSection]:
    broken = table.filter(pl.col("status") == "broken")
    if not len(broken):
        return []
    rows = [
        [
            *(row["use"], row["corpus"], named(row["mechanism"], row["level"]), row["measure"], str(row["seed"])),
            *(row["error"], row["digest"]),
        ]
        for row in broken.iter_rows(named=True)
    ]
    lead = f"{len(broken)} cells broke. They are left out of all curves and tables; --retry tries them again."
    columns = ["use", "data", "mechanism", "measure", "seed", "error", "cell"]
    return [ReportSection("Broken cells", (visual_report.html_warning(lead), visual_report.html_table(columns, rows)))]


def _drawn(rows: pl.DataFrame, out: Path, use: object, corpus: object, harm: str, utility: str) -> bytes:
    """Draw a curve, and keep it as a file of its own, too."""
    drawn = _plots.trade_off(rows, _SUCCESS.get(harm, harm), utility)
    Picture(drawn).save(out / "pictures" / f"{use}-{corpus}-{harm}-{utility}.png")
    return drawn


def _trade_offs(table: pl.DataFrame, out: Path) -> list[ReportSection]:
    sections = []
    standing = standings(table).filter(pl.col("success").is_not_null() & pl.col("kept").is_not_null())
    for (use, corpus), own in standing.group_by("use", "corpus", maintain_order=True):
        pieces = []
        first = own["utility"][0]  # the first utility of the grid stands for the use in all curves
        for harm in own["harm"].unique(maintain_order=True).to_list():
            rows = own.filter((pl.col("harm") == harm) & (pl.col("utility") == first))
            caption = f"{_SUCCESS.get(harm, harm)}, against {first} that is kept. Lines join levels of one mechanism."
            pieces.append(visual_report.html_picture(_drawn(rows, out, use, corpus, harm, first), caption))
        for utility in own["utility"].unique(maintain_order=True).to_list()[1:]:
            harm = own["harm"][0]
            rows = own.filter((pl.col("harm") == harm) & (pl.col("utility") == utility))
            caption = f"{_SUCCESS.get(harm, harm)}, against {utility} that is kept."
            pieces.append(visual_report.html_picture(_drawn(rows, out, use, corpus, harm, utility), caption))
        title = f"Trade-off: {TITLES.get(str(use), str(use)).lower()}, {corpus}"
        sections.append(
            ReportSection(title, (visual_report.paragraph(own["data"][0]), visual_report.html_gallery(pieces)))
        )
    return sections


def _winners(table: pl.DataFrame) -> ReportSection:
    won = winners(standings(table))
    rows = [
        [
            *(row["use"], row["corpus"], _SUCCESS.get(row["harm"], row["harm"]), row["utility"], f"{row['limit']:.2f}"),
            *(row["winner"], "yes" if row["proven"] else "no", _share(row, "kept")),
            *(f"{row['success']:.2f} by {row['attack']}", row["tied"] or "–"),
        ]
        for row in won.iter_rows(named=True)
    ]
    lead = (
        "At each level of privacy, given as the most that the strongest measured attacker may succeed: who keeps most. "
        "Tied are those whose interval reaches the winner."
    )
    columns = [
        "use",
        "data",
        "harm",
        "use measured by",
        "success at most",
        "winner",
        "guarantee",
        "kept",
        "success",
        "tied",
    ]
    return ReportSection(
        "Who wins at which level", (visual_report.paragraph(lead), visual_report.html_table(columns, rows))
    )


def _boards(table: pl.DataFrame) -> list[ReportSection]:
    pieces: list[str] = []
    for board in boards(table):
        pieces += [visual_report.paragraph(board.title), visual_report.html_table(board.columns, board.rows)]
    return [ReportSection("Leaderboard", tuple(pieces))] if pieces else []


def _guarantees(table: pl.DataFrame) -> ReportSection:
    seen = table.filter(pl.col("guarantee") != "").unique(
        ["use", "mechanism", "level", "guarantee"], maintain_order=True
    )
    rows = [[row["use"], named(row["mechanism"], row["level"]), row["guarantee"]] for row in seen.iter_rows(named=True)]
    lead = "What each mechanism guarantees, whatever an attacker does; or that nothing is proven, and why."
    return ReportSection(
        "Guarantees", (visual_report.paragraph(lead), visual_report.html_table(["use", "mechanism", "guarantee"], rows))
    )


def _numbers(table: pl.DataFrame) -> Sequence[ReportSection]:
    columns = [
        *("use", "data", "mechanism", "measure", "metric", "seed", "value", "low", "high", "n"),
        *("guessing or no data", "status", "cell", "data digest", "software"),
    ]
    rows = [
        [
            *(row["use"], row["corpus"], named(row["mechanism"], row["level"]), row["measure"], row["metric"]),
            *(str(row["seed"]), *(_number(row[name]) for name in ("value", "low", "high")), row["n"] or "–"),
            *(_number(row["chance"]), row["status"], row["digest"], row["corpus_digest"], row["software"]),
        ]
        for row in table.iter_rows(named=True)
    ]
    recipes = table.unique(["use", "corpus", "mechanism", "level"], maintain_order=True)
    recipe_rows = [
        [row["use"], row["corpus"], named(row["mechanism"], row["level"]), row["recipe"], row["version"]]
        for row in recipes.iter_rows(named=True)
    ]
    threats = table.filter(pl.col("threat") != "").unique(["use", "measure", "threat"], maintain_order=True)
    threat_rows = [[row["use"], row["measure"], row["harm"], row["threat"]] for row in threats.iter_rows(named=True)]
    lead = (
        "Each cell is a file cells/CELL.json of the run. The same data, recipe, seed and software give the same number."
    )
    return [
        ReportSection(
            "What attackers know",
            (visual_report.html_table(["use", "attack", "harm", "known to the attacker"], threat_rows),),
        ),
        ReportSection(
            "All numbers",
            (
                visual_report.paragraph(lead),
                visual_report.html_details(
                    "recipes", visual_report.html_table(["use", "data", "mechanism", "recipe", "gazeveil"], recipe_rows)
                ),
                visual_report.html_details(f"{len(rows)} numbers", visual_report.html_table(columns, rows)),
            ),
        ),
    ]


def _share(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[name]:.2f}" + ("" if low is None else f" [{low:.2f}, {high:.2f}]")


def _number(value: float | None) -> float:
    return math.nan if value is None else value
