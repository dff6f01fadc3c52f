# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a user study: conditions side by side for one measure, and the privacy level chosen over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gazeveil.display import BLUE, ORANGE, canvas, legend_below, look, png
from gazeveil.lab.userstudy.analysis import Found
from gazeveil.lab.userstudy.measures import BASELINE
from gazeveil.lab.userstudy.overview import Chosen


def by_condition(found: Sequence[Found]) -> bytes:
    """Draw every participant as a point, and the mean of each condition with its 95 % interval."""
    figure, panels = canvas(5.2 * len(found), 3.6, 1, len(found), sharey=True, squeeze=False)
    for axes, one in zip(panels[0], found, strict=True):
        for place, (condition, values) in enumerate(one.means.items()):
            aside = place + np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.array([place])
            axes.plot(aside, np.sort(values), "o", color="#9aa5b1", markersize=3)
            half = 1.96 * values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0.0
            colour = ORANGE if condition.mechanism == BASELINE else BLUE
            axes.errorbar([place], [values.mean()], [half], fmt="D", color=colour, markersize=6, capsize=4)
        axes.axhline(next(iter(one.means.values())).mean(), color=ORANGE, linewidth=0.8, linestyle="--")
        axes.set_xticks(range(len(one.means)), [condition.name for condition in one.means], rotation=30, ha="right")
        axes.set_title(f"control: {one.control}")
    unit = f" ({found[0].measure.unit})" if found[0].measure.unit else ""
    panels[0][0].set_ylabel(f"{found[0].measure.words}{unit}")
    return png(figure)


def over_time(chosen: Chosen) -> bytes:
    """Draw the level that each participant had chosen, and how many had chosen which."""
    figure, (steps, shares) = canvas(10.4, 3.6, 1, 2)
    places = np.array(list(chosen.by_participant.values()))
    aside = np.linspace(-0.12, 0.12, len(places)) if len(places) > 1 else np.zeros(1)
    for line, shift in zip(places, aside, strict=True):
        steps.step(chosen.seconds, line + shift, where="post", color=BLUE, alpha=0.5, linewidth=1.2)
    steps.set_yticks(range(len(chosen.levels)), chosen.levels)
    steps.set_ylim(-0.5, len(chosen.levels) - 0.5)
    steps.set_ylabel("privacy level")
    steps.set_title("each participant")
    there = np.maximum(np.isfinite(places).sum(axis=0), 1)
    for place, level in enumerate(chosen.levels):
        shares.step(chosen.seconds, (places == place).sum(axis=0) / there, where="post", label=level, **look(place))
    shares.set_ylim(-0.02, 1.02)
    shares.set_ylabel("share of participants")
    shares.set_title("all participants")
    legend_below(figure, shares)
    for axes in (steps, shares):
        axes.set_xlabel("seconds since the free part began")
    return png(figure)
