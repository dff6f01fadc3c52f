# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A scanpath: fixations in their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Scanpath:
    """Where a participant looked and for how long, in order; it may be empty.

    Attributes:
        x: Across, in the unit of the viewing plane.
        y: Down.
        seconds: How long each fixation lasted.
    """

    x: FloatArray
    y: FloatArray
    seconds: FloatArray

    def __post_init__(self) -> None:
        for name in ("x", "y", "seconds"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            if values.ndim != 1 or not np.isfinite(values).all():
                raise InputError(f"{name} of a scanpath must be a list of finite numbers")
            object.__setattr__(self, name, values)
        if not len(self.x) == len(self.y) == len(self.seconds):
            raise InputError(
                f"a scanpath needs as many x, y and durations, not {len(self.x)}, {len(self.y)}, {len(self.seconds)}"
            )
        if (self.seconds < 0).any():
            raise InputError("a fixation of a scanpath lasts less than 0 s")

    def __len__(self) -> int:
        return len(self.x)
