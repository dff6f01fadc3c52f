# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The tables and plots of the page of results (docs/results.md), from what is stored in ``results/tables.json``.

``python -m benchmarks.results_page`` writes the tables between their marks and draws the plots; given names of parts,
it draws these alone. It measures nothing. Leaderboards, heatmaps and audits have generators of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.harness import RESULTS
from gazeveil.display import COLOURS, canvas, png
from gazeveil.lab.grid.report import trade_off
from gazeveil.lab.grid.results import measured, standings

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "results.md"
STORED = RESULTS / "tables.json"
# Marks differ, for those who see no colours.
MARKS = "osD^vPX*<>"
_MARKUP = re.compile(r"[*`]")
_NUMBER = re.compile(r"[-+−]?\d*\.?\d+(?:e[-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the titles of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        return [row[self.columns.index(name)] for row in self.rows]

    def filled(self, name: str) -> list[str]:
        """Return the cells of a column whose empty cells mean the one above."""
        cells = self.column(name)
        for number, cell in enumerate(cells):
            cells[number] = cell or cells[number - 1]
        return cells

    def numbers(self, name: str) -> list[float]:
        """Return the first number of each cell of a column; NaN where there is none."""
        return [number_in(cell) for cell in self.column(name)]


def stored() -> dict[str, list[dict[str, list[Any]]]]:
    """Return all stored tables by the parts of the page, with the markup of their cells."""
    found: dict[str, list[dict[str, list[Any]]]] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def tables(part: str) -> list[Table]:
    """Return the tables of a part of the page, in order."""
    plain = partial(_MARKUP.sub, "")
    return [
        Table(tuple(map(plain, table["columns"])), tuple(tuple(map(plain, row)) for row in table["rows"]))
        for table in stored()[part]
    ]


def markdown(table: Mapping[str, Sequence[Any]]) -> str:
    """Return a stored table as Markdown."""
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_tables(page: str) -> str:
    """Return the page with every stored table between its marks."""
    for part, found in stored().items():
        for number, table in enumerate(found, start=1):
            begin, end = (f"<!-- {part} {number}: {edge} -->" for edge in ("begin", "end"))
            before, _, rest = page.partition(begin)
            _, _, after = rest.partition(end)
            page = f"{before}{begin}\n\n{markdown(table)}\n\n{end}{after}"
    return page


def number_in(cell: str) -> float:
    """Return the first number in a cell, or NaN."""
    found = _NUMBER.search(cell)
    return float(found[0].replace("−", "-")) if found else float("nan")


def dots(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    title: str,
    line: float | None = None,
    log: bool = False,
) -> bytes:
    """Draw one row of marks for each label, one mark for each series."""
    figure, axes = canvas(8.5, 1.3 + 0.19 * len(labels))
    for number, (name, values) in enumerate(series.items()):
        axes.plot(
            values, range(len(labels)), MARKS[number], color=COLOURS[number], label=name, alpha=0.85, markersize=5
        )
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlabel(title)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    if line is not None:
        axes.axvline(line, color="black", linewidth=0.8)
    axes.grid(linewidth=0.3)
    if len(series) > 1:
        figure.legend(loc="outside upper center", ncols=4, fontsize=8)
    return png(figure, dpi=80)


def lines(panels: Mapping[str, Mapping[str, tuple[Sequence[float], Sequence[float]]]], across: str, up: str) -> bytes:
    """Draw one panel for each name, and one line for each series in it."""
    rows = (len(panels) + 1) // 2
    across_page = min(len(panels), 2)
    figure, axes = canvas(8.5, 3.2 * rows + 1, rows, across_page, squeeze=False, sharey=True)
    for panel, (title, series) in zip(axes.flat, panels.items(), strict=True):
        for number, (name, (x, y)) in enumerate(series.items()):
            panel.plot(
                x,
                y,
                color=COLOURS[number % len(COLOURS)],
                marker=MARKS[number],
                markersize=4,
                linewidth=1.1,
                label=name,
            )
            panel.set_xscale("log")
            panel.set_xticks(x, [f"{value:g}" for value in x])
        panel.minorticks_off()
        panel.set_title(title, fontsize=9)
        panel.set_xlabel(across)
        panel.set_ylabel(up)
        panel.grid(linewidth=0.3)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=7)
    return png(figure, dpi=80)


def stream_errors(part: str) -> bytes:
    """Draw RMSE over ε at a window of one second, one panel for each radius."""
    (table,) = tables(part)
    names = [name for name in table.columns if name not in {"r", "w", "ε", "SE"}]
    panels = {}
    for radius in dict.fromkeys(table.column("r")):
        own = Table(table.columns, tuple(row for row in table.rows if row[0] == radius and row[1] == "1"))
        panels[f"w = 1 s, r = {radius} px"] = {name: (own.numbers("ε"), own.numbers(name)) for name in names}
    return lines(panels, "ε", "RMSE (px)")


def missing_gaze(part: str) -> bytes:
    """Draw by how much the error changes."""
    (table,) = tables(part)
    labels = [
        f"{one}: ε, w, r = {other}" for one, other in zip(*map(table.column, ("streams", "ε, w, r")), strict=True)
    ]
    return dots(labels, {"change": table.numbers("change")}, "change of the error (%)", 0)


def forecasts(part: str) -> bytes:
    """Draw forecast over real error."""
    (table,) = tables(part)
    labels = [f"{one}: {other}" for one, other in zip(table.filled("product"), table.column("held out"), strict=True)]
    series = {"no release": table.numbers("nothing, now"), "release": table.numbers("error, now")}
    return dots(labels, series, "forecast over real error (1 is right)", 1)


