# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a mask of pixels to boxes around what hangs together."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazeveil.scene._opencv import opencv
from gazeveil.types import FloatArray


def boxes_around(mask: Any) -> tuple[FloatArray, FloatArray]:
    """Return a box around each patch of a mask, in shares of its sides, and how many pixels each patch has."""
    count, _, stats, _ = opencv().connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    if count < 2:
        return np.empty((0, 4)), np.empty(0)
    left, top, width, height, area = stats[1:].T.astype(np.float64)
    rows, columns = mask.shape
    boxes = np.stack([left / columns, top / rows, (left + width) / columns, (top + height) / rows], axis=1)
    return boxes, area
