# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What is assumed of screens and headsets: the usual screen, and the axes and frames of headsets' directions.

A 24-inch screen (604 mm across its diagonal) with square pixels, seen from 600 mm; 16:9 where its pixels are not known
either. It is a constant: where participants looked never decides how large the screen is taken to be. Whoever uses it
says so (`assumed_fields`), because every size in degrees then rests on it.

Ours are right, down and ahead; a direction is yaw to the right and pitch downwards, in degrees from straight ahead. In
the *head's* frame ahead is where the head points, and a direction says how the eyes are turned. In the *world's* frame
ahead is fixed in the room, and a direction says what is looked at. A head's rotation takes one to the other.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Final

from gazeveil.geometry import Geometry

DIAGONAL_MM: Final = 604.0
DISTANCE_MM: Final = 600.0
PROPORTIONS: Final = (16.0, 9.0)


def with_usual_screen(plane: Geometry) -> Geometry:
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


# --- Directions of headsets in our words: whose axes, which frame, and how one becomes the other.


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
