# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lengths as participants write them, ``60px``, ``2deg`` or ``5%``, and what they are where gaze lives.

A number without a unit means pixels where gaze is in pixels, and is refused elsewhere: 60 that was meant as pixels
must not become 60 degrees. Programs that know their space may give numbers in its own unit.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from gazeveil.errors import OptionError
from gazeveil.exact import Number, as_text, exact
from gazeveil.samples.space import Room3D, Screen, Space

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
    def of(value: Written, name: str = "radius") -> Length:
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


Written: TypeAlias = Length | Number
"""What a length is read from."""


def as_written(value: Written, space: Space, name: str = "radius") -> Fraction:
    """Return a length that a participant wrote, in the unit of a space.

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
