# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws what is inferred about participants: behind mechanisms, and from geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gazeveil.display import BLUE, RED, canvas, legend_below, png
from gazeveil.lab.experiments.attributes import geometry, veiled


def behind_veils(rows: Sequence[veiled.Row]) -> bytes:
    """Draw macro F1 of every question behind every mechanism, a panel for each set and question."""
    panels = list(dict.fromkeys((row.people, row.question) for row in rows))
    plot, axes = canvas(4.2 * len(panels), 4.2, 1, len(panels), squeeze=False)
    for place, panel in zip(axes[0], panels, strict=True):
        chosen = [row for row in rows if (row.people, row.question) == panel]
        values = [row.found.f1 for row in chosen]
        _points(place, values, [row.found.f1_interval for row in chosen], [row.found.guessing for row in chosen])
        place.set_xticks(range(len(chosen)), [row.veil for row in chosen], rotation=60, ha="right", fontsize=7)
        place.set_title(f"{panel[1]} ({panel[0]})", fontsize=9)
    axes[0][0].set_ylabel("macro F1")
    legend_below(plot, axes[0][0], fontsize=7)
    return png(plot, dpi=80)


def from_geometry(rows: Sequence[geometry.Row]) -> bytes:
    """Draw how well every question is answered."""
    plot, axes = canvas(11, 4.6)
    _points(axes, [row.value for row in rows], [row.value_interval for row in rows], [row.guessing for row in rows])
    names = [f"{row.question}, {row.left_out} left out\n{' + '.join(row.sees)}" for row in rows]
    axes.set_xticks(range(len(rows)), names, rotation=60, ha="right", fontsize=7)
    axes.set_ylabel("accuracy of identity, macro F1 of attributes")
    legend_below(plot, axes)
    return png(plot, dpi=80)


def _points(
    axes: Any, values: Sequence[float], intervals: Sequence[tuple[float, float]], guessing: Sequence[float]
) -> None:
    at, middle = np.arange(len(values)), np.array(values)
    low, high = np.array(intervals).T
    bars = np.nan_to_num(np.maximum(np.stack([middle - low, high - middle]), 0.0))
    axes.errorbar(at, middle, yerr=bars, fmt="o", color=BLUE, markersize=4, label="attacker")
    axes.scatter(at, guessing, marker="_", color=RED, s=80, label="guessing")
    axes.set_ylim(0, 1.05)
