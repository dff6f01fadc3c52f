# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all links to trackers share: whose gaze it is, where it goes, what is counted, and how one is called again."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

from gazeveil.errors import GazeveilError
from gazeveil.gateway.logs import Log
from gazeveil.gateway.meters import TrackerMeter
from gazeveil.gateway.sample import RawSample

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0

Push = Callable[[list[RawSample], float], None]


class Link:
    """A way by which gaze of one tracker comes.

    Args:
        name: The tracker's name in the policy.
        push: Takes samples and the time.
        lost: Is told why there is no gaze.
        meter: The tracker's counts.
        log: The gateway's log.
    """

    def __init__(self, *, name: str, push: Push, lost: Callable[[str], None], meter: TrackerMeter, log: Log) -> None:
        self.name, self.push, self.lost, self.meter, self.log = name, push, lost, meter, log

    def take(self, samples: list[RawSample], now: float) -> None:
        """Count samples and hand them on; with the first ones the tracker is found."""
        if not self.meter.connected:
            self.meter.connected = True
            self.log("tracker found", tracker=self.name)
        self.meter.samples += len(samples)
        self.push(samples, now)

    def gone(self, why: str) -> None:
        """Say that there is no gaze any more."""
        self.meter.connected = False
        self.lost(why)

    def failed(self, error: GazeveilError) -> str:
        """Count an error, and return it in words."""
        self.meter.garbage += 1
        return f"{error.message} ({error.hint})" if error.hint else error.message


class CalledLink(Link, ABC):
    """A link that calls the tracker, and calls it again when it is gone."""

    async def run(self) -> None:
        """Keep the connection for ever; cancel to stop."""
        pause = FIRST_PAUSE
        while True:
            before = self.meter.samples
            try:
                why = await self._listen()
            except GazeveilError as error:
                why = self.failed(error)
            self.gone(why)
            pause = FIRST_PAUSE if self.meter.samples > before else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    @abstractmethod
    async def _listen(self) -> str:
        """Listen to the tracker until that is over, and say why it is."""
