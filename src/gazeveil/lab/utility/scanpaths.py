# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths: found in gaze that is noisy, and compared with MultiMatch and dynamic time warping.

The idea is that of I2MC (Hessels and others 2017), which needs no threshold of speed: where gaze jumps, samples around
the jump fall into two groups that follow each other; where it rests, however noisy, the groups alternate. A fixation is
a stretch in which the split is never much sharper than usual.

After Jarodzka, Holmqvist and Nyström (2010) and Dewhurst and others (2012). A scanpath is a list of saccade vectors,
each with its starting point and the duration of the fixation before it. Both lists are aligned by shape alone; then the
median difference of aligned pairs is taken in each of five dimensions and brought to a scale from 0 to 1 (alike).
Numbers are those of the package multimatch-gaze wherever it has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final, Protocol

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError


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


# --- Scanpaths from gaze, by a detector that stands noise: as in Kaleido's attacks, two means in short windows.


WINDOW_S: Final = 0.2
CUTOFF_SD: Final = 2.0
SHORTEST_S: Final = 0.06
_FEWEST: Final = 4


def find_scanpath(t: FloatArray, x: FloatArray, y: FloatArray) -> Scanpath:
    """Return the fixations of some gaze, its times in seconds and growing; missing gaze (NaN) ends a fixation."""
    from gazeveil.lab.utility.scanpath_kernels import restlessness  # noqa: PLC0415  (loads numba)

    nothing = Scanpath(np.empty(0), np.empty(0), np.empty(0))
    if len(t) < _FEWEST:
        return nothing
    step = float(np.median(np.diff(t)))
    width = max(_FEWEST, round(WINDOW_S / step)) if step > 0 else _FEWEST
    if len(t) < width:
        return nothing
    # copies: for read-only arrays it would be compiled again
    sharp = restlessness(np.array(x, order="C"), np.array(y, order="C"), width)
    seen = np.isfinite(sharp)
    if not seen.any():
        return nothing
    limit = sharp[seen].mean() + CUTOFF_SD * sharp[seen].std()
    rests = seen & (np.where(seen, sharp, np.inf) <= limit)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], rests.astype(np.int8), [0]))))
    found = [
        (np.median(x[begin:end]), np.median(y[begin:end]), lasts)
        for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
        if (lasts := float(t[end - 1] - t[begin]) + step) >= SHORTEST_S - 1e-9
    ]
    return Scanpath(*np.array(found).reshape(-1, 3).T) if found else nothing


# --- MultiMatch: how alike two scanpaths are in shape, direction, length, position and duration.


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
    from gazeveil.lab.utility.scanpath_kernels import differences  # noqa: PLC0415  (loads numba)

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
    from gazeveil.lab.utility.scanpath_kernels import simplified  # noqa: PLC0415

    rests = path.seconds.copy()
    left = simplified(saccades, rests, *map(float, astuple(simplify)))
    return saccades[:left], rests


# --- Dynamic time warping: how far two scanpaths are apart if each may wait for the other.


def warped_distance(one: Scanpath, other: Scanpath) -> float:
    """Return the distance of two scanpaths in the unit of the viewing plane.

    Every fixation meets at least one of the other scanpath, in order. The smallest sum of distances of what meets is
    divided by the number of fixations in both, so that long scanpaths are not far from others for their length alone.
    NaN if one is empty. Durations are not looked at.
    """
    from gazeveil.lab.utility.scanpath_kernels import warped  # noqa: PLC0415  (loads numba)

    if not len(one) or not len(other):
        return math.nan
    return float(warped(one.x, one.y, other.x, other.y)) / (len(one) + len(other))


def warped_distances(paths: Sequence[Scanpath]) -> FloatArray:
    """Return the distance of everyone from everyone; NaN where a scanpath is empty, except from itself."""
    found = np.zeros((len(paths), len(paths)))
    for row, one in enumerate(paths):
        for column in range(row):
            found[row, column] = found[column, row] = warped_distance(one, paths[column])
    return found


# --- What similar means: scores of different participants before one scene, and of random scanpaths.


class Chance(Protocol):
    """What draws numbers: any generator of numpy. This is a yardstick, not a release."""

    def uniform(self, low: float, high: float, size: int) -> FloatArray:
        """Return numbers between two."""
        ...

    def choice(self, a: FloatArray, size: int) -> FloatArray:
        """Return some of the given ones."""
        ...


def random_scanpath(
    rng: Chance, fixations: int, box: tuple[float, float, float, float], seconds: FloatArray
) -> Scanpath:
    """Return a scanpath without any sense: places anywhere in a box, durations drawn from given ones.

    Args:
        rng: From where chance comes.
        fixations: How many.
        box: Left, top, right, bottom of the viewing plane.
        seconds: Durations to draw from.

    Raises:
        InputError: If there are no durations.
    """
    if not len(seconds):
        raise InputError("a random scanpath needs durations to draw from")
    left, top, right, bottom = box
    return Scanpath(
        rng.uniform(left, right, fixations), rng.uniform(top, bottom, fixations), rng.choice(seconds, fixations)
    )


def between_people(
    paths: Sequence[Scanpath], size: tuple[float, float], simplify: Simplify | None = None
) -> FloatArray:
    """Return for everyone the mean scores with all others, in the order of `DIMENSIONS`; NaN without any other."""
    scores = np.full((len(paths), len(paths), len(DIMENSIONS)), np.nan)
    for row, one in enumerate(paths):
        for column in range(row):
            scores[row, column] = scores[column, row] = multimatch(one, paths[column], size, simplify).to_array()
    return mean_of_finite(scores, 1)


def mean_of_finite(values: FloatArray, axis: int) -> FloatArray:
    """Return the mean along an axis over what is a number; NaN where nothing is."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))
