# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The only place where raw gaze becomes veiled gaze; nothing else in the package makes what a sink accepts.

Apps with equal veils share one `LiveVeil`, and each has its own `Feed` behind it: an edge rule, a rate, and samples,
fixations or names of areas. All of that is post-processing of the same veiled points, so it costs no budget, and apps
that collude see one noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gateway.protocol import Output
from gazeveil.gateway.sample import (
    HEAD,
    IPD,
    ORIGINS,
    EyeGeometry,
    Pointing,
    Veiled,
    make_veiled_fixation,
    make_veiled_hit,
    make_veiled_sample,
)
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.events import DETECTORS
from gazeveil.geometry import Geometry
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.samples.mechanism import Arrays, Faults, SampleMechanism, Veil, fails_closed, mechanism_from_dict
from gazeveil.samples.mechanisms.eye_and_head import EyeAndHead, EyeAndHeadVeil
from gazeveil.samples.recipes import find_preset, from_recipe, with_lengths
from gazeveil.samples.space import Space, wrapped
from gazeveil.samples.veils import as_samples

OFF = "off"
EDGES = ("clamp", "reflect", "leave")
LONGEST_WINDOW_S = 10.0
"""The longest window of any guarantee about streams; also the quiet time around other kinds of guarantees."""
_ROUNDING_S = 2e-6
"""Veils round times to microseconds."""
_EARLY = 0.4
"""The part of a period by which a sample may be early: trackers jitter, and none should be lost at equal rates."""

_NOWHERE = (math.nan, math.nan)

Show = Callable[[Veiled], None]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class NoVeil(SampleMechanism):
    """No veil: gaze passes unchanged. Only where a policy explicitly allows it."""

    name: ClassVar[str] = OFF
    draws_noise: ClassVar[bool] = False

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("the veil is off: gaze passes as it is")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil that hides nothing."""
        return _Open(self, noise)


class _Open(Veil):
    __slots__ = ()

    def step(self, t: float, x: float, y: float) -> Point:
        """Return the point."""
        self._check_open()
        return x, y

    def step_both(self, t: float, x: float, y: float, yaw: float, pitch: float) -> tuple[float, float, float, float]:
        """Return the point, and where the head points."""
        self._check_open()
        return x, y, yaw, pitch

    @fails_closed
    def run(self, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the points."""
        _, x, y = as_samples(t, x, y)
        return x, y

    @property
    def faults(self) -> Faults:
        """None: nothing is checked."""
        return Faults()

    def _state(self) -> Arrays:
        return {"nothing": np.zeros(0)}

    def _restore(self, arrays: Arrays) -> None:
        return


def mechanism_of(values: Mapping[str, Any], space: Space) -> SampleMechanism:
    """Return the veil that a policy describes, in a tracker's space.

    Args:
        values: A ``preset`` and the parameters that differ from it, or a ``mechanism`` and its parameters.
        space: The tracker's.

    Raises:
        OptionError: If they describe none.
        UnknownName: If there is no preset or mechanism of that name.
    """
    given = dict(values)
    if given.get("preset", given.get("mechanism")) == OFF:
        if len(given) > 1:
            raise OptionError("a veil that is off has no parameters")
        return NoVeil(space)
    if "preset" in given:
        made = find_preset(given.pop("preset")).mechanism_in(space)
        return mechanism_from_dict({**made.to_dict(), **with_lengths(made.name, given, space)}) if given else made
    return from_recipe(given, space)


def veils_the_head(mechanism: SampleMechanism) -> bool:
    """Return whether a veil takes the head with gaze: one for both does, and no veil at all."""
    return isinstance(mechanism, EyeAndHead | NoVeil)


def window_of(guarantee: Guarantee) -> float:
    """Return how long a window of a guarantee is, in seconds, rounded up; 0 where nothing is guaranteed."""
    if isinstance(guarantee, GazeStreamDP):
        return float(guarantee.window) + _ROUNDING_S
    return LONGEST_WINDOW_S if guarantee.proven else 0.0


