# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How often to look: at the first frame, and then at the first one of every interval after it."""

from __future__ import annotations

import math

from gazeveil.errors import OptionError

EVERY_S = 0.5
"""Seconds between two analysed frames: the default of kaleido2021 section 6."""

_ROUNDING = 1e-6
"""Times of videos are rounded to microseconds."""


class Pace:
    """Which frames are looked at. Looks that were missed are not made up for."""

    def __init__(self, every_s: float = EVERY_S) -> None:
        if not (math.isfinite(every_s) and every_s > 0):
            raise OptionError(f"every_s must be a number of seconds above 0, not {every_s!r}")
        self.every_s = every_s
        self._first: float | None = None
        self._last = self._next = -math.inf

    def due(self, t: float) -> bool:
        """Whether it is time to look. A time before the last look is, so that whoever looks can say what is wrong."""
        return t >= self._next or t < self._last

    def looked(self, t: float) -> None:
        """Say that a frame of this time is being looked at."""
        self._last = t
        if self._first is None:
            self._first = t
        intervals = math.floor((t - self._first) / self.every_s + _ROUNDING) + 1
        self._next = self._first + intervals * self.every_s - _ROUNDING
