# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One observer's gaze as integers: counts per cell, capped (Liu 2019), or a map of bounded length.

All recordings of an observer count as one: whoever was recorded in many sessions weighs no more than anyone else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.errors import InternalError, OptionError
from gazeveil.geometry import Geometry

GAZE = ("x", "y", "valid")
"""The columns that say where an observer looked."""

LARGEST_BOUND = (1 << 31) - 1
"""Squares of integers up to here, and sums of 2^31 of them over observers, fit into 64 bits."""

_CHUNK = 1 << 20  # rows taken at once, so that a recording of a day needs no more memory than one of a minute


class OnGrid:
    """What kernels on a grid share: a frozen dataclass with the field ``grid``, which needs gaze alone."""

    __slots__ = ()
    grid: Grid
    columns: ClassVar[tuple[str, ...]] = GAZE

    @property
    def size(self) -> int:
        """How many cells."""
        return self.grid.size

    @property
    def geometry(self) -> Geometry:
        """The viewing plane of the grid."""
        return self.grid.geometry


class ManyOnGrid(OnGrid, ABC):
    """A kernel on a grid whose one way is the one for many observers at once."""

    __slots__ = ()

    @abstractmethod
    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the integers of several observers to ``total``, in one pass over the rows."""

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers; one without gaze adds nothing."""
        found = np.zeros(self.size, dtype=np.int64)
        self.add_many(rows, np.array([0, len(rows["x"])]), found)
        return found


@dataclass(frozen=True, slots=True)
class CountMap(OnGrid):
    """How many valid gaze samples an observer has in each cell, at most ``cap`` (the gaze map of Liu 2019).

    One observer's counts lie between 0 and ``cap``. Without a cap there is no bound and so no guarantee: that is the
    raw gaze map.

    Attributes:
        grid: The cells.
        cap: The most that one observer counts in one cell, Liu's m; None for no cap.
    """

    grid: Grid
    cap: int | None = None

    def __post_init__(self) -> None:
        if self.cap is not None:
            _check_whole("cap", self.cap)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's counts."""
        found = counts(self.grid, rows)
        return found if self.cap is None else np.minimum(found, self.cap)

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the counts of several observers to ``total``, in one pass over the rows."""
        from gazeveil.aggregate import map_kernels  # noqa: PLC0415  (compiles)

        # no observer can reach a cap of as many as all rows
        most = max(len(rows["x"]), 1)
        cap = most if self.cap is None else min(self.cap, most)
        fits = len(starts) * cap < 1 << 31
        tally = np.zeros((self.size, 2), dtype=np.int32 if fits else np.int64)
        map_kernels.add_counts(*_gaze(rows), starts, *_raster(self.grid), cap, tally)
        total += tally[:, 1]


@dataclass(frozen=True, slots=True)
class NormalisedMap(ManyOnGrid):
    """An observer's dwell map, scaled to Euclidean length ``bound`` in fixed-point integers.

    No entry is negative and the squares add up to at most ``bound``², exactly. So two observers' maps differ by at
    most √2·``bound``, and an observer with and without gaze by at most ``bound``. Without valid gaze it is all zeros.

    Attributes:
        grid: The cells.
        bound: The length; the larger, the finer the fixed point.
    """

    grid: Grid
    bound: int = 1 << 20

    def __post_init__(self) -> None:
        _check_whole("bound", self.bound)

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the maps of several observers to ``total``, in one pass over the rows."""
        from gazeveil.aggregate import map_kernels  # noqa: PLC0415  (compiles)

        map_kernels.add_normalised(*_gaze(rows), starts, *_raster(self.grid), self.bound, total)


def add_features(
    grid: Grid, features: FloatArray, origin: FloatArray, bound: int, rows: Columns, starts: IntArray, total: IntArray
) -> None:
    """Add what features see of each observer's dwell map to ``total``, as integers in a ball.

    For one observer that is `dwell`, times the features, less ``origin``, clipped by `to_bounded_integers`. Observers
    without valid gaze on the viewing plane add nothing. Here it happens in one pass over the rows of many observers.

    Args:
        grid: The cells that gaze is counted in.
        features: How much each feature sees of each cell, one row a cell.
        origin: What is taken off, a number a feature.
        bound: The largest Euclidean length of an observer's integers, from 1 to `LARGEST_BOUND`.
        rows: The rows of the observers, one observer after the other.
        starts: Where each observer begins, and behind them the number of rows.
        total: What is added to.

    Raises:
        InternalError: If a number is not finite.
    """
    from gazeveil.aggregate import map_kernels  # noqa: PLC0415  (compiles)

    _check_whole("bound", bound)
    _check_done(map_kernels.add_features(*_gaze(rows), starts, *_raster(grid), features, origin, bound, total))


