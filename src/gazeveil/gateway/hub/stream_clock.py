# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Stream time: a tracker's clock without jumps that would break the guarantee of a window (erratum K3).

Windows are counted on device time. A device clock that jumps ahead would declare a window over that is not, and its
budget would be spent again. So stream time never runs back, and never runs ahead of the machine's own clock by more
than `SLACK_S` in total, plus `DRIFT`: a quartz that is a little fast is no fault, however long it runs. A stamp that
breaks the rule does not stop the stream: it continues from its last moment by as much as the machine's clock passed.

When the tracker is silent, stream time can be filled up by the machine's clock, at the pace that samples had.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from gazeveil.samples.mechanism import LATEST

SLACK_S: Final = 0.5
"""How far stream time may be ahead of the machine's clock: samples come in bursts, and the first may come late."""
DRIFT: Final = 0.002
"""By which part of the passing time a lead is forgiven: device clocks are off by less than half of that."""
CREDIT_S: Final = 10.0
"""How long a delay may be made up for at once, when a network stalls and then delivers everything."""
SLOWEST_S, FASTEST_S, LEARNS = 0.1, 0.001, 0.05
"""The steps between samples that a pace is learnt from, and how much of each is believed."""
JITTER_S: Final = 0.05
"""A stamp that is earlier by no more than this is out of order; by more, the clock was set back."""


class ClockFaults(NamedTuple):
    """What was odd about a device clock: counts alone.

    Attributes:
        ran_back: How often it was set back.
        ran_ahead: How often it ran ahead of the machine's clock by more than is allowed.
        no_time: Stamps that are no time; those samples were dropped.
    """

    ran_back: int = 0
    ran_ahead: int = 0
    no_time: int = 0


class StreamClock:
    """The stream time of one tracker.

    Attributes:
        last: The latest stream time; None before the first sample.
        filled: Until when it was filled up while the tracker was silent; samples from before that come too late.
        pace: The usual step between two samples, in seconds of stream time; time stamps are public.
    """

    __slots__ = (
        "_lead", "_offset", "_seen", "_speed", "filled", "last", "no_time", "pace", "ran_ahead", "ran_back",
    )  # fmt: skip

    def __init__(self, speed: float = 1.0) -> None:
        """Start a clock.

        Args:
            speed: How many seconds of device time a second of the machine's clock stands for; not 1 in a replay.
        """
        self._speed = speed
        self.last: float | None = None
        self._offset = 0.0
        self._seen = 0.0
        self._lead = 0.0
        self.filled = -math.inf
        self.pace = 1.0 / 60.0
        self.ran_back = self.ran_ahead = self.no_time = 0

    @property
    def faults(self) -> ClockFaults:
        """What was odd so far."""
        return ClockFaults(self.ran_back, self.ran_ahead, self.no_time)

    def at(self, t: float, now: float) -> float | None:
        """Return the stream time of a sample with a device stamp, or None if the stamp is no time.

        Args:
            t: The device stamp in seconds.
            now: Monotonic seconds of the machine.
        """
        try:
            is_time = -LATEST <= t <= LATEST
        except TypeError:  # a parser let something through that is no number
            is_time = False
        if not is_time:
            self.no_time += 1
            return None
        last = self.last
        if last is None:
            self.last, self._seen = t, now
            return t
        passed = (now - self._seen) * self._speed
        if passed < 0.0:
            passed = 0.0
        else:
            self._seen = now
        lead = self._lead
        if lead > 0.0 and passed > 0.0:
            lead = max(lead - DRIFT * passed, 0.0)
        moment = t + self._offset
        step = moment - last
        if step < 0.0:
            if step < -JITTER_S:
                self.ran_back += 1
                moment = last + passed
                self._offset = moment - t
                step = passed
            else:
                moment, step = last, 0.0
        lead += step - passed
        if lead > SLACK_S:
            self.ran_ahead += 1
            moment = last + passed
            self._offset = moment - t
            lead -= step - passed
        elif lead < -CREDIT_S:
            lead = -CREDIT_S
        if FASTEST_S <= step <= SLOWEST_S:
            self.pace += LEARNS * (step - self.pace)
        self._lead = lead
        self.last = moment
        return moment

    def reads(self, now: float) -> float | None:
        """Return what the clock shows at a moment of the machine's, if the tracker goes on; None before it began."""
        return None if self.last is None else self.last + max(now - self._seen, 0.0) * self._speed

    def fill(self, now: float) -> Iterator[float]:
        """Yield the moments that the tracker left out, up to now by the machine's clock, one after the other."""
        if self.last is None:
            return
        until = self.last + (now - self._seen) * self._speed
        moment = max(self.last, self.filled) + self.pace
        while moment <= until:
            self.filled = moment
            yield moment
            moment += self.pace
