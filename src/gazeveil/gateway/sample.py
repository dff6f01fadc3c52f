# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze before the veil and behind it, as two types that cannot be mistaken for each other.

A sink takes `Veiled` things alone, and none can be made but by `gazeveil.gateway.veiling`: the classes refuse to be
called. Raw gaze hides its numbers from ``repr``, so no log or traceback can show it.
"""

from __future__ import annotations

from typing import Final, NoReturn, final

from gazeveil.errors import PrivacyError


@final
class RawSample:
    """One sample of a tracker: seconds of its own clock, and gaze in the unit of its plane, NaN where it is missing.

    There is no place for anything else: pupil sizes, eye positions, confidences and images stay in the parser.
    """

    __slots__ = ("t", "x", "y")

    def __init__(self, t: float, x: float, y: float) -> None:
        self.t = t
        self.x = x
        self.y = y

    def __repr__(self) -> str:
        return "RawSample(hidden)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PrivacyError("raw gaze is not pickled or copied")


class Veiled:
    """What may leave: only a veil makes it."""

    __slots__ = ("t",)

    t: float

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        raise PrivacyError(f"only a veil makes a {type(self).__name__}", hint="see gazeveil.gateway.veiling")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise PrivacyError("what left a veil is not changed")


@final
class VeiledSample(Veiled):
    """One veiled point: seconds, and gaze in the unit of the tracker's plane, NaN where there is none to show."""

    __slots__ = ("x", "y")

    x: float
    y: float

    def __repr__(self) -> str:
        return f"VeiledSample(t={self.t:.6f}, x={self.x:.6g}, y={self.y:.6g})"


@final
class VeiledFixation(Veiled):
    """A fixation found in veiled points, told when it is over: ``t`` is its end, in seconds."""

    __slots__ = ("duration", "number", "x", "y")

    x: float
    y: float
    duration: float
    number: int

    def __repr__(self) -> str:
        return f"VeiledFixation(t={self.t:.6f}, x={self.x:.6g}, y={self.y:.6g}, duration={self.duration:.3f})"


@final
class VeiledHit(Veiled):
    """The name of the area that a veiled point is in, told when it changes; empty for none."""

    __slots__ = ("area",)

    area: str

    def __repr__(self) -> str:
        return f"VeiledHit(t={self.t:.6f}, area={self.area!r})"


_set: Final = object.__setattr__
_new: Final = object.__new__


def _sample(t: float, x: float, y: float) -> VeiledSample:
    """Make a veiled sample. For `gazeveil.gateway.veiling` alone; a test reads the sources and fails on other users."""
    made = _new(VeiledSample)
    _set(made, "t", t)
    _set(made, "x", x)
    _set(made, "y", y)
    return made


def _fixation(t: float, x: float, y: float, duration: float, number: int) -> VeiledFixation:
    made = _new(VeiledFixation)
    for name, value in (("t", t), ("x", x), ("y", y), ("duration", duration), ("number", number)):
        _set(made, name, value)
    return made


def _hit(t: float, area: str) -> VeiledHit:
    made = _new(VeiledHit)
    _set(made, "t", t)
    _set(made, "area", area)
    return made
