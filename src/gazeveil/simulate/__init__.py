# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Eyes without participants: an oculomotor simulator with individual differences, the embedded default data."""

from __future__ import annotations

from gazeveil.simulate.population import TRAITS, Observer, Population, Trait
from gazeveil.simulate.stimuli import Region, RegionKind, Stimulus, scene
from gazeveil.simulate.study import SimulatedStudy, record
from gazeveil.simulate.tracker import TRACKERS, Block, GazeStream, Tracker

__all__ = [
    "TRACKERS",
    "TRAITS",
    "Block",
    "GazeStream",
    "Observer",
    "Population",
    "Region",
    "RegionKind",
    "SimulatedStudy",
    "Stimulus",
    "Tracker",
    "Trait",
    "record",
    "scene",
]