def raw_gaze(part: str) -> bytes:
    """Draw errors of windows and bins over ε, for each length of raw gaze with six features."""
    table = tables(part)[0]
    products, panels = table.filled("product"), {}
    epsilons = [name for name in table.columns if name.startswith("ε")]
    for product in dict.fromkeys(name for name in products if name.endswith("6 features")):
        own = [row for row, name in zip(table.rows, products, strict=True) if name == product]
        values = {row[1]: [number_in(cell) for cell in row[2:]] for row in own}
        panels[product] = {name: ([number_in(name) for name in epsilons], each) for name, each in values.items()}
    return lines(panels, "ε", "error, part of the range")


def feature_attacks(part: str) -> bytes:
    """Draw how many participants the forest identifies over ε."""
    table = tables(part)[0]
    series = {}
    for key in dict.fromkeys(row[:2] for row in table.rows if row[0] != "raw"):
        own = [row for row in table.rows if row[:2] == key]
        series[": ".join(key)] = ([number_in(row[2]) for row in own], [number_in(row[-1]) for row in own])
    raw = number_in(table.rows[0][-1])
    series["raw"] = (next(iter(series.values()))[0], [raw] * 5)
    return lines({"15 participants, forest; guessing: 7 %": series}, "ε", "identified (%)")


def one_session(part: str) -> bytes:
    """Draw the strongest identification of each veil, by model."""
    names = ("committee", "ekyt", "ekyt-tuned")
    found = tables(part)[:3]
    veils = found[0].columns[1:]
    series = {
        name: [max(value for value in table.numbers(veil) if value == value) for veil in veils]  # noqa: PLR0124
        for name, table in zip(names, found, strict=True)
    }
    return dots(veils, series, "identified by the strongest attack (%); guessing: 6", 6)


def three_sessions(part: str) -> bytes:
    """Draw identification under the strongest attacks, by model."""
    table = tables(part)[1]
    labels = [f"{one}, {other}" for one, other in zip(table.column("veil"), table.column("attack"), strict=True)]
    series = {name: table.numbers(name) for name in table.columns if name not in {"veil", "attack"}}
    return dots(labels, series, "identified (%); guessing: 6", 6)


def clock(part: str) -> bytes:
    """Draw identification before and after releases came on the public clock, at `lphu`."""
    table = tables(part)[0]
    labels = [f"{one}: {other}" for one, other in zip(table.filled("known from"), table.column("attack"), strict=True)]
    series = {
        "waits for gaze": table.numbers("lphu, before"),
        "public clock": [number_in(row[3]) for row in table.rows],
    }
    return dots(labels, series, "identified behind lphu (%); guessing: 6", 6)


def traits(part: str) -> bytes:
    """Draw the reliability of each trait."""
    (table,) = tables(part)
    return dots(table.column("trait"), {"": table.numbers("reliability")}, "correlation to expect between two days")


def realism(part: str) -> bytes:
    """Draw the gap between real and simulated distributions."""
    (table,) = tables(part)
    labels = [f"{one}: {other}" for one, other in zip(table.column("data set"), table.column("measure"), strict=True)]
    return dots(labels, {"KS": table.numbers("KS")}, "largest gap between the two distributions (KS)", 0)


def ranges(part: str) -> bytes:
    """Draw which share of values is clipped, by feature."""
    table = tables(part)[0]
    first = table.columns.index("clipped")
    series = {
        "EyeTribe": [number_in(row[first]) for row in table.rows],
        "simulated readers": [number_in(row[-1]) for row in table.rows],
    }
    return dots(table.column("feature"), series, "values outside the declared range (%)", 0)


def recovery(part: str) -> bytes:
    """Draw the distance to raw gaze before and after the best attack."""
    table = tables(part)[1]
    best = [min(number_in(cell) for cell in row[2:] if cell) for row in table.rows]
    series = {"veiled": table.numbers("veiled"), "after the best attack": [max(value, 1e-3) for value in best]}
    return dots(table.column("veil"), series, "distance to raw gaze (degrees; at the left edge: none)", log=True)


def board(use: str, corpus: str, harm: str, utility: str) -> bytes:
    """Draw what is kept over the success of the strongest attacker."""
    wanted = {"use": use, "corpus": corpus, "harm": harm, "utility": utility}
    own = standings(measured()).filter(*(pl.col(name) == value for name, value in wanted.items()))
    return trade_off(own, harm, utility)


PLOTS: dict[str, Callable[[str], bytes]] = {
    "stream-errors-headset": stream_errors,
    "stream-errors-laboratory": stream_errors,
    "stream-errors-simulated": stream_errors,
    "stream-missing-gaze": missing_gaze,
    "feature-forecasts": forecasts,
    "feature-raw-gaze": raw_gaze,
    "feature-attacks": feature_attacks,
    "feature-ranges": ranges,
    "identification-one-session": one_session,
    "identification-three-sessions": three_sessions,
    "identification-clock": clock,
    "simulator-traits": traits,
    "simulator-realism": realism,
    "attack-recovery": recovery,
    "leaderboard-dataset": lambda _: board("dataset", "osie", "linkage", "saliency_cc"),
    "leaderboard-features": lambda _: board("features", "readers", "reidentification", "task"),
}
"""The plots by the parts of the page."""


def main(names: Sequence[str] = ()) -> None:
    """Write the tables and draw all plots, or draw those of the parts that are named."""
    if not names:
        PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for page in names or PLOTS:
        (DOCS / "images" / f"results-{page}.png").write_bytes(PLOTS[page](page))


if __name__ == "__main__":
    main()
