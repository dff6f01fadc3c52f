# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all engines share: how sums are added up, and what is checked before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from gazeveil.aggregate.engine import Columns, Kernel, ManyKernel, Placed
from gazeveil.errors import GeometryError, InputError, InternalError
from gazeveil.gaze import schema
from gazeveil.gaze._parquet import guarded
from gazeveil.gaze.corpus import Part
from gazeveil.geometry import Geometry
from gazeveil.types import IntArray

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
        told = "; ".join(str(plane) for plane in found[:4])
        raise GeometryError(
            f"the recordings lie on {len(found)} viewing planes ({told})", hint="select recordings of one"
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
