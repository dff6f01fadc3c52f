# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where gaze lies: pixels on a screen, degrees in a headset, or fractions of either, and how they convert.

One rule holds in every unit: x grows to the right, **y grows downwards**. Pixels and fractions start at the top
left corner; degrees start straight ahead (the screen's centre). Degrees are exact visual angles of each axis,
``atan(offset / distance)``, not the small-angle shortcut, which is 4 % off at 20 degrees.

After the geometries come the screen that is assumed where none is declared, and the axes of headsets' directions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from gazeveil.errors import GeometryError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from gazeveil.arrays import FloatArray


class Unit(StrEnum):
    """What the numbers in x and y are."""

    PIXEL = "px"
    DEGREE = "deg"
    FRACTION = "norm"


@dataclass(frozen=True, slots=True)
class Geometry:
    """The viewing plane that gaze is measured on. Make one with `screen`, `headset` or `normalised`.

    Attributes:
        unit: What x and y are.
        width_px: Pixels across, where there is a pixel raster.
        height_px: Pixels down.
        width_mm: Physical width of the screen.
        height_mm: Physical height of the screen.
        distance_mm: Distance from eye to screen.
        fov_x_deg: Field of view across, for a headset.
        fov_y_deg: Field of view down, for a headset.
    """

    unit: Unit
    width_px: float | None = None
    height_px: float | None = None
    width_mm: float | None = None
    height_mm: float | None = None
    distance_mm: float | None = None
    fov_x_deg: float | None = None
    fov_y_deg: float | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "unit", Unit(self.unit))
        except ValueError:
            raise GeometryError(f"unit must be px, deg or norm, not {self.unit!r}") from None
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value is None:
                continue
            if not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
                raise GeometryError(
                    f"{field.name} must be a positive number, not {value!r}",
                    hint="give the screen's real size, or leave it out if it is unknown",
                )
            object.__setattr__(self, field.name, float(value))
        for pair in (("width_px", "height_px"), ("width_mm", "height_mm"), ("fov_x_deg", "fov_y_deg")):
            if (getattr(self, pair[0]) is None) != (getattr(self, pair[1]) is None):
                raise GeometryError(f"{pair[0]} and {pair[1]} go together: give both or neither")
        if self.fov_x_deg is not None and self.fov_y_deg is not None and max(self.fov_x_deg, self.fov_y_deg) > 360:
            raise GeometryError(f"a field of view is at most 360 degrees, not {self.fov_x_deg} x {self.fov_y_deg}")
        if self.unit is Unit.PIXEL and self.width_px is None:
            raise GeometryError("pixels need the screen's resolution", hint="for example --screen 1920x1080")

    @property
    def knows_pixels(self) -> bool:
        """Whether x and y can be given in pixels."""
        return self.width_px is not None

    @property
    def knows_degrees(self) -> bool:
        """Whether x and y can be given in degrees."""
        return self.unit is Unit.DEGREE or self.fov_x_deg is not None or self._is_measured_screen

    @property
    def y_span(self) -> float:
        """What turns a y that grows upwards into ours: ``y_span - y``."""
        if self.unit is Unit.DEGREE:
            return 0.0
        return 1.0 if self.unit is Unit.FRACTION else self._size_px(1)

    @property
    def _is_measured_screen(self) -> bool:
        return self.width_mm is not None and self.distance_mm is not None

    @property
    def has_edges_in_degrees(self) -> bool:
        """Whether it is known how many degrees the viewing plane reaches."""
        return self.fov_x_deg is not None or self._is_measured_screen

    def with_sizes(self, **sizes: float | None) -> Geometry:
        """Return the same viewing plane with other sizes, by the names of its fields; None where one is not known."""
        return Geometry(**{**{field.name: getattr(self, field.name) for field in fields(self)}, **sizes})

    def in_unit(self, unit: Unit | str) -> Geometry:
        """Return the same viewing plane with x and y in another unit."""
        return replace(self, unit=Unit(unit))

    def convert(self, x: ArrayLike, y: ArrayLike, to: Unit | str) -> tuple[FloatArray, FloatArray]:
        """Convert points from this geometry's unit to another.

        Raises:
            GeometryError: If the sizes this needs are not known.
        """
        import numpy as np  # noqa: PLC0415  (the command line lists units without it)

        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        to = Unit(to)
        if to is self.unit:
            return x, y
        return self._convert_axis(x, to, 0), self._convert_axis(y, to, 1)

    def extent(self) -> tuple[float, float, float, float]:
        """Return left, top, right, bottom of the visible viewing plane in this geometry's unit."""
        import numpy as np  # noqa: PLC0415

        (left, right), (top, bottom) = (
            self._convert_fraction(np.array([0.0, 1.0]), self.unit, axis).tolist() for axis in (0, 1)
        )
        return left, top, right, bottom

    def _convert_axis(self, value: FloatArray, to: Unit, axis: int) -> FloatArray:
        if self.unit is Unit.DEGREE:
            fraction = self._fraction_of_degrees(value, axis)
        elif self.unit is Unit.PIXEL:
            fraction = value / self._size_px(axis)
        else:
            fraction = value
        return self._convert_fraction(fraction, to, axis)

    def _convert_fraction(self, fraction: FloatArray, to: Unit, axis: int) -> FloatArray:
        import numpy as np  # noqa: PLC0415

        if to is Unit.FRACTION:
            return fraction
        if to is Unit.PIXEL:
            return fraction * self._size_px(axis)
        if self._is_measured_screen:
            offset_mm = (fraction - 0.5) * self._size_mm(axis)
            return np.degrees(np.arctan(offset_mm / self._distance()))
        return (fraction - 0.5) * self._fov(axis)

    def _fraction_of_degrees(self, degrees: FloatArray, axis: int) -> FloatArray:
        import numpy as np  # noqa: PLC0415

        if self._is_measured_screen:
            # beyond 90 degrees nothing meets the plane of the screen
            degrees = np.where(np.abs(degrees) < 90, degrees, np.nan)
            return np.tan(np.radians(degrees)) * self._distance() / self._size_mm(axis) + 0.5
        return degrees / self._fov(axis) + 0.5

    def _size_px(self, axis: int) -> float:
        size = (self.width_px, self.height_px)[axis]
        if size is None:
            raise GeometryError(
                "the resolution in pixels is not known", hint="give the screen's size in pixels: --screen 1920x1080"
            )
        return size

    def _size_mm(self, axis: int) -> float:
        size = (self.width_mm, self.height_mm)[axis]
        if size is None:
            raise GeometryError("the screen's physical size is not known", hint="give its width and height in mm")
        return size

    def _distance(self) -> float:
        if self.distance_mm is None:
            raise GeometryError("the viewing distance is not known", hint="give the distance from eye to screen in mm")
        return self.distance_mm

    def _fov(self, axis: int) -> float:
        size = (self.fov_x_deg, self.fov_y_deg)[axis]
        if size is None:
            raise GeometryError(
                "degrees need the screen's physical size and distance, or a field of view; neither is known",
                hint="give the screen's width, height and viewing distance in mm, or the headset's field of view: "
                "width_mm, height_mm, distance_mm under [screen] of study.toml; --screen, --size-mm, --distance-mm",
            )
        return size

    def to_dict(self) -> dict[str, Any]:
        """Return the known fields as plain values."""
        return {
            field.name: str(value) if field.name == "unit" else value
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Geometry:
        """Build a geometry from what `to_dict` gave; unknown fields are refused."""
        known = {field.name for field in fields(Geometry)}
        if unknown := set(values) - known:
            raise GeometryError(f"unknown geometry fields: {', '.join(sorted(unknown))}")
        if "unit" not in values:
            raise GeometryError("a geometry needs a unit: px, deg or norm")
        return Geometry(**values)

    def __str__(self) -> str:
        parts = []
        if self.width_px is not None and self.height_px is not None:
            parts.append(f"{self.width_px:g} x {self.height_px:g} px")
        if self.width_mm is not None and self.height_mm is not None:
            parts.append(f"{self.width_mm:g} x {self.height_mm:g} mm")
        if self.distance_mm is not None:
            parts.append(f"at {self.distance_mm:g} mm")
        if self.fov_x_deg is not None and self.fov_y_deg is not None:
            parts.append(f"field of view {self.fov_x_deg:g} x {self.fov_y_deg:g} deg")
        plane = ", ".join(parts) or "size unknown"
        return f"gaze in {self.unit} ({plane})"


def screen(
    width_px: float,
    height_px: float,
    width_mm: float | None = None,
    height_mm: float | None = None,
    distance_mm: float | None = None,
) -> Geometry:
    """Gaze in pixels on a screen; with its size in mm and the viewing distance also in degrees."""
    return Geometry(Unit.PIXEL, width_px, height_px, width_mm, height_mm, distance_mm)


def headset(fov_x_deg: float | None = None, fov_y_deg: float | None = None) -> Geometry:
    """Gaze direction in degrees from straight ahead, as headsets give it."""
    return Geometry(Unit.DEGREE, fov_x_deg=fov_x_deg, fov_y_deg=fov_y_deg)


def normalised(
    width_px: float | None = None,
    height_px: float | None = None,
    width_mm: float | None = None,
    height_mm: float | None = None,
    distance_mm: float | None = None,
) -> Geometry:
    """Gaze as fractions of a viewing plane, 0..1 from the top left; sizes make it convertible."""
    return Geometry(Unit.FRACTION, width_px, height_px, width_mm, height_mm, distance_mm)


# --- The usual screen: 24 inches, square pixels, seen from 600 mm; 16:9 where its pixels are not known either. It is a
# constant: where participants looked never decides how large the screen is taken to be. Whoever uses it says so
# (`assumed_fields`), because every size in degrees then rests on it.


DIAGONAL_MM: Final = 604.0
DISTANCE_MM: Final = 600.0
PROPORTIONS: Final = (16.0, 9.0)


def with_usual_screen(plane: Geometry) -> Geometry:
    """Return a viewing plane with the usual size and distance where it does not say its own."""
    if plane.has_edges_in_degrees:
        return plane
    across, down = plane.width_px or PROPORTIONS[0], plane.height_px or PROPORTIONS[1]
    scale = DIAGONAL_MM / math.hypot(across, down)
    known = plane.width_mm is not None
    return replace(
        plane,
        width_mm=plane.width_mm if known else float(round(across * scale)),
        height_mm=plane.height_mm if known else float(round(down * scale)),
        distance_mm=DISTANCE_MM if plane.distance_mm is None else plane.distance_mm,
    )


def assumed_fields(declared: Geometry, used: Geometry) -> tuple[str, ...]:
    """Return which fields of the viewing plane in use were not declared."""
    return tuple(item.name for item in fields(used) if getattr(used, item.name) != getattr(declared, item.name))


def assumption(plane: Geometry, assumed: tuple[str, ...]) -> str:
    """Say what is assumed about a viewing plane, given which of its fields are."""
    size = f"a 24-inch screen of {plane.width_mm:g} x {plane.height_mm:g} mm" if "width_mm" in assumed else ""
    seen = f"seen from {plane.distance_mm:g} mm" if "distance_mm" in assumed else ""
    return ", ".join(part for part in (size, seen) if part)


# --- Directions of headsets. Our axes are right, down and ahead; a direction is yaw to the right and pitch downwards,
# in degrees from straight ahead. In the *head's* frame ahead is where the head points: a direction says how the eyes
# are turned. In the *world's* frame ahead is fixed in the room: a direction says what is looked at. A head's
# rotation takes one to the other.


Vector = tuple[float, float, float]
Rotation = tuple[float, float, float, float]
"""A unit quaternion (x, y, z, w), in the same axes as the vectors that it turns."""

AXES: Final[dict[str, tuple[tuple[int, int], tuple[int, int], tuple[int, int]]]] = {
    "gazeveil": ((0, 1), (1, 1), (2, 1)),
    "unity": ((0, 1), (1, -1), (2, 1)),
    "unreal": ((1, 1), (2, -1), (0, 1)),
    "openxr": ((0, 1), (1, -1), (2, -1)),
}
"""Whose axes, and which of their numbers, with which sign, are our right, down and ahead. Unity: right, up, ahead;
Unreal: ahead, right, up; OpenXR: right, up, back."""
FRAMES: Final = {"head": "the head's frame", "world": "the world's frame"}
_SHORTEST = 1e-6


def in_our_axes(vector: Vector, axes: str) -> Vector:
    """Return a vector in our axes: right, down, ahead."""
    right, down, ahead = AXES[axes]
    return vector[right[0]] * right[1], vector[down[0]] * down[1], vector[ahead[0]] * ahead[1]


def angles(vector: Vector) -> tuple[float, float]:
    """Return yaw and pitch of a vector in our axes, whatever its length; NaN for one without any."""
    right, down, ahead = vector
    if not math.hypot(right, down, ahead) >= _SHORTEST:
        return math.nan, math.nan
    return math.degrees(math.atan2(right, ahead)), math.degrees(math.atan2(down, math.hypot(right, ahead)))


def direction(yaw: float, pitch: float) -> Vector:
    """Return the unit vector of a direction, in our axes."""
    across, downwards = math.radians(yaw), math.radians(pitch)
    return math.cos(downwards) * math.sin(across), math.sin(downwards), math.cos(downwards) * math.cos(across)


def to_world(vector: Vector, head: Rotation) -> Vector:
    """Return a vector of the head's frame in the world's, given how the head is turned in the world."""
    x, y, z, w = head
    a, b, c = vector
    # v + 2 w (q x v) + 2 q x (q x v)
    p, q, r = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * p + y * r - z * q, b + w * q + z * p - x * r, c + w * r + x * q - y * p


def to_head(vector: Vector, head: Rotation) -> Vector:
    """Return a vector of the world's frame in the head's."""
    x, y, z, w = head
    return to_world(vector, (-x, -y, -z, w))
