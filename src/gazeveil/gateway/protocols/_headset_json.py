# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What headsets say in JSON: gaze as a direction, where the head points, and where the eyes are.

A vector is a list of three numbers, or an object with ``x``, ``y`` and ``z``, as game engines write them. Nothing here
is read unless the policy names it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from gazeveil.gateway.fields import Fields
from gazeveil.gateway.protocols._json_paths import ABSENT, Path, at, path_of
from gazeveil.gateway.protocols._numbers import coordinate
from gazeveil.gateway.sample import (
    BESIDE,
    FARTHEST_MM,
    HEAD,
    IPD,
    ORIGINS,
    EyeGeometry,
    Place,
    Pointing,
    VeiledSample,
)
from gazeveil.gaze.conventions import Vector, angles, in_our_axes

_PARTS: Final = (("0", "1", "2"), ("x", "y", "z"))
_SIDES: Final = (("0", "1"), ("left", "right"))
NOTHING: Final = (math.nan, math.nan)


def vector(told: Any) -> Vector | None:
    """Return a vector; None for whatever is none."""
    if type(told) is dict:
        told = [told.get(part) for part in _PARTS[1]] if len(told) == 3 else None
    if type(told) is not list or len(told) != 3:
        return None
    x, y, z = (coordinate(part) for part in told)
    return None if math.isnan(x + y + z) else (x, y, z)


def pointing(told: Any, axes: str) -> Pointing | None:
    """Return the yaw and pitch of a vector, NaN if it is null or has no length; None for whatever is none."""
    if told is None:
        return NOTHING
    found = vector(told)
    return None if found is None else angles(in_our_axes(found, axes))


class Headset:
    """Reads what a policy names beside gaze."""

    def __init__(self, fields: Fields) -> None:
        self._axes = fields.axes
        self._head, self._origins, self._ipd = (path_of(getattr(fields, what)) for what in (HEAD, ORIGINS, IPD))
        self.reads = bool(fields.beside)
        self.dropped = frozenset(BESIDE) - {name.partition(".")[0] for name in fields.names}

    def head(self, found: Any) -> Pointing | None:
        """Return where the head points; None if that is not read.

        Raises:
            ValueError: If it is no vector.
        """
        if not self._head:
            return None
        head = pointing(at(found, self._head), self._axes)
        if head is None:
            raise ValueError(HEAD)
        return head

    def eyes(self, found: Any) -> EyeGeometry | None:
        """Return where the eyes are; None if that is not read.

        Raises:
            ValueError: If they are no vectors, or the distance is no number.
        """
        if not self._origins and not self._ipd:
            return None
        left, right = self._both(at(found, self._origins)) if self._origins else (None, None)
        ipd = at(found, self._ipd) if self._ipd else None
        if ipd is not None and not 0.0 < coordinate(ipd) <= FARTHEST_MM:
            raise ValueError(IPD)
        return EyeGeometry(left, right, None if ipd is None else float(ipd))

    def _both(self, told: Any) -> tuple[Place | None, Place | None]:
        if told is None:
            return None, None
        if type(told) is dict:
            told = [told.get(side, ABSENT) for side in _SIDES[1]] if len(told) == 2 else None
        if type(told) is not list or len(told) != 2:
            raise ValueError(ORIGINS)
        left, right = (None if one is None else self._place(one) for one in told)
        return left, right

    def _place(self, told: Any) -> Place:
        found = vector(told)
        if found is None or max(map(abs, found)) > FARTHEST_MM:
            raise ValueError(ORIGINS)
        return in_our_axes(found, self._axes)


def beside(veiled: VeiledSample) -> str:
    """Return what leaves beside gaze, as the rest of a JSON object."""
    more = ""
    if veiled.head is not None:
        yaw, pitch = (_number(angle) for angle in veiled.head)
        more += f',"head":{{"yaw":{yaw},"pitch":{pitch}}}'
    if (eyes := veiled.eyes) is not None:
        if eyes.left is not None or eyes.right is not None:
            more += f',"origins":[{_triple(eyes.left)},{_triple(eyes.right)}]'
        if eyes.ipd is not None:
            more += f',"ipd":{_number(eyes.ipd)}'
    return more


def _triple(place: Place | None) -> str:
    return "null" if place is None else f"[{','.join(map(_number, place))}]"


def _number(value: float) -> str:
    return f"{value:.6f}" if math.isfinite(value) else "null"


def paths_of(fields: Fields) -> list[Path]:
    """Return every way into a sample that the fields name, whichever form its vectors have."""
    plain = [fields.t, fields.valid, fields.ipd, *(() if fields.direction else fields.gaze)]
    paths = [path_of(name) for name in plain if name]
    for name in (fields.direction, fields.head):
        if name:
            paths += [(*path_of(name), part) for parts in _PARTS for part in parts]
    if fields.origins:
        sides = [(*path_of(fields.origins), side) for both in _SIDES for side in both]
        paths += [(*side, part) for side in sides for parts in _PARTS for part in parts]
    return paths
