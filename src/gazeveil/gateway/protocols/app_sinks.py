# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What sinks share: the check of the output, the offset of clocks, and fixations of veiled points.

A sink takes only the output that its policy grants, so that an app with names of areas gets no points by mistake.
A tracker's own fixation flags are raw and never leave; these follow the veiled points. The detectors of
`gazeveil.gaze.events` report a fixation when it is over; protocols need the current one at every sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gazeveil.errors import PrivacyError
from gazeveil.gateway.protocol import Output, Sink, StreamFacts, ViewingPlane
from gazeveil.gateway.sample import Veiled, VeiledFixation, VeiledHit, VeiledSample

CARRIES: Final[Mapping[Output, type[Veiled]]] = {
    "samples": VeiledSample,
    "fixations": VeiledFixation,
    "hits": VeiledHit,
}


class OneOutputSink(Sink):
    """A sink whose app gets samples, or fixations alone, but never both."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._granted = CARRIES[shown.output]

    def regrade(self, shown: StreamFacts) -> None:
        """Take another kind of veiled thing from now on, and no more of the old kind."""
        super().regrade(shown)
        self._granted = CARRIES[shown.output]

    def show(self, veiled: Veiled, now: float) -> None:
        """Queue one veiled thing, if the app asked for data.

        Raises:
            PrivacyError: If it is anything but what a veil made, or not what the app may have.
        """
        if type(veiled) is not self._granted:
            raise PrivacyError(f"an app that may have {self.shown.output} is not shown a {type(veiled).__name__}")
        if not self.ended:
            super().show(veiled, now)


# --- The offset of a tracker's clock, for protocols in which an app asks for the time.


_FORGETS = 0.001
"""The weight of one sample with a longer delay: drift of clocks is followed, jitter is not."""


class TrackerClock:
    """Follows the shortest delay between a sample's own time and the moment it is shown.

    Attributes:
        ahead: Seconds that the machine's clock is ahead of the tracker's; None before the first sample.
    """

    __slots__ = ("ahead",)

    def __init__(self) -> None:
        self.ahead: float | None = None

    def seen(self, t: float, now: float) -> float:
        """Take a sample's time and the machine's, and return how far the machine's clock is ahead."""
        delay = now - t
        if self.ahead is None or delay < self.ahead:
            self.ahead = delay
        else:
            self.ahead += _FORGETS * (delay - self.ahead)
        return self.ahead


# --- Fixations of veiled points, for protocols that flag them with every sample.


REACH: Final = 0.03
"""The largest distance of fixation points from their centre, in widths of the viewing plane: about 1.5 degrees."""

AT_LEAST: Final = 0.1
"""The shortest fixation in seconds."""

_MOST_STEP: Final = 0.1
_SLACK: Final = 1e-9  # times are differences of floats


class FixationFlag:
    """Follows the centre of veiled points that stay together, with constant work and memory.

    Attributes:
        x: The centre, as a fraction of the viewing plane.
        y: The same, downwards.
        start: When the points came together.
        duration: Seconds since then.
        number: How many fixations there were, with the current one.
        now: Whether there is a fixation now.
    """

    __slots__ = ("_count", "_last", "_taller", "duration", "now", "number", "start", "x", "y")

    def __init__(self, plane: ViewingPlane) -> None:
        geometry = plane.geometry
        self._taller = (geometry.height_px or 1.0) / (geometry.width_px or 1.0)
        self._count = 0
        self._last = 0.0
        self.x = self.y = self.start = self.duration = 0.0
        self.number = 0
        self.now = False

    def lost(self) -> None:
        """Drop the points: there is no gaze."""
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
