# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""MultiMatch: how alike two scanpaths are in shape, direction, length, position and duration.

After Jarodzka, Holmqvist and Nyström (2010) and Dewhurst and others (2012). A scanpath is a list of saccade vectors,
each with its starting point and the duration of the fixation before it. Both lists are aligned by shape alone; then the
median difference of aligned pairs is taken in each of five dimensions and brought to a scale from 0 to 1 (alike).
Numbers are those of the package multimatch-gaze wherever it has one.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.utility.scanpaths.path import Scanpath

DIMENSIONS: Final = ("shape", "direction", "length", "position", "duration")
FEWEST: Final = 3
"""A scanpath with fewer fixations has no shape to compare."""


@dataclass(frozen=True, slots=True)
class MultiMatch:
    """How alike two scanpaths are, from 0 to 1 (alike); all NaN if one has fewer than three fixations."""

    shape: float
    direction: float
    length: float
    position: float
    duration: float

    @property
    def mean(self) -> float:
        """The mean of the five."""
        return math.fsum(astuple(self)) / len(DIMENSIONS)

    def to_array(self) -> FloatArray:
        """Return the five in the order of `DIMENSIONS`."""
        return np.array(astuple(self))


@dataclass(frozen=True, slots=True)
class Simplify:
    """What is joined before scanpaths are compared, over and over until nothing changes.

    Attributes:
        angle_deg: Two saccades with a smaller angle, if the fixation between them is short.
        seconds: A fixation is short if it lasts less.
        length: A saccade that is shorter (in the unit of the viewing plane), if a fixation beside it is short.
    """

    angle_deg: float = 45.0
    seconds: float = 0.3
    length: float = 0.0

    def __post_init__(self) -> None:
        if not all(math.isfinite(value) and value >= 0 for value in astuple(self)):
            raise OptionError(f"what is simplified must be numbers from 0 up, not {astuple(self)}")


def multimatch(
    one: Scanpath, other: Scanpath, size: tuple[float, float], simplify: Simplify | None = None
) -> MultiMatch:
    """Compare two scanpaths.

    Args:
        one: Some scanpath.
        other: Another, in the same unit.
        size: Width and height of the viewing plane in that unit; its diagonal is the longest difference.
        simplify: What to join beforehand; nothing by default.

    Raises:
        OptionError: If the viewing plane has no size.
    """
    from gazeveil.lab.utility.scanpaths._scanpath_kernels import differences  # noqa: PLC0415  (loads numba)

    diagonal = math.hypot(*size)
    if not (math.isfinite(diagonal) and min(size) > 0):
        raise OptionError(f"the viewing plane must have a width and a height, not {size}")
    if min(len(one), len(other)) < FEWEST:
        return MultiMatch(*[math.nan] * len(DIMENSIONS))
    medians = differences(*_saccades(one, simplify), *_saccades(other, simplify))
    scale = np.array([2 * diagonal, math.pi, diagonal, diagonal, 1.0])
    return MultiMatch(*(1.0 - medians / scale).tolist())


def _saccades(path: Scanpath, simplify: Simplify | None) -> tuple[FloatArray, FloatArray]:
    """Return begin and vector of every saccade, and the durations of fixations."""
    saccades = np.column_stack([path.x[:-1], path.y[:-1], np.diff(path.x), np.diff(path.y)])
    if simplify is None:
        return saccades, path.seconds
    from gazeveil.lab.utility.scanpaths._scanpath_kernels import simplified  # noqa: PLC0415

    rests = path.seconds.copy()
    left = simplified(saccades, rests, *map(float, astuple(simplify)))
    return saccades[:left], rests
