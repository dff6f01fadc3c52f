# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Areas of interest: named shapes on the viewing plane of gaze, which of them gaze is in, and their JSON file.

One rule for edges: a shape owns its left and its top edge, not its right and its bottom edge, so shapes that share
an edge share no point. An ellipse, which shares none, owns its rim. A point that is NaN is in nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.display import a_few
from gazeveil.errors import FileFormatError, GeometryError, InputError
from gazeveil.files import replacing
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry

MAX_HOLD = 0.1
"""Seconds between two samples beyond which it is not known where gaze was in between."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """An upright rectangle."""

    name: str
    left: float
    top: float
    right: float
    bottom: float

    def __post_init__(self) -> None:
        _check(self)
        if not (self.left < self.right and self.top < self.bottom):
            raise InputError(
                f"rectangle {self.name!r} has no area: left {self.left:g} must be below right {self.right:g}, "
                f"top {self.top:g} below bottom {self.bottom:g}",
                hint="y grows downwards",
            )

    def contains(self, x: ArrayLike, y: ArrayLike) -> BoolArray:
        """Return which points are inside."""
        x, y = _points(x, y)
        return (x >= self.left) & (x < self.right) & (y >= self.top) & (y < self.bottom)


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse, turned clockwise by ``angle`` degrees (y grows downwards)."""

    name: str
    x: float
    y: float
    radius_x: float
    radius_y: float
    angle: float = 0.0

    def __post_init__(self) -> None:
        _check(self)
        if not (self.radius_x > 0 and self.radius_y > 0):
            raise InputError(
                f"ellipse {self.name!r} has no area: radii {self.radius_x:g} and {self.radius_y:g} must be above 0"
            )

    def contains(self, x: ArrayLike, y: ArrayLike) -> BoolArray:
        """Return which points are inside or on the rim."""
        x, y = _points(x, y)
        cosine, sine = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        dx, dy = x - self.x, y - self.y
        along, aside = (dx * cosine + dy * sine) / self.radius_x, (dy * cosine - dx * sine) / self.radius_y
        inside: BoolArray = along * along + aside * aside <= 1.0
        return inside


@dataclass(frozen=True, slots=True)
class Polygon:
    """A polygon of any form, also concave; where its outline crosses itself, even-odd says what is inside."""

    name: str
    points: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        _check_name(self)
        try:
            corners = np.array([(float(x), float(y)) for x, y in self.points]).reshape(-1, 2)
        except (TypeError, ValueError):
            raise InputError(f"polygon {self.name!r}: points must be pairs of numbers") from None
        object.__setattr__(self, "points", tuple(map(tuple, corners.tolist())))
        if not np.isfinite(corners).all():
            raise InputError(f"polygon {self.name!r}: points must be finite numbers")
        if len(corners) < 3:
            raise InputError(f"polygon {self.name!r} needs at least 3 points, found {len(corners)}")
        offsets = corners - corners[0]
        farthest = offsets[np.argmax((offsets**2).sum(axis=1))]
        # twice the area of the triangle of each point over the longest line from the first
        heights = np.abs(farthest[0] * offsets[:, 1] - farthest[1] * offsets[:, 0])
        if not heights.max() > 1e-12 * float(farthest @ farthest):
            raise InputError(f"polygon {self.name!r} has no area: all its points lie on one line")

    def contains(self, x: ArrayLike, y: ArrayLike) -> BoolArray:
        """Return which points are inside."""
        x, y = _points(x, y)
        inside = np.zeros(np.broadcast(x, y).shape, dtype=np.bool_)
        for one, other in zip(self.points, (*self.points[1:], self.points[0]), strict=True):
            # always from the upper end, so that two polygons compute a shared edge alike
            (x1, y1), (x2, y2) = (one, other) if one[1] <= other[1] else (other, one)
            beside = (y >= y1) & (y < y2)
            if not beside.any():
                continue
            crossing = x1 + (y - y1) * ((x2 - x1) / (y2 - y1))
            inside ^= beside & (x < crossing)
        return inside


Area = Rectangle | Ellipse | Polygon


