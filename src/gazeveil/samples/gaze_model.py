# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where gaze is expected before any is seen: how eyes move, and what is on the screen.

All numbers here are public; nothing is learnt from the gaze that is protected. The filter of a private stream falls
back on this prior, and the number of ticks of a clock follows from it. Gaze is the centre of the space plus a part that
wanders for some 0.7 s and a slow offset of the participant or the app.

What is shown is public in Kaleido's threat model, so a density made from it is free of charge. It must not depend on
the gaze that is protected: the gaze of other participants on the same scene, a saliency map or a list of faces may be
used, this participant's own gaze may not. Only the mean and the variance of a density are used, mixed with the prior
for any scene, so that a wrong density does little harm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.samples.space import Space, wrapped

MOST_TICKS = 12
"""More ticks in a window than this are never better."""

ON_A_SCREEN, OF_DIRECTIONS = 3.0, 4.0
"""The variance of Laplace noise along an axis, in squares of its scale: for points on a screen, and for directions."""


@dataclass(frozen=True, slots=True)
class GazeModel:
    """How gaze moves: two Ornstein-Uhlenbeck processes an axis, sizes as shares of the space.

    Attributes:
        spread: Standard deviation of the wandering part, across and down.
        settle: Time constant of the wandering part, in seconds.
        offset: Standard deviation of the slow offset.
        drift: Time constant of the offset, in seconds.
    """

    spread: tuple[float, float] = (0.20, 0.18)
    settle: float = 0.7
    offset: tuple[float, float] = (0.07, 0.09)
    drift: float = 60.0

    def variances(self, size: Sequence[float]) -> tuple[float, float, float, float]:
        """Return the variances in the space's unit: wandering across and down, offset across and down."""
        (a, b), (c, d) = self.spread, self.offset
        return (a * size[0]) ** 2, (b * size[1]) ** 2, (c * size[0]) ** 2, (d * size[1]) ** 2


EYES = GazeModel()
"""The constants of the study in which the filter was chosen."""

HEADS = GazeModel(spread=(0.15, 0.10), settle=3.0, offset=(0.20, 0.05))
"""How heads turn in the world, as shares of all around: slower than eyes, and farther across than down. Rounded from
how 16 participants turned theirs while they looked for things in a room (Schuetz, Baltaretu and Fiehler 2024)."""


def predicted_error(
    model: GazeModel, size: Sequence[float], scale: float, period: float, variance: float = ON_A_SCREEN
) -> float:
    """Return the mean squared error that the filter expects, averaged over time, both axes together.

    Ticks come every ``period`` seconds; their noise has this scale, and along an axis this variance, in its squares.
    """
    noise = variance * scale * scale
    fast, slow = math.exp(-period / model.settle), math.exp(-period / model.drift)
    stays_u, stays_m = _mean_decay(2.0 * period / model.settle), _mean_decay(2.0 * period / model.drift)
    stays_um = _mean_decay(period / model.settle + period / model.drift)
    wander_x, wander_y, offset_x, offset_y = model.variances(size)
    total = 0.0
    for var_u, var_m in ((wander_x, offset_x), (wander_y, offset_y)):
        uu, um, mm = var_u, 0.0, var_m
        for _ in range(max(20, min(400, math.ceil(2.0 * model.drift / period)))):
            with_u, with_m = uu + um, um + mm
            whole = with_u + with_m + noise
            uu, um, mm = uu - with_u * with_u / whole, um - with_u * with_m / whole, mm - with_m * with_m / whole
            after = uu, um, mm
            uu = fast * fast * uu + (1.0 - fast * fast) * var_u
            um = fast * slow * um
            mm = slow * slow * mm + (1.0 - slow * slow) * var_m
        uu, um, mm = after
        total += var_u + (uu - var_u) * stays_u + 2.0 * um * stays_um + var_m + (mm - var_m) * stays_m
    return total


@lru_cache(maxsize=1024)
def choose_ticks(
    model: GazeModel, size: tuple[float, ...], scale: float, window: float, variance: float = ON_A_SCREEN
) -> int:
    """Return how many ticks a window should have, from 1 to 12: the number of least expected error.

    No gaze enters, so the choice is public.

    Args:
        model: How gaze moves.
        size: The size of the space.
        scale: The noise scale of a single tick that has the whole window's budget: radius / epsilon.
        window: The length of a window in seconds.
        variance: The variance of the noise an axis, in squares of its scale.
    """
    return min(range(1, MOST_TICKS + 1), key=lambda c: predicted_error(model, size, c * scale, window / c, variance))


