# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where gaze lives, as far as a mechanism must know it, and lengths in it such as ``60px``, ``2deg`` or ``5%``.

A space is public. It fixes the unit, the box that gaze lies in, and whether the first axis wraps (yaw at ±180
degrees). Distances are Euclidean in the space's own unit, the short way round where an axis wraps.

A number without a unit means pixels where gaze is in pixels, and is refused elsewhere: 60 that was meant as pixels
must not become 60 degrees. Programs that know their space may give numbers in its own unit.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from gazeveil.errors import GeometryError, OptionError, closest
from gazeveil.exact import Number, as_text, exact
from gazeveil.geometry import Geometry, Unit

Point = tuple[float, ...]

FULL_TURN = 360.0

EYE_FIELD = (110.0, 100.0)
"""How far the eyes turn in the head, in degrees across and down: the space of directions from a headset whose field of
view nobody declared. Eyes reach about 55 degrees to either side (Guitton and Volle 1987) and about 28 up and 47 down
(Lee and others 2019); the field is symmetric, and as high as the larger of the two needs."""

USUAL_FIELD = 50.0
"""How much of that the eyes use most of the time, across and down: beyond 25 degrees the head turns too. A filter
expects gaze there, and gaze may go anywhere."""
_RADIAN = math.pi / 180.0