@dataclass(frozen=True, slots=True)
class AreasOfInterest:
    """Named areas on one viewing plane. Where they overlap, the one that comes first wins.

    Attributes:
        areas: The areas, most important first; their names differ.
        geometry: The viewing plane they are drawn on, and the unit they are given in.
    """

    areas: tuple[Area, ...]
    geometry: Geometry

    NOWHERE: ClassVar[int] = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "areas", tuple(self.areas))
        names = [area.name for area in self.areas]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"two areas are called {twice[0]!r}", hint="give every area its own name")

    def __repr__(self) -> str:
        return f"AreasOfInterest({len(self.areas):,}: {a_few(self.names)}; {self.geometry})"

    def __len__(self) -> int:
        return len(self.areas)

    def __iter__(self) -> Iterator[Area]:
        return iter(self.areas)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(area.name for area in self.areas)

    def contains(self, x: ArrayLike, y: ArrayLike) -> BoolArray:
        """Return which points are in which area: one row per area, so overlaps show."""
        x, y = _points(x, y)
        shape = np.broadcast(x, y).shape
        return np.array([area.contains(x, y) for area in self.areas], dtype=np.bool_).reshape(len(self.areas), *shape)

    def label(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
        """Return the number of the first area each point is in, -1 for none."""
        inside = self.contains(x, y)
        if not len(inside):
            return np.full(inside.shape[1:], self.NOWHERE)
        return np.where(inside.any(axis=0), inside.argmax(axis=0), self.NOWHERE)

    def hits(self, recording: Recording) -> NDArray[np.int64]:
        """Return the number of the first area each sample is in, -1 for none or where gaze is lost.

        Raises:
            GeometryError: If the recording was made on another screen, or cannot be given in the areas' unit.
        """
        return self.label(*self._positions(recording))

    def dwell(self, recording: Recording, *, max_step: float = MAX_HOLD) -> pl.DataFrame:
        """Return for each area how long gaze stayed and how often it came, and for the rest of the viewing plane.

        A sample holds until the next one, if that comes later and within ``max_step`` seconds; so a sample before a
        hole in time, and the last one, hold for no time. An entry is a good sample in the area whose last good
        sample before was elsewhere, or beyond a step that breaks the hold: a blink is no entry if gaze comes back to
        the same area within ``max_step``. In a list of fixations each holds for as long as it lasted, and an entry is a
        fixation in the area after one elsewhere.

        Returns:
            One row per area and one for ``elsewhere`` (name null): area, seconds, share of the tracked time,
            entries, samples.
        """
        label = self.hits(recording)
        lasted = recording.durations
        tracked, t = recording.tracked, recording.t
        if lasted is None:
            tracked = tracked & np.isfinite(t)
            step = np.append(np.diff(t), 0.0)
            held = np.where(tracked & (step > 0) & (step <= max_step + 1e-6), step, 0.0)
        else:
            held = np.where(tracked & np.isfinite(lasted) & (lasted > 0), lasted, 0.0)
        good = np.flatnonzero(tracked)
        moved = np.diff(label[good]) != 0
        if lasted is None:
            since = np.diff(t[good])
            moved |= (since < 0) | (since > max_step + 1e-6)
        arrivals = label[good][np.append(True, moved)] if len(good) else label[:0]
        numbers = [*range(len(self)), self.NOWHERE]
        seconds = np.array([held[label == number].sum() for number in numbers])
        total = float(held.sum())
        return pl.DataFrame(
            {
                "area": [*self.names, None],
                "seconds": seconds,
                "share": seconds / total if total > 0 else np.zeros(len(numbers)),
                "entries": [int((arrivals == number).sum()) for number in numbers],
                "samples": [int((label[good] == number).sum()) for number in numbers],
            },
            schema={
                "area": pl.String, "seconds": pl.Float64, "share": pl.Float64,
                "entries": pl.Int64, "samples": pl.Int64,
            },
        )  # fmt: skip

    def _positions(self, recording: Recording) -> tuple[FloatArray, FloatArray]:
        theirs, ours = recording.geometry, self.geometry
        for name in ("width_px", "height_px"):
            one, other = getattr(theirs, name), getattr(ours, name)
            if one is not None and other is not None and one != other:
                raise GeometryError(
                    f"the recording's {name} is {one:g}, but the areas were drawn on {other:g}",
                    hint="draw the areas on the screen the recording was made on",
                )
        return theirs.convert(recording.x, recording.y, ours.unit)

    def to_json(self, path: Path | str) -> None:
        """Write the areas to a JSON file."""
        write_areas(self, Path(path))

    @staticmethod
    def from_json(path: Path | str) -> AreasOfInterest:
        """Read areas from a JSON file that `to_json` wrote, or someone in its form.

        Raises:
            FileFormatError: If the file is something else; the message names the field.
        """
        return read_areas(Path(path))


def _points(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    return np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)


def _check_name(area: Area) -> None:
    name: object = area.name
    if not isinstance(name, str) or not name:
        raise InputError(f"an area needs a name, not {area.name!r}")


def _check(area: Rectangle | Ellipse) -> None:
    """Check the name and that all other fields are finite numbers."""
    _check_name(area)
    for field in fields(area)[1:]:
        value = getattr(area, field.name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"area {area.name!r}: {field.name} must be a number, not {value!r}")
        object.__setattr__(area, field.name, float(value))


# --- The JSON file: a viewing plane, and a list of shapes with their fields.


SHAPES: dict[str, type[Rectangle] | type[Ellipse] | type[Polygon]] = {
    "rectangle": Rectangle,
    "ellipse": Ellipse,
    "polygon": Polygon,
}


_FORM = (
    'the form is {"geometry": {"unit": "px", "width_px": 1920, "height_px": 1080}, "areas": [{"shape": "rectangle", '
    '"name": "headline", "left": 0, "top": 0, "right": 1920, "bottom": 300}]}'
)


def write_areas(areas: AreasOfInterest, path: Path) -> None:
    """Write the areas; on any error nothing stays behind."""
    shapes = {cls: name for name, cls in SHAPES.items()}
    values = {
        "geometry": areas.geometry.to_dict(),
        "areas": [{"shape": shapes[type(area)], **asdict(area)} for area in areas],
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def read_areas(path: Path) -> AreasOfInterest:
    """Read areas; whatever is wrong, the error names the field."""
    try:
        content = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(path, expected="JSON", found=error.msg, line=error.lineno) from None
    except (UnicodeDecodeError, RecursionError):
        raise FileFormatError(path, expected="JSON in UTF-8", found="something else") from None
    whole = _object(path, content, "", required={"geometry", "areas"}, known={"geometry", "areas"})
    try:
        geometry = Geometry.from_dict(_object(path, whole["geometry"], "geometry"))
    except GeometryError as error:
        raise _wrong(path, "geometry", "a viewing plane", error.message) from None
    if not isinstance(whole["areas"], list):
        raise _wrong(path, "areas", "a list", _kind(whole["areas"]))
    areas = tuple(_area(path, value, f"areas[{index}]") for index, value in enumerate(whole["areas"]))
    try:
        return AreasOfInterest(areas, geometry)
    except InputError as error:
        raise _wrong(path, "areas", "different names", error.message) from None


def _area(path: Path, value: Any, where: str) -> Area:
    shape = _object(path, value, where).get("shape")
    if not isinstance(shape, str) or shape not in SHAPES:
        raise _wrong(path, f"{where}.shape", f"one of {', '.join(SHAPES)}", _kind(shape))
    cls = SHAPES[shape]
    required = {field.name for field in fields(cls) if field.default is MISSING}
    known = {"shape", *(field.name for field in fields(cls))}
    values = _object(path, value, where, required=required, known=known)
    del values["shape"]
    try:
        return cls(**values)
    except InputError as error:
        raise _wrong(path, where, f"the fields of {shape}", error.message) from None


def _object(
    path: Path, value: Any, where: str, required: set[str] | None = None, known: set[str] | None = None
) -> dict[str, Any]:
    """Return a JSON object after checking that it has all it needs and nothing else."""
    if not isinstance(value, dict):
        raise _wrong(path, where or "the whole", "an object", _kind(value))
    prefix = f"{where}." if where else ""
    if missing := sorted((required or set()) - set(value)):
        raise _wrong(path, prefix + missing[0], "a value", "nothing")
    if known is not None and (unknown := sorted(set(value) - known)):
        raise _wrong(path, prefix + unknown[0], f"only {', '.join(sorted(known))}", "a field of another name")
    return dict(value)


def _wrong(path: Path, field: str, expected: str, found: str) -> FileFormatError:
    return FileFormatError(path, column=field, expected=expected, found=found, hint=_FORM)


def _kind(value: Any) -> str:
    if value is None:
        return "nothing"
    return repr(value) if isinstance(value, str) else type(value).__name__
