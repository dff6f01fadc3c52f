# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Names and units of a tracker's fields, and the check of numbers on the wire."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from gazeveil.gateway.sample import HEAD_AND_EYES
from gazeveil.geometry import FRAMES

MOST_COORDINATE: Final = 1e6
"""More than any screen has pixels, or any angle degrees."""

MOST_SECONDS: Final = 1e11
"""Three thousand years."""


def number(text: str | bytes) -> float:
    """Return the number that a text is, NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def coordinate(value: object) -> float:
    """Return a coordinate, NaN for whatever is no number, not finite or out of all proportion."""
    if type(value) is not float and type(value) is not int:
        return math.nan
    return float(value) if -MOST_COORDINATE <= value <= MOST_COORDINATE else math.nan


def seconds(value: object, second: float = 1.0) -> float | None:
    """Return a time in seconds, None for whatever cannot be one; ``second`` is how much of ``value`` makes one."""
    if type(value) is not float and type(value) is not int:
        return None
    most = MOST_SECONDS * second
    return value / second if -most <= value <= most else None


# --- ``[tracker.fields]`` of a policy, for trackers that send JSON.


UNITS: Final = {"norm": "shares of the screen or field of view", "px": "pixels", "deg": "degrees"}
TIMES: Final = {
    "s": ("seconds", 1.0),
    "ms": ("milliseconds", 1e3),
    "us": ("microseconds", 1e6),
    "ns": ("nanoseconds", 1e9),
}
"""Units of time: in words, and how much of each is one second."""
ARRIVAL: Final = "arrival"
"""The time of a sample is that of its arrival: for senders without a clock."""
TIME_NAME, REFUSE, DROP = "t", "refuse", "drop"


@dataclass(frozen=True, slots=True)
class Fields:
    """Names, units, axes and time base of a tracker's samples.

    Names are paths: ``gaze.0`` is the first of the list that ``gaze`` holds.

    Attributes:
        x: Across.
        y: Down; up if ``up``.
        t: Time; empty if there is none.
        valid: Whether gaze was found, true or false; empty if the sender does not say.
        unit: One of `UNITS`.
        up: Whether y grows upwards: from the bottom edge, or in degrees from straight ahead.
        time: One of `TIMES`, or `ARRIVAL`.
        others: Whether a sample with any other field is refused, or the field is dropped.
        direction: Gaze as a vector, in place of x and y; empty if there is none.
        axes: Whose axes vectors are in, one of `gazeveil.geometry.AXES`.
        frame: Which frame a direction is in, one of `gazeveil.geometry.FRAMES`.
        head: Where the head points in the world, a vector; empty if the sender's is not to be read.
        origins: Where the eyes are in the head, two vectors in mm; likewise.
        ipd: The distance between the eyes in mm; likewise.
    """

    x: str = "x"
    y: str = "y"
    t: str = TIME_NAME
    valid: str = ""
    unit: str = "norm"
    up: bool = False
    time: str = "s"
    others: str = REFUSE
    direction: str = ""
    axes: str = "gazeveil"
    frame: str = "head"
    head: str = ""
    origins: str = ""
    ipd: str = ""

    @property
    def gaze(self) -> tuple[str, ...]:
        """The fields that hold gaze: across and down, or one direction."""
        return (self.direction,) if self.direction else (self.x, self.y)

    @property
    def head_and_eyes(self) -> dict[str, str]:
        """What is read of `gazeveil.gateway.sample.HEAD_AND_EYES`, and the name of each field."""
        return {what: name for what in HEAD_AND_EYES if (name := getattr(self, what))}

    @property
    def names(self) -> tuple[str, ...]:
        """Every field that a sample has, time first."""
        return tuple(name for name in (self.t, *self.gaze, self.valid, *self.head_and_eyes.values()) if name)

    @property
    def second(self) -> float:
        """How much of ``t`` is one second; 1 if time is that of arrival."""
        return TIMES[self.time][1] if self.time in TIMES else 1.0

    def in_words(self) -> list[str]:
        """Return a description, one sentence a line."""
        corner = f"the {'bottom' if self.up else 'top'} left corner"
        start = "straight ahead" if self.unit == "deg" else corner
        where = f"{self.x} across and {self.y} {'up' if self.up else 'down'}"
        lines = [f"gaze is {where}, in {UNITS[self.unit]} from {start}"]
        if self.direction:
            lines = [f"gaze is the direction {self.direction}, in {FRAMES[self.frame]} and the axes of {self.axes}"]
        if self.time == ARRIVAL:
            lines.append("its time is that of its arrival: jitter of the way here is part of it")
        else:
            lines.append(f"its time is {self.t}, in {TIMES[self.time][0]}")
        if self.valid:
            lines.append(f"it is missing where {self.valid} is false")
        known = self.head_and_eyes.items()
        lines += [f"{name} is {HEAD_AND_EYES[what]}; apps get it only if they declare it" for what, name in known]
        if self.others == DROP:
            lines.append("other fields are dropped unread")
        else:
            lines.append("a sample with any other field is refused")
        return lines
