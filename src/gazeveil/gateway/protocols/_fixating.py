# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether veiled points rest, for protocols that tell it with every sample.

A tracker's own fixation flags follow the eye, so they never leave; these follow the veiled points. The detectors of
`gazeveil.gaze.events` tell a fixation when it is over; protocols ask at every sample for the one that lasts.
"""

from __future__ import annotations

from typing import Final

from gazeveil.gateway.plane import Plane

REACH: Final = 0.03
"""How far from their centre points may lie and still rest, as a share of the viewing plane's width: about 1.5 degrees.
"""

AT_LEAST: Final = 0.1
"""Seconds after which resting is a fixation."""

_MOST_STEP: Final = 0.1
_SLACK: Final = 1e-9  # times are differences of floats


class Fixating:
    """Follows the centre of veiled points that stay together; constant work and memory.

    Attributes:
        x: The centre, as a fraction of the viewing plane.
        y: The same, downwards.
        start: When the points came to rest.
        duration: Seconds since then.
        number: How many fixations there were, with the one that lasts.
        now: Whether there is a fixation now.
    """

    __slots__ = ("_count", "_last", "_taller", "duration", "now", "number", "start", "x", "y")

    def __init__(self, plane: Plane) -> None:
        geometry = plane.geometry
        self._taller = (geometry.height_px or 1.0) / (geometry.width_px or 1.0)
        self._count = 0
        self._last = 0.0
        self.x = self.y = self.start = self.duration = 0.0
        self.number = 0
        self.now = False

    def lost(self) -> None:
        """Forget the points: there is no gaze."""
        self._count = 0
        self.x = self.y = self.duration = 0.0
        self.now = False

    def push(self, t: float, x: float, y: float) -> None:
        """Take a veiled point, as a fraction of the viewing plane."""
        count, step = self._count, t - self._last
        self._last = t
        if count and 0 <= step <= _MOST_STEP:
            across, down = x - self.x, (y - self.y) * self._taller
            if across * across + down * down <= REACH * REACH:
                self._count = count = count + 1
                self.x += across / count
                self.y += (y - self.y) / count
                self.duration = t - self.start
                if not self.now and self.duration >= AT_LEAST - _SLACK:
                    self.now = True
                    self.number += 1
                return
        self._count, self.x, self.y, self.start, self.duration, self.now = 1, x, y, t, 0.0, False
