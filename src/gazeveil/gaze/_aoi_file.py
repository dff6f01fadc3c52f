# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Areas of interest as a JSON file: a viewing plane, and a list of shapes with their fields."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

from gazeveil.errors import FileFormatError, GeometryError, InputError
from gazeveil.files import replacing
from gazeveil.gaze.aoi import Area, AreasOfInterest, Ellipse, Polygon, Rectangle
from gazeveil.geometry import Geometry

SHAPES: dict[str, type[Rectangle] | type[Ellipse] | type[Polygon]] = {
    "rectangle": Rectangle,
    "ellipse": Ellipse,
    "polygon": Polygon,
}


_FORM = (
    'the form is {"geometry": {"unit": "px", "width_px": 1920, "height_px": 1080}, "areas": [{"shape": "rectangle", '
    '"name": "headline", "left": 0, "top": 0, "right": 1920, "bottom": 300}]}'
)


def write(areas: AreasOfInterest, path: Path) -> None:
    """Write the areas; on any error nothing stays behind."""
    shapes = {cls: name for name, cls in SHAPES.items()}
    values = {
        "geometry": areas.geometry.to_dict(),
        "areas": [{"shape": shapes[type(area)], **asdict(area)} for area in areas],
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


def read(path: Path) -> AreasOfInterest:
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
