# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of `gazeveil.study.bozkir_figures`, and private feature series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gazeveil.features.fourier import FloatArray
from gazeveil.study.bozkir_figures import Figures
from gazeveil.study.feature_usefulness import FLOOR, Cell
from gazeveil.study.plots import BLUE, GREEN, GREY, ORANGE, RED, canvas, png

_COLOURS = (BLUE, ORANGE, GREEN, RED, GREY, "#8a5fbf", "#20a0a0", "#a06020", "#000000")


def correlations(figures: Figures) -> bytes:
    """Draw figure 1: correlation over time of a feature, and of its differences."""
    figure, (left, right) = canvas(10, 3.8, columns=2)
    for axes, differences, title in ((left, False, "the feature"), (right, True, "its differences")):
        rows = [
            (name, values) for name, of_differences, values in figures.correlations if of_differences == differences
        ]
        for colour, (name, values) in zip(_COLOURS, rows, strict=False):
            factor = figures.factors[name][int(differences)]
            axes.plot(np.arange(len(values)) * 0.5, values, color=colour, label=f"{name}, ε′/ε = {factor:.0f}")
        axes.set_xlabel("seconds after the fifth step")
        axes.set_title(f"Correlation of {title} (share of large saccades)", fontsize=10)
        axes.legend(fontsize=8)
    left.set_ylabel("correlation across readers")
    return png(figure)


def errors(figures: Figures) -> bytes:
    """Draw figure 2: the article's error and ours over the stated ε."""
    figure, (left, right) = canvas(11, 4.6, columns=2)
    methods = list(dict.fromkeys(row["method"] for row in figures.errors))
    for colour, method in zip(_COLOURS, methods, strict=False):
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
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
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
        for colour, method in zip(_COLOURS, methods, strict=False):
            rows = [row for row in figures.accuracies if row["method"] == method]
            style = "-" if "published" in method else "--"
            axes.plot([r["epsilon"] for r in rows], [r[what][which] for r in rows], style, color=colour, label=method)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("stated ε (48 features)")
        axes.set_title(f"{what} told {'by majority vote' if voted else 'from single windows'}", fontsize=10)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return png(figure)


def usefulness(cells: Sequence[Cell]) -> bytes:
    """Draw errors over ε, a panel for every product."""
    products = list(dict.fromkeys(cell.product for cell in cells))
    methods = [method for method in dict.fromkeys(cell.method for cell in cells) if method != FLOOR]
    colours = dict(zip(methods, _COLOURS, strict=False))
    columns = min(3, len(products))
    rows = -(-len(products) // columns)
    figure, panels = canvas(3.6 * columns, 2.7 * rows, rows=rows, columns=columns, squeeze=False, sharey=True)
    for axes in panels.ravel()[len(products) :]:
        axes.set_axis_off()
    handles: dict[str, Any] = {}
    for axes, product in zip(panels.ravel(), products, strict=False):
        here = [cell for cell in cells if cell.product == product]
        for method in dict.fromkeys(cell.method for cell in here):
            mine = [cell for cell in here if cell.method == method]
            style = {"color": "black", "linestyle": ":"} if method == FLOOR else {"color": colours[method]}
            wide = 2.6 if "ours" in method or method.startswith("bins") else 1.2
            (handles[method],) = axes.plot([c.epsilon for c in mine], [c.error for c in mine], linewidth=wide, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(product, fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("error, part of range", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("ε")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize=8)
    return png(figure, dpi=85)


def groups(
    truths: Mapping[str, FloatArray],
    released: Mapping[tuple[int, float], Mapping[str, tuple[FloatArray, FloatArray]]],
    feature: str,
    step: float,
) -> bytes:
    """Draw group series of one feature: a panel for every number of people and ε, true means dotted.

    Args:
        truths: The true mean of every task, over time.
        released: For people and ε, for every task the released mean and its standard deviation.
        feature: What it is.
        step: Seconds from one step to the next.
    """
    sizes, epsilons = sorted({n for n, _ in released}), sorted({e for _, e in released})
    figure, panels = canvas(
        3.4 * len(sizes), 2.6 * len(epsilons), rows=len(epsilons), columns=len(sizes), squeeze=False, sharey=True
    )
    for row, epsilon in enumerate(epsilons):
        for column, size in enumerate(sizes):
            axes = panels[row][column]
            for colour, (task, (mean, sd)) in zip(_COLOURS, released[size, epsilon].items(), strict=False):
                minutes = np.arange(len(mean)) * step / 60
                axes.plot(minutes, truths[task], ":", color=colour, linewidth=1)
                axes.plot(minutes, mean, color=colour, label=task)
                axes.fill_between(minutes, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
            axes.set_title(f"{size} people, ε = {epsilon:g}", fontsize=9)
            axes.set_xlabel("minutes")
    panels[0][0].set_ylabel(f"{feature}\n(part of its range)")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    return png(figure, dpi=85)


def before_and_after(raw: FloatArray, noisy: Mapping[str, FloatArray], step: float, feature: str) -> bytes:
    """Draw one feature of one person before and after release."""
    figure, axes = canvas(8, 3.6)
    minutes = np.arange(len(raw)) * step / 60
    axes.plot(minutes, raw, color=GREY, label="before")
    for colour, (name, values) in zip(_COLOURS, noisy.items(), strict=False):
        axes.plot(minutes, values, color=colour, label=name)
    axes.set_xlabel("minutes")
    axes.set_ylabel(feature)
    axes.legend(fontsize=8)
    return png(figure)
