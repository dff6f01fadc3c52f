# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Open Gaze calibration that an app may ask for: the dialogue it expects, without a tracker behind it.

The tracker is calibrated elsewhere, by its owner. An app that starts a calibration is shown every point at the pace
it asked for, and is told that each was met exactly: constants, and numbers that it sent itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

Point = tuple[float, float]

FIVE: Final[tuple[Point, ...]] = ((0.5, 0.5), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85), (0.15, 0.15))
"""Where these trackers show points unless told otherwise."""

MOST_POINTS: Final = 32
LONGEST: Final = 10.0


class Calibration:
    """Points, pace, and how far a run has come.

    Attributes:
        points: As fractions of the screen.
        delay: Seconds before a point is measured.
        timeout: Seconds for which it is measured.
    """

    def __init__(self) -> None:
        self.points: list[Point] = list(FIVE)
        self.delay = 0.5
        self.timeout = 1.25
        self._at: int | None = None
        self._until = 0.0

    def replace(self, points: Iterable[Point]) -> None:
        """Take other points; a run that shows the old ones is broken off."""
        self.points = list(points)
        self._at = None

    def add(self, x: float, y: float) -> bool:
        """Add a point, and say whether there was room for it."""
        if len(self.points) >= MOST_POINTS or not (math.isfinite(x) and math.isfinite(y)):
            return False
        self.points.append((x, y))
        return True

    def listed(self) -> str:
        """Return the points as attributes."""
        pairs = (f' X{n}="{x:.5f}" Y{n}="{y:.5f}"' for n, (x, y) in enumerate(self.points, 1))
        return f'PTS="{len(self.points)}"' + "".join(pairs)

    def start(self, now: float) -> None:
        """Begin with the first point."""
        self._at, self._until = -1, now

    def stop(self) -> None:
        """Break off."""
        self._at = None

    def advance(self, now: float) -> str:
        """Return what there is to say by now, one step at a time."""
        if self._at is None or now < self._until:
            return ""
        said = ""
        if self._at >= 0:
            said = _point("CALIB_RESULT_PT", self._at, *self.points[self._at])
        self._at += 1
        if self._at < len(self.points):
            self._until = now + self.delay + self.timeout
            return said + _point("CALIB_START_PT", self._at, *self.points[self._at])
        self._at = None
        return said + self._result()

    def _result(self) -> str:
        met = (
            f' CALX{n}="{x:.5f}" CALY{n}="{y:.5f}" LX{n}="{x:.5f}" LY{n}="{y:.5f}" LV{n}="1"'
            f' RX{n}="{x:.5f}" RY{n}="{y:.5f}" RV{n}="1"'
            for n, (x, y) in enumerate(self.points, 1)
        )
        return '<CAL ID="CALIB_RESULT"' + "".join(met) + " />\r\n"


def _point(what: str, at: int, x: float, y: float) -> str:
    return f'<CAL ID="{what}" PT="{at + 1}" CALX="{x:.4f}" CALY="{y:.4f}" />\r\n'
