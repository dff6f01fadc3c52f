# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze as JSON objects, one per message, from screens and headsets, for WebSocket and for lines over TCP.

A sample is ``{"t":…,"x":…,"y":…,"unit":"norm","valid":true}``; every other object has a ``type``: ``hello``,
``fixation``, ``hit``, ``silence`` or ``end``. A vector is a list of three numbers, or an object with ``x``, ``y`` and
``z``, as game engines write them; vectors are read only if the policy names them.
"""

from __future__ import annotations

import functools
import json
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from gazeveil.errors import GeometryError, WireError
from gazeveil.gateway.protocol import Point, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import OneOutputSink
from gazeveil.gateway.sample import (
    FARTHEST_MM,
    HEAD,
    HEAD_AND_EYES,
    IPD,
    ORIGINS,
    EyeGeometry,
    Place,
    Pointing,
    RawSample,
    VeiledFixation,
    VeiledHit,
    VeiledSample,
)
from gazeveil.gateway.tracker_fields import ARRIVAL, Fields, coordinate, seconds
from gazeveil.geometry import Unit, Vector, angles, in_our_axes

ABSENT: Final = object()
"""The value at a path that does not exist."""

Path = tuple[str, ...]
Tree = dict[str, Any]


def path_of(name: str) -> Path:
    """Return the parts of a name; none of an empty one."""
    return tuple(name.split(".")) if name else ()


def at(value: Any, path: Path) -> Any:
    """Return the value at a path; None if something on the path is null, `ABSENT` if there is no such path."""
    for part in path:
        if value is None:
            return None
        if type(value) is dict:
            value = value.get(part, ABSENT)
        elif type(value) is list and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def tree_of(paths: list[Path]) -> Tree:
    """Return all paths as one tree."""
    tree: Tree = {}
    for path in paths:
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
    return tree


def has_others(given: Any, tree: Tree) -> bool:
    """Return whether an object or a list holds anything that the tree does not name."""
    pairs = given.items() if type(given) is dict else ((str(i), value) for i, value in enumerate(given))
    return any(
        key not in tree or (type(value) in (dict, list) and has_others(value, tree[key])) for key, value in pairs
    )


# --- Vectors of headsets: gaze as a direction, where the head points, and where the eyes are.


_PARTS: Final = (("0", "1", "2"), ("x", "y", "z"))
_SIDES: Final = (("0", "1"), ("left", "right"))
NOTHING: Final = (math.nan, math.nan)


def vector(value: Any) -> Vector | None:
    """Return a vector; None for anything else."""
    if type(value) is dict:
        value = [value.get(part) for part in _PARTS[1]] if len(value) == 3 else None
    if type(value) is not list or len(value) != 3:
        return None
    x, y, z = (coordinate(part) for part in value)
    return None if math.isnan(x + y + z) else (x, y, z)


def pointing(value: Any, axes: str) -> Pointing | None:
    """Return the yaw and pitch of a vector, NaN if it is null or has no length; None for anything else."""
    if value is None:
        return NOTHING
    found = vector(value)
    return None if found is None else angles(in_our_axes(found, axes))


class Headset:
    """Reads the fields of head and eyes that a policy names."""

    def __init__(self, fields: Fields) -> None:
        self._axes = fields.axes
        self._head, self._origins, self._ipd = (path_of(getattr(fields, what)) for what in (HEAD, ORIGINS, IPD))
        self.reads = bool(fields.head_and_eyes)
        self.dropped = frozenset(HEAD_AND_EYES) - {name.partition(".")[0] for name in fields.names}

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

    def _both(self, value: Any) -> tuple[Place | None, Place | None]:
        if value is None:
            return None, None
        if type(value) is dict:
            value = [value.get(side, ABSENT) for side in _SIDES[1]] if len(value) == 2 else None
        if type(value) is not list or len(value) != 2:
            raise ValueError(ORIGINS)
        left, right = (None if one is None else self._place(one) for one in value)
        return left, right

    def _place(self, value: Any) -> Place:
        found = vector(value)
        if found is None or max(map(abs, found)) > FARTHEST_MM:
            raise ValueError(ORIGINS)
        return in_our_axes(found, self._axes)


def head_and_eyes(veiled: VeiledSample) -> str:
    """Return head and eyes of a sample as the rest of a JSON object."""
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
    """Return every path in a sample that the fields name, for both forms of vectors."""
    plain = [fields.t, fields.valid, fields.ipd, *(() if fields.direction else fields.gaze)]
    paths = [path_of(name) for name in plain if name]
    for name in (fields.direction, fields.head):
        if name:
            paths += [(*path_of(name), part) for parts in _PARTS for part in parts]
    if fields.origins:
        sides = [(*path_of(fields.origins), side) for both in _SIDES for side in both]
        paths += [(*side, part) for side in sides for parts in _PARTS for part in parts]
    return paths


# --- The messages.


VERSION: Final = 1
"""Of these messages. Fields may be added under the same version; none changes its meaning."""

MOST_BYTES: Final = 1 << 16
"""The most bytes of a message; the longest known has a few hundred."""


class JsonWriter:
    """Writes the messages for an app.

    Points are fractions from the top left, or degrees where the viewing plane is in degrees.
    """

    def __init__(self, shown: StreamFacts) -> None:
        self._shown = shown
        in_degrees = shown.plane.geometry.unit is Unit.DEGREE
        self._unit = Unit.DEGREE if in_degrees else Unit.FRACTION
        self._convert: Callable[[float, float], Point] = _same if in_degrees else shown.plane.to_fraction

    def hello(self) -> bytes:
        """Return the first message: a description of the stream, and its guarantee."""
        shown = self._shown
        return _write(
            type="hello",
            software="gazeveil",
            version=VERSION,
            plane=shown.plane.geometry.to_dict(),
            unit=str(self._unit),
            rate_hz=shown.rate_hz,
            output=shown.output,
            areas=list(shown.areas),
            guarantee=shown.guarantee,
        )

    def sample(self, veiled: VeiledSample) -> bytes:
        """Return a sample."""
        x, y = self._convert(veiled.x, veiled.y)
        more = head_and_eyes(veiled) if veiled.head is not None or veiled.eyes is not None else ""
        if not math.isfinite(x + y):
            return f'{{"t":{veiled.t:.6f},"x":null,"y":null,"unit":"{self._unit}","valid":false{more}}}'.encode()
        return f'{{"t":{veiled.t:.6f},"x":{x:.6f},"y":{y:.6f},"unit":"{self._unit}","valid":true{more}}}'.encode()

    def fixation(self, veiled: VeiledFixation) -> bytes:
        """Return a fixation, which ended at ``t``."""
        x, y = self._convert(veiled.x, veiled.y)
        return _write(
            type="fixation",
            t=round(veiled.t, 6),
            x=round(x, 6),
            y=round(y, 6),
            unit=str(self._unit),
            duration=round(veiled.duration, 6),
            number=veiled.number,
        )

    def hit(self, veiled: VeiledHit) -> bytes:
        """Return the name of the area that gaze is in now, null for none."""
        return _write(type="hit", t=round(veiled.t, 6), area=veiled.area or None)

    def silence(self) -> bytes:
        """Return the message that there is no gaze at present."""
        return _write(type="silence")

    def end(self, reason: str) -> bytes:
        """Return the message that nothing more comes, and why."""
        return _write(type="end", reason=reason)


class JsonSink(OneOutputSink):
    """A sink of these messages, over any carrier."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._writer = JsonWriter(shown)

    def regrade(self, shown: StreamFacts) -> None:
        """Greet the app again: another kind of output comes from now on."""
        super().regrade(shown)
        self._writer = JsonWriter(shown)
        self._send(self._writer.hello())

    def silence(self, now: float) -> None:
        """Report that there is no gaze at present."""
        self._send(self._writer.silence())

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        self._send(self._writer.sample(veiled))

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._send(self._writer.fixation(veiled))

    def _hit(self, veiled: VeiledHit, now: float) -> None:
        self._send(self._writer.hit(veiled))

    @abstractmethod
    def _send(self, message: bytes) -> None:
        """Queue a message, if the app can receive it."""


