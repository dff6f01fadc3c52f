# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""From a sender's JSON to samples, by the names, units and axes of the policy; and whether the first ones look right.

What is not where the policy says, or not what it says, is refused, with the names of the policy and never with what
came.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from gazeveil.errors import GeometryError
from gazeveil.gateway.fields import ARRIVAL, DROP, TIMES, UNITS, Fields
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocols._headset_json import Headset, paths_of, pointing
from gazeveil.gateway.protocols._json_gaze import converters
from gazeveil.gateway.protocols._json_paths import ABSENT, at, has_others, path_of, tree_of
from gazeveil.gateway.protocols._numbers import coordinate, seconds
from gazeveil.gateway.protocols._push_refusals import PushRefused
from gazeveil.gateway.sample import HEAD, IPD, ORIGINS, RawSample

FURTHEST: Final = 1.0
"""By how much of the viewing plane's size a point may lie beyond its edges."""
CHECKED_S: Final = 0.5
"""How long the first samples are compared with the machine's clock and with the viewing plane."""
CHECKED_SAMPLES: Final = 3
WATCHED_S: Final = 5.0
"""How long points are counted that lie off the viewing plane."""
LEAST_PACE, MOST_PACE = 0.2, 5.0
"""Seconds of a sender's time that a second may last: a network that stalls looks like that, another unit does not."""
IN_POLICY: Final = "in [tracker.fields] of the policy"


class Seen(NamedTuple):
    """A sample, and how it looks.

    Attributes:
        sample: Itself.
        missing: Whether gaze is missing.
        on_plane: Whether the point is on the screen or in the field of view.
        tiny: Whether both numbers, as they came, are from 0 to 1.
    """

    sample: RawSample
    missing: bool = True
    on_plane: bool = False
    tiny: bool = False