def _mean_decay(rate: float) -> float:
    """Return the mean of exp(-rate * share) over shares from 0 to 1."""
    return -math.expm1(-rate) / rate


# --- Where gaze is expected, given what is on the screen: the prior that the filter of a private stream falls back on.


TRUST = 0.6
"""The weight of a density against what is known of any scene. Nearly all that a right one gains is gained at 0.6, and
what a wrong one costs grows with the weight (docs/concepts/veils.md)."""

_MOST_CELLS = 1 << 24


class ContentRegion(NamedTuple):
    """A box that draws the eye; gaze is equally likely everywhere within it.

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


Density = FloatArray | Sequence[ContentRegion] | Sequence[tuple[float, ...]]
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
        OptionError: If the density is not valid.
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


def content_regions(regions: Any) -> tuple[ContentRegion, ...]:
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
        made.append(ContentRegion(*(float(value) for value in numbers)))
    return tuple(made)


def _regions(space: Space, regions: Any) -> FloatArray:
    boxes = np.array(content_regions(regions)).T
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


# --- The scenes of a private stream, in the array that its compiled step reads: the prior now, and earlier ones. When
# the scene changes, the expected place does not jump: within the filter's own time it moves from where it was to the
# new centre, and the estimate with it. An output that looks back needs earlier scenes as well.


_PRIOR = 6
"""Numbers at the beginning of a plan: the variances of wandering and offset and the centre, two each."""


def with_prior(plan: FloatArray, prior: Prior) -> FloatArray:
    """Return a plan with another prior from the beginning on."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415  (numba loads on use)

    fresh = plan[: k.PLAN_WIDTH].copy()
    fresh[:_PRIOR] = (*prior.wander, *prior.offset, *prior.centre)
    return fresh


def followed_by(plan: FloatArray, prior: Prior, now: float) -> FloatArray:
    """Return a plan with another prior from now on, in microseconds after the stream's first time."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    centre = plan[k.CENTRE : k.CENTRE + 2]
    gap = centre + k.trailing(plan, now) - prior.centre
    gap[0] = k.wrapped_difference(gap[0], plan[k.TURN])
    before = plan[k.PLAN_WIDTH :].reshape(-1, k.SCENE_WIDTH)
    if not len(before):
        before = np.array([[-np.finfo(np.float64).max / 4, *centre, 0.0, 0.0]])
    # of the scenes that were over before the output looks back, the latest is still needed
    needed = int(np.count_nonzero(before[:, 0] > now - plan[k.LAG])) + 1 if plan[k.LAG] > 0.0 else 0
    return np.concatenate([with_prior(plan, prior), [now, *prior.centre, *gap], before[:needed].ravel()])


def scenes_of(plan: FloatArray) -> FloatArray:
    """Return the scenes alone, for a state or for another guarantee."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    return np.concatenate([plan[:_PRIOR], plan[k.PLAN_WIDTH :]])


def with_scenes(plan: FloatArray, scenes: FloatArray) -> FloatArray:
    """Return a plan with the scenes of another."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    return np.concatenate([scenes[:_PRIOR], plan[_PRIOR : k.PLAN_WIDTH], scenes[_PRIOR:]])


def are_scenes(scenes: FloatArray, space: Space) -> bool:
    """Whether an array can hold scenes at all: for state that came from outside."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    if scenes.dtype != np.float64 or len(scenes) < _PRIOR or (len(scenes) - _PRIOR) % k.SCENE_WIDTH:
        return False
    centres = [scenes[_PRIOR - 2 : _PRIOR], *scenes[_PRIOR:].reshape(-1, k.SCENE_WIDTH)[:, 1:3]]
    low, high = np.array(space.low), np.array(space.high)
    return bool(
        np.isfinite(scenes).all()
        and (scenes[: _PRIOR - 2] > 0).all()
        and all((low <= centre).all() and (centre <= high).all() for centre in centres)
    )
