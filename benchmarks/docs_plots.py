# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Plots of benchmark results: how far each ratio is above or below its aim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gazeveil.display import BLUE, GREY, ORANGE, canvas, png

_LONGEST = 60
_INCHES_A_ROW = 0.17


def ratio_plot(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw each ratio of a topic over its aim; ratios without an aim are compared with 1."""
    figure, axes = canvas(8.5, 1.2 + _INCHES_A_ROW * len(rows))
    _dots(axes, rows, range(len(rows)))
    axes.set_yticks(range(len(rows)), [_short(str(row["name"])) for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("ratio over its aim; open marks: no aim, ratio alone")
    return png(figure, dpi=80)


def topics_plot(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """Draw all ratios over their aims, one line of marks for each topic."""
    figure, axes = canvas(8.5, 1.0 + 0.35 * len(rows))
    for number, own in enumerate(rows.values()):
        _dots(axes, [row for row in own if row["target"] > 0], [number] * len(own))
    axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("ratio over its aim (right of the line: reached)")
    return png(figure, dpi=80)


def _dots(axes: Any, rows: Sequence[Mapping[str, Any]], heights: Sequence[int]) -> None:
    for row, height in zip(rows, heights, strict=False):
        aimed, reached = row["target"] > 0, row["reached"]
        axes.plot(
            row["ratio"] / row["target"] if aimed else row["ratio"],
            height,
            marker="o" if reached else "X",
            color=(BLUE if reached else ORANGE) if aimed else GREY,
            markerfacecolor=None if aimed else "white",
            markersize=5 if reached else 8,
            alpha=0.8,
        )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="x", linewidth=0.3)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
