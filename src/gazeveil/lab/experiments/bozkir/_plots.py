# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of `gazeveil.lab.experiments.bozkir.figures`."""

from __future__ import annotations

import numpy as np

from gazeveil.display import COLOURS, GREY, canvas, legend_below, png
from gazeveil.lab.experiments.bozkir.figures import Figures


def correlations(figures: Figures) -> bytes:
    """Draw figure 1: correlation over time of a feature, and of its differences."""
    figure, (left, right) = canvas(10, 3.8, columns=2)
    for axes, differences, title in ((left, False, "the feature"), (right, True, "its differences")):
        rows = [
            (name, values) for name, of_differences, values in figures.correlations if of_differences == differences
        ]
        for colour, (name, values) in zip(COLOURS, rows, strict=False):
            factor = figures.factors[name][int(differences)]
            axes.plot(np.arange(len(values)) * 0.5, values, color=colour, label=f"{name}, ε′/ε = {factor:.0f}")
        axes.set_xlabel("seconds after the fifth step")
        axes.set_title(f"Correlation of {title} (share of large saccades)", fontsize=10)
        axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False)
    left.set_ylabel("correlation across readers")
    return png(figure)


def errors(figures: Figures) -> bytes:
    """Draw figure 2: the article's error and ours over the stated ε."""
    figure, (left, right) = canvas(11, 4.6, columns=2)
    methods = list(dict.fromkeys(row["method"] for row in figures.errors))
    for colour, method in zip(COLOURS, methods, strict=False):
        rows = [row for row in figures.errors if row["method"] == method]
        stated = sorted({row["stated_epsilon"] for row in rows})
        for axes, measure in ((left, "nmse"), (right, "range_error")):
            means = [np.mean([row[measure] for row in rows if row["stated_epsilon"] == e]) for e in stated]
            axes.plot(stated, means, color=colour, label=method, linestyle="-" if "published" in method else "--")
            axes.set_xscale("log")
            axes.set_xlabel("stated ε (48 features)")
    left.set_yscale("log")
    left.set_ylabel("NMSE as the article defines it")
    right.set_ylabel("error as a part of the declared range")
    legend_below(figure, left)
    return png(figure)


def accuracies(figures: Figures, voted: bool) -> bytes:
    """Draw figure 3 (with a majority vote) or 4 (without): documents and groups told from noisy features."""
    figure, panels = canvas(11, 4.6, columns=2)
    which = "voted" if voted else "windows"
    methods = list(dict.fromkeys(row["method"] for row in figures.accuracies if row["epsilon"] is not None))
    for axes, what in zip(panels, ("group", "document"), strict=True):
        raw = next(row for row in figures.accuracies if row["epsilon"] is None)
        axes.axhline(raw[what][which], color=GREY, linewidth=0.8, label="without noise")
        axes.axhline(raw[what]["chance"], color=GREY, linestyle=":", linewidth=0.8, label="guessing")
        for colour, method in zip(COLOURS, methods, strict=False):
            rows = [row for row in figures.accuracies if row["method"] == method]
            style = "-" if "published" in method else "--"
            axes.plot([r["epsilon"] for r in rows], [r[what][which] for r in rows], style, color=colour, label=method)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("stated ε (48 features)")
        axes.set_title(f"{what} found {'by majority vote' if voted else 'from single windows'}", fontsize=10)
    legend_below(figure, panels[0])
    return png(figure)
