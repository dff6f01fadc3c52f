# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ways of looking at an output through one number: a coordinate, a direction, a distance.

Families share them: a threshold cuts a view at one place, a histogram at many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score
from gazeveil.types import FloatArray

MOST_COORDINATES = 24
"""Of wider outputs, only the coordinates that differ most are looked at one by one."""

_TAME = 1e150


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One number of the output."""

    index: int

    @property
    def words(self) -> str:
        """What the number is."""
        return f"number {self.index + 1} of the output"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return outputs[:, self.index].astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """The position along a line through the output space."""

    origin: FloatArray
    direction: FloatArray
    words: str = "the position along the difference of the means"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray((outputs - self.origin) @ self.direction, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Aside:
    """The distance from a line through the output space; its direction has length 1."""

    origin: FloatArray
    direction: FloatArray
    words: str = "the distance from the line through the means"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        with np.errstate(invalid="ignore", over="ignore"):
            moved = outputs - self.origin
            square = np.einsum("ij,ij->i", moved, moved) - (moved @ self.direction) ** 2
            return np.asarray(np.sqrt(np.maximum(square, 0.0)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest number of the output."""

    words: str = "the largest number of the output"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return np.asarray(outputs.max(axis=1), dtype=np.float64)


def coordinates(sample: Sample, most: int = MOST_COORDINATES) -> list[int]:
    """Return the coordinates to look at, those first whose mean or spread differ most."""
    if sample.width <= most:
        return list(range(sample.width))
    first, second = finite(sample.first), finite(sample.second)
    spread = first.std(axis=0) + second.std(axis=0)
    spread[spread == 0] = 1.0
    shift = np.abs(first.mean(axis=0) - second.mean(axis=0)) / spread
    widening = np.abs(first.std(axis=0) - second.std(axis=0)) / spread
    return [int(index) for index in np.argsort(-(shift + widening), kind="stable")[:most]]


def line(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return the midpoint of the two means and the direction, of length 1, from the second to the first."""
    first, second = finite(sample.first).mean(axis=0), finite(sample.second).mean(axis=0)
    gap = first - second
    length = float(np.sqrt(gap @ gap))
    unit = gap / length if 0 < length < np.inf else np.eye(1, sample.width)[0]
    return (first + second) / 2, unit


def all_views(sample: Sample) -> Iterator[Score]:
    """Return the views that suit an output of this width."""
    for index in coordinates(sample):
        yield Coordinate(index)
    if sample.width > 1:
        origin, direction = line(sample)
        yield Along(origin, direction)
        yield Aside(origin, direction)
        yield Largest()


def finite(outputs: Outputs) -> FloatArray:
    """Return outputs with wild values tamed, so that means and spreads exist; not-a-number becomes zero."""
    return np.clip(np.nan_to_num(outputs.astype(np.float64)), -_TAME, _TAME)
