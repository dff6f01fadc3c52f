# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled loops over the gaze of many observers, one observer after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gazeveil.kernel_compiler import kernel

MOST_SAMPLES = (1 << 31) - 1
"""How many samples of one observer count in a map of one length."""


@kernel()
def plane_of(extent: Any, columns: int, rows: int) -> Any:
    """Return left, top, right, bottom, cells per unit across and down, columns, rows."""
    left, top, right, bottom = extent[0], extent[1], extent[2], extent[3]
    return left, top, right, bottom, columns / (right - left), rows / (bottom - top), columns, rows


@kernel()
def cell_of(x: float, y: float, plane: Any) -> int:
    """Return a point's cell, -1 off the viewing plane.

    What `Grid.cells` gives, by the same operations in the same order.
    """
    left, top, right, bottom, across, down, columns, rows = plane
    if not (left <= x <= right and top <= y <= bottom):
        return -1
    column: int = min(int((x - left) * across), columns - 1)
    row: int = min(int((y - top) * down), rows - 1)
    return row * int(columns) + column


@kernel()
def add_counts(
    x: Any, y: Any, valid: Any, starts: Any, extent: Any, columns: int, rows: int, cap: int, tally: Any
) -> None:
    """Add, for each observer, the valid gaze per cell up to ``cap`` to the second column of ``tally``.

    The first column says what was seen of the current observer, beside the count so that both lie in one cache line.
    It is never cleared: of observer i it counts up from i·cap to (i + 1)·cap, so whatever an earlier observer left
    there is smaller and means "nothing yet".
    """
    plane = plane_of(extent, columns, rows)
    for observer in range(len(starts) - 1):
        empty = observer * cap
        full = empty + cap
        for i in range(starts[observer], starts[observer + 1]):
            cell = cell_of(x[i], y[i], plane) if valid[i] else -1
            if cell >= 0:
                seen = max(int(tally[cell, 0]), empty)
                new = int(seen < full)
                tally[cell, 0] = seen + new
                tally[cell, 1] += new


@kernel()
def shorten(count: Any, looked_at: Any, left: int) -> None:
    """Take steps off the largest count, the first of equals, until the squares are no longer ``-left`` too many.

    Rounding toward zero nearly always did it already; what is left is the last bit of the floating-point scale.
    """
    while left < 0:
        largest = looked_at[0]
        for cell in looked_at:
            if count[cell] > count[largest] or (count[cell] == count[largest] and cell < largest):
                largest = cell
        left += 2 * count[largest] - 1
        count[largest] -= 1


@kernel()
def look(x: Any, y: Any, valid: Any, first: int, last: int, plane: Any, count: Any, looked_at: Any) -> int:
    """Count one observer's valid gaze per cell, list the cells, and return how many they are."""
    cells = 0
    for i in range(first, last):
        cell = cell_of(x[i], y[i], plane) if valid[i] else -1
        if cell >= 0:
            if count[cell] == 0:
                looked_at[cells] = cell
                cells += 1
            count[cell] += 1
    return cells


@kernel()
def add_normalised(
    x: Any, y: Any, valid: Any, starts: Any, extent: Any, columns: int, rows: int, bound: int, total: Any
) -> None:
    """Add, for each observer, the counts scaled to length ``bound`` and rounded toward zero to ``total``.

    The first 2^31 - 1 samples of an observer count. With a bound below 2^31, too, squares and their sums stay below
    2^63.
    """
    plane = plane_of(extent, columns, rows)
    count = np.zeros(total.size, dtype=np.int64)
    looked_at = np.empty(total.size, dtype=np.int64)
    for observer in range(len(starts) - 1):
        last = min(starts[observer + 1], starts[observer] + MOST_SAMPLES)
        cells = look(x, y, valid, starts[observer], last, plane, count, looked_at)
        squares = 0
        for i in range(cells):
            squares += count[looked_at[i]] ** 2
        scale = bound / math.sqrt(squares) if cells else 0.0
        left = bound * bound
        for i in range(cells):
            scaled = int(count[looked_at[i]] * scale)
            count[looked_at[i]] = scaled
            left -= scaled * scaled
        if left < 0:
            shorten(count, looked_at[:cells], left)
        for i in range(cells):
            total[looked_at[i]] += count[looked_at[i]]
            count[looked_at[i]] = 0


