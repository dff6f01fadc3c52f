# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Types that many modules share (arrays, rows, progress calls), and linear algebra on one thread.

OpenBLAS, which numpy brings along, splits even small products over all cores and lets its threads spin while they wait
for each other. Hundreds of decompositions of 150 by 150 took ten times as much processor time so on a busy machine
(docs/decisions/0050-spark.md).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]
WordArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]

Tell = Callable[[float, float | None], None]
"""What a long job calls as it goes: how much is done, and of how much, if that is known."""


class PlainRow:
    """A dataclass that is one row of a table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(cast("Any", self))


def silent(done: float, total: float | None = None) -> None:
    """Report to nobody."""


# --- Linear algebra on one thread.


_NAMES = tuple(f"{maker}openblas_{{}}_num_threads{width}" for maker in ("scipy_", "") for width in ("64_", ""))
_inside = 0
_before = 1
_lock = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread for linear algebra inside the block, as decorator or context; another BLAS is left as it is.

    The number belongs to the whole process, so it is restored when the last block ends.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _before  # noqa: PLW0603  (it is one number of the process)
    threads = _threads()
    with _lock:
        if threads is not None and _inside == 0:
            _before = threads[0]()
            threads[1](1)
        _inside += 1


def _leave() -> None:
    global _inside  # noqa: PLW0603
    threads = _threads()
    with _lock:
        _inside -= 1
        if threads is not None and _inside == 0:
            threads[1](_before)


@cache
def _threads() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """Return what gets and what sets the number of threads of numpy's OpenBLAS; None where it has none."""
    try:
        numbers = import_module("numpy.linalg._umath_linalg")
        library = ctypes.CDLL(numbers.__file__)  # names are looked up in what it was linked with, too
    except (ImportError, OSError):
        return None
    for name in _NAMES:
        try:
            get, put = getattr(library, name.format("get")), getattr(library, name.format("set"))
        except AttributeError:
            continue
        get.restype, put.argtypes, put.restype = ctypes.c_int, (ctypes.c_int,), None
        return get, put
    return None
