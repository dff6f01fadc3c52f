# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of feature series: as private as the table that they are drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gazeveil.pictures import Picture, canvas, png

if TYPE_CHECKING:
    from gazeveil.features.table import FeatureTable

_MOST_SERIES = 60


def table_picture(table: FeatureTable) -> Picture:
    """Draw every feature of a table over time, a line a series, and the mean of those that are drawn."""
    series = list(table.series())
    drawn = series[:: max(-(-len(series) // _MOST_SERIES), 1)]
    made, axes = canvas(9, 1.2 + 1.5 * len(table.names), len(table.names), 1, sharex=True, squeeze=False)
    for column, (name, plot) in enumerate(zip(table.names, axes[:, 0], strict=True)):
        for each in drawn:
            values = np.where(each.usable, each.values[:, column], np.nan)
            plot.plot(each.start - each.start[0], values, linewidth=0.7, alpha=0.5)
        plot.set_ylabel(name, fontsize=8)
    axes[-1, 0].set_xlabel("time in s")
    axes[0, 0].set_title(f"{len(drawn):,} of {len(series):,} series, {table.info.kind}", fontsize=9)
    return Picture(png(made))
