# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths: how alike two are, and how to find them in gaze."""

from __future__ import annotations

from gazeveil.lab.utility.scanpaths.baselines import between_people, random_scanpath
from gazeveil.lab.utility.scanpaths.comparison import DIMENSIONS, MultiMatch, Simplify, multimatch
from gazeveil.lab.utility.scanpaths.finding import find_scanpath
from gazeveil.lab.utility.scanpaths.path import Scanpath
from gazeveil.lab.utility.scanpaths.warping import warped_distance, warped_distances

__all__ = [
    "DIMENSIONS",
    "MultiMatch",
    "Scanpath",
    "Simplify",
    "between_people",
    "find_scanpath",
    "multimatch",
    "random_scanpath",
    "warped_distance",
    "warped_distances",
]
