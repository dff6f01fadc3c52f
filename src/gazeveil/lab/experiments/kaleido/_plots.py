# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of `gazeveil.lab.experiments.kaleido.figures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gazeveil.display import COLOURS, canvas, legend_below, look, png
from gazeveil.lab.experiments.stream_grid import Point

_LABELS = {13: "RMSE (px)", 15: "correlation of saliency maps"}
_COMPARED = ("kaleido as published", "clock")
_WINDOW = 1.0


def over_the_promise(points: Sequence[Point], figure: int, sets: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw the paper's figure: over ε, one line a window and radius, for the published mechanism and for ours."""
    veils = [name for name in _COMPARED if any(point.veil == name for point in points)] or [points[0].veil]
    plot, panels = canvas(5 * len(veils), 3 * len(sets), len(sets), len(veils), squeeze=False, sharey="row")
    windows = sorted({point.setting.window for point in points})
    for row, one in zip(panels, sets, strict=True):
        for axes, veil in zip(row, veils, strict=True):
            for radius, style in zip(sorted({point.setting.radius for point in points}), ("-", "--"), strict=False):
                for window, colour in zip(windows, COLOURS, strict=False):
                    chosen = [
                        point for point in points
                        if (point.streams, point.veil) == (one["name"], veil)
                        and (point.setting.window, point.setting.radius) == (window, radius)
                    ]  # fmt: skip
                    _line(axes, chosen, figure, f"w = {window:g} s, r = {radius:g} px", color=colour, linestyle=style)
            _centre(axes, one, figure)
            axes.set_title(f"{veil}\n{one['title']}", fontsize=9)
            axes.set_xlabel("ε")
        row[0].set_ylabel(_LABELS[figure])
    legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def veils_compared(points: Sequence[Point], figure: int, sets: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw all mechanisms over ε at one window, one panel a set and radius."""
    radii = sorted({point.setting.radius for point in points})
    windows = sorted({point.setting.window for point in points}, key=lambda window: abs(window - _WINDOW))
    plot, panels = canvas(5 * len(radii), 3 * len(sets), len(sets), len(radii), squeeze=False, sharey="row")
    for row, one in zip(panels, sets, strict=True):
        for axes, radius in zip(row, radii, strict=True):
            for number, veil in enumerate(dict.fromkeys(point.veil for point in points)):
                chosen = [
                    point for point in points
                    if (point.streams, point.veil) == (one["name"], veil)
                    and (point.setting.window, point.setting.radius) == (windows[0], radius)
                ]  # fmt: skip
                _line(axes, chosen, figure, veil, **look(number))
            _centre(axes, one, figure)
            if figure == 13:
                axes.set_yscale("log")
            axes.set_title(f"{one['title']}\nw = {windows[0]:g} s, r = {radius:g} px", fontsize=9)
            axes.set_xlabel("ε")
        row[0].set_ylabel(_LABELS[figure])
    legend_below(plot, panels[0][0], fontsize=7)
    return png(plot, dpi=68)


def _line(axes: Any, points: Sequence[Point], figure: int, label: str, **style: str) -> None:
    measured, error = ("rmse", "recording_se") if figure == 13 else ("cc", "cc_se")
    ordered = sorted(points, key=lambda point: point.setting.epsilon)
    axes.errorbar(
        [point.setting.epsilon for point in ordered],
        [getattr(point, measured) for point in ordered],
        yerr=np.nan_to_num([getattr(point, error) for point in ordered]),
        label=label, capsize=2, linewidth=1.2, **style,
    )  # fmt: skip


def _centre(axes: Any, one: Mapping[str, Any], figure: int) -> None:
    if figure == 13:
        axes.axhline(one["centre"], color="black", linewidth=0.8, linestyle=":", label="always the centre")
