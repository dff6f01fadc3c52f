# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far a tracker's clock is from the machine's, for protocols in which an app asks what time it is."""

from __future__ import annotations

_FORGETS = 0.001
"""What share of a longer delay one sample is believed: clocks that drift are followed, jitter is not."""


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
