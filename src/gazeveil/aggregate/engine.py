# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Sums over observers: the contract of an engine, how every engine adds up exactly, and fixations by duration.

A kernel turns all rows of one observer into integers. An engine brings whole observers to it and adds up. It also
brings whole recordings to a function (`gazeveil.gaze.corpus`). Nothing else in the code knows whether that happens on
one machine or on a cluster: the answers are the same.

A list of fixations becomes rows of a millisecond each. So every kernel that counts rows weighs fixations by their
durations, and keeps its bounds: a kernel's integers are bounded for whatever rows one observer has, and an observer's
list decides about their rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import BoolArray, FloatArray, IntArray, Tell, silent
from gazeveil.errors import GeometryError, InputError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import Answer, Corpus, MapsRecordings, Part
from gazeveil.gaze.recording import Recording
from gazeveil.gaze.schema import guarded
from gazeveil.geometry import Geometry
from gazeveil.registry import Names

Columns = Mapping[str, NDArray[Any]]
"""One observer's rows, column by column, in the corpus's order: numpy arrays, text columns as objects."""


class Kernel(Protocol):
    """A frozen dataclass that turns one observer's rows into integers. It pickles, and sees one observer at a time."""

    @property
    def size(self) -> int:
        """How many integers it gives."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns of the corpus it needs."""
        ...

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers."""
        ...


@runtime_checkable
class ManyKernel(Kernel, Protocol):
    """A kernel that also has a fast way for many observers at once. It gives the very same integers."""

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the integers of several observers to ``total``.

        Observer ``i`` has the rows from ``starts[i]`` up to ``starts[i + 1]``; the last start is the number of rows.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A kernel that counts gaze on a viewing plane, and so fits only gaze that was measured on it."""

    @property
    def geometry(self) -> Geometry:
        """The viewing plane."""
        ...


@dataclass(frozen=True, slots=True)
class Summed:
    """A sum over observers. Both numbers are raw: they are not private until noise is added.

    Attributes:
        total: The sum of the kernel's integers.
        observers: How many observers there were.
    """

    total: IntArray
    observers: int


class Engine(MapsRecordings, Protocol):
    """Something that sums over observers, and brings recordings to a function."""

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, each observer's rows brought together."""
        ...


EngineMaker = Callable[[str], Engine]

ENGINES: Names[EngineMaker] = Names(
    "engine", {"local": "gazeveil.engines.local:local", "spark": "gazeveil.engines.spark:SparkEngine"}
)
"""Engines by scheme. They lie above this package, which only states the contract."""


# --- What all engines share: how sums are added up, and what is checked before and after.


_LARGEST = int(np.iinfo(np.int64).max)


def add_up(kernel: Kernel, rows: Columns, starts: IntArray, total: IntArray) -> None:
    """Add the integers of several whole observers to ``total``: the one step that all engines share.

    Args:
        kernel: What turns an observer's rows into integers.
        rows: The rows of the observers, one observer after the other.
        starts: Where each observer begins, and behind them the number of rows.
        total: What is added to.

    Raises:
        InternalError: If the kernel does not keep its contract, or the sum is too large for 64 bits.
    """
    if isinstance(kernel, ManyKernel):
        batch = np.zeros_like(total)
        kernel.add_many(rows, starts, batch)
        add_exactly(total, batch)
        return
    for start, stop in pairwise(starts.tolist()):
        ours = kernel({name: column[start:stop] for name, column in rows.items()})
        if ours.dtype != np.int64 or ours.shape != total.shape:
            raise InternalError(f"{kernel} gave {ours.shape} of {ours.dtype}, not {total.shape} of int64")
        add_exactly(total, ours)


def add_exactly(total: IntArray, more: IntArray) -> None:
    """Add ``more`` to ``total``; a sum that may need more than 64 bits is an error, never a wrong number."""
    if _reach(total) + _reach(more) > _LARGEST:
        raise InternalError("the sum over observers does not fit into 64 bits")
    total += more


def _reach(integers: IntArray) -> int:
    return max(int(integers.max()), -int(integers.min())) if integers.size else 0


def check_plane(kernel: Kernel, planes: Iterable[Geometry]) -> None:
    """Check that all gaze was measured on one viewing plane, the one the kernel counts on.

    Raises:
        GeometryError: If there are several viewing planes, or another one.
    """
    found = list(dict.fromkeys(planes))
    if len(found) > 1:
        shown = "; ".join(str(plane) for plane in found[:4])
        raise GeometryError(
            f"the recordings lie on {len(found)} viewing planes ({shown})", hint="select recordings of one"
        )
    if found and isinstance(kernel, Placed) and kernel.geometry != found[0]:
        raise GeometryError(
            f"the recordings lie on {found[0]}, but gaze is counted on {kernel.geometry}",
            hint="make the grid from the corpus's own geometry",
        )


def check_columns(kernel: Kernel) -> None:
    """Check that a kernel asks for columns that gaze tables can have.

    Raises:
        InputError: If it does not.
    """
    unknown = [name for name in kernel.columns if name not in (*schema.KEYS, *schema.SAMPLES)]
    if unknown:
        raise InputError(f"gaze tables have no column {', '.join(unknown)}", hint="see the schema in the reference")


Stamps = list[tuple[int, int, int] | None]
"""What tells that a file was replaced or written to: inode, size and time of the last change; None in memory."""


def stamps_of(parts: Sequence[Part]) -> Stamps:
    """Return the stamps of a corpus's files."""
    stats = [None if part.path is None else guarded(part.path, part.path.stat) for part in parts]
    return [None if stat is None else (stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats]


def check_unchanged(parts: Sequence[Part], before: Stamps) -> None:
    """Check that nobody wrote to a corpus since its stamps were taken: rows might have gone to the wrong observer.

    Raises:
        InputError: If someone did.
    """
    if stamps_of(parts) != before:
        raise corpus_changed()


def corpus_changed() -> InputError:
    """Return the error for a corpus that changes under an engine's hands."""
    return InputError("the corpus changed while it was read", hint="try again when no other program writes to it")


# --- Lists of fixations: each counts as the milliseconds that it lasted, one row each.


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
class DurationKernel:
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
class DurationEngine:
    """An engine that sums over observers' fixations, each as long as it lasted.

    Attributes:
        engine: Where sums are computed.
    """

    engine: Engine

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum of the kernel over all observers of the corpus, each observer's rows brought together."""
        return self.engine.sum_over_observers(corpus, DurationKernel(kernel), tell)

    def map_recordings(
        self, corpus: Corpus, function: Callable[[Recording], Answer], tell: Tell = silent
    ) -> Iterator[Answer]:
        """Yield the function's answer for each recording, as it is."""
        return self.engine.map_recordings(corpus, function, tell)
