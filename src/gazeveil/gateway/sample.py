# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze before the veil and behind it, as two types that cannot be mistaken for each other.

A sink takes `Veiled` things alone, and only `gazeveil.gateway.veiling` can make them: their classes cannot be called.
Raw gaze hides its numbers from ``repr``, so no log or traceback can show it.
"""

from __future__ import annotations

from typing import Final, NamedTuple, NoReturn, final

from gazeveil.errors import PrivacyError

HEAD, ORIGINS, IPD = "head", "origins", "ipd"
HEAD_AND_EYES: Final = {
    HEAD: "where the head points in the world",
    ORIGINS: "where the eyes are in the head",
    IPD: "the distance between the eyes",
}
"""What a tracker may measure beside gaze; an app gets it only if its policy declares it."""

FARTHEST_MM: Final = 1000.0
"""The largest distance of an eye from the middle of its head."""

Place = tuple[float, float, float]
Pointing = tuple[float, float]


class EyeGeometry(NamedTuple):
    """Where the eyes are: it identifies participants, and no veil of a stream hides what stays the same.

    Attributes:
        left: Where the left eye is in the head, in mm to the right, down and ahead; None where that is not known.
        right: The right eye.
        ipd: The distance between the eyes in mm; None where that is not known.
    """

    left: Place | None = None
    right: Place | None = None
    ipd: float | None = None

    def __repr__(self) -> str:
        return "EyeGeometry(hidden)"


@final
class RawSample:
    """One sample of a tracker: seconds of its own clock, and gaze in the unit of its viewing plane, NaN where missing.

    Head and eyes are fields of their own, which an app gets only if its policy declares them. There is no field for
    anything else: pupil sizes, roll and position of the head, confidences and images stay in the parser.

    Attributes:
        t: When.
        x: Gaze across.
        y: Gaze down.
        head: Where the head points in the world, in degrees to the right and down, NaN where that is missing; None for
            a tracker that does not say.
        eyes: Where the eyes are; None for a tracker that does not say.
    """

    __slots__ = ("eyes", "head", "t", "x", "y")

    def __init__(
        self, t: float, x: float, y: float, head: Pointing | None = None, eyes: EyeGeometry | None = None
    ) -> None:
        self.t = t
        self.x = x
        self.y = y
        self.head = head
        self.eyes = eyes

    def __repr__(self) -> str:
        return "RawSample(hidden)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PrivacyError("raw gaze is not pickled or copied")


class Veiled:
    """What may leave; only a veil makes it."""

    __slots__ = ("t",)

    t: float

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        raise PrivacyError(f"only a veil makes a {type(self).__name__}", hint="see gazeveil.gateway.veiling")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise PrivacyError("what left a veil is not changed")


@final
class VeiledSample(Veiled):
    """One veiled point: seconds, and gaze in the unit of the tracker's viewing plane, NaN where there is none to show.

    Attributes:
        x: Gaze across.
        y: Gaze down.
        head: Where the head points, veiled together with gaze; None unless the app's policy declares it.
        eyes: Where the eyes are, as they are; None unless the app's policy declares it, without a guarantee.
    """

    __slots__ = ("eyes", "head", "x", "y")

    x: float
    y: float
    head: Pointing | None
    eyes: EyeGeometry | None

    def __repr__(self) -> str:
        return f"VeiledSample(t={self.t:.6f}, x={self.x:.6g}, y={self.y:.6g})"


@final
class VeiledFixation(Veiled):
    """A fixation found in veiled points, reported when it is over: ``t`` is its end, in seconds."""

    __slots__ = ("duration", "number", "x", "y")

    x: float
    y: float
    duration: float
    number: int

    def __repr__(self) -> str:
        return f"VeiledFixation(t={self.t:.6f}, x={self.x:.6g}, y={self.y:.6g}, duration={self.duration:.3f})"


@final
class VeiledHit(Veiled):
    """The name of the area that a veiled point is in, reported when it changes; empty for none."""

    __slots__ = ("area",)

    area: str

    def __repr__(self) -> str:
        return f"VeiledHit(t={self.t:.6f}, area={self.area!r})"


_set: Final = object.__setattr__
_new: Final = object.__new__


def make_veiled_sample(
    t: float, x: float, y: float, head: Pointing | None = None, eyes: EyeGeometry | None = None
) -> VeiledSample:
    """Make a veiled sample. For `gazeveil.gateway.veiling` and tests alone: a test finds other users in the package."""
    made = _new(VeiledSample)
    _set(made, "t", t)
    _set(made, "x", x)
    _set(made, "y", y)
    _set(made, "head", head)
    _set(made, "eyes", eyes)
    return made


def make_veiled_fixation(t: float, x: float, y: float, duration: float, number: int) -> VeiledFixation:
    """Make a veiled fixation, likewise."""
    made = _new(VeiledFixation)
    for name, value in (("t", t), ("x", x), ("y", y), ("duration", duration), ("number", number)):
        _set(made, name, value)
    return made


def make_veiled_hit(t: float, area: str) -> VeiledHit:
    """Make a veiled hit, likewise."""
    made = _new(VeiledHit)
    _set(made, "t", t)
    _set(made, "area", area)
    return made