class Space(ABC):
    """What every space defines."""

    __slots__ = ()
    kind: ClassVar[str]

    @property
    @abstractmethod
    def unit(self) -> str:
        """What coordinates are measured in."""

    @property
    @abstractmethod
    def low(self) -> Point:
        """The lowest coordinate of gaze on each axis."""

    @property
    @abstractmethod
    def high(self) -> Point:
        """The highest coordinate of gaze on each axis."""

    @property
    def axes(self) -> int:
        """How many coordinates a point has: 2 or 3."""
        return len(self.low)

    @property
    def size(self) -> Point:
        """How far gaze reaches along each axis."""
        return tuple(high - low for low, high in zip(self.low, self.high, strict=True))

    @property
    def centre(self) -> Point:
        """The middle of the space: where an eye is before anything is known."""
        return tuple((low + high) / 2.0 for low, high in zip(self.low, self.high, strict=True))

    @property
    def usual(self) -> Point:
        """The size of the part in which gaze stays most of the time: a veil's filter expects it there."""
        return self.size

    @property
    def period(self) -> float:
        """The length after which the first axis repeats; 0 if it does not."""
        return 0.0

    def degrees(self, angle: float) -> float:
        """Return a visual angle in the space's own unit.

        Raises:
            GeometryError: If the space does not know how large a degree is.
        """
        raise GeometryError(
            f"a {self.kind} does not know how large a degree is",
            hint="give the screen's size and distance (--screen, --size-mm, --distance-mm), or its pixels_per_degree",
        )

    def clamp(self, *point: float) -> Point:
        """Return the nearest point of the space: wrapped where it wraps, moved to the edge elsewhere."""
        return tuple(
            wrapped(value, self.period) if axis == 0 and self.period else min(max(value, low), high)
            for axis, (value, low, high) in enumerate(zip(point, self.low, self.high, strict=True))
        )

    def difference(self, to: Sequence[float], start: Sequence[float]) -> Point:
        """Return how to get from ``start`` to ``to``, the short way round."""
        steps = [a - b for a, b in zip(to, start, strict=True)]
        if self.period:
            steps[0] = wrapped(steps[0], self.period)
        return tuple(steps)

    def to_dict(self) -> dict[str, Any]:
        """Return the space as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"kind": self.kind} | {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }

    @staticmethod
    def of(geometry: Geometry) -> Space:
        """Return the space of a recording's geometry, in the recording's own unit."""
        return space_of(geometry)


@dataclass(frozen=True, slots=True)
class Screen(Space):
    """A viewing plane with its origin at the top left, y growing downwards.

    Attributes:
        width: How wide it is.
        height: How high it is.
        pixels_per_degree: How many of its units a degree takes at its centre; None if that is not known.
        unit: ``px``, or ``norm`` for a viewing plane measured in fractions of itself.
    """

    kind: ClassVar[str] = "screen"
    width: float
    height: float
    pixels_per_degree: float | None = None
    unit: str = "px"

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            object.__setattr__(self, name, _positive(getattr(self, name), name))
        if self.pixels_per_degree is not None:
            object.__setattr__(self, "pixels_per_degree", _positive(self.pixels_per_degree, "pixels_per_degree"))
        if self.unit not in ("px", "norm"):
            raise GeometryError(f"a screen is measured in px or norm, not {self.unit!r}")

    @property
    def low(self) -> Point:
        """The top left corner."""
        return 0.0, 0.0

    @property
    def high(self) -> Point:
        """The bottom right corner."""
        return self.width, self.height

    def degrees(self, angle: float) -> float:
        """Return a visual angle at the screen's centre in its own unit.

        Raises:
            GeometryError: If the screen does not know how large a degree is.
        """
        if self.pixels_per_degree is None:
            return Space.degrees(self, angle)
        return angle * self.pixels_per_degree


@dataclass(frozen=True, slots=True)
class Sphere(Space):
    """Directions as yaw and pitch in degrees from straight ahead, y growing downwards.

    The full circle of yaw wraps at ±180 degrees. A narrower field has edges instead, like a screen, and gaze in it is
    taken to be in the head's frame. Noise with a guarantee is added to the direction's unit vector, so that a radius is
    a visual angle, at the poles too; gaze beyond the edges is not moved before that, only what comes out is.

    Attributes:
        fov_x: How far yaw reaches, 360 for all around.
        fov_y: How far pitch reaches, at most 180.
    """

    kind: ClassVar[str] = "sphere"
    fov_x: float = FULL_TURN
    fov_y: float = FULL_TURN / 2.0

    def __post_init__(self) -> None:
        for name, most in (("fov_x", FULL_TURN), ("fov_y", FULL_TURN / 2.0)):
            value = _positive(getattr(self, name), name)
            if value > most:
                raise GeometryError(f"{name} is at most {most:g} degrees, not {value:g}")
            object.__setattr__(self, name, value)

    @property
    def unit(self) -> str:
        """Degrees."""
        return "deg"

    @property
    def low(self) -> Point:
        """Far left and far up."""
        return -self.fov_x / 2.0, -self.fov_y / 2.0

    @property
    def high(self) -> Point:
        """Far right and far down."""
        return self.fov_x / 2.0, self.fov_y / 2.0

    @property
    def usual(self) -> Point:
        """What the eyes use most of the time; all of the sphere where gaze goes all around, because the head turns."""
        return self.size if self.period else tuple(min(side, USUAL_FIELD) for side in self.size)

    @property
    def period(self) -> float:
        """360 if yaw goes all around, else 0."""
        return FULL_TURN if self.fov_x == FULL_TURN else 0.0

    def degrees(self, angle: float) -> float:
        """Return the angle: degrees are the unit."""
        return angle


@dataclass(frozen=True, slots=True)
class Room3D(Space):
    """Points in space, within a box.

    Attributes:
        low: The box's lowest corner.
        high: Its highest corner.
        unit: What coordinates are measured in.
    """

    kind: ClassVar[str] = "room"
    low: Point
    high: Point
    unit: str = "mm"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            corner = getattr(self, name)
            object.__setattr__(self, name, _corner(corner, name))
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise GeometryError(f"a room reaches from low to high, not from {self.low} to {self.high}")
        if self.unit not in ("m", "cm", "mm"):
            raise GeometryError(f"a room is measured in m, cm or mm, not {self.unit!r}")

    def degrees(self, angle: float) -> float:
        """Return the number itself: what is an angle elsewhere is a length in the room's own unit here."""
        return angle


SPACES: dict[str, type[Space]] = {space.kind: space for space in (Screen, Sphere, Room3D)}