class LiveVeil:
    """A veil on a live stream, quiet at first and open only while a lease is paid.

    A sample that comes while it is closed never enters the veil, so nothing that leaves later depends on it.
    ``open_until`` is the only way to open it.

    Attributes:
        veil: The veil; its holder could pass gaze through, so it stays in this module and the hub.
        head: Where the head points, veiled with the latest point; None if the veil does not take it.
    """

    __slots__ = (
        "_began", "_both", "_pace", "_paced", "_quiet", "_speed", "_step", "_until_now", "_until_t", "head", "points",
        "veil",
    )  # fmt: skip

    def __init__(self, mechanism: SampleMechanism, noise: NoiseSource, *, quiet_s: float, speed: float = 1.0) -> None:
        """Start a new veil that lets nothing through for a while, on both clocks, from its first sample on.

        Args:
            mechanism: The mechanism to start.
            noise: The source of noise.
            quiet_s: The quiet time in seconds.
            speed: How many seconds of stream time a second of the machine's clock stands for; not 1 in a replay.
        """
        self.veil = mechanism.start(noise)
        self._step, self._pace = self.veil.step, self.veil.pace
        self._both = self.veil.step_both if isinstance(self.veil, EyeAndHeadVeil | _Open) else None
        self.head: Pointing | None = None
        self._speed, self._paced = speed, -math.inf
        self._quiet = quiet_s
        self._began: tuple[float, float] | None = None
        self._until_t = self._until_now = -math.inf
        self.points = 0

    def is_quiet(self, t: float, now: float) -> bool:
        """Whether the quiet time lasts at a sample; it counts from the first sample that this is called with."""
        if self._began is None:
            self._began = (t, now)
        first_t, first_now = self._began
        return t <= first_t + self._quiet or now <= first_now + self._quiet

    def be_quiet(self, quiet_s: float) -> None:
        """Extend the quiet time to at least ``quiet_s``: a longer window may reach back before the first sample."""
        self._quiet = max(self._quiet, quiet_s)

    def open_until(self, t: float, now: float) -> None:
        """Let samples pass before a stream time and before a moment of the machine's clock."""
        self._until_t, self._until_now = t, now

    def shut(self) -> None:
        """Let nothing pass until it is opened again."""
        self._until_t = self._until_now = -math.inf

    def pass_through(self, t: float, x: float, y: float, now: float, head: Pointing | None = None) -> Point | None:
        """Return the veiled point of one sample, or None if the veil is closed.

        `head` is the veiled direction of the head, if the veil takes it; otherwise ``head`` is ignored.

        Raises:
            GazeveilError: If the veil meets an error; it is closed for good then.
        """
        if t >= self._until_t or now >= self._until_now:
            return None
        self.points += 1
        if now > self._paced:
            self._paced = now
            self._pace(now * self._speed)
        if self._both is None:
            return self._step(t, x, y)
        x, y, *turned = self._both(t, x, y, *(head or _NOWHERE))
        self.head = (turned[0], turned[1])
        return x, y

    def close(self, reason: str) -> None:
        """Close the veil for good, and drop its state."""
        self.shut()
        self.veil.close(reason)


class Feed(ABC):
    """What one app gets of veiled points."""

    __slots__ = ("_due", "_edge", "_period", "head_and_eyes")

    def __init__(self, edge: Callable[[float, float], Point] | None, rate_hz: float) -> None:
        self._edge = edge
        self._period = 1.0 / rate_hz
        self._due = -math.inf
        self.head_and_eyes: frozenset[str] = frozenset()

    @abstractmethod
    def give(
        self, t: float, x: float, y: float, show: Show, head: Pointing | None = None, eyes: EyeGeometry | None = None
    ) -> None:
        """Take one veiled point, and show the output.

        Only samples show the veiled head and the unveiled eyes, and only what the policy declares.
        """

    def forget(self) -> None:
        """Restart after a silence."""
        self._due = -math.inf

    def _is_due(self, t: float) -> bool:
        """Whether the rate allows another sample, on stream time."""
        due, period = self._due, self._period
        if t < due - _EARLY * period:
            return False
        self._due = due + period if t < due + period else t + period
        return True


class _Samples(Feed):
    __slots__ = ()

    def give(
        self, t: float, x: float, y: float, show: Show, head: Pointing | None = None, eyes: EyeGeometry | None = None
    ) -> None:
        due, period = self._due, self._period
        if t < due - _EARLY * period:
            return
        self._due = due + period if t < due + period else t + period
        if self._edge is not None:
            x, y = self._edge(x, y)
        if self.head_and_eyes:
            show(
                make_veiled_sample(
                    t, x, y, head if HEAD in self.head_and_eyes else None, _declared(eyes, self.head_and_eyes)
                )
            )
        else:
            show(make_veiled_sample(t, x, y))


