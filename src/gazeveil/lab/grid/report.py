# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a grid: one HTML file with leaderboard, trade-off curves, veiled gaze and released maps.

Participants who do not exist are shown, whatever a grid is about.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from gazeveil import __version__
from gazeveil.display import BLUE, COLOURS, Picture, canvas, png
from gazeveil.gaze.recording import Recording
from gazeveil.lab.bench.plots import images
from gazeveil.lab.grid import data as gaze_data
from gazeveil.lab.grid import data as map_data
from gazeveil.lab.grid.catalogue import USES
from gazeveil.lab.grid.contract import NONE
from gazeveil.lab.grid.data import released
from gazeveil.lab.grid.grid_file import Grid, Level
from gazeveil.lab.grid.results import HARMS, named, standings, winners
from gazeveil.release import visual_report
from gazeveil.release.visual_report import ReportSection

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


# --- Pictures of a grid: trade-off curves with bands, veiled gaze, and released maps.


_MARKERS = "osD^vP*Xh<>p"
_ACROSS = 3


def trade_off(own: pl.DataFrame, attacker: str, use: str) -> bytes:
    """Return what is kept over the strongest attacker's success: a line a mechanism, a point a level.

    Args:
        own: Rows of `standings` for one harm and one utility.
        attacker: What success is about.
        use: What is kept.
    """
    figure, axes = canvas(8.5, 5.0)
    rows = own.filter(pl.col("success").is_not_null() & pl.col("kept").is_not_null())
    groups = rows.group_by("mechanism", maintain_order=True)
    for number, ((name,), each) in enumerate(groups):
        line = each.sort(pl.col("strength").fill_null(0.0))
        x, y = (line[column].to_numpy() for column in ("success", "kept"))
        low, high = (
            line[f"kept_{end}"].fill_null(line["kept"]).to_numpy().astype(np.float64) for end in ("low", "high")
        )
        left, right = (
            line[f"success_{end}"].fill_null(line["success"]).to_numpy().astype(np.float64) for end in ("low", "high")
        )
        proven = bool(line["proven"][0])
        colour = "black" if name == NONE else COLOURS[number % (len(COLOURS) - 1)]
        axes.errorbar(
            x,
            y,
            xerr=np.abs([x - left, right - x]),
            fmt=_MARKERS[number % len(_MARKERS)] + ("-" if proven else ":"),
            color=colour,
            markersize=6 if proven else 5,
            markerfacecolor=colour if proven else "white",
            elinewidth=0.7,
            alpha=0.9,
            label=str(name),
        )
        if len(x) > 1:
            order = np.argsort(x, kind="stable")
            axes.fill_between(x[order], low[order], high[order], color=colour, alpha=0.12, linewidth=0)
        else:
            axes.vlines(x, low, high, color=colour, alpha=0.5, linewidth=0.9)
    axes.set(xlabel=f"{attacker}: success of the strongest attacker (0 guessing, 1 certainty)", ylabel=f"kept: {use}")
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(max(-0.6, min(axes.get_ylim()[0], -0.05)), 1.05)
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), title="filled: a guarantee")
    return png(figure, dpi=80)


def veiled_gaze(raw: Recording, shown: Sequence[tuple[str, Recording]]) -> bytes:
    """Return the horizontal gaze of someone over time, behind one mechanism after the other."""
    rows = -(-len(shown) // _ACROSS)
    figure, axes = canvas(10.0, 1.7 * rows + 0.4, rows, _ACROSS, squeeze=False, sharex=True, sharey=True)
    for place, one in enumerate(axes.flat):
        if place >= len(shown):
            one.axis("off")
            continue
        name, behind = shown[place]
        one.plot(raw.t, raw.x, color="0.75", linewidth=1.0)
        one.plot(behind.t, behind.x, color=BLUE, linewidth=0.8)
        one.set_title(name, fontsize="small")
        one.tick_params(labelsize="x-small")
    figure.supxlabel("seconds", fontsize="small")
    figure.supylabel("degrees to the right", fontsize="small")
    return png(figure, dpi=80)


# --- What mechanisms do to gaze and to maps, to look at.


_SECONDS = 6.0
_MOST = 18
_SEED = 1


def pictures(grid: Grid) -> ReportSection | None:
    """Return pictures of what the mechanisms of a grid do; None if there is nothing to show."""
    pieces: list[str] = []
    veils = _levels(grid, ("live", "dataset"))
    if veils:
        data = gaze_data.simulated_gaze(None, 4, 1, _SECONDS)
        shown, failed = _each(veils, lambda use, level: _gaze(data, use, level))
        pieces += [
            visual_report.html_picture(
                veiled_gaze(data.recordings[0], shown),
                "Horizontal gaze of a simulated participant over time: grey before, blue behind the mechanism",
            ),
            *map(visual_report.paragraph, failed),
        ]
    makers = _levels(grid, ("heatmap",))
    if makers:
        scenes = map_data.simulated_maps(None, 15, 1)
        drawn, failed = _each(makers, lambda use, level: _map(scenes, use, level))
        caption = "Released maps of one scene and 15 simulated participants, each on its own scale of colours"
        pieces += [visual_report.html_picture(images(drawn), caption), *map(visual_report.paragraph, failed)]
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


# --- The report of a grid: one HTML file with everything inside.


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
    drawn = trade_off(rows, _SUCCESS.get(harm, harm), utility)
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
