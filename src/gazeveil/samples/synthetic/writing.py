# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events back to samples: spread around a place for a fixation, along a line for a saccade (David-John 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gazeveil.noise import NoiseSource, from_lattice, gaussian
from gazeveil.samples.synthetic.events import FIXATION, Events, displacements
from gazeveil.types import FloatArray, IntArray

STEP = 2.0**-20


def normals(noise: NoiseSource, shape: tuple[int, ...]) -> FloatArray:
    """Return standard normal numbers."""
    return from_lattice(gaussian(noise, 1, shape, STEP), STEP)


def fixation_samples(place: FloatArray, shape: tuple[int, ...], noise: NoiseSource) -> FloatArray:
    """Return gaze around a place: (…, 2) points, independent of one another."""
    return np.asarray(place[:2] + place[2:] * normals(noise, (*shape, 2)))


def write(
    events: Events, fixations: Sequence[FloatArray | None], profiles: Sequence[FloatArray | None]
) -> tuple[FloatArray, FloatArray]:
    """Return gaze across and down at all samples.

    A saccade runs from the last point before it towards the mean of the fixation that follows, where one is written,
    otherwise in its own direction, and never beyond where it lands. Where there is no event, or one is left out, the
    last written point stays. So no recorded position passes through; but directions may, when events began and ended
    does, and where the tracker saw nothing.

    Args:
        events: When they are.
        fixations: For every fixation its samples by 2, or None to leave it out.
        profiles: For every saccade its velocities, or None to leave it out.
    """
    x, y = np.full(len(events.t), np.nan), np.full(len(events.t), np.nan)
    is_fixation = events.kinds == FIXATION
    number = np.where(is_fixation, np.cumsum(is_fixation), np.cumsum(~is_fixation))
    at: FloatArray | None = None
    for event, (kind, first, end) in enumerate(zip(events.kinds, events.first, events.end, strict=True)):
        if kind == FIXATION:
            points = fixations[number[event] - 1]
        elif at is not None and (profile := profiles[number[event] - 1]) is not None:
            ahead = _next_fixation(events, fixations, number, event)
            way = events.ways[number[event] - 1, :2] if ahead is None else ahead - at
            points = _line(at, way, displacements(profile, events.t[first:end]))
        else:
            points = None
        if points is not None:
            x[first:end], y[first:end] = points.T
            at = points[-1]
    x, y = _held(x), _held(y)
    x[~events.tracked] = y[~events.tracked] = np.nan
    return x, y


def _next_fixation(
    events: Events, fixations: Sequence[FloatArray | None], number: IntArray, event: int
) -> FloatArray | None:
    after = event + 1
    if after >= len(events.kinds) or events.kinds[after] != FIXATION:
        return None
    points = fixations[number[after] - 1]
    return None if points is None else np.asarray(points.mean(axis=0))


def _line(start: FloatArray, way: FloatArray, along: FloatArray) -> FloatArray:
    length = float(np.hypot(*way))
    ahead = way / length if length > 0 else np.zeros(2)
    return np.asarray(start + np.minimum(along, length)[:, None] * ahead)


def _held(values: FloatArray) -> FloatArray:
    """Return values with what is missing filled by the last one before it; missing before the first."""
    there = np.isfinite(values)
    last = np.maximum.accumulate(np.where(there, np.arange(len(values)), -1)) if len(values) else there
    return np.where(last >= 0, values[np.maximum(last, 0)], np.nan) if len(values) else values
