# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of `gazeveil.lab.experiments.liu.figures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, COLOURS, GREY, ORANGE, RED, canvas, legend_below, png
from gazeveil.lab.experiments.liu.figures import READ_OFF, SAMPLES, SLICE_SIDE, NoiseLevel, Quality

_LEVELS = (("good", BLUE), ("okay", ORANGE))
_FEW = 200
"""With fewer observers the surface rises so steeply that nothing else can be seen."""


def noise_surface(levels: Sequence[NoiseLevel]) -> bytes:
    """Draw figure 2 (a): the published noise over the map's side and the number of observers."""
    figure, axes = canvas(7, 5.4, subplot_kw={"projection": "3d"})
    for level, colour in _LEVELS:
        rows = [row for row in levels if row.level == level and row.observers >= _FEW]
        sides, people = sorted({row.side for row in rows}), sorted({row.observers for row in rows})
        height = {(row.side, row.observers): row.published for row in rows}
        across, along = np.meshgrid(sides, people)
        surface = np.array([[height[side, count] for side in sides] for count in people])
        axes.plot_wireframe(across, along, surface, color=colour, linewidth=0.8, label=f"{level} privacy")
    axes.set_xlabel("√r (pixels)")
    axes.set_ylabel("observers n")
    axes.set_zlabel("noise σ, theorem 3.4")
    axes.view_init(elev=24, azim=145)  # from where little noise is needed, so that the rise hides nothing
    axes.set_title("Noise that theorem 3.4 asks for, cap 1 (Liu 2019, figure 2a)")
    legend_below(figure, axes)
    return png(figure)


def noise_slice(levels: Sequence[NoiseLevel]) -> bytes:
    """Draw figure 2 (b): the slice at 300 x 300 pixels, with the corrected noise below it."""
    figure, axes = canvas(8, 4.6)
    for level, colour in _LEVELS:
        rows = sorted(
            (row for row in levels if row.level == level and row.side == SLICE_SIDE), key=lambda row: row.observers
        )
        people = [row.observers for row in rows]
        axes.plot(people, [row.published for row in rows], color=colour, label=f"{level}, published")
        axes.plot(people, [row.sound for row in rows], color=colour, linestyle="--", label=f"{level}, corrected")
        axes.plot(
            people,
            [row.bounded for row in rows],
            color=colour,
            linestyle=":",
            label=f"{level}, corrected, at most {SAMPLES} samples each",
        )
    for level, count in READ_OFF:
        axes.plot(
            [row.observers for row in levels if (row.level, row.side, row.observers) == (level, SLICE_SIDE, count)],
            [row.published for row in levels if (row.level, row.side, row.observers) == (level, SLICE_SIDE, count)],
            marker="o",
            color=RED,
        )
    axes.axhline(1.5, color=GREY, linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xlabel("observers n")
    axes.set_ylabel("noise σ")
    axes.set_title(f"Noise for a {SLICE_SIDE} x {SLICE_SIDE} map (Liu 2019, figure 2b)\ndots: what the paper reads off")
    legend_below(figure, axes)
    return png(figure)


def quality_over_epsilon(rows: Sequence[Quality], observers: int) -> bytes:
    """Draw figure 3: correlation and squared error over ε, with standard deviations."""
    figure, (left, right) = canvas(11, 4.8, columns=2)
    for colour, name in zip(COLOURS, dict.fromkeys(row.mechanism for row in rows), strict=False):
        points = [row for row in rows if row.mechanism == name]
        epsilon = [row.epsilon for row in points]
        style = {"color": colour, "label": name, "capsize": 2, "linestyle": "-" if "published" in name else "--"}
        for axes, measure in ((left, "cc"), (right, "mse")):
            spreads = [getattr(row, measure) for row in points]
            axes.errorbar(epsilon, [s.mean for s in spreads], yerr=[np.nan_to_num(s.sd) for s in spreads], **style)
    left.set_ylabel("correlation with the map without noise")
    right.set_ylabel("mean squared error")
    right.set_yscale("log")
    for axes in (left, right):
        axes.set_xlabel("ε (Gaussian: δ = n^(-3/2))")
    legend_below(figure, left)
    figure.suptitle(f"Five simulated participants copied to {observers:,} (Liu 2019, figure 3)")
    return png(figure)


def side_by_side(heatmaps: Mapping[str, FloatArray], epsilon: float) -> bytes:
    """Draw the heatmap without noise and the noisy ones on one scale of colours."""
    figure, panels = canvas(4.2 * len(heatmaps), 3.2, columns=len(heatmaps))
    highest = max(float(next(iter(heatmaps.values())).max()), 1e-12)
    for axes, (name, heat) in zip(panels, heatmaps.items(), strict=True):
        axes.imshow(heat, cmap="inferno", vmin=0, vmax=highest)
        axes.set_title(name if name == "no noise" else f"{name}\nε = {epsilon:g}", fontsize=9)
        axes.set_axis_off()
    return png(figure)
