# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tables 2, 3 and 5 as Markdown, for the page about threat models. Shares are percent, intervals in brackets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def to_markdown(told: Mapping[str, Any]) -> str:
    """Return the tables that were measured."""
    parts = []
    for name, tell in (("table_2", _table_2), ("table_3", _table_3), ("table_5", _table_5)):
        if name in told:
            parts.append("\n".join(tell(told[name])))
    return "\n\n".join(parts)


def _table_2(told: Mapping[str, Any]) -> Iterator[str]:
    lengths = list(dict.fromkeys(row["seconds"] for row in told["rows"]))
    yield from _head(["recogniser", "sees beside velocity", *(f"{length:g} s" for length in lengths), "EER, longest"])
    for recogniser in dict.fromkeys(row["recogniser"] for row in told["rows"]):
        rows = {row["seconds"]: row for row in told["rows"] if row["recogniser"] == recogniser}
        last = rows[lengths[-1]]
        sees = "–" if "missing" in last else ", ".join(last["sees"]) or "nothing"
        eer = "–" if "missing" in last else f"{100 * last['eer']:.0f}"
        yield _line([recogniser.split("+")[0], sees, *(_cell(rows[length]) for length in lengths), eer])
    papers = {row["seconds"]: row["paper"] for row in told["rows"]}
    shown = ("–" if papers[one] is None else f"{100 * papers[one][1]:.0f}" for one in lengths)
    yield _line(["the paper's EKYT, 26 participants", "nothing", *shown, "–"])


def _table_3(told: Mapping[str, Any]) -> Iterator[str]:
    rows = told["rows"]
    veils = list(dict.fromkeys(row["veil"] for row in rows))
    attacks = list(dict.fromkeys(row["attack"] for row in rows))
    for recogniser in dict.fromkeys(row["recogniser"] for row in rows):
        cells = {(row["veil"], row["attack"]): row for row in rows if row["recogniser"] == recogniser}
        yield f"Identified by **{recogniser}**; the paper's in square brackets:"
        yield ""
        yield from _head(["attack", *veils])
        for attack in attacks:
            yield _line([_code(attack), *(_cell(cells.get((veil, attack))) for veil in veils)])
        yield ""
    yield from _head(["mechanism", "strongest", "against it", "identified", "F1 of hits", "lag (s)", "error (°)"])
    left = {row["veil"]: row for row in told["usefulness"]}
    for row in told["strongest"]:
        useful = left[row["veil"]]
        yield _line(
            [row["veil"], row["recogniser"], _code(row["attack"]), _cell(row | {"paper": None}),
             *(_number(useful[name]) for name in ("aoi_f1", "lag_s", "rmse_deg"))]
        )  # fmt: skip


def _table_5(told: Mapping[str, Any]) -> Iterator[str]:
    yield from _head(["mechanism", "step (µs)", "99 % (µs)", "of a frame", "stream (kB)", "paper: MB", "paper: fps"])
    for row in told["rows"]:
        yield _line(
            [row["veil"], _number(row["step_us"]), _number(row["step_us_p99"]), f"{100 * row['share_of_frame']:.3f} %",
             _number(row["memory_kb"]), _number(row["paper_memory_mb"]), _number(row["paper_fps"])]
        )  # fmt: skip


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or "missing" in row:
        return "–"
    low, high = (f"{100 * value:.0f}" for value in row["accuracy_interval"])
    paper = row.get("paper")
    told = f"{100 * row['accuracy']:.0f} ({low}–{high})"
    return told if paper is None or isinstance(paper, Sequence) else f"{told} [{100 * paper:.0f}]"


def _code(attack: str) -> str:
    return f"`{attack}`" if attack else "none"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _head(columns: Sequence[str]) -> Iterator[str]:
    yield _line(columns)
    yield "|---" * len(columns) + "|"


def _line(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"
