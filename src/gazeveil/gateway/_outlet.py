# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the outlets of all transports share: what they show, whom they tell, and what they count."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from gazeveil.gateway.logs import Log
from gazeveil.gateway.meters import AppMeter
from gazeveil.gateway.protocol import Protocol, Shown

monotonic = time.monotonic


class CountedOutlet(ABC):
    """One app's outlet.

    Attributes:
        protocol: What it speaks.
        shown: What whoever connects from now on is shown.
        meter: What it counts.
        watched: Is called when the first one comes, and when the last one has left.
    """

    def __init__(self, protocol: Protocol, shown: Shown, meter: AppMeter, log: Log) -> None:
        self.protocol, self.shown, self.meter, self.log = protocol, shown, meter, log
        self.watched: Callable[[bool], None] = lambda by_anybody: None
        self._silent = True
        self._fresh = 0

    @property
    @abstractmethod
    def is_watched(self) -> bool:
        """Whether anybody is there."""

    def flush(self, arrived: float) -> None:
        """Send what was shown, all of it at once; it was made of bytes that came at a moment."""
        if self._fresh:
            self._send_fresh()
            if self.is_watched:
                self.meter.latency.saw(monotonic() - arrived, self._fresh)
            self._fresh = 0

    def _send_fresh(self) -> None:  # noqa: B027  (where everything is sent when it is shown, nothing is left)
        """Send what was shown and is not sent yet."""
