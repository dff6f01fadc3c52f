# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the veiled stream still says which area of interest is looked at (macro means over the areas looked at)."""

from __future__ import annotations

import math

from gazeveil.lab.utility.aoi_hits import AoiHits, aoi_hits
from gazeveil.lab.utility.streams.pair import METRICS, Pair


def hits_of(pair: Pair) -> AoiHits | None:
    """Return the hits of a pair, area by area; None if it has no areas."""
    if pair.aois is None:
        return None
    before, after = (pair.aois.hits(recording)[pair.both] for recording in (pair.raw, pair.veiled))
    return aoi_hits(before, after, len(pair.aois))


@METRICS.register("aoi_precision")
def aoi_precision(pair: Pair) -> float:
    """Return the mean over areas of the share of reported samples that are right."""
    return _mean(pair, "precision")


@METRICS.register("aoi_recall")
def aoi_recall(pair: Pair) -> float:
    """Return the mean over areas of the share of true samples that are reported."""
    return _mean(pair, "recall")


@METRICS.register("aoi_f1")
def aoi_f1(pair: Pair) -> float:
    """Return the mean over areas of F1."""
    return _mean(pair, "f1")


def _mean(pair: Pair, measure: str) -> float:
    hits = hits_of(pair)
    return math.nan if hits is None else hits.macro(measure)