@kernel()
def shares_of(count: Any, looked_at: Any, shares: Any) -> None:
    """Sort the cells, so that sums over them have one order; turn their counts into shares, and forget the counts."""
    looked_at.sort()
    mass = 0
    for cell in looked_at:
        mass += count[cell]
    for k in range(len(looked_at)):
        shares[k] = count[looked_at[k]] / mass
        count[looked_at[k]] = 0


@kernel()
def add_bounded(vector: Any, bound: int, only_clip: bool, integers: Any, total: Any) -> bool:
    """Add a vector to ``total`` as `maps.to_bounded_integers` puts it, and return whether that could be done.

    It cannot for numbers that are not finite, or whose squares are beyond floating point. What is too small for
    floating point is nothing.
    """
    squares = 0.0
    for value in vector:
        squares += value * value
    if squares <= 1e-200:
        return True
    if not squares < 1e200:
        return False
    scale = bound / math.sqrt(squares)
    if only_clip:
        scale = min(scale, 1.0)
    left = bound * bound
    for i in range(len(vector)):
        integers[i] = int(vector[i] * scale)
        left -= integers[i] * integers[i]
    while left < 0:  # the last bit of the floating-point scale
        worst = 0
        for i in range(1, len(integers)):
            if abs(integers[i]) > abs(integers[worst]):
                worst = i
        left += 2 * abs(integers[worst]) - 1
        integers[worst] -= 1 if integers[worst] > 0 else -1
    for i in range(len(vector)):
        total[i] += integers[i]
    return True


@kernel()
def add_features(
    x: Any,
    y: Any,
    valid: Any,
    starts: Any,
    extent: Any,
    columns: int,
    rows: int,
    features: Any,
    origin: Any,
    bound: int,
    total: Any,
) -> bool:
    """Add, for each observer with gaze, what features see of the dwell map less ``origin``, clipped, to ``total``."""
    plane = plane_of(extent, columns, rows)
    count, shares = np.zeros(columns * rows, dtype=np.int64), np.empty(columns * rows)
    looked_at = np.empty(columns * rows, dtype=np.int64)
    seen, integers = np.empty(total.size), np.empty(total.size, dtype=np.int64)
    for observer in range(len(starts) - 1):
        cells = look(x, y, valid, starts[observer], starts[observer + 1], plane, count, looked_at)
        if cells == 0:
            continue
        shares_of(count, looked_at[:cells], shares)
        seen[:] = 0.0
        for k in range(cells):
            feature = features[looked_at[k]]
            for j in range(len(seen)):
                seen[j] += feature[j] * shares[k]
        for j in range(len(seen)):
            seen[j] -= origin[j]
        if not add_bounded(seen, bound, True, integers, total):
            return False
    return True


@kernel()
def add_products(
    x: Any,
    y: Any,
    valid: Any,
    starts: Any,
    extent: Any,
    columns: int,
    rows: int,
    across: Any,
    down: Any,
    bound: int,
    total: Any,
) -> bool:
    """Add, for each observer with gaze, what features see of the dwell map, scaled to ``bound``, to ``total``.

    Each feature is a product of one along columns and one along rows, so a row of cells is seen at once.
    """
    plane = plane_of(extent, columns, rows)
    count, shares = np.zeros(columns * rows, dtype=np.int64), np.empty(columns * rows)
    looked_at = np.empty(columns * rows, dtype=np.int64)
    line = np.empty(across.shape[1])
    seen, integers = np.empty((down.shape[1], across.shape[1])), np.empty(total.size, dtype=np.int64)
    for observer in range(len(starts) - 1):
        cells = look(x, y, valid, starts[observer], starts[observer + 1], plane, count, looked_at)
        if cells == 0:
            continue
        shares_of(count, looked_at[:cells], shares)
        seen[:] = 0.0
        k = 0
        while k < cells:
            row = looked_at[k] // columns
            line[:] = 0.0
            while k < cells and looked_at[k] // columns == row:
                feature = across[looked_at[k] % columns]
                for j in range(len(line)):
                    line[j] += feature[j] * shares[k]
                k += 1
            for i in range(seen.shape[0]):
                weight = down[row, i]
                for j in range(len(line)):
                    seen[i, j] += line[j] * weight
        if not add_bounded(seen.ravel(), bound, False, integers, total):
            return False
    return True
