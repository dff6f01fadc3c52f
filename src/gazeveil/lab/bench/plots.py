# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gazeveil.display import BLUE, RED, canvas, legend_below, png
from gazeveil.lab.bench.rows import Row


def points(rows: Sequence[Row], x: Sequence[str], panel: Sequence[str] = ()) -> bytes:
    """Draw shares with their intervals, side by side, and what guessing gives.

    Args:
        rows: The rows.
        x: The axes that name a point.
        panel: The axes that have a panel for each of their values.
    """
    panels = list(dict.fromkeys(_named(row, panel) for row in rows))
    width = max(4.2 * len(panels), 0.45 * len(rows) / len(panels))
    plot, axes = canvas(width, 4.6, 1, len(panels), squeeze=False, sharey=True)
    for place, name in zip(axes[0], panels, strict=True):
        chosen = [row for row in rows if _named(row, panel) == name]
        at, middle = np.arange(len(chosen)), np.array([row.value for row in chosen])
        low, high = np.array([row.interval for row in chosen]).T
        bars = np.nan_to_num(np.maximum(np.stack([middle - low, high - middle]), 0.0))
        place.errorbar(at, middle, yerr=bars, fmt="o", color=BLUE, markersize=4, label="attacker")
        place.scatter(at, [row.chance for row in chosen], marker="_", color=RED, s=80, label="guessing")
        place.set_xticks(at, [_named(row, x) for row in chosen], rotation=60, ha="right", fontsize=7)
        place.set_title(name, fontsize=9)
        place.set_ylim(min(0.0, float(np.nanmin(middle)) - 0.05), 1.05)
    axes[0][0].set_ylabel(", ".join(dict.fromkeys(row.what for row in rows)))
    legend_below(plot, axes[0][0], fontsize=7)
    return png(plot, dpi=80)


def _named(row: Row, axes: Sequence[str]) -> str:
    return ", ".join(str(row.where[axis]) for axis in axes if row.where[axis] != "")
