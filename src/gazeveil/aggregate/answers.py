# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How uncertain blurred maps are that are lifted by a Gaussian field: f = Φc, c with variances of its own.

A change δf changes the logarithm of such a map m by sδf, s the slope, and the map, of mass 1, by m (sδf − m·sδf); its
blurred picture by the blur of that. So the variance of each cell is the sum, over the columns of Φ, of the squares of
what they change, times their variances. Φ is what noise can move, or, where the question is how far the truth may be,
all that maps may differ by.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gazeveil.aggregate.prior import Prior
from gazeveil.aggregate.render import blur_matrix
from gazeveil.types import FloatArray

_KEPT = 0.995
"""Which part of the variance of smooth fields is kept: the rest is finer than the blur."""

_WIDEST_LOG_VARIANCE = 3.0


class Answers:
    """What blurred maps do when their logarithms change: laid out so that one product blurs all of it."""

    def __init__(self, changes: FloatArray, shape: tuple[int, int], blur: tuple[float, float]) -> None:
        """Prepare for changes of logarithms, one row a cell, a column each."""
        self._changes, self._shape, self.count = changes, shape, changes.shape[1]
        self._by_row = np.ascontiguousarray(changes.reshape(*shape, -1).transpose(0, 2, 1))  # row, change, column
        self._down, self._across = (blur_matrix(size, width) for size, width in zip(shape, blur, strict=True))

    def variance(self, map_: FloatArray, own: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the variance of each cell of a map, rows by columns, if each change has so much variance."""
        rows, columns = self._shape
        pulled = map_ * slope
        moved = pulled.reshape(rows, 1, columns) * self._by_row
        moved -= map_.reshape(rows, 1, columns) * (pulled @ self._changes)[:, None]
        moved = (self._down @ moved.reshape(rows, -1)).reshape(-1, columns) @ self._across.T
        np.square(moved, out=moved)
        return np.asarray(own @ moved.reshape(rows, -1, columns))


def smooth_fields(prior: Prior, kinds: Iterable[tuple[float, float]]) -> FloatArray:
    """Return Φ, a column a change, so that ΦΦ' is nearly the sum of v exp(-d²/2l²) over kinds of hot spots (v, l)."""
    found = [np.zeros((prior.grid.size, 0))]
    for size, length in kinds:
        (down, turn_down), (across, turn_across) = (np.linalg.eigh(kernel) for kernel in prior.kernels(length))
        variances = size * np.maximum(np.outer(down, across).ravel(), 0.0)
        order = np.argsort(-variances, kind="stable")
        kept = order[: int(np.sum(np.cumsum(variances[order]) < _KEPT * variances.sum())) + 1]
        row, column = np.divmod(kept, len(across))
        fields = turn_down[:, None, row] * turn_across[None, :, column] * np.sqrt(variances[kept])
        found.append(fields.reshape(prior.grid.size, -1))
    return np.concatenate(found, axis=1)


def lifted(field: FloatArray) -> FloatArray:
    """Return by how much a field lifts a map: exp(f) up to f = 1, and on from there along a straight line.

    A field that was found by a linear estimate is of hot spots as they are, not of their logarithms: the exponential of
    a clear one runs away.
    """
    return np.asarray(np.exp(np.minimum(field, 1.0)) * np.maximum(field, 1.0))


def log_normal(blurred: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the variance of positive numbers whose logarithms have the variance of what was linearised."""
    relative = np.minimum(variance / blurred**2, _WIDEST_LOG_VARIANCE)
    return np.asarray(blurred**2 * np.expm1(relative))


def drawn_variance(map_: FloatArray, shape: tuple[int, int], blur: tuple[float, float]) -> FloatArray:
    """Return the variance of each cell of the blurred map of one look, drawn from a map."""
    down, across = (blur_matrix(size, width) for size, width in zip(shape, blur, strict=True))
    cells = map_.reshape(shape)
    return np.asarray(np.maximum(down**2 @ cells @ (across**2).T - (down @ cells @ across.T) ** 2, 0.0))
