# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A stream before and after its mechanism, and the registry of what can be measured on the two.

**What is missing.** A sample is compared where both gave gaze. Where the tracker had lost the eye there is no truth, so
whatever the mechanism says there is neither right nor wrong. Where the mechanism gives nothing though there was gaze,
the sample is not compared either, but `Pair.answered` tells how many there were: a mechanism that is silent when it is
hard would look good otherwise. A metric without anything to measure is NaN, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import GeometryError, InputError
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit
from gazeveil.registry import Registry

COLUMNS, ROWS = 4, 3
"""Where nobody drew areas of interest, the viewing plane is cut into this many."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A recording and the same recording veiled, sample by sample.

    Attributes:
        raw: What the tracker gave.
        veiled: What the mechanism made of it, on the same viewing plane and at the same times.
        aois: Areas of interest; without them, a viewing plane with edges is cut into 4 x 3.
        both: Where both have gaze.
    """

    raw: Recording
    veiled: Recording
    aois: AreasOfInterest | None = None
    both: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        if len(self.raw) != len(self.veiled) or not np.array_equal(self.raw.t, self.veiled.t, equal_nan=True):
            raise InputError(
                f"the veiled stream ({len(self.veiled):,} samples) does not run in step with the raw one "
                f"({len(self.raw):,} samples)",
                hint="compare a recording with its own veiled version, sample by sample",
            )
        object.__setattr__(self, "veiled", self.veiled.to(self.raw.geometry.unit))
        if self.veiled.geometry != self.raw.geometry:
            raise InputError(f"raw is {self.raw.geometry}, veiled is {self.veiled.geometry}: two viewing planes")
        if self.aois is None:
            object.__setattr__(self, "aois", even_areas(self.raw.geometry))
        object.__setattr__(self, "both", self.raw.tracked & self.veiled.tracked)

    @staticmethod
    def of(
        t: ArrayLike, raw: tuple[ArrayLike, ArrayLike], veiled: tuple[ArrayLike, ArrayLike], plane: Geometry
    ) -> Pair:
        """Return a pair of plain arrays: times, (x, y) before and (x, y) after, NaN where there is none."""
        one, other = (
            Recording(np.asarray(t), np.asarray(x), np.asarray(y), plane, observer="stream") for x, y in (raw, veiled)
        )
        return Pair(one, other)

    @property
    def answered(self) -> float:
        """Share of the samples with gaze for which the mechanism gave gaze too; NaN if there were none."""
        seen = int(self.raw.tracked.sum())
        return int(self.both.sum()) / seen if seen else math.nan

    def compared(self, unit: Unit | str) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return x and y before, then x and y after, of the samples that are compared."""
        before, after = (
            recording.geometry.convert(recording.x[self.both], recording.y[self.both], unit)
            for recording in (self.raw, self.veiled)
        )
        return *before, *after


StreamMetric = Callable[[Pair], float]

METRICS: Registry[StreamMetric] = Registry("stream metric", package="gazeveil.lab.utility.streams.metrics")
"""What can be measured on a pair, by name: ``METRICS["rmse_px"](pair)``."""


def even_areas(plane: Geometry) -> AreasOfInterest | None:
    """Return the viewing plane cut into 4 x 3 areas; None if it has no edges."""
    try:
        left, top, right, bottom = plane.extent()
    except GeometryError:
        return None
    x, y = np.linspace(left, right, COLUMNS + 1), np.linspace(top, bottom, ROWS + 1)
    # the right and bottom edges of the plane belong to it, though no rectangle owns its own
    x[-1], y[-1] = np.nextafter(x[-1], np.inf), np.nextafter(y[-1], np.inf)
    return AreasOfInterest(
        tuple(
            Rectangle(
                f"row {row + 1}, column {column + 1}", *map(float, (x[column], y[row], x[column + 1], y[row + 1]))
            )
            for row in range(ROWS)
            for column in range(COLUMNS)
        ),
        plane,
    )
