# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A tracker's viewing plane for single points: what protocols count in, to and from the unit of the viewing plane.

`Geometry` converts arrays; a live sample is two numbers, so this does the same with plain arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from gazeveil.errors import GeometryError
from gazeveil.geometry import Geometry, Unit

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Plane:
    """Where a tracker's gaze lies; fractions start at the top left corner and grow downwards."""

    geometry: Geometry
    to_fraction: Callable[[float, float], Point] = field(init=False, repr=False, compare=False)
    from_fraction: Callable[[float, float], Point] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        there, back = _conversions(self.geometry)
        object.__setattr__(self, "to_fraction", there)
        object.__setattr__(self, "from_fraction", back)

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in pixels, for protocols that tell them to apps.

        Raises:
            GeometryError: If the viewing plane has no pixels.
        """
        if not self.geometry.knows_pixels:
            raise GeometryError(f"{self.geometry} has no pixels, and this protocol counts in them")
        return round(self.geometry.width_px or 0), round(self.geometry.height_px or 0)

    def from_pixels(self, x: float, y: float) -> Point:
        """Return a point in pixels as one of the viewing plane."""
        if self.geometry.unit is Unit.PIXEL:
            return x, y
        width, height = self.pixels
        return self.from_fraction(x / width, y / height)


def _conversions(
    geometry: Geometry,
) -> tuple[Callable[[float, float], Point], Callable[[float, float], Point]]:
    if geometry.unit is Unit.FRACTION:
        return _same, _same
    if geometry.unit is Unit.PIXEL:
        width, height = float(geometry.width_px or 0), float(geometry.height_px or 0)
        if not width or not height:
            raise GeometryError("a viewing plane in pixels must know how many there are")
        return (lambda x, y: (x / width, y / height)), (lambda x, y: (x * width, y * height))
    (across, across_back), (down, down_back) = _degrees(geometry, 0), _degrees(geometry, 1)
    return (lambda x, y: _both(across(x), down(y))), (lambda x, y: _both(across_back(x), down_back(y)))


def _same(x: float, y: float) -> Point:
    return x, y


def _both(x: float, y: float) -> Point:
    """Return a point, without either coordinate if one is missing."""
    return (x, y) if x == x and y == y else (math.nan, math.nan)  # noqa: PLR0124  (NaN, at the price of one comparison)


def _degrees(geometry: Geometry, axis: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return degrees to fractions of one axis, and back: what `Geometry.convert` does, for one number."""
    size = (geometry.width_mm, geometry.height_mm)[axis]
    if size is not None and geometry.distance_mm is not None:
        far = geometry.distance_mm / size
        return (
            lambda degrees: math.tan(math.radians(degrees)) * far + 0.5 if abs(degrees) < 90 else math.nan,
            lambda fraction: math.degrees(math.atan((fraction - 0.5) / far)),
        )
    field_of_view = (geometry.fov_x_deg, geometry.fov_y_deg)[axis]
    if field_of_view is not None:
        return (
            lambda degrees: degrees / field_of_view + 0.5,
            lambda fraction: (fraction - 0.5) * field_of_view,
        )

    def unknown(_: float) -> float:
        raise GeometryError(f"{geometry} has no size, so degrees have no place in it")

    return unknown, unknown
