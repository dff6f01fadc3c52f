# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over gaze. They give the same cells as `Grid.cells`: the same operations, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_capped_counts(
    x: Any, y: Any, valid: Any, starts: Any, extent: Any, columns: int, rows: int, cap: int, total: Any
) -> None:
    """Add, for each observer, the valid gaze per cell up to ``cap`` (0 for no cap) to ``total``.

    ``seen`` is never cleared between observers: of observer i, a cell's entry counts up from i·cap to (i + 1)·cap,
    so whatever an earlier observer left there is smaller and means "not seen yet".
    """
    left, top, right, bottom = extent[0], extent[1], extent[2], extent[3]
    across = columns / (right - left)
    down = rows / (bottom - top)
    seen = np.zeros(total.size if cap else 0, dtype=np.int64)
    for observer in range(len(starts) - 1):
        base = observer * cap
        for i in range(starts[observer], starts[observer + 1]):
            if not (valid[i] and left <= x[i] <= right and top <= y[i] <= bottom):
                continue
            column = min(int((x[i] - left) * across), columns - 1)
            row = min(int((y[i] - top) * down), rows - 1)
            cell = row * columns + column
            if cap:
                count = max(seen[cell], base)
                if count == base + cap:
                    continue
                seen[cell] = count + 1
            total[cell] += 1
