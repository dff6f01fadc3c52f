# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The viewing plane of gaze as BIDS tells it: units in the samples' sidecar, the screen in the events' sidecar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from gazeveil.errors import FileFormatError, GeometryError
from gazeveil.gaze.formats._bids_names import OURS, units_of
from gazeveil.gaze.formats._columns import GAZE_UNITS, parse_name
from gazeveil.gaze.formats._samples import completed
from gazeveil.gaze.formats.base import ReadOptions
from gazeveil.geometry import Geometry, Unit

UNIT_NAMES = {Unit.PIXEL: "pixel", Unit.DEGREE: "deg", Unit.FRACTION: "normalized"}
"""What we write as ``Units`` of the coordinates."""

_MM_PER_M = 1000.0
Change = Callable[[pl.Expr], pl.Expr]


def geometry_of(
    path: Path, about: Mapping[str, Any], about_events: Mapping[str, Any], options: ReadOptions
) -> Geometry:
    """Return the viewing plane that a recording's sidecars tell, completed with what the user says."""
    exact = about.get(OURS, {}).get("geometry")
    if isinstance(exact, dict):
        try:
            return completed(Geometry.from_dict(exact), options.geometry)
        except (GeometryError, TypeError) as error:
            raise FileFormatError(path, column=OURS, expected="a geometry", found=str(error)) from None
    unit = _unit(path, about)
    screen = about_events.get("StimulusPresentation", {})
    pixels = _pair(screen.get("ScreenResolution"))
    metres = _pair(screen.get("ScreenSize"))
    distance = screen.get("ScreenDistance")
    if isinstance(distance, list) and len(distance) == 3:
        distance = abs(distance[2])  # x, y, z from the eye to the screen's centre
    known = options.geometry
    if pixels is None and known is not None and known.width_px and known.height_px:
        pixels = (known.width_px, known.height_px)
    if pixels is None and unit is Unit.PIXEL:
        raise FileFormatError(
            path,
            expected="StimulusPresentation.ScreenResolution in _events.json",
            found="none",
            hint="add it, or give the screen, for example --screen 1920x1080",
        )
    try:
        told = Geometry(
            unit,
            width_px=pixels[0] if pixels else None,
            height_px=pixels[1] if pixels else None,
            width_mm=metres[0] * _MM_PER_M if metres else None,
            height_mm=metres[1] * _MM_PER_M if metres else None,
            distance_mm=distance * _MM_PER_M if isinstance(distance, int | float) else None,
        )
    except GeometryError as error:
        raise FileFormatError(
            path, column="StimulusPresentation", expected="a screen that can exist", found=error.message
        ) from None
    return completed(told, known)


def axis_changes(
    path: Path, about_events: Mapping[str, Any], geometry: Geometry, options: ReadOptions
) -> tuple[Change, Change]:
    """Return what turns the file's x and y into ours, by where its coordinates begin."""
    origin = about_events.get("StimulusPresentation", {}).get("ScreenOrigin", ["top", "left"])
    places = set(origin) if isinstance(origin, list) else {origin}
    if not places <= {"top", "bottom", "left", "center"}:
        raise FileFormatError(
            path, column="ScreenOrigin", expected="top, bottom or center, and left or center", found=repr(origin)
        )
    up = options.y_up or "bottom" in places
    if geometry.unit is Unit.DEGREE:
        return _unchanged, (_negated if up else _unchanged)
    left, top, right, bottom = geometry.extent()
    if "center" in places and not places & {"left"}:
        middle = (top + bottom) / 2.0
        return (lambda x: x + (left + right) / 2.0), (lambda y: middle - y if options.y_up else middle + y)
    return _unchanged, ((lambda y: geometry.y_span - y) if up else _unchanged)


def screen_fields(geometry: Geometry) -> dict[str, Any]:
    """Return ``StimulusPresentation`` for a viewing plane; ``n/a`` where it is not known."""
    whole = _whole(geometry.width_px), _whole(geometry.height_px)
    known_size = geometry.width_mm is not None and geometry.height_mm is not None
    origin = ["center", "center"] if geometry.unit is Unit.DEGREE else ["top", "left"]
    return {
        "ScreenDistance": "n/a" if geometry.distance_mm is None else geometry.distance_mm / _MM_PER_M,
        "ScreenOrigin": origin,
        "ScreenResolution": list(whole) if None not in whole else "n/a",
        "ScreenSize": (
            [geometry.width_mm / _MM_PER_M, geometry.height_mm / _MM_PER_M]
            if known_size and geometry.width_mm is not None and geometry.height_mm is not None
            else "n/a"
        ),
    }


def coordinate_system(geometry: Geometry) -> dict[str, str]:
    """Return the name BIDS has for a viewing plane: a screen only if all that BIDS asks about it is known."""
    fields = screen_fields(geometry)
    if "n/a" not in (fields["ScreenDistance"], fields["ScreenResolution"], fields["ScreenSize"]):
        return {"SampleCoordinateSystem": "gaze-on-screen"}
    if geometry.unit is Unit.DEGREE:
        return {"SampleCoordinateSystem": "eye-in-head"}
    return {
        "SampleCoordinateSystem": "custom",
        "SampleCoordinateSystemDescription": f"{geometry}; x grows to the right, y downwards, from the top left corner",
    }


def _unit(path: Path, about: Mapping[str, Any]) -> Unit:
    stated = [units_of(about, axis) for axis in ("x_coordinate", "y_coordinate")]
    words = {GAZE_UNITS.get(parse_name(str(unit)).words) for unit in stated}
    word = words.pop() if len(words) == 1 else None
    if word is None:
        raise FileFormatError(
            path,
            column="x_coordinate",
            expected="the same Units for x and y in the sidecar: pixel, deg or normalized",
            found=" and ".join(repr(unit) for unit in stated),
        )
    return Unit(word)


def _pair(value: object) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, int | float) for part in value):
        return float(value[0]), float(value[1])
    return None


def _whole(size: float | None) -> int | None:
    return int(size) if size is not None and size.is_integer() else None


def _unchanged(value: pl.Expr) -> pl.Expr:
    return value


def _negated(value: pl.Expr) -> pl.Expr:
    return -value
