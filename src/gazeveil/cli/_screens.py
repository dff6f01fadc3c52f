# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The options that say how large a screen is and how far away, declared once for every command that can need them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from gazeveil.errors import OptionError
from gazeveil.unit import Unit

if TYPE_CHECKING:
    from gazeveil.geometry import Geometry

_PANEL = "Screen, if the files do not say"

ScreenPx = Annotated[
    str | None, typer.Option("--screen", metavar="WxH", help="Screen size in pixels.", rich_help_panel=_PANEL)
]
SizeMm = Annotated[
    str | None, typer.Option("--size-mm", metavar="WxH", help="Screen size in millimetres.", rich_help_panel=_PANEL)
]
DistanceMm = Annotated[
    float | None, typer.Option("--distance-mm", help="Eye to screen in millimetres.", rich_help_panel=_PANEL)
]
FovDeg = Annotated[
    str | None, typer.Option("--fov-deg", metavar="WxH", help="Headset field of view.", rich_help_panel=_PANEL)
]


def sizes_of(
    screen: str | None = None, size_mm: str | None = None, distance_mm: float | None = None, fov_deg: str | None = None
) -> dict[str, float]:
    """Return what the options say, as fields of a `Geometry`.

    Raises:
        OptionError: If one is not width x height.
    """
    width_px, height_px = pair(screen, "--screen", "1920x1080")
    width_mm, height_mm = pair(size_mm, "--size-mm", "530x300")
    fov_x, fov_y = pair(fov_deg, "--fov-deg", "100x90")
    found = {
        "width_px": width_px,
        "height_px": height_px,
        "width_mm": width_mm,
        "height_mm": height_mm,
        "distance_mm": distance_mm,
        "fov_x_deg": fov_x,
        "fov_y_deg": fov_y,
    }
    return {name: size for name, size in found.items() if size is not None}


def geometry_of(sizes: Mapping[str, float], unit: Unit | None = None) -> Geometry | None:
    """Return the viewing plane that the options describe; None if they say nothing."""
    from gazeveil.geometry import Geometry

    if not sizes and unit is None:
        return None
    if unit is None:
        unit = Unit.DEGREE if "fov_x_deg" in sizes else Unit.PIXEL if "width_px" in sizes else Unit.FRACTION
    return Geometry(unit, **sizes)


def print_assumed(assumed: str) -> None:
    """Warn of what is assumed about a screen, if anything is."""
    if assumed:
        said = f"the size of the screen is not declared: assumed is {assumed}"
        print(f"warning: {said}. Say what it was with --size-mm and --distance-mm", file=sys.stderr)


def pair(text: str | None, option: str, example: str) -> tuple[float | None, float | None]:
    """Return width and height from text, or neither.

    Raises:
        OptionError: If it is not two numbers.
    """
    if text is None:
        return None, None
    match = re.fullmatch(r"\s*([0-9.]+)\s*[x×*,]\s*([0-9.]+)\s*", text, flags=re.IGNORECASE)
    try:
        if match is None:
            raise ValueError
        return float(match[1]), float(match[2])
    except ValueError:
        raise OptionError(
            f"{option} must be width x height, not {text!r}", hint=f"for example {option} {example}"
        ) from None