def space_of(geometry: Geometry, field: Sequence[float] | None = None) -> Space:
    """Return the space of a recording's geometry, in the recording's own unit.

    Degrees whose field of view is unknown are directions in the head's frame, and lie in the field of the eyes.
    Directions in the world's frame are declared by a field of view of 360 x 180.

    Args:
        geometry: The geometry. Public.
        field: How far directions reach, across and down, if it is to be another field. Public.

    Raises:
        GeometryError: If there is a field, and gaze is not in degrees.
    """
    if field is not None:
        if geometry.unit is not Unit.DEGREE:
            raise GeometryError(f"a field is for directions in degrees, not for {geometry}", hint="leave it out")
        return Sphere(*field)
    if geometry.unit is Unit.PIXEL:
        left, top, right, bottom = geometry.extent()
        return Screen(right - left, bottom - top, _per_degree(geometry))
    if geometry.unit is Unit.FRACTION:
        return Screen(1.0, 1.0, _per_degree(geometry), "norm")
    measured = geometry.width_mm is not None and geometry.distance_mm is not None
    if geometry.fov_x_deg is None and not measured:
        return Sphere(*EYE_FIELD)
    left, top, right, bottom = geometry.extent()
    return Sphere(min(right - left, FULL_TURN), min(bottom - top, FULL_TURN / 2.0))


def space_from_dict(values: Mapping[str, Any]) -> Space:
    """Return the space that `Space.to_dict` wrote; anything unknown or missing is refused.

    Raises:
        GeometryError: If the values do not describe a space.
    """
    given = dict(values)
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in SPACES:
        raise GeometryError(f"no space is called {kind!r}", hint=closest(kind, SPACES))
    try:
        return SPACES[kind](**given)
    except TypeError:
        raise GeometryError(f"a {kind} is not described by {', '.join(map(repr, given)) or 'nothing'}") from None


def wrapped(value: float, period: float) -> float:
    """Return a value moved by whole periods into [-period / 2, period / 2)."""
    return value - period * math.floor(value / period + 0.5)


def _per_degree(geometry: Geometry) -> float | None:
    """Return the units of gaze to a degree at the centre of a measured screen; None if it is not measured.

    Pixels are counted across. A fraction of the height is another length than one of the width: the larger number
    counts, so that noise and radii reach at least as far as they say along both axes.
    """
    if geometry.width_mm is None or geometry.height_mm is None or geometry.distance_mm is None:
        return None
    degree_mm = geometry.distance_mm * _RADIAN
    if geometry.unit is Unit.FRACTION:
        return degree_mm / min(geometry.width_mm, geometry.height_mm)
    return None if geometry.width_px is None else degree_mm * geometry.width_px / geometry.width_mm


def _corner(value: Any, name: str) -> Point:
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise GeometryError(f"{name} must be three numbers, not {value!r}")
    return tuple(_finite(item, name) for item in value)


def _positive(value: Any, name: str) -> float:
    number = _finite(value, name)
    if number <= 0:
        raise GeometryError(f"{name} must be greater than 0, not {value!r}")
    return number


