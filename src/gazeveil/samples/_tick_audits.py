# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Held ticks before the auditor: a window of points in a room, moved by the radius, on clocks that are kind or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.samples._one_stream import OneStream
from gazeveil.samples.mechanisms.held_ticks import HeldTicks
from gazeveil.samples.space import Room3D

_ROOM = Room3D((-20000.0,) * 3, (20000.0,) * 3)
"""So large that no noisy point meets its edge."""
_RATE = 10.0
_MOST = 3
"""How many windows a stream is long at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """A stream of points, which of its samples get a release, and how many numbers an output has."""

    t: FloatArray
    points: FloatArray
    seen: NDArray[np.intp]
    width: int

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The points, one list a coordinate."""
        return tuple(self.points)


@dataclass(frozen=True, slots=True)
class Ticks(OneStream):
    """Held ticks: an output is all that was released; a release that another clock has and this one has not is 0."""

    mechanism: HeldTicks

    def log_ratio(self, outputs: Outputs, first: Points, second: Points) -> FloatArray:
        """Return the log ratio of the two densities."""
        return (self._apart(outputs, second) - self._apart(outputs, first)) / float(self.mechanism.scale)

    def _apart(self, outputs: Outputs, data: Points) -> FloatArray:
        count = len(data.seen)
        there = outputs[:, : 3 * count].reshape(len(outputs), count, 3)
        # where gaze is missing, noise is added to what was released before, which is the same for both of a pair
        return np.asarray(np.nansum(np.linalg.norm(there - data.points[:, data.seen].T, axis=2), axis=1))


@auditable("held-ticks")
def held_ticks(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """Noisy points of a room on a public clock, over windows of gaze that are moved."""
    mechanism = HeldTicks(
        _ROOM, epsilon=Fraction(epsilon), window=Fraction(window), radius=Fraction(radius), ticks=ticks
    )
    stream = Ticks(mechanism, (_MOST + 1) * window)
    return Subject(stream.run, mechanism.guarantee, _pairs(mechanism), stream.log_ratio)


def _pairs(mechanism: HeldTicks) -> tuple[Pair, ...]:
    """Return closed windows in which every point is moved by the radius, in a direction along no axis."""
    seconds, aside = float(mechanism.window), float(mechanism.radius) / math.sqrt(3.0)
    even = np.arange(0.0, seconds + 1e-9, 1.0 / _RATE)
    clocks = {
        "on an even clock": even,
        "in a burst at ten times the rate": np.arange(0.0, seconds + 1e-9, 0.1 / _RATE),
        "on a clock that stutters": np.sort(np.concatenate([even, even[::3], even[::5] + 1e-6])),
        "and then gaze is lost": np.arange(0.0, (_MOST - 0.5) * seconds, 1.0 / _RATE),
    }
    pairs = []
    for words, clock in clocks.items():
        t = clock if words.endswith("lost") else clock[clock <= seconds]
        there = np.where(t <= seconds, 0.0, np.nan) + np.zeros((3, len(t)))
        shown = np.stack(mechanism.start(NoiseSource.seeded(1)).run3(t, *there))
        released = np.flatnonzero(np.any(np.diff(shown, axis=1, prepend=0.0) != 0, axis=0))
        # aside is rounded down, so that three of them make no more than the radius
        moved = there + math.nextafter(aside * (1.0 - 1e-15), 0.0)
        sides = [Points(t, points, released, 3 * _MOST * mechanism.ticks) for points in (there, moved)]
        pairs.append(Pair(sides[0], sides[1], f"a window moved aside, {words}"))
    return tuple(pairs)
