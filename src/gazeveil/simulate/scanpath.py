# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where and when the eye goes: how long it rests, and which place it takes next.

At the end of a fixation the eye considers some places within this participant's habitual reach (a gamma distribution
of amplitudes, directions rather across than up and down) and takes one in proportion to how much the scene, as
this participant sees it, draws the gaze there. It lands a little short and a little off, and mends a large miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.geometry import Geometry, Unit
from gazeveil.simulate.population import Observer
from gazeveil.simulate.stimulus import Stimulus

_CONSIDERED = 24  # places weighed before each saccade
_SMALLEST_DEG = 0.5  # what is smaller counts as a microsaccade
_REACH = 1.8  # places are weighed from further away than the eye goes in the end: near ones win more often
_GRID = (36, 48)  # rows and columns of the attraction map


@dataclass(frozen=True, slots=True)
class Attraction:
    """How strongly each part of the viewing plane draws one participant's gaze, on a grid that is even in degrees."""

    grid: FloatArray
    extent: FloatArray  # left, top, right, bottom in degrees


def attraction(observer: Observer, stimulus: Stimulus, geometry: Geometry) -> Attraction:
    """Weigh a scene with one participant's tastes and pull to the middle."""
    left, top, right, bottom = geometry.in_unit(Unit.DEGREE).extent()
    rows, columns = _GRID
    x_deg = left + (np.arange(columns) + 0.5) / columns * (right - left)
    y_deg = top + (np.arange(rows) + 0.5) / rows * (bottom - top)
    plane = geometry.in_unit(Unit.DEGREE)
    x, _ = plane.convert(x_deg, np.zeros(columns), Unit.FRACTION)
    _, y = plane.convert(np.zeros(rows), y_deg, Unit.FRACTION)
    drawn = stimulus.attraction(
        x[None, :] + 0.0 * y[:, None], y[:, None] + 0.0 * x[None, :], stimulus.weights_for(observer)
    )
    middle = np.exp(-(x_deg[None, :] ** 2 + y_deg[:, None] ** 2) / (2 * observer.centre_spread_deg**2))
    return Attraction(np.ascontiguousarray(drawn * middle), np.array([left, top, right, bottom]))


def look_around(
    observer: Observer,
    attracted: Attraction,
    drifted: FloatArray,
    step: float,
    start: tuple[float, float],
    rng: np.random.Generator,
) -> FloatArray:
    """Return the jumps (saccades and microsaccades) one participant makes, in order; see `_kernels.walk`."""
    from gazeveil.simulate import _kernels  # noqa: PLC0415  (compiles)

    duration = len(drifted) * step
    # enough fixations to fill the time: the shortest imaginable mean, and some more
    count = int(duration / observer.fixation_s * 1.5) + 20
    spread = np.sqrt(np.log1p(observer.fixation_cv**2))
    rest = observer.fixation_s * np.exp(spread * rng.standard_normal(count) - spread**2 / 2)
    rest[0] = observer.latency_s * np.exp(0.2 * rng.standard_normal())
    short_rest = np.maximum(0.13 + 0.04 * rng.standard_normal(count), 0.06)
    shape = observer.amplitude_shape
    reach = _SMALLEST_DEG + rng.standard_gamma(shape, (count, _CONSIDERED)) * (
        _REACH * (observer.amplitude_deg - _SMALLEST_DEG) / shape
    )
    micro_count = int(duration * observer.microsaccade_hz * 1.5) + 20
    jumps = np.empty((count + micro_count, 10))
    made = _kernels.walk(
        drifted,
        step,
        np.array(start),
        np.maximum(rest, 0.05),
        short_rest,
        reach,
        rng.uniform(-np.pi, np.pi, (count, _CONSIDERED)),
        rng.random(count),
        rng.standard_normal((count, 2)),
        np.exp(observer.velocity_scatter * rng.standard_normal(count)),
        rng.standard_gamma(5.0, micro_count) / (5.0 * observer.microsaccade_hz),
        rng.standard_gamma(4.0, micro_count) * (observer.microsaccade_deg / 4.0),
        rng.uniform(-np.pi, np.pi, micro_count),
        attracted.grid,
        attracted.extent,
        np.array(
            [
                observer.saccade_ceiling,
                observer.saccade_scale,
                observer.saccade_stretch,
                observer.saccade_gain,
                observer.landing_scatter,
                observer.horizontal_bias,
            ]
        ),
        jumps,
    )
    return jumps[:made]
