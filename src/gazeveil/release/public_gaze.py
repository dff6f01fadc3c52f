# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze that nobody had, and how far a mechanism moves it: the forecast of veiled recordings.

The eye rests for 0.2 to 0.4 s at places around the middle of the screen and jumps between them at once. That is far
simpler than real gaze, but public, and it moves as much: what matters for an error is how long an eye rests and how far
it jumps.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.release.forecast import Forecast
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import Sphere

_PATHS, _SECONDS, _SAMPLES = 20, 6.0, 2000
"""How many paths there are, and how long each is at most: in seconds and, for fast trackers, in samples."""
USUAL_HZ = 60.0
"""The rate of a tracker that nobody declared."""
_REST_S = (0.2, 0.4)
_SPREAD = 0.18
"""The standard deviation of places, as a part of the screen's width."""
_SEED = 13


@lru_cache(maxsize=64)
def veil_forecast(mechanisms: tuple[SampleMechanism, ...], rate_hz: float = USUAL_HZ) -> Forecast:
    """Return how far mechanisms, each for its screen, move public gaze: the same answer every time."""
    veiled, centred = np.concatenate([_errors(each, rate_hz) for each in mechanisms], axis=1)
    directions = any(isinstance(each.space, Sphere) for each in mechanisms)
    width = (
        f"the {mechanisms[0].space.usual[0]:g} degrees that gaze usually keeps to"
        if directions
        else "the screen's width"
    )
    nothing = float(np.sqrt(np.mean(centred**2)))
    low, high = np.quantile(veiled, [0.05, 0.95])
    return Forecast(
        measure="error",
        expected=float(np.sqrt(np.mean(veiled**2))),
        low=float(low),
        high=float(high),
        without_data=nothing,
        floor=0.9 * nothing,
        basis=f"distance from gaze as a part of {width}, on {_PATHS} made-up paths of gaze at {rate_hz:g} "
        f"Hz that rest {_REST_S[0]:g} to {_REST_S[1]:g} s; without data is the middle of the space",
        each="recordings",
        part_of=width,
    )


def _errors(mechanism: SampleMechanism, rate_hz: float) -> FloatArray:
    """Return the root-mean-square errors of veiled paths, and of the middle of the space, as parts of its width."""
    (width, height), (middle, half_way) = mechanism.space.usual[:2], mechanism.space.centre[:2]
    t = np.arange(min(max(int(_SECONDS * rate_hz), 1), _SAMPLES)) / rate_hz
    late = min(round(mechanism.delay * rate_hz), len(t) - 1)  # a point is about where gaze was before
    found = np.empty((2, _PATHS))
    for number in range(_PATHS):
        across, down = _path(t, number, height / width)
        x, y = middle + width * across, half_way + width * down
        veil = mechanism.start(NoiseSource.seeded(_SEED).spawn(f"path {number}"))
        shown_x, shown_y = veil.run(t, x, y)
        off = shown_x[late:] - x[: len(t) - late]
        if period := mechanism.space.period:
            off = off - period * np.floor(off / period + 0.5)
        squares = off**2 + (shown_y[late:] - y[: len(t) - late]) ** 2
        known = squares[np.isfinite(squares)]
        centre = np.mean(across**2 + down**2)
        found[:, number] = np.sqrt(np.mean(known)) / width if len(known) else np.sqrt(centre), np.sqrt(centre)
    return found


def _path(t: FloatArray, number: int, height: float) -> tuple[FloatArray, FloatArray]:
    """Return one path around (0, 0) on a screen that is 1 wide."""
    source, count = NoiseSource.seeded(_SEED).spawn(f"gaze {number}"), int(_SECONDS / _REST_S[0]) + 1
    length, *places = [[(source.bits(52) + 0.5) / (1 << 52) for _ in range(count)] for _ in range(3)]
    place = np.searchsorted(np.cumsum(_REST_S[0] + (_REST_S[1] - _REST_S[0]) * np.array(length)), t, side="right")
    across, down = _SPREAD * np.array([[NormalDist().inv_cdf(part) for part in axis] for axis in places])
    return np.clip(across, -0.5, 0.5)[place], np.clip(down, -height / 2, height / 2)[place]
