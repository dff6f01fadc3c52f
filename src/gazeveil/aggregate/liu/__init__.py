# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze maps and heatmaps of Liu et al. 2019: all mechanisms of the paper, as published and corrected."""

from __future__ import annotations

from gazeveil.aggregate.liu.caps import CapChoice, PrivateCap, lost_squares, optimal_cap
from gazeveil.aggregate.liu.counts import FirstSamples, ObserverMaps
from gazeveil.aggregate.liu.levels import Level, delta_of, demands, level_of
from gazeveil.aggregate.liu.mechanism import LiuMap, UnprotectedLiuMap
from gazeveil.aggregate.liu.noisy import GaussianAsPublished, GaussianMap, LaplaceAsPublished, LaplaceMap, NoisyMap
from gazeveil.lab.baselines.unprotected_maps import NoiseFree, RandomSelection

__all__ = [
    "CapChoice",
    "FirstSamples",
    "GaussianAsPublished",
    "GaussianMap",
    "LaplaceAsPublished",
    "LaplaceMap",
    "Level",
    "LiuMap",
    "NoiseFree",
    "NoisyMap",
    "ObserverMaps",
    "PrivateCap",
    "RandomSelection",
    "UnprotectedLiuMap",
    "delta_of",
    "demands",
    "level_of",
    "lost_squares",
    "optimal_cap",
]
