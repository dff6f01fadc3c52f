# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze maps and heatmaps of Liu et al. 2019: the mechanisms of the paper, corrected."""

from __future__ import annotations

from gazeveil.aggregate.liu.mechanism import CapChoice, LiuMap, PrivateCap, lost_squares, optimal_cap
from gazeveil.aggregate.liu.noisy_maps import (
    FirstSamples,
    GaussianMap,
    LaplaceMap,
    Level,
    NoisyMap,
    ObserverMaps,
    delta_of,
    demands,
    level_of,
)

__all__ = [
    "CapChoice",
    "FirstSamples",
    "GaussianMap",
    "LaplaceMap",
    "Level",
    "LiuMap",
    "NoisyMap",
    "ObserverMaps",
    "PrivateCap",
    "delta_of",
    "demands",
    "level_of",
    "lost_squares",
    "optimal_cap",
]
