# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A feature table in one glance: how large each feature is, how far it varies, and how much its range would clip.

These are true numbers of true participants. They are for whoever holds the data, not for publishing.
"""

from __future__ import annotations

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
