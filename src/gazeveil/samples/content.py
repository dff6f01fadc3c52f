# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where gaze is expected, given what is on the screen: the prior that the filter of a private stream falls back on.

What is shown is public in Kaleido's threat model, so a density made from it is free of charge. It must not depend on
the gaze that is protected: the gaze of other participants on the same scene, a saliency map or a list of faces may be
used, this participant's own gaze may not. Only the mean and the variance of a density are used, and a part of the prior
stays what it is for any scene, so that a density that is wrong cannot do much harm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.samples.gaze_model import EYES, GazeModel
from gazeveil.samples.space import Space, wrapped

TRUST = 0.6
"""The weight of a density against what is known of any scene. Nearly all that a right one gains is gained at 0.6, and
what a wrong one costs grows with the weight (docs/concepts/veils.md)."""

_MOST_CELLS = 1 << 24


class Region(NamedTuple):
    """A box that draws the eye; within it gaze is as likely here as there.

    Attributes:
        left: Its left edge, in the unit of the space.
        top: Its top edge.
        right: Its right edge.
        bottom: Its bottom edge.
        weight: How much of all gaze it gets, relative to the other regions.
    """

    left: float
    top: float
    right: float
    bottom: float
    weight: float = 1.0


Density = FloatArray | Sequence[Region] | Sequence[tuple[float, ...]]
"""A grid over the whole space as an array, rows from top to bottom; or a list of regions."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Where gaze is before any is seen: for both axes a centre, and variances about it.

    Attributes:
        centre: The mean.
        wander: The variance of the part that moves on within a second.
        offset: The variance of the slow offset of the participant.
    """

    centre: tuple[float, float]
    wander: tuple[float, float]
    offset: tuple[float, float]


def prior_of(space: Space, density: Density | None = None, model: GazeModel = EYES) -> Prior:
    """Return what is known of gaze in a space before any is seen, given what is shown there.

    The prior is the mixture of the density, with weight `TRUST`, and of what is known of any scene; the filter gets the
    mixture's mean and variance, parted into wandering and offset as ever.

    Raises:
        OptionError: If the density is none.
    """
    wander_x, wander_y, offset_x, offset_y = model.variances(space.usual)
    wander, offset = (wander_x, wander_y), (offset_x, offset_y)
    middle = (space.centre[0], space.centre[1])
    if density is None:
        return Prior(middle, wander, offset)
    mean, variance = moments(space, density)
    away = space.difference(mean, middle)
    centre = [middle[axis] + TRUST * away[axis] for axis in range(2)]
    if space.period:
        centre[0] = wrapped(centre[0], space.period)
    grown = []
    for axis in range(2):
        usual = wander[axis] + offset[axis]
        both = TRUST * variance[axis] + (1 - TRUST) * usual + TRUST * (1 - TRUST) * away[axis] ** 2
        grown.append(both / usual)
    return Prior(
        (centre[0], centre[1]),
        (grown[0] * wander_x, grown[1] * wander_y),
        (grown[0] * offset_x, grown[1] * offset_y),
    )


def moments(space: Space, density: Density) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the mean and the variance of a density along both axes.

    Raises:
        OptionError: If the density is negative, empty, not finite, or of a wrong shape.
    """
    boxes = _cells(space, density) if isinstance(density, np.ndarray) else _regions(space, density)
    low_x, low_y, high_x, high_y, weight = boxes
    share = weight / weight.max()
    share = share / share.sum()
    x = _along(low_x, high_x, share, space.period)
    y = _along(low_y, high_y, share, 0.0)
    return (x[0], y[0]), (x[1], y[1])


def _along(low: FloatArray, high: FloatArray, share: FloatArray, period: float) -> tuple[float, float]:
    """Return mean and variance of a mixture of even stretches, on a line or the short way round a circle."""
    place = low + (high - low) / 2.0
    start = 0.0
    if period:
        turns = 2.0 * math.pi * place / period
        across, up = float(share @ np.cos(turns)), float(share @ np.sin(turns))
        start = math.atan2(up, across) * period / (2.0 * math.pi) if math.hypot(across, up) > 1e-9 else 0.0
        place = place - start - period * np.floor((place - start) / period + 0.5)
    mean = float(share @ place)
    variance = float(share @ ((place - mean) ** 2 + (high - low) ** 2 / 12.0))
    return (wrapped(start + mean, period) if period else mean), variance


def _cells(space: Space, grid: FloatArray) -> FloatArray:
    if grid.ndim != 2 or not 1 <= grid.size <= _MOST_CELLS:
        raise OptionError(
            f"a density is a grid with rows and columns, of at most {_MOST_CELLS:,} cells, not {grid.shape}",
            hint="rows go from top to bottom over the whole space, columns from left to right",
        )
    if not (np.issubdtype(grid.dtype, np.number) or grid.dtype == np.bool_) or np.iscomplexobj(grid):
        raise OptionError(f"a density is made of numbers, not of {grid.dtype}")
    rows, columns = grid.shape
    edges_x = np.linspace(space.low[0], space.high[0], columns + 1)
    edges_y = np.linspace(space.low[1], space.high[1], rows + 1)
    weight = np.asarray(grid, dtype=np.float64).ravel()
    _check_weights(weight)
    left, right = np.tile(edges_x[:-1], rows), np.tile(edges_x[1:], rows)
    top, bottom = np.repeat(edges_y[:-1], columns), np.repeat(edges_y[1:], columns)
    return np.stack([left, top, right, bottom, weight])


def regions_of(regions: Any) -> tuple[Region, ...]:
    """Return a list of regions as such.

    Raises:
        OptionError: If it is none.
    """
    if not isinstance(regions, list | tuple) or not regions:
        raise OptionError(
            f"a density is an array, or a list with at least one region, not {regions!r}",
            hint="a region is (left, top, right, bottom, weight)",
        )
    made = []
    for region in regions:
        numbers = region if isinstance(region, list | tuple) else ()
        if len(numbers) not in (4, 5) or not all(_is_number(value) for value in numbers):
            raise OptionError(f"a region is (left, top, right, bottom, weight), all finite numbers, not {region!r}")
        made.append(Region(*(float(value) for value in numbers)))
    return tuple(made)


def _regions(space: Space, regions: Any) -> FloatArray:
    boxes = np.array(regions_of(regions)).T
    _check_weights(boxes[4])
    for axis, name in enumerate(("left to right", "top to bottom")):
        boxes[[axis, axis + 2]] = np.clip(boxes[[axis, axis + 2]], space.low[axis], space.high[axis])
        if not (boxes[axis] < boxes[axis + 2]).all():
            wrong = regions[int(np.argmin(boxes[axis] < boxes[axis + 2]))]
            raise OptionError(f"a region goes from {name} and lies in the space, at least partly; not {wrong!r}")
    return boxes


def _check_weights(weight: FloatArray) -> None:
    if not np.isfinite(weight).all():
        raise OptionError("a density must be finite everywhere")
    if (weight < 0).any():
        raise OptionError("a density must not be negative anywhere")
    if not weight.any():
        raise OptionError("a density must be above 0 somewhere", hint="pass None for what is known of any scene")


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and math.isfinite(value)
