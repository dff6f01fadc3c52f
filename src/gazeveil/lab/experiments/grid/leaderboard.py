# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The leaderboard: every mechanism by its strongest measured attacker, against what it leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from gazeveil.lab.experiments.grid.contract import NONE
from gazeveil.lab.experiments.grid.standing import HARMS, named, standings

FIRST: Final = {"live": "reidentification", "dataset": "reidentification", "features": "reidentification",
                "heatmap": "membership"}  # fmt: skip
"""By which harm mechanisms of a use are ranked."""
END: Final = "<!-- end of leaderboard -->"
MARK: Final = re.compile(r"(<!-- leaderboard(?:: (short|\w+))? -->)(.*?)" + re.escape(END), re.DOTALL)
"""A stretch of a page that holds boards: all of them, those of one use, or all in short form."""
_VALUE: Final = re.compile(r" by [^|]*?(?= \(guessing)| \[[^]]*\]")
TITLES: Final = {
    "live": "Live gaze",
    "dataset": "Published recordings",
    "features": "Feature series",
    "heatmap": "Heatmaps",
}


@dataclass(frozen=True, slots=True)
class Board:
    """One use on one set of data, best protected first.

    Attributes:
        use: What is published.
        corpus: Short name of the data.
        data: What they are.
        columns: Titles of the columns.
        rows: One for each mechanism and level.
    """

    use: str
    corpus: str
    data: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def title(self) -> str:
        """What it is about."""
        return f"{TITLES.get(self.use, self.use)}: {self.data}"

    def short(self) -> Board:
        """Return the board with ε, the first harm and the first use alone, without intervals and names of attackers."""
        chosen = [2, next(number for number, name in enumerate(self.columns) if name.startswith("kept"))]
        columns = ("mechanism", "guarantee", *(self.columns[number] for number in chosen))
        rows = [(row[0], row[1].partition(" for ")[0], *(_VALUE.sub("", row[number]) for number in chosen))
                for row in self.rows]  # fmt: skip
        return replace(self, columns=columns, rows=tuple(rows))


def boards(table: pl.DataFrame) -> list[Board]:
    """Return a board for each use and set of data."""
    standing = standings(table)
    found = []
    for (use, corpus), own in standing.group_by("use", "corpus", maintain_order=True):
        utilities = [name for name in own["utility"].unique(maintain_order=True).to_list() if name is not None]
        tried = set(own["harm"].to_list())
        harms = sorted((harm for harm in HARMS if harm in tried), key=lambda harm: harm != FIRST.get(str(use)))
        rows = sorted(_places(own), key=lambda row: _rank(row, harms))
        columns = ("mechanism", "guarantee", *(f"strongest attacker: {harm}" for harm in harms),
                   *(f"kept: {name}" for name in utilities))  # fmt: skip
        found.append(
            Board(str(use), str(corpus), own["data"][0], columns, tuple(_row(row, harms, utilities) for row in rows))
        )
    return found


def markdown(table: pl.DataFrame, which: str = "") -> str:
    """Return boards as Markdown: all of them, those of one use, or with ``short`` all with fewer columns."""
    lines = []
    for board in boards(table):
        if which in ("", "short", board.use):
            shown = board.short() if which == "short" else board
            lines += [f"### {board.title}", "", _line(shown.columns), "|---" * len(shown.columns) + "|"]
            lines += [*map(_line, shown.rows), ""]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def within(page: str, table: pl.DataFrame) -> str:
    """Return a page with boards between its marks; a page without marks becomes all boards.

    ``<!-- leaderboard -->`` stands for all boards, ``<!-- leaderboard: live -->`` for those of one use, and
    ``<!-- leaderboard: short -->`` for all of them with fewer columns; each ends with ``<!-- end of leaderboard -->``.
    """
    filled = MARK.sub(lambda mark: f"{mark[1]}\n\n{markdown(table, mark[2] or '')}\n{END}", page)
    return filled if MARK.search(page) else markdown(table)


def _places(own: pl.DataFrame) -> Iterator[dict[str, Any]]:
    for (mechanism, level), rows in own.group_by("mechanism", "level", maintain_order=True):
        first = rows.row(0, named=True)
        by_harm = {row["harm"]: row for row in rows.iter_rows(named=True) if row["harm"] is not None}
        by_utility = {row["utility"]: row for row in rows.iter_rows(named=True) if row["utility"] is not None}
        yield {
            "name": named(str(mechanism), str(level)),
            "mechanism": mechanism,
            "guarantee": first["guarantee"] if first["proven"] else "none",
            "harms": by_harm,
            "utilities": by_utility,
        }


def _rank(row: dict[str, Any], harms: list[str]) -> tuple[Any, ...]:
    """Return how well protected it is, by its worst harm first; raw data come last, what was not attacked before them.

    One attacker that does badly says little: it may only be weak against this mechanism.
    """
    told = [row["harms"][harm]["success"] if harm in row["harms"] else None for harm in harms]
    success = [2.0 if one is None else round(one, 3) for one in told]
    return (row["mechanism"] == NONE, max(success), *success)


def _row(row: dict[str, Any], harms: list[str], utilities: list[str]) -> tuple[str, ...]:
    return (
        row["name"],
        row["guarantee"],
        *(_attacker(row["harms"].get(harm)) for harm in harms),
        *(_left(row["utilities"].get(name)) for name in utilities),
    )


def _attacker(found: dict[str, Any] | None) -> str:
    if found is None or found["attack_value"] is None:
        return "–"
    low, high = found["attack_low"], found["attack_high"]
    between = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    return f"{found['attack_value']:.2f}{between} by {found['attack']} (guessing {found['attack_chance']:.2f})"


def _left(found: dict[str, Any] | None) -> str:
    if found is None or found["kept"] is None:
        return "–"
    half = "" if found["kept_low"] is None else f" [{_percent(found['kept_low'])}, {_percent(found['kept_high'])}]"
    return f"{_percent(found['kept'])} %{half}"


def _percent(share: float) -> str:
    return "< 0" if share < -0.005 else f"{100 * max(share, 0.0):.0f}"