@dataclass(frozen=True, slots=True)
class JsonFields:
    """The names of a tracker's JSON fields.

    Attributes:
        t: Time.
        x: Across.
        y: Down; up if ``up``.
        unit: The unit of x and y, if messages do not give it: ``norm``, ``px`` or ``deg``. Empty: that of the
            viewing plane.
        second: How much of ``t`` is one second, for example 1000.
        up: Whether y grows upwards: from the bottom edge, or from straight ahead.
    """

    t: str = "t"
    x: str = "x"
    y: str = "y"
    unit: str = ""
    second: float = 1.0
    up: bool = False


class JsonReader:
    """Reads a tracker's messages: time and gaze, and nothing else.

    ``yaw`` and ``pitch`` in degrees (pitch upwards) stand for x and y where a message has them. With `Fields`, which a
    policy declares, only those are read.
    """

    def __init__(self, plane: ViewingPlane, fields: JsonFields | Fields) -> None:
        self._declared: Fields | None = None
        if isinstance(fields, Fields):
            self._declared = fields
            self._at_t, self._at_valid = path_of(fields.t), path_of(fields.valid)
            self._at_gaze = [path_of(name) for name in fields.gaze]
            self._headset = Headset(fields)
            fields = JsonFields(unit=fields.unit, second=fields.second, up=fields.up)
        self._fields = fields
        self._decode = _decoder()
        self._unit = fields.unit or str(plane.geometry.unit)
        self._converters = converters(plane)
        if self._unit not in self._converters:
            raise GeometryError(f"{plane.geometry} cannot hold gaze in {self._unit!r}")

    def read(self, message: bytes | bytearray | str, now: float = 0.0) -> RawSample | None:
        """Return the sample in a message that came ``now``, None if it holds none.

        Raises:
            WireError: If it is not a JSON object, or in a unit that the viewing plane does not know.
        """
        try:
            found = self._decode(message)
        except (ValueError, RecursionError):
            raise WireError("a message is not JSON") from None
        if type(found) is not dict:
            raise WireError("a message is not a JSON object")
        if self._declared is not None:
            return self._read_declared(self._declared, found, now)
        if found.get("type", "sample") not in _SAMPLES:
            return None
        fields = self._fields
        t = seconds(found.get(fields.t), fields.second)
        if t is None:
            return None
        if fields.x in found and fields.y in found:
            x, y, unit, up = found[fields.x], found[fields.y], found.get("unit", self._unit), fields.up
        elif "yaw" in found and "pitch" in found:
            x, y, unit, up = found["yaw"], found["pitch"], "deg", True
        else:
            return None
        return self._sample(t, coordinate(x), coordinate(y), unit, up=up, found=found)

    def _read_declared(self, fields: Fields, found: dict[str, Any], now: float) -> RawSample | None:
        gaze = [at(found, path) for path in self._at_gaze]
        t = now if fields.time == ARRIVAL else seconds(at(found, self._at_t), fields.second)
        if t is None or ABSENT in gaze:
            return None
        x, y = (pointing(gaze[0], fields.axes) or NOTHING) if fields.direction else map(coordinate, gaze)
        validity = {"valid": at(found, self._at_valid)} if fields.valid else {}
        sample = self._sample(t, x, y, fields.unit, up=fields.up, found=validity)
        if self._headset.reads:
            try:
                sample.head, sample.eyes = self._headset.head(found), self._headset.eyes(found)
            except ValueError as error:
                raise WireError(f"{fields.head_and_eyes[str(error)]} is not what the policy says") from None
        return sample

    def _sample(self, t: float, x: float, y: float, unit: object, *, up: bool, found: dict[str, Any]) -> RawSample:
        if type(unit) is not str or unit not in self._converters:
            raise WireError("a message is in a unit that this viewing plane does not know", hint="norm, px or deg")
        if found.get("valid", True) not in _TRUE or math.isnan(x) or math.isnan(y):
            return RawSample(t, math.nan, math.nan)
        convert, height = self._converters[unit]
        return RawSample(t, *convert(x, height - y if up else y))


