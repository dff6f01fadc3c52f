# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where sums over observers are computed: the contract. `gazeveil.engines` finds an engine by its address.

A kernel turns all rows of one observer into integers. An engine brings whole observers to it and adds up. It also
brings whole recordings to a function (`gazeveil.gaze.mapping`). Nothing else in the code knows whether that happens on
one machine or on a cluster: the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.mapping import MapsRecordings
from gazeveil.geometry import Geometry
from gazeveil.registry import Registry
from gazeveil.types import IntArray, Tell, silent

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

ENGINES: Registry[EngineMaker] = Registry("engine", package="gazeveil.engines")
"""Engines by scheme: ``local``, ``spark``. The packages above fill it; this one only names the contract."""
