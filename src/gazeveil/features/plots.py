# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of feature series: as private as the table that they are drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from gazeveil.pictures import GREY, Picture, canvas, legend_below, png

if TYPE_CHECKING:
    from gazeveil.features.table import FeatureTable

_MOST_SERIES = 60
_MOST_FEATURES = 4


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


def group_picture(table: pl.DataFrame) -> Picture:
    """Draw a group's series with its band over what was known without any data; of many features the first four."""
    names = table["feature"].unique(maintain_order=True).to_list()[:_MOST_FEATURES]
    made, axes = canvas(9, 1.2 + 1.5 * len(names), len(names), 1, sharex=True, squeeze=False)
    for name, plot in zip(names, axes[:, 0], strict=True):
        rows = table.filter(pl.col("feature") == name)
        start = rows["start"].to_numpy()
        plot.fill_between(start, rows["low"].to_numpy(), rows["high"].to_numpy(), alpha=0.25, linewidth=0)
        plot.plot(start, rows["mean"].to_numpy(), label="mean of the group")
        plot.plot(start, rows["public"].to_numpy(), color=GREY, linestyle="--", linewidth=0.9, label="without data")
        plot.set_ylabel(name, fontsize=8)
    legend_below(made, axes[0, 0])
    axes[-1, 0].set_xlabel("time in s")
    return Picture(png(made))