def add_products(
    grid: Grid, across: FloatArray, down: FloatArray, bound: int, rows: Columns, starts: IntArray, total: IntArray
) -> None:
    """Add what features see of each observer's dwell map to ``total``, as integers of Euclidean length ``bound``.

    Each feature is the product of one along the columns and one along the rows of the grid. All of them, ``across``
    fastest, are seen at a fraction of the cost of `add_features`.

    Args:
        grid: The cells that gaze is counted in.
        across: How much each feature sees of each column, one row a column.
        down: How much each feature sees of each row, one row a row.
        bound: The Euclidean length of an observer's integers, from 1 to `LARGEST_BOUND`.
        rows: The rows of the observers, one observer after the other.
        starts: Where each observer begins, and behind them the number of rows.
        total: What is added to.

    Raises:
        InternalError: If a number is not finite.
    """
    from gazeveil.aggregate import map_kernels  # noqa: PLC0415  (compiles)

    _check_whole("bound", bound)
    _check_done(map_kernels.add_products(*_gaze(rows), starts, *_raster(grid), across, down, bound, total))


def counts(grid: Grid, rows: Columns) -> IntArray:
    """Return how many valid gaze samples of one observer lie in each cell."""
    x, y, valid = (rows[name] for name in GAZE)
    found = np.zeros(grid.size, dtype=np.int64)
    for start in range(0, len(x), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        cells = grid.cells(x[chunk], y[chunk])
        found += np.bincount(cells[(cells >= 0) & valid[chunk]], minlength=grid.size)
    return found


def dwell(grid: Grid, rows: Columns) -> FloatArray:
    """Return the share of one observer's valid gaze in each cell: mass 1, or all zeros where there is none."""
    found = counts(grid, rows)
    mass = int(found.sum())
    return found / mass if mass else np.zeros(grid.size)


def to_bounded_integers(vector: FloatArray, bound: int, *, only_clip: bool = False) -> IntArray:
    """Return a vector as integers whose squares add up to at most ``bound``², scaled and rounded toward zero.

    Floating point only proposes the integers; that they keep the bound is checked in integers. Signs are kept, so
    what was not negative stays so. The answer does not depend on the order in which a machine adds.

    Args:
        vector: What to scale; all zeros stay all zeros.
        bound: The Euclidean length that is kept, from 1 to `LARGEST_BOUND`.
        only_clip: Leave vectors that are shorter than ``bound`` as they are, apart from rounding.

    Raises:
        InternalError: If the vector holds something that is not a finite number.
    """
    _check_whole("bound", bound)
    vector = np.asarray(vector, dtype=np.float64)
    integers = np.zeros(vector.shape, dtype=np.int64)
    (where,) = np.nonzero(vector)
    if not len(where):
        return integers
    values = vector[where]
    largest = float(np.abs(values).max())
    if not math.isfinite(largest):
        raise InternalError("a vector to be bounded holds something that is not a finite number")
    values = values / largest  # so that squares neither overflow nor vanish
    length = math.sqrt(math.fsum((values * values).tolist()))
    scale = bound / length
    if only_clip:
        scale = min(scale, largest)
    integers[where] = np.trunc(values * scale).astype(np.int64)
    return _shorten(integers, bound)


def _gaze(rows: Columns) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return x, y and valid as compiled loops take them: in one piece, for reading only, so that they compile once."""
    x, y = (np.ascontiguousarray(rows[name], dtype=np.float64).view() for name in ("x", "y"))
    valid = np.ascontiguousarray(rows["valid"], dtype=np.bool_).view()
    x.flags.writeable = y.flags.writeable = valid.flags.writeable = False
    return x, y, valid


def _raster(grid: Grid) -> tuple[FloatArray, int, int]:
    return np.array(grid.geometry.extent()), grid.columns, grid.rows


def _shorten(integers: IntArray, bound: int) -> IntArray:
    """Take single steps toward zero off the largest entries until the squares add up to at most ``bound``².

    Rounding toward zero nearly always did it already; what is left is the last bit of the floating-point scale.
    """
    too_much = sum_of_squares(integers) - bound * bound
    while too_much > 0:
        worst = int(np.argmax(np.abs(integers)))
        value = int(integers[worst])
        integers[worst] -= 1 if value > 0 else -1
        too_much -= 2 * abs(value) - 1
    return integers


def sum_of_squares(integers: IntArray) -> int:
    """Return the exact sum of squares.

    The floating-point sum is right to within a factor of 1 + 2^-26 for up to 2^26 entries, so where it stays below
    2^62 no partial sum of 64-bit integers overflows.
    """
    roughly = integers.astype(np.float64)
    if float(np.dot(roughly, roughly)) < 2.0**62:
        return int(np.dot(integers, integers))
    return sum(value * value for value in integers.tolist())


def _check_done(done: bool) -> None:
    if not done:
        raise InternalError("a vector to be bounded holds something that is not a finite number")


def _check_whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_BOUND:
        raise OptionError(f"{name} must be a whole number from 1 to {LARGEST_BOUND:,}, not {value!r}")
