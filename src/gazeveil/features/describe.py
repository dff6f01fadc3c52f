# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A feature table in one glance: how large each feature is, how far it varies, and how much its range would clip.

These are true numbers of true participants. They are for whoever holds the data, not for publishing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from gazeveil.features.ranges import Ranges
from gazeveil.features.table import FeatureTable


def describe(table: FeatureTable, ranges: Ranges) -> pl.DataFrame:
    """Return one row per feature: defined share, mean, spread, percentiles, declared range, share clipped.

    ``defined`` is over usable rows; ``between`` is the share of the variance that lies between recordings. A feature
    without a declared range has none of the last three columns filled.
    """
    usable = table.where(pl.col("usable"))
    recordings = [series.values[series.usable] for series in table.series()]
    rows = []
    for index, name in enumerate(table.names):
        values = usable.rows[name].to_numpy()
        known = values[np.isfinite(values)]
        declared = ranges[name] if name in ranges.names else None
        low, middle, high = np.percentile(known, (1, 50, 99)) if len(known) else (np.nan,) * 3
        rows.append(
            {
                "feature": name,
                "defined": len(known) / len(values) if len(values) else 0.0,
                "mean": float(known.mean()) if len(known) else np.nan,
                "sd": float(known.std()) if len(known) else np.nan,
                "between": _between([item[:, index] for item in recordings]),
                "p1": float(low),
                "median": float(middle),
                "p99": float(high),
                "low": None if declared is None else declared.low,
                "high": None if declared is None else declared.high,
                "scale": None if declared is None else "log" if declared.log else "linear",
                "clipped": None if declared is None or not len(known) else float(declared.outside(known).mean()),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _between(recordings: list[np.ndarray]) -> float:
    """Return the share of the variance between recordings' means, each value counting once."""
    known = [values[np.isfinite(values)] for values in recordings]
    known = [values for values in known if len(values)]
    if not known:
        return float("nan")
    together = np.concatenate(known)
    total = float(((together - together.mean()) ** 2).sum())
    between = sum(len(values) * float(values.mean() - together.mean()) ** 2 for values in known)
    return between / total if total > 0 else float("nan")


def side_by_side(summaries: Mapping[str, pl.DataFrame]) -> str:
    """Return descriptions of several data sets as one Markdown table: mean, 1st to 99th percentile, share clipped."""
    first = next(iter(summaries.values()))
    head = ["feature", "declared range"]
    for name in summaries:
        head += [name, "1 % to 99 %", "clipped"]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for index, row in enumerate(first.to_dicts()):
        declared = "–" if row["low"] is None else f"{row['low']:.3g} to {row['high']:.3g}"
        cells = [f"`{row['feature']}`", declared + (", log" if row["scale"] == "log" else "")]
        for summary in summaries.values():
            one = summary.row(index, named=True)
            clipped = "–" if one["clipped"] is None else f"{one['clipped']:.1%}"
            cells += [f"{one['mean']:.3g}", f"{one['p1']:.3g} to {one['p99']:.3g}", clipped]
        lines.append(" | ".join(cells))
    return "".join(f"| {line} |\n" for line in lines)
