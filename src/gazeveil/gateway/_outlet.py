# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the outlets of all transports share: what they show, whom they tell, and what they count."""

from __future__ import annotations

import time
from collections.abc import Callable

from gazeveil.gateway.logs import Log
from gazeveil.gateway.meters import Meters
from gazeveil.gateway.protocol import Protocol, Shown

monotonic = time.monotonic


class CountedOutlet:
    """One app's outlet.

    Attributes:
        protocol: What it speaks.
        shown: What whoever connects from now on is shown.
        meter: What it counts.
        watched: Is called when the first one comes, and when the last one has left.
    """

    def __init__(self, protocol: Protocol, shown: Shown, meters: Meters, log: Log) -> None:
        self.protocol, self.shown, self.log = protocol, shown, log
        self.meter = meters.apps[shown.name]
        self.watched: Callable[[bool], None] = lambda by_anybody: None
        self._silent = True
        self._fresh = 0

    def flush(self, arrived: float) -> None:
        """Send what was shown, all of it at once; it was made of bytes that came at a moment."""
        if self._fresh:
            self._send_fresh()
            self.meter.latency.saw(monotonic() - arrived, self._fresh)
            self._fresh = 0

    def regrade(self, shown: Shown) -> None:
        """Show another kind of thing from now on; where a transport cannot, nobody can choose it."""
        self.shown = shown

    def _send_fresh(self) -> None:
        """Send what was shown and is not sent yet: nothing, where everything is sent when it is shown."""
