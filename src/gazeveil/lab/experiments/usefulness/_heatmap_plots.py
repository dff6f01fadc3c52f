# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the results of `gazeveil.lab.experiments.usefulness.heatmaps`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gazeveil.display import BLUE, GREEN, GREY, ORANGE, RED, canvas, legend_below, png

if TYPE_CHECKING:
    from gazeveil.lab.experiments.usefulness.heatmaps import Found

_TITLES = {
    "cc": "correlation with the map of all",
    "residual": "… after the prior is regressed out",
    "hits": "hot spots found",
}
_LOOKS = {
    "prior": (GREY, ":"),
    "none": (GREY, "--"),
    "liu": (RED, "-"),
    "grid": (ORANGE, "-"),
    "hierarchical": (GREEN, "-"),
    "histogram": (BLUE, "--"),
    "ours": (BLUE, "-"),
}


def usefulness_plot(found: Found) -> bytes:
    """Draw the three measures over the number of participants, one line a method, at the first ε."""
    figure, axes = canvas(12, 4.4, columns=3, sharex=True)
    for panel, (measure, title) in zip(axes, _TITLES.items(), strict=True):
        panel.set_xscale("log")  # with its limits first, or a single number of people has no width to be drawn in
        panel.set_xlim(min(found.plan.observers) / 1.2, max(found.plan.observers) * 1.2)
        panel.set_ylim(-0.12, 1.02)
        drawn = {name: method for name, method in found.plan.chosen().items() if name in _LOOKS}
        for name, method in drawn.items():
            colour, line = _LOOKS[name]
            scores = [getattr(found.row(name, count), measure) for count in found.plan.observers]
            panel.errorbar(
                found.plan.observers,
                [score.mean for score in scores],
                [score.error for score in scores],
                color=colour,
                linestyle=line,
                linewidth=2.4 if name == "ours" else 1.4,
                marker="o",
                markersize=3,
                label=method.title.replace("`", ""),
            )
        panel.set_xticks(found.plan.observers, [str(count) for count in found.plan.observers])
        panel.minorticks_off()
        panel.set_xlabel("participants")
        panel.set_title(title)
        panel.grid(alpha=0.3)
    legend_below(figure, axes[0])
    split = f", {found.split} scenes" if found.split else ""
    figure.suptitle(f"{found.gallery}{split}, ε = {found.plan.epsilons[0]:g}, δ = {found.plan.delta:g}, replace one")
    return png(figure)