class _Fixations(Feed):
    __slots__ = ("_count", "_geometry", "_stream")

    def __init__(self, edge: Callable[[float, float], Point] | None, rate_hz: float, geometry: Geometry) -> None:
        super().__init__(edge, rate_hz)
        self._geometry, self._count = geometry, 0
        self._stream = DETECTORS["idt"]().start(geometry)

    def give(
        self, t: float, x: float, y: float, show: Show, head: Pointing | None = None, eyes: EyeGeometry | None = None
    ) -> None:
        for event in self._stream.push(t, x, y):
            if event.kind == "fixation":
                at = self._edge(event.x, event.y) if self._edge is not None else (event.x, event.y)
                self._count += 1
                show(make_veiled_fixation(event.offset, *at, event.offset - event.onset, self._count))

    def forget(self) -> None:
        super().forget()
        self._stream = DETECTORS["idt"]().start(self._geometry)


class _Hits(Feed):
    __slots__ = ("_areas", "_last")

    def __init__(self, edge: Callable[[float, float], Point] | None, rate_hz: float, areas: AreasOfInterest) -> None:
        super().__init__(edge, rate_hz)
        self._areas = [(area.name, _inside(area)) for area in areas]
        self._last: str | None = None

    def give(
        self, t: float, x: float, y: float, show: Show, head: Pointing | None = None, eyes: EyeGeometry | None = None
    ) -> None:
        if not self._is_due(t):
            return
        if self._edge is not None:
            x, y = self._edge(x, y)
        name = next((name for name, inside in self._areas if inside(x, y)), "")
        if name != self._last:
            self._last = name
            show(make_veiled_hit(t, name))

    def forget(self) -> None:
        super().forget()
        self._last = None


def _declared(eyes: EyeGeometry | None, head_and_eyes: frozenset[str]) -> EyeGeometry | None:
    """Return the part of the eyes' geometry that a policy declares; None if that is nothing."""
    if eyes is None or not head_and_eyes & {ORIGINS, IPD}:
        return None
    left, right = (eyes.left, eyes.right) if ORIGINS in head_and_eyes else (None, None)
    return EyeGeometry(left, right, eyes.ipd if IPD in head_and_eyes else None)


def feed_of(
    output: Output,
    *,
    edge: str,
    rate_hz: float,
    space: Space,
    geometry: Geometry,
    areas: AreasOfInterest | None,
    head_and_eyes: tuple[str, ...] = (),
) -> Feed:
    """Return the feed that makes an app's output from veiled points.

    Raises:
        OptionError: If the output is hits and there are no areas, or the edge rule is unknown.
    """
    rule = _edge_rule(edge, space)
    if output == "fixations":
        return _Fixations(rule, rate_hz, geometry)
    if output == "samples":
        feed = _Samples(rule, rate_hz)
        feed.head_and_eyes = frozenset(head_and_eyes)
        return feed
    if areas is None:
        raise OptionError("an app that gets only the names of areas needs areas")
    return _Hits(rule, rate_hz, areas)


def _inside(area: Any) -> Callable[[float, float], bool]:
    if isinstance(area, Rectangle):
        left, top, right, bottom = area.left, area.top, area.right, area.bottom
        return lambda x, y: left <= x < right and top <= y < bottom
    return lambda x, y: bool(area.contains(x, y))


def _edge_rule(rule: str, space: Space) -> Callable[[float, float], Point] | None:
    """Return what `samples.mechanisms.edge` does, for one point and without its clock."""
    (left, top), (right, bottom), period = space.low[:2], space.high[:2], space.period
    if rule == "leave":
        return None
    if rule == "reflect":
        return lambda x, y: (
            _turned(x, period) if period else _folded(x, left, right),
            _folded(y, top, bottom),
        )
    if rule != "clamp":
        raise OptionError(f"edge must be {', '.join(EDGES)}, not {rule!r}")

    def clamp(x: float, y: float) -> Point:
        if period:
            x = _turned(x, period)
        elif x < left:
            x = left
        elif x > right:
            x = right
        if y < top:
            y = top
        elif y > bottom:
            y = bottom
        return x, y

    return clamp


def _turned(value: float, period: float) -> float:
    return wrapped(value, period) if math.isfinite(value) else value


def _folded(value: float, low: float, high: float) -> float:
    if low <= value <= high or not math.isfinite(value):
        return value
    span = high - low
    way = (value - low) % (2.0 * span)
    return min(max(low + min(way, 2.0 * span - way), low), high)
