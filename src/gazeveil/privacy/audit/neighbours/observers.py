# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Data sets that differ in one observer, as far as clipping lets one observer go.

A data set is a table of integers, one row an observer, one column a cell of the map. Clipping bounds what one observer
may add: to a cell (``cap``), in all (``total``, the l1 norm), and in l2 norm (``norm``). The observers here go to
those bounds and never beyond; they are the shapes at which l1, l2 and largest-cell sensitivity are reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import IntArray


def observer_pairs(
    maps: ArrayLike,
    *,
    cap: int,
    total: int | None = None,
    norm: int | None = None,
    neighbours: Neighbours | str = Neighbours.REPLACE_ONE,
) -> Iterator[Pair]:
    """Return data sets that differ in their last observer, each in another extreme way.

    Args:
        maps: The other observers and one more, one row each; all zeros will do.
        cap: The most that an observer adds to a cell.
        total: The most that an observer adds in all; no bound if left out.
        norm: The largest l2 norm of an observer's map; no bound if left out.
        neighbours: Whether the observer is replaced, or there at all.

    Raises:
        OptionError: If the maps are not a table of integers, or a bound is not a positive integer.
    """
    table = np.asarray(maps)
    if table.ndim != 2 or table.dtype.kind not in "iu" or 0 in table.shape:
        raise OptionError(f"observers are rows of integers, not {table.dtype} of shape {table.shape}")
    others, cells = table[:-1].astype(np.int64), table.shape[1]
    shapes = extreme_maps(cells, cap=cap, total=total, norm=norm)
    if Neighbours(neighbours) is Neighbours.ADD_REMOVE:
        for words, shape in shapes.items():
            yield Pair(np.vstack([others, shape]), others, f"one observer who {words}, there or not")
        return
    nothing = np.zeros(cells, dtype=np.int64)
    for words, shape in shapes.items():
        yield Pair(np.vstack([others, shape]), np.vstack([others, nothing]), f"one observer who {words}, or nothing")
        mirrored = shape[::-1]
        if not np.any(shape * mirrored):  # elsewhere, and not overlapping: as far apart as two such maps can be
            yield Pair(
                np.vstack([others, shape]), np.vstack([others, mirrored]), f"one observer who {words}, or elsewhere"
            )


def extreme_maps(cells: int, *, cap: int, total: int | None = None, norm: int | None = None) -> dict[str, IntArray]:
    """Return the maps of observers who go to the bounds, each described as the end of "one observer who …"."""
    size = whole_number(cells, "cells", at_least=1)
    most = whole_number(cap, "cap", at_least=1)
    budget = most * size if total is None else whole_number(total, "total", at_least=1)
    square = most * most * size if norm is None else whole_number(norm, "norm", at_least=1) ** 2
    most = min(most, budget, math.isqrt(square))

    filled = np.zeros(size, dtype=np.int64)
    full = min(size, budget // most, square // (most * most))
    filled[:full] = most
    if full < size:  # what is left fits into one more cell
        filled[full] = min(budget - full * most, math.isqrt(square - full * most * most))
    peak = np.zeros(size, dtype=np.int64)
    peak[0] = most
    even = np.full(size, min(most, budget // size, math.isqrt(square // size)), dtype=np.int64)

    shapes = {"fills cells to the cap": filled, "looks at one cell": peak, "fills all cells evenly": even}
    kept: dict[str, IntArray] = {}
    for words, shape in shapes.items():
        if shape.any() and not any(np.array_equal(shape, other) for other in kept.values()):
            kept[words] = shape
    return kept
