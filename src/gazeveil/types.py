# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Types that many files speak of: arrays, rows of tables, and what a long job calls as it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]
WordArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]

Tell = Callable[[float, float | None], None]
"""What a long job calls as it goes: how much is done, and of how much if that is known."""


class PlainRow:
    """A dataclass that is one row of a table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(cast("Any", self))


def silent(done: float, total: float | None = None) -> None:
    """Tell nobody."""
