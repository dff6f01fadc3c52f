# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Draws what `gazeveil.lab.experiments.scanpaths.measuring` found: Kaleido's figures 10 and 11, and linkage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.display import BLUE, COLOURS, GREY, ORANGE, RED, canvas, png
from gazeveil.lab.experiments.scanpaths.measuring import Measured
from gazeveil.lab.utility.scanpaths import DIMENSIONS


def drawn(sets: Sequence[Measured]) -> bytes:
    """Draw similarity, linkage and outliers of every mechanism, a row for every set."""
    plot, panels = canvas(15, 3.6 * len(sets) + 0.5, len(sets), 3, squeeze=False)
    for (similarity, linkage, outlying), one in zip(panels, sets, strict=True):
        _similarity(similarity, one)
        _linkage(linkage, one)
        _outliers(outlying, one)
        similarity.set_title(one.title, fontsize=8, loc="left", pad=26)
    return png(plot, dpi=80)


def _similarity(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    for number, name in enumerate(DIMENSIONS):
        axes.scatter(
            at,
            [row.similarity[name] for row in one.rows],
            s=12,
            color=COLOURS[number],
            label=name,
            marker="osD^v"[number],
        )
    means = np.array([row.mean for row in one.rows])
    axes.errorbar(
        at, means, yerr=_bars(means, [row.mean_interval for row in one.rows]), fmt="_", color="black", label="mean"
    )
    axes.axhline(one.between_people["mean"], color="black", linewidth=1, label="different participants")
    axes.axhline(one.random["mean"], color=RED, linestyle="--", linewidth=1, label="random scanpaths")
    axes.set_ylabel("MultiMatch with the raw scanpath")
    _legend_above(axes, 4)
    _veils(axes, one)


def _linkage(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    for name, colour, shift in (("linked", BLUE, -0.15), ("warped", ORANGE, 0.15)):
        values = np.array([getattr(row, name) for row in one.rows])
        bars = _bars(values, [getattr(row, f"{name}_interval") for row in one.rows])
        label = {"linked": "by MultiMatch", "warped": "by warped distance"}[name]
        axes.errorbar(at + shift, values, yerr=bars, fmt="o", markersize=4, color=colour, label=label)
    axes.axhline(one.rows[0].chance, color=RED, linestyle="--", linewidth=1, label="chance")
    axes.set_ylabel("scanpaths identified")
    axes.set_ylim(0, 1.05)
    _legend_above(axes, 3)
    _veils(axes, one)


def _outliers(axes: Any, one: Measured) -> None:
    at = np.arange(len(one.rows))
    values = np.array([row.outlier_f1 for row in one.rows])
    bars = _bars(values, [row.outlier_interval for row in one.rows])
    axes.errorbar(at, values, yerr=bars, fmt="o", markersize=4, color=BLUE, label="F1 of outliers")
    axes.scatter(at, [row.random_f1 for row in one.rows], marker="_", color=RED, s=60, label="as many at random")
    axes.axhline(one.rows[0].everybody_f1, color=GREY, linestyle=":", linewidth=1, label="all called outliers")
    axes.set_ylabel("F1")
    axes.set_ylim(0, 1.05)
    _legend_above(axes, 3)
    _veils(axes, one)


def _legend_above(axes: Any, columns: int) -> None:
    axes.legend(fontsize=6, ncols=columns, loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.2)


def _bars(values: FloatArray, intervals: Sequence[tuple[float, float]]) -> FloatArray:
    low, high = np.array(intervals).T
    return np.asarray(np.nan_to_num(np.maximum(np.stack([values - low, high - values]), 0.0)))


def _veils(axes: Any, one: Measured) -> None:
    axes.set_xticks(range(len(one.rows)), [row.veil for row in one.rows], rotation=60, ha="right", fontsize=6)
