# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a mask of pixels to boxes around what hangs together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.gaze.opencv import opencv

_EVEN = 1.05
"""If the strongest cell holds hardly more than the mean, nothing stands out."""


def boxes_around(mask: Any) -> FloatArray:
    """Return a box around each patch of a mask, in shares of its sides."""
    return patches(mask)[0]


def patches(mask: Any) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return a box around each patch of a mask, in shares of its sides, and which patch each pixel is in, from 1."""
    _, labels, stats, _ = opencv().connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    left, top, width, height = stats[1:, :4].T.astype(np.float64)
    rows, columns = mask.shape
    boxes = np.stack([left / columns, top / rows, (left + width) / columns, (top + height) / rows], axis=1)
    return boxes, labels


def densest(values: FloatArray, share: float) -> BoolArray:
    """Return the smallest set of cells that holds a share of a map; none if the map is even."""
    if values.max() < _EVEN * values.mean():
        return np.zeros(values.shape, dtype=bool)
    order = np.sort(values, axis=None)[::-1]
    needed = int(np.searchsorted(np.cumsum(order), share * order.sum()))
    return np.asarray(values >= order[needed])
