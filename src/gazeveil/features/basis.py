# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Orthonormal shapes over time, slow ones first: what a low-rank mechanism measures of a series."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from gazeveil.errors import OptionError, closest
from gazeveil.types import FloatArray

COSINES, HAAR = "cosines", "haar"


@lru_cache(maxsize=32)
def shapes(kind: str, steps: int, count: int) -> FloatArray:
    """Return orthonormal rows: the first cosines of the DCT-II, or the coarsest Haar wavelets.

    Raises:
        OptionError: If the kind is unknown, or there are not this many.
    """
    if not 1 <= count <= steps:
        raise OptionError(f"{steps:,} steps have from 1 to {steps:,} shapes, not {count:,}")
    if kind == COSINES:
        rows = np.cos(math.pi / steps * np.arange(count)[:, None] * (np.arange(steps) + 0.5))
    elif kind == HAAR:
        rows = _haar(steps, count)
    else:
        raise OptionError(f"no shapes are called {kind!r}", hint=closest(kind, (COSINES, HAAR)))
    rows = np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float64)
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=512)
def seen_energy(kind: str, steps: int, count: int, changed: int) -> float:
    """Return how much of the energy of any stretch of this many changed steps the shapes see, at most.

    The largest eigenvalue over all places where the stretch may lie, and a little more for rounding; never above 1.
    """
    if changed >= steps or count >= steps:
        return 1.0
    rows = shapes(kind, steps, count)
    sums = np.cumsum(rows[:, None, :] * rows[None, :, :], axis=-1)
    sums = np.concatenate([np.zeros((count, count, 1)), sums], axis=-1)
    within = np.moveaxis(sums[..., changed:] - sums[..., :-changed], -1, 0)
    return min(1.0, float(np.linalg.eigvalsh(within)[:, -1].max()) + 1e-9)


@lru_cache(maxsize=128)
def left_by_averaging(kind: str, steps: int, count: int, width: int) -> FloatArray:
    """Return which share of every shape's energy is left in moving means over this many steps: little of fast ones."""
    rows = shapes(kind, steps, count)
    span = min(max(width, 1), steps)
    sums = np.concatenate([np.zeros((count, 1)), np.cumsum(rows, axis=1)], axis=1)
    means = (sums[:, span:] - sums[:, :-span]) / span
    left = np.asarray(np.mean(np.square(means), axis=1) * steps)
    left.setflags(write=False)
    return left


def _haar(steps: int, count: int) -> FloatArray:
    """Return the constant and then steps up in ever smaller parts, the series halved again and again."""
    rows = [np.ones(steps)]
    parts = [(0, steps)]
    while len(rows) < count:
        begin, end = parts.pop(0)
        if end - begin < 2:
            continue
        middle = (begin + end) // 2
        row = np.zeros(steps)
        row[begin:middle] = 1.0 / (middle - begin)
        row[middle:end] = -1.0 / (end - middle)
        rows.append(row)
        parts += [(begin, middle), (middle, end)]
    return np.array(rows)
