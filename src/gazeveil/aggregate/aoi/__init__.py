# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Private statistics of areas of interest: dwell, fixations, first fixations, transitions, visit order, groups."""

from __future__ import annotations

from gazeveil.aggregate.aoi.mechanism import AoiStatistics, GroupComparison, read_groups
from gazeveil.aggregate.aoi.noisy_means import Difference, NoisyMean
from gazeveil.aggregate.aoi.statistics import (
    STATISTICS,
    DwellShare,
    FixationCount,
    Reached,
    Statistic,
    TimeToFirstFixation,
    Transitions,
    VisitOrder,
)

__all__ = [
    "STATISTICS",
    "AoiStatistics",
    "Difference",
    "DwellShare",
    "FixationCount",
    "GroupComparison",
    "NoisyMean",
    "Reached",
    "Statistic",
    "TimeToFirstFixation",
    "Transitions",
    "VisitOrder",
    "read_groups",
]
