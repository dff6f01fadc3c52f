# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over gaze. They give the same cells as `Grid.cells`: the same operations, in the same order."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(cache=True, nogil=True)
def add_counts(
    x: Any, y: Any, valid: Any, starts: Any, extent: Any, columns: int, rows: int, cap: int, tally: Any
) -> None:
    """Add, for each observer, the valid gaze per cell up to ``cap`` to the second column of ``tally``.

    The first column says what was seen of the current observer, beside the count so that both lie in one cache line.
    It is never cleared: of observer i it counts up from i·cap to (i + 1)·cap, so whatever an earlier observer left
    there is smaller and means "nothing yet".
    """
    left, top, right, bottom = extent[0], extent[1], extent[2], extent[3]
    across = columns / (right - left)
    down = rows / (bottom - top)
    for observer in range(len(starts) - 1):
        empty = observer * cap
        full = empty + cap
        for i in range(starts[observer], starts[observer + 1]):
            if not (valid[i] and left <= x[i] <= right and top <= y[i] <= bottom):
                continue
            column = min(int((x[i] - left) * across), columns - 1)
            row = min(int((y[i] - top) * down), rows - 1)
            cell = row * columns + column
            seen = max(int(tally[cell, 0]), empty)
            new = int(seen < full)
            tally[cell, 0] = seen + new
            tally[cell, 1] += new
