# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a running gateway counts: plain numbers that cost next to nothing to raise, and never gaze."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

BOUNDS: Final = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.5)
"""Upper ends of the latency histogram's bins, in seconds."""
REFUSALS: Final = ("host", "origin", "token", "key", "raw")
"""A foreign host name, a web page, no token, a link that is void, and raw gaze that nobody may look at."""


@dataclass(slots=True)
class Latency:
    """From the arrival of a tracker's bytes to the hand-over of the app's to the system."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def saw(self, seconds: float, count: int = 1) -> None:
        """Count so many that took so long."""
        self.counts[bisect_left(BOUNDS, seconds)] += count
        self.total += seconds * count

    def share_ms(self, share: float) -> float | None:
        """Return within how many milliseconds a share of them was done, as far as the bins tell; None before the first.

        Beyond the last bin it is that bin's upper end.
        """
        wanted, seen = share * sum(self.counts), 0
        for index, count in enumerate(self.counts):
            if count and seen + count >= wanted:
                low = BOUNDS[index - 1] if index else 0.0
                high = BOUNDS[min(index, len(BOUNDS) - 1)]
                return round(1e3 * (low + (high - low) * (wanted - seen) / count), 3)
            seen += count
        return None


@dataclass(slots=True)
class AppMeter:
    """Counts of one app."""

    connections: int = 0
    listeners: int = 0
    """Connections that have asked for gaze; where a protocol does not tell how many, 1 for any."""
    sent: int = 0
    dropped: int = 0
    """Veiled samples that a slow reader did not get: the oldest go first."""
    refused: int = 0
    """Connections that were cut: too many, garbage, mute, or stalled."""
    refused_origins: int = 0
    """Web pages that were turned away."""
    latency: Latency = field(default_factory=Latency)


@dataclass(slots=True)
class TrackerMeter:
    """Counts of one tracker."""

    connected: bool = False
    samples: int = 0
    connects: int = 0
    garbage: int = 0
    refused: int = 0
    """Senders that were turned away: another one is connected, or too many showed no token."""
    refused_origins: int = 0
    """Web pages that were turned away."""
    refused_tokens: int = 0
    """Connections that showed a wrong token, or none."""


@dataclass(slots=True)
class Meters:
    """All counts of a gateway."""

    apps: dict[str, AppMeter] = field(default_factory=lambda: defaultdict(AppMeter))
    trackers: dict[str, TrackerMeter] = field(default_factory=lambda: defaultdict(TrackerMeter))
    control_refused: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REFUSALS, 0))
    """Requests to the control API that were refused, by reason."""
    payments: int = 0
    payment_errors: int = 0
    faults: int = 0
    """Errors that should not happen, each told in the log."""
