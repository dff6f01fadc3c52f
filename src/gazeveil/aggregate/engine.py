# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where sums over observers are computed: the contract, and how an engine is found by its address.

A kernel turns all rows of one observer into integers. An engine brings whole observers to it and adds up. It also
brings whole recordings to a function (`gazeveil.gaze.mapping`). Nothing else in the code knows whether that happens on
one machine or on a cluster: the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gazeveil.errors import GeometryError, InputError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze._parquet import guarded
from gazeveil.gaze.corpus import Corpus, Part
from gazeveil.gaze.geometry import Geometry
from gazeveil.gaze.mapping import MapsRecordings
from gazeveil.registry import Registry
from gazeveil.types import IntArray, Tell, silent

Columns = Mapping[str, NDArray[Any]]
"""One observer's rows, column by column, in the corpus's order: numpy arrays, text columns as objects."""

_LARGEST = int(np.iinfo(np.int64).max)


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
    """A kernel that counts gaze on a plane, and so fits only gaze that was measured on it."""

    @property
    def geometry(self) -> Geometry:
        """The plane."""
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

ENGINES: Registry[EngineMaker] = Registry("engine", package="gazeveil.engines")
"""Engines by scheme: ``local``, ``spark``. The rooms above fill it; this room only names the contract."""


def engine_at(address: str = "local") -> Engine:
    """Return the engine at an address: ``local``, ``local[4]``-style Spark masters, ``spark://host:port``."""
    scheme = "local" if address == "local" else "spark"
    return ENGINES[scheme](address)


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
    """Check that all gaze was measured on one plane, the one the kernel counts on.

    Raises:
        GeometryError: If there are several planes, or another one.
    """
    found = list(dict.fromkeys(planes))
    told = "; ".join(str(plane) for plane in found[:4])
    if len(found) > 1:
        raise GeometryError(f"the recordings lie on {len(found)} planes ({told})", hint="select recordings of one")
    if found and isinstance(kernel, Placed) and kernel.geometry != found[0]:
        raise GeometryError(
            f"the recordings lie on {told}, but gaze is counted on {kernel.geometry}",
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
        InputError: If somebody did.
    """
    if stamps_of(parts) != before:
        raise corpus_changed()


def corpus_changed() -> InputError:
    """Return the error for a corpus that changes under an engine's hands."""
    return InputError("the corpus changed while it was read", hint="try again when nobody writes to it")
