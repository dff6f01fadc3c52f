# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze maps of all observers, kept apart: only the cells that someone looked at are stored.

This is raw data. What is computed from it is private only after a mechanism has seen it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.aggregate.engine import Columns, Summed
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import GAZE, OnGrid
from gazeveil.errors import OptionError
from gazeveil.exact import whole_number
from gazeveil.types import IntArray

MOST_SAMPLES = 2**31 - 1
"""Squares of sums of counts are exact in 64 bits up to this many samples in all."""


@dataclass(frozen=True, slots=True, eq=False)
class ObserverMaps:
    """How often each observer looked at each cell; one entry for each pair that occurs.

    Attributes:
        observers: How many observers there are, with or without gaze.
        cells: How many cells a map has.
        observer: Whose entry it is, from 0.
        cell: Which cell, from 0.
        count: How often, at least 1.
    """

    observers: int
    cells: int
    observer: IntArray
    cell: IntArray
    count: IntArray

    def capped(self, cap: int) -> ObserverMaps:
        """Return the maps with every count at most ``cap``."""
        most = whole_number(cap, "cap", at_least=1)
        return ObserverMaps(self.observers, self.cells, self.observer, self.cell, np.minimum(self.count, most))

    def summed(self, cap: int | None = None, times: IntArray | None = None) -> Summed:
        """Return the sum of all maps, capped if asked.

        Args:
            cap: The most that an observer adds to a cell.
            times: How often each observer is taken; once if left out.
        """
        count = self.count if cap is None else self.capped(cap).count
        if times is not None:
            count = count * times[self.observer]
        total = np.zeros(self.cells, dtype=np.int64)
        np.add.at(total, self.cell, count)
        return Summed(total, self.observers if times is None else int(times.sum()))

    @property
    def highest(self) -> int:
        """The largest count of all, the paper's g_max; 0 without gaze."""
        return int(self.count.max(initial=0))

    @staticmethod
    def of_samples(
        observer: ArrayLike, cell: ArrayLike, *, observers: int, cells: int, samples: int | None = None
    ) -> ObserverMaps:
        """Count gaze samples.

        Args:
            observer: Who looked, from 0, in the order of time.
            cell: Where; a negative cell is off the grid and not counted.
            observers: How many observers there are.
            cells: How many cells a map has.
            samples: Only each observer's first this many samples on the grid are counted; all if left out.

        Raises:
            OptionError: If an observer or a cell is out of range.
        """
        who, where = np.asarray(observer, dtype=np.int64), np.asarray(cell, dtype=np.int64)
        people, size = whole_number(observers, "observers", at_least=1), whole_number(cells, "cells", at_least=1)
        if who.shape != where.shape or who.ndim != 1:
            raise OptionError(f"an observer and a cell are needed for each sample, not {who.shape} and {where.shape}")
        if len(who) and not (who.min() >= 0 and who.max() < people and where.max() < size):
            raise OptionError(f"observers go from 0 to {people - 1:,} and cells to {size - 1:,}")
        on_grid = where >= 0
        who, where = who[on_grid], where[on_grid]
        if len(who) > MOST_SAMPLES or people * size >= 2**63:
            raise OptionError(f"at most {MOST_SAMPLES:,} samples, and 2^63 cells of all observers, can be counted here")
        if samples is not None:
            first = _first_of_each(who, whole_number(samples, "samples", at_least=1))
            who, where = who[first], where[first]
        pairs, count = np.unique(who * size + where, return_counts=True)
        return ObserverMaps(people, size, pairs // size, pairs % size, count.astype(np.int64))

    @staticmethod
    def of_table(maps: ArrayLike) -> ObserverMaps:
        """Return maps that are given as a table of whole numbers: a row for each observer, a column for each cell."""
        table = np.asarray(maps)
        if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iu" or table.min() < 0:
            raise OptionError("gaze maps are a table of whole numbers from 0 up: a row an observer, a column a cell")
        observer, cell = np.nonzero(table)
        return ObserverMaps(table.shape[0], table.shape[1], observer, cell, table[observer, cell].astype(np.int64))


@dataclass(frozen=True, slots=True)
class FirstSamples(OnGrid):
    """A kernel: one observer's first ``samples`` valid samples on the grid, counted per cell, at most ``cap`` each.

    Both bounds are needed for the sensitivity √(2mT) (erratum L4); they are enforced here.
    """

    grid: Grid
    cap: int
    samples: int

    def __post_init__(self) -> None:
        whole_number(self.cap, "cap", at_least=1)
        whole_number(self.samples, "samples", at_least=1)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's counts."""
        x, y, valid = (rows[name] for name in GAZE)
        cells = self.grid.cells(x, y)
        first = cells[(cells >= 0) & valid][: self.samples]
        return np.minimum(np.bincount(first, minlength=self.size), self.cap).astype(np.int64)


@dataclass(frozen=True, slots=True)
class CountsAndLosses(OnGrid):
    """A kernel: one observer's first samples as counts up to the largest cap, then what each smaller cap takes away.

    Summed over observers it tells the map and the loss of every candidate, so a cap is chosen in the same pass over
    the data as the map is made.

    Attributes:
        grid: The cells.
        caps: The candidates, rising.
        samples: The most samples that one observer adds.
    """

    grid: Grid
    caps: tuple[int, ...]
    samples: int

    @property
    def size(self) -> int:
        """As many numbers as cells, for each candidate."""
        return self.grid.size * len(self.caps)

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's counts and losses."""
        found = FirstSamples(self.grid, self.caps[-1], self.samples)(rows)
        return np.concatenate((found, *(np.maximum(found - cap, 0) for cap in self.caps[:-1])))


def _first_of_each(who: IntArray, most: int) -> IntArray:
    """Return which samples are among the first ``most`` of their observer, in the order they came."""
    order = np.argsort(who, kind="stable")
    grouped = who[order]
    starts = np.flatnonzero(np.diff(grouped, prepend=-1))
    place = np.arange(len(grouped)) - np.repeat(starts, np.diff(starts, append=len(grouped)))
    return np.sort(order[place < most])