def _finite(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise GeometryError(f"{name} must be a finite number, not {value!r}")
    return float(value)


# --- Lengths as users write them, ``60px``, ``2deg`` or ``5%``, and in the unit of a space.


_UNIT = re.compile(r"(px|deg|°|%|norm|mm|cm|m)\s*$", re.IGNORECASE)
_MILLIMETRES = {"mm": 1, "cm": 10, "m": 1000}
_FINEST = Fraction(1, 100)
"""Pixels of an angle are rounded up to hundredths: a radius that is larger is never protected less."""
_FITTING = {"px": "60px", "deg": "2deg", "norm": "5%"}
_PLACES = {"px": "pixels", "deg": "degrees", "norm": "fractions of the screen"}
_SIZES = (
    "give the screen's size and distance (--screen, --size-mm and --distance-mm; width_mm, height_mm and distance_mm "
    "under [screen] of study.toml), or write "
)


@dataclass(frozen=True, slots=True)
class Length:
    """A number and the unit that it was written with.

    Attributes:
        number: The number, exactly.
        unit: ``px``, ``deg``, ``%``, ``norm``, ``mm``, ``cm`` or ``m``; empty if none was written.
    """

    number: Fraction
    unit: str = ""

    @staticmethod
    def of(value: LengthLike, name: str = "radius") -> Length:
        """Read a length; a number alone has no unit.

        Raises:
            OptionError: If it is none.
        """
        if isinstance(value, Length):
            return value
        if not isinstance(value, str):
            return Length(exact(value, name))
        found = _UNIT.search(value)
        number, unit = (value, "") if found is None else (value[: found.start()], found[1].lower())
        try:
            return Length(exact(number, name), "deg" if unit == "°" else unit)
        except OptionError:
            raise OptionError(
                f"{name} must be a number and its unit, not {value!r}", hint="for example 60px, 2deg or 5%"
            ) from None

    def __str__(self) -> str:
        return as_text(self.number) + self.unit

    def in_space(self, space: Space, name: str = "radius") -> Fraction:
        """Return the length in the unit of a space; without a unit it is in that unit already.

        A percentage is one of the screen's width, as presets count; where gaze is in fractions, of width and height.

        Raises:
            OptionError: If the unit does not fit the space.
        """
        if self.unit in ("", space.unit):
            return self.number
        if isinstance(space, Room3D) and self.unit in _MILLIMETRES:
            return self.number * _MILLIMETRES[self.unit] / _MILLIMETRES[space.unit]
        if isinstance(space, Screen) and self.unit == "%":
            return self.number / 100 * Fraction(space.width)
        if isinstance(space, Screen) and self.unit == "deg":
            if space.pixels_per_degree is None:
                raise OptionError(
                    f"{name} is {self}, but how large a degree is on this screen is not known",
                    hint=_SIZES + _FITTING[space.unit],
                )
            finest = _FINEST if space.unit == "px" else _FINEST / 1000
            return math.ceil(self.number * Fraction(space.pixels_per_degree) / finest) * finest
        raise OptionError(
            f"{name} is {self}, but gaze is in {_PLACES.get(space.unit, space.unit)}",
            hint=f"give it in a unit that fits, for example {_FITTING.get(space.unit, '60' + space.unit)}",
        )


LengthLike: TypeAlias = Length | Number
"""What a length can be read from."""


def read_length(value: LengthLike, space: Space, name: str = "radius") -> Fraction:
    """Return a length as a user writes it, in the unit of a space.

    Raises:
        OptionError: If its unit does not fit the space, or it has none and gaze is not in pixels.
    """
    length = Length.of(value, name)
    check_unit(length, space.unit, name)
    return length.in_space(space, name)


def check_unit(length: Length, unit: str, name: str = "radius") -> None:
    """Refuse a number without a unit where gaze is not in pixels, and say how it would be read.

    Raises:
        OptionError: If it has none.
    """
    if length.unit or unit == "px":
        return
    meant, reading = f"{length}{unit}", f"{length} {_PLACES.get(unit, unit)}"
    if unit == "norm":
        meant = f"{as_text(length.number * 100)}%"
        reading = f"{meant} of the screen's width and height"
    raise OptionError(
        f"{name} {length} has no unit, and gaze is in {_PLACES.get(unit, unit)}: it would mean {reading}",
        hint=f"write {meant} if that is meant",
    )


def in_degrees(value: float | str, space: Space, name: str) -> float:
    """Return a length that is an angle wherever gaze lives (in a room, a length in its own unit), as a number.

    Raises:
        OptionError: If it is written in another unit.
    """
    if not isinstance(value, str):
        return value
    length, unit = Length.of(value, name), space.unit if isinstance(space, Room3D) else "deg"
    if length.unit not in ("", unit):
        raise OptionError(f"{name} is in {_PLACES.get(unit, unit)} here, not {length}", hint=f"for example 2{unit}")
    return float(length.number)
