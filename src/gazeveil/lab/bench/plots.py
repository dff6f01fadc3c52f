# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of rows, and of maps side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, GREY, RED, canvas, legend_below, line_style, png
from gazeveil.lab.bench.experiment import Row, along, select

_ACROSS = 3


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


def curves(rows: Sequence[Row], x: str, by: str) -> bytes:
    """Draw shares over shares: curves that nothing bounds on the left, on the right those with a bound, in ``ideal``.

    Args:
        rows: The points.
        x: The axis that goes across.
        by: The axis that has a curve for each of its values.
    """
    plot, (bare, kept) = canvas(11, 4.8, 1, 2)
    for axes, bounded in ((bare, False), (kept, True)):
        chosen = [row for row in rows if np.isfinite(row.ideal) == bounded]
        for number, name in enumerate(along(chosen, by)):
            line = select(chosen, **{by: name})
            across = [row.where[x] for row in line]
            axes.step(
                across, [row.value for row in line], where="post", label=name, linewidth=1.4, **line_style(number)
            )
            if bounded:
                axes.fill_between(across, [row.ideal for row in line], 1.0, color=GREY, alpha=0.12)
        axes.plot([0, 1], [0, 1], color="black", linewidth=0.7, linestyle=":", label="guessing")
        axes.set(xlabel=x, ylabel=rows[0].what, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False)
    bare.set_title("nothing is guaranteed", fontsize=9)
    kept.set_title("with a guarantee: no attacker gets into the grey", fontsize=9)
    return png(plot, dpi=90)


def _named(row: Row, axes: Sequence[str]) -> str:
    return ", ".join(str(row.where[axis]) for axis in axes if row.where[axis] != "")


def side_by_side(heatmaps: Mapping[str, FloatArray], epsilon: float) -> bytes:
    """Draw the heatmap without noise and the noisy ones on one scale of colours."""
    figure, panels = canvas(4.2 * len(heatmaps), 3.2, columns=len(heatmaps))
    highest = max(float(next(iter(heatmaps.values())).max()), 1e-12)
    for axes, (name, heat) in zip(panels, heatmaps.items(), strict=True):
        axes.imshow(heat, cmap="inferno", vmin=0, vmax=highest)
        axes.set_title(name if name == "no noise" else f"{name}\nε = {epsilon:g}", fontsize=9)
        axes.set_axis_off()
    return png(figure)


def images(shown: Sequence[tuple[str, FloatArray]]) -> bytes:
    """Return released maps side by side, each on its own scale of colours."""
    rows = -(-len(shown) // _ACROSS)
    figure, axes = canvas(9.0, 2.3 * rows, rows, _ACROSS, squeeze=False)
    for place, one in enumerate(axes.flat):
        one.axis("off")
        if place < len(shown):
            name, values = shown[place]
            one.imshow(values, cmap="magma", aspect="equal")
            one.set_title(name, fontsize="small")
    return png(figure, dpi=80)
