# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lists of fixations as gaze that lasts: a fixation counts as the milliseconds that it lasted, one row each.

So every kernel that counts rows weighs fixations by their durations, and keeps its bounds as it is: a kernel's
integers are bounded for whatever rows one observer has, and an observer's list decides about their rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gazeveil.aggregate.engine import Columns, Engine, Kernel, Summed
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.mapping import Answer
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry
from gazeveil.types import BoolArray, FloatArray, IntArray, Tell, silent

LONGEST_S = 60.0
"""A longer fixation counts as one of this length."""

MOST_ROWS = 1 << 22
"""How many rows an observer's fixations become at most; beyond 70 minutes a row is a longer step than a millisecond."""

PER_SECOND = 1000


def counted_seconds(durations: FloatArray) -> FloatArray:
    """Return how long fixations count: 0 where a duration is no number or not positive, at most `LONGEST_S`."""
    return np.where(np.isfinite(durations) & (durations > 0), np.minimum(durations, LONGEST_S), 0.0)


def rows_each(durations: FloatArray, valid: BoolArray) -> IntArray:
    """Return as how many rows each fixation counts."""
    found: IntArray = np.rint(np.where(valid, counted_seconds(durations), 0.0) * PER_SECOND).astype(np.int64)
    total = int(found.sum())
    return found if total <= MOST_ROWS else found * MOST_ROWS // total


@dataclass(frozen=True, slots=True)
class LastingKernel:
    """A kernel that counts fixations by how long they lasted.

    Attributes:
        kernel: What turns one observer's rows into integers.
    """

    kernel: Kernel

    @property
    def size(self) -> int:
        """How many integers it gives."""
        return self.kernel.size

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns of the corpus it needs."""
        return (*self.kernel.columns, schema.DURATION)

    @property
    def geometry(self) -> Geometry:
        """The viewing plane; kernels that have none are not asked for it."""
        plane: Geometry = self.kernel.geometry  # type: ignore[attr-defined]
        return plane

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers."""
        durations = np.asarray(rows[schema.DURATION], dtype=np.float64)
        times = rows_each(durations, np.asarray(rows["valid"], dtype=np.bool_))
        lasting = {name: np.repeat(rows[name], times) for name in self.kernel.columns}
        if "t" in lasting:
            began = np.cumsum(times) - times
            step = counted_seconds(durations) / np.maximum(times, 1)
            lasting["t"] = lasting["t"] + (np.arange(int(times.sum())) - np.repeat(began, times)) * np.repeat(
                step, times
            )
        return self.kernel(lasting)


@dataclass(frozen=True, slots=True)
class LastingEngine:
    """An engine that sums over observers' fixations, each as long as it lasted.

    Attributes:
        engine: Where sums are computed.
    """

    engine: Engine

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, each observer's rows brought together."""
        return self.engine.sum_over_observers(corpus, LastingKernel(kernel), tell)

    def map_recordings(
        self, corpus: Corpus, function: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, as it is."""
        return self.engine.map_recordings(corpus, function, tell)