def _decoder() -> Callable[[bytes | bytearray | str], Any]:
    """Return a JSON decoder: msgspec's if it is installed, since it is several times as fast.

    Messages that msgspec refuses are tried with Python's own, which reads NaN and numbers without bounds: trackers
    send both.
    """
    try:
        from msgspec.json import decode as quick  # noqa: PLC0415
    except ImportError:
        return decode_plainly

    def decode(message: bytes | bytearray | str) -> Any:
        try:
            return quick(message)
        except ValueError:
            return decode_plainly(message)

    return decode


def decode_plainly(message: bytes | bytearray | str) -> Any:
    """Return the content of a message by Python's own decoder."""
    return json.loads(message if isinstance(message, str) else message.decode())


_SAMPLES: Final = ("sample", "gaze")
_TRUE: Final = (True, "true")  # 1 is equal to True


@functools.lru_cache(maxsize=64)  # a connection is made in microseconds then, and there are few planes
def converters(plane: ViewingPlane) -> dict[str, tuple[Callable[[float, float], Point], float]]:
    """Return, for each unit that converts to the viewing plane, the conversion and the origin of an upward y."""
    geometry = plane.geometry
    known: dict[str, tuple[Callable[[float, float], Point], float]] = {}
    for unit in Unit:
        try:
            geometry.convert(0.0, 0.0, unit)
            geometry.in_unit(unit).convert(0.0, 0.0, geometry.unit)
        except GeometryError:
            continue
        known[str(unit)] = (_converter(plane, unit), geometry.in_unit(unit).y_span)
    return known