class Reader:
    """Reads one sample at a time.

    Raises:
        GeometryError: If the viewing plane cannot hold gaze in the unit.
    """

    def __init__(self, plane: Plane, fields: Fields) -> None:
        self._fields, self._plane = fields, plane
        self._known = converters(plane)
        if fields.unit not in self._known:
            raise GeometryError(
                f"{plane.geometry} cannot hold gaze in {UNITS[fields.unit]}",
                hint="give the screen's width_mm, height_mm and distance_mm" if fields.unit == "deg" else "",
            )
        self._convert, self._height = self._known[fields.unit]
        self._at_t, self._at_valid = path_of(fields.t), path_of(fields.valid)
        self._at_gaze = [path_of(name) for name in fields.gaze]
        self._headset = Headset(fields)
        self._tree = tree_of(paths_of(fields))
        self._strict = fields.others != DROP
        self._expected = _expected(fields)

    def read(self, told: Any, now: float, *, first: bool) -> Seen:
        """Return a sample, and how it looks.

        Args:
            told: What came, parsed.
            now: When.
            first: Whether it is one of the first: then a guess is reported where the unit looks wrong.

        Raises:
            PushRefused: If it is not what the policy says.
        """
        if type(told) is not dict or (self._strict and has_others(self._without_geometry(told), self._tree)):
            raise self._wrong()
        t = at(told, self._at_t) if self._at_t else None
        valid = at(told, self._at_valid) if self._at_valid else None
        gaze = [at(told, path) for path in self._at_gaze]
        if ABSENT in (t, valid, *gaze):
            raise self._wrong()
        moment = now if self._fields.time == ARRIVAL else self._moment(t)
        if self._at_valid and type(valid) is not bool:
            raise PushRefused("samples", f"{self._fields.valid} must be true or false", self._expected)
        sample = RawSample(moment, math.nan, math.nan)
        if self._headset.reads:
            self._look_beside(told, sample)
        if valid is False or all(one is None for one in gaze):
            return Seen(sample)
        across, up_or_down = self._angles(gaze[0]) if self._fields.direction else map(coordinate, gaze)
        if self._fields.direction and math.isnan(across):
            return Seen(sample)  # a vector without a length
        if math.isnan(across) or math.isnan(up_or_down):  # no number, or out of all proportion
            raise PushRefused("samples", f"{self._both} must be numbers, {self._bounds()}", self._expected)
        sample.x, sample.y = self._convert(across, self._height - up_or_down if self._fields.up else up_or_down)
        share = self._plane.to_fraction(sample.x, sample.y)
        if not all(-FURTHEST <= one <= 1.0 + FURTHEST for one in share):
            raise self._too_far(across, up_or_down, first=first)
        on_plane, tiny = _is_between_0_and_1(*share), _is_between_0_and_1(across, up_or_down)
        return Seen(sample, missing=False, on_plane=on_plane, tiny=tiny and not self._fields.direction)

    def _without_geometry(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return a sample without what headsets say of head and eyes and the policy does not name: it is dropped."""
        dropped = self._headset.dropped & told.keys()
        return {key: value for key, value in told.items() if key not in dropped} if dropped else told

    def _look_beside(self, told: dict[str, Any], sample: RawSample) -> None:
        try:
            sample.head, sample.eyes = self._headset.head(told), self._headset.eyes(told)
        except ValueError as error:
            what = str(error)
            name, form = self._fields.beside[what], _FORMS[what]
            raise PushRefused("samples", f"{name} must be {form}", self._expected) from None

    def _angles(self, told: Any) -> tuple[float, float]:
        found = pointing(told, self._fields.axes)
        if found is None:
            raise PushRefused("samples", f"{self._fields.direction} must be {_FORMS['head']}", self._expected)
        return found

    @property
    def _both(self) -> str:
        return " and ".join(self._fields.gaze)

    def _moment(self, t: Any) -> float:
        second = self._fields.second
        moment = seconds(t, second)
        if moment is None:
            unit = TIMES[self._fields.time][0]
            raise PushRefused(
                "samples", f"{self._fields.t} must be a time in {unit}", f'or write time = "arrival" {IN_POLICY}'
            )
        return moment

    def _wrong(self) -> PushRefused:
        *most, last = self._fields.names
        names = f"{', '.join(most)} and {last}"
        more = ", and nothing else" if self._strict else ""
        return PushRefused("samples", f"a sample must have {names}{more}", self._expected)

    def _too_far(self, x: float, y: float, *, first: bool) -> PushRefused:
        if first and not self._fields.direction:
            for unit in ("px", "deg", "norm"):
                if unit != self._fields.unit and self._is_on_plane(x, y, unit):
                    return unit_refused(self._fields, unit)
        return PushRefused("samples", f"{self._both} must be {self._bounds()}", self._expected)

    def _bounds(self) -> str:
        if self._fields.unit == "norm":
            return f"from {-FURTHEST:g} to {1 + FURTHEST:g}"
        far = "no further beyond an edge than it is wide or high"
        return f"on {self._plane.geometry}, or {far}"

    def _is_on_plane(self, x: float, y: float, unit: str) -> bool:
        if unit not in self._known:
            return False
        convert, height = self._known[unit]
        return _is_between_0_and_1(*self._plane.to_fraction(*convert(x, height - y if self._fields.up else y)))


def unit_refused(fields: Fields, found: str) -> PushRefused:
    """Return the refusal of samples that seem to be in another unit."""
    message = f"{fields.x} and {fields.y} look like {UNITS[found]}, not {UNITS[fields.unit]}"
    return PushRefused("unit", message, f'write unit = "{found}" {IN_POLICY}, or send {UNITS[fields.unit]}')


def time_refused(fields: Fields, pace: float) -> PushRefused:
    """Return the refusal of a time that goes on by this many declared seconds in one second."""
    unit, second = TIMES[fields.time]
    for name, (words, one) in TIMES.items():
        if LEAST_PACE <= pace * second / one <= MOST_PACE:
            hint = f'send {unit}, or write time = "{name}" {IN_POLICY}'
            return PushRefused("time", f"{fields.t} looks like {words}, not {unit}", hint)
    if pace <= 0.0:
        hint = f'{fields.t} is the time of the sample in {unit}, and grows; or write time = "arrival" {IN_POLICY}'
        return PushRefused("time", f"{fields.t} does not go on", hint)
    hint = f"send samples when they are made, with {fields.t} in {unit}"
    return PushRefused("time", f"{fields.t} goes on by {pace:.3g} seconds in one second", hint)


_FORMS: Final = {
    HEAD: "null or a vector: a list of three numbers, or an object with x, y and z",
    ORIGINS: "null or two vectors in mm, in a list or as left and right",
    IPD: "null or a number of mm",
}


def _expected(fields: Fields) -> str:
    missing = fields.direction or f"both {fields.x} and {fields.y}"
    return "; ".join((*fields.in_words(), f"null for {missing} where gaze is missing"))


def _is_between_0_and_1(x: float, y: float) -> bool:
    return 0.0 <= x <= 1.0 and 0.0 <= y <= 1.0
