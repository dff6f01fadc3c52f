# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic time warping: how far two scanpaths are apart if each may wait for the other."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.utility.scanpaths.path import Scanpath


def warped_distance(one: Scanpath, other: Scanpath) -> float:
    """Return the distance of two scanpaths in the unit of the viewing plane.

    Every fixation meets at least one of the other scanpath, in order. The smallest sum of distances of what meets is
    divided by the number of fixations in both, so that long scanpaths are not far from others for their length alone.
    NaN if one is empty. Durations are not looked at.
    """
    from gazeveil.lab.utility.scanpaths._scanpath_kernels import warped  # noqa: PLC0415  (loads numba)

    if not len(one) or not len(other):
        return math.nan
    return float(warped(one.x, one.y, other.x, other.y)) / (len(one) + len(other))


def warped_distances(paths: Sequence[Scanpath]) -> FloatArray:
    """Return the distance of everyone from everyone; NaN where a scanpath is empty, except from itself."""
    found = np.zeros((len(paths), len(paths)))
    for row, one in enumerate(paths):
        for column in range(row):
            found[row, column] = found[column, row] = warped_distance(one, paths[column])
    return found
