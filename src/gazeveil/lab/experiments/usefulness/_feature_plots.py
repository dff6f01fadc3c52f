# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws private feature series, and how useful they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import COLOURS, canvas, legend_below, look, png
from gazeveil.lab.experiments.usefulness.features import FLOOR, Cell


def usefulness(cells: Sequence[Cell]) -> bytes:
    """Draw errors over ε, a panel for every product."""
    products = list(dict.fromkeys(cell.product for cell in cells))
    methods = [method for method in dict.fromkeys(cell.method for cell in cells) if method != FLOOR]
    looks = {method: look(number) for number, method in enumerate(methods)}
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
            style = {"color": "black", "linestyle": ":"} if method == FLOOR else looks[method]
            wide = 2.6 if "ours" in method or method.startswith("bins") else 1.2
            (handles[method],) = axes.plot([c.epsilon for c in mine], [c.error for c in mine], linewidth=wide, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(product, fontsize=8)
    for axes in panels[:, 0]:
        axes.set_ylabel("error, part of range", fontsize=8)
    for axes in panels[-1]:
        axes.set_xlabel("ε")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    return png(figure, dpi=85)


def groups(
    truths: Mapping[str, FloatArray],
    released: Mapping[tuple[int, float], Mapping[str, tuple[FloatArray, FloatArray]]],
    feature: str,
    step: float,
) -> bytes:
    """Draw group series of one feature: a panel for every number of participants and ε, true means dotted.

    Args:
        truths: The true mean of every task, over time.
        released: For participants and ε, for every task the released mean and its standard deviation.
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
            for colour, (task, (mean, sd)) in zip(COLOURS, released[size, epsilon].items(), strict=False):
                minutes = np.arange(len(mean)) * step / 60
                axes.plot(minutes, truths[task], ":", color=colour, linewidth=1)
                axes.plot(minutes, mean, color=colour, label=task)
                axes.fill_between(minutes, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
            axes.set_title(f"{size} participants, ε = {epsilon:g}", fontsize=9)
            axes.set_xlabel("minutes")
    panels[0][0].set_ylabel(f"{feature}\n(part of its range)")
    legend_below(figure, panels[0][0])
    return png(figure, dpi=85)