def _converter(plane: ViewingPlane, unit: Unit) -> Callable[[float, float], Point]:
    geometry = plane.geometry
    if unit is geometry.unit:
        return _same
    if unit is Unit.FRACTION:
        return plane.from_fraction
    if unit is Unit.PIXEL:
        return plane.from_pixels
    there = geometry.in_unit(unit)

    def convert(x: float, y: float) -> Point:
        across, down = there.convert([x], [y], geometry.unit)
        return float(across[0]), float(down[0])

    return convert


def _same(x: float, y: float) -> Point:
    return x, y


def _write(**values: object) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


LEAVES: Final = {
    "type": "What a message is.",
    "software": "Ours.",
    "version": "Of these messages.",
    "plane": "The tracker's screen or field of view is public.",
    **dict.fromkeys(
        ("width_px", "height_px", "width_mm", "height_mm", "distance_mm", "fov_x_deg", "fov_y_deg"),
        "Part of the viewing plane, from the policy.",
    ),
    "unit": "Of x and y.",
    "rate_hz": "As the policy says.",
    "output": "As the policy says.",
    "areas": "Names of areas, as the policy says.",
    "guarantee": "What the veil guarantees is public.",
    "t": "The device's time is public.",
    "x": "The veiled point.",
    "y": "The veiled point.",
    "valid": "Made up: whether the veil shows a point.",
    "head": "Only if the policy declares it: where the head points, veiled together with gaze.",
    "yaw": "Of the veiled head.",
    "pitch": "Of the veiled head.",
    "origins": "Only if the policy declares it, without a guarantee: where the eyes are in the head.",
    "ipd": "Only if the policy declares it, without a guarantee: the distance between the eyes.",
    "duration": "Of a fixation found in veiled points.",
    "number": "Counts fixations found in veiled points.",
    "area": "The name of the area a veiled point is in.",
    "reason": "Why a stream has ended; never about gaze.",
}
"""Every field that may leave, here and in both protocols that speak these messages."""

WITHHELD: Final = {
    "pupil": "Pupil size is not veiled.",
    "left": "Raw gaze of one eye.",
    "right": "Raw gaze of one eye.",
    "origin": "Positions of the eyes: a biometric. They leave only as origins or ipd, where the policy declares them.",
    "roll": "Of the head: apps do not need it, and it identifies participants.",
    "position": "Of the head: it reveals a participant's height.",
    "confidence": "Describes the raw eye; valid is derived from the veiled point.",
    "blink": "Blinks are raw.",
    "every other field": "Unknown.",
}
"""What a tracker's messages may hold and a reader forgets."""
