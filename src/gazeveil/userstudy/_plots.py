# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of one measure: conditions side by side, a panel for each way of control."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gazeveil.pictures import canvas, png
from gazeveil.userstudy.analysis import Found
from gazeveil.userstudy.measures import BASELINE

BLUE, ORANGE = "#1f6fb2", "#e07b28"


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
