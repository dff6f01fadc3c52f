# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The usual screen: what is assumed where nobody says how large a screen was, or how far away.

A 24-inch screen (604 mm across its diagonal) with square pixels, seen from 600 mm; 16:9 where its pixels are not known
either. It is a constant: where participants looked never decides how large the screen is taken to be. Whoever uses it
says so (`assumed_fields`), because every size in degrees then rests on it.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Final

from gazeveil.geometry import Geometry

DIAGONAL_MM: Final = 604.0
DISTANCE_MM: Final = 600.0
PROPORTIONS: Final = (16.0, 9.0)


def usual(plane: Geometry) -> Geometry:
    """Return a viewing plane with the usual size and distance where it does not say its own.

    As it is if it knows degrees.
    """
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
    """Return which fields of a viewing plane that is used nobody declared."""
    return tuple(item.name for item in fields(used) if getattr(used, item.name) != getattr(declared, item.name))


def assumption(plane: Geometry, assumed: tuple[str, ...]) -> str:
    """Say what is assumed about a viewing plane, given which of its fields are."""
    size = f"a 24-inch screen of {plane.width_mm:g} x {plane.height_mm:g} mm" if "width_mm" in assumed else ""
    seen = f"seen from {plane.distance_mm:g} mm" if "distance_mm" in assumed else ""
    return ", ".join(part for part in (size, seen) if part)
