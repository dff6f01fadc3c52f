# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a grid can name: uses with their data and mechanisms, and families of attacks and utilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gazeveil.lab.grid.catalogue import gaze_measures, release_measures, uses
from gazeveil.lab.grid.contract import Family, Use

USES: Final[Mapping[str, Use]] = {
    "dataset": uses.Dataset(),
    "features": uses.Features(),
    "heatmap": uses.Heatmaps(),
    "live": uses.Live(),
}
FAMILIES: Final[tuple[Family, ...]] = (
    gaze_measures.Identification(),
    release_measures.Maps(),
    release_measures.Membership(),
    release_measures.Reconstruction(),
    gaze_measures.Restoring(),
    gaze_measures.ScanpathAttacks(),
    gaze_measures.ScanpathSimilarity(),
    release_measures.SeriesAttacks(),
    release_measures.SeriesLeft(),
    gaze_measures.Streams(),
    gaze_measures.Traits(),
)
"""The first that knows a name answers."""
