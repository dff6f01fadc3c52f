# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What every protocol offers: a source of raw gaze, a sink of veiled gaze, the viewing plane of both, and the registry.

In a source we are the client of a tracker, in a sink we are the tracker of an app. Some trackers connect to us: then
the source is a listener that checks a token. All are state machines without sockets: bytes and a clock in, bytes out.
One object lives as long as one connection. ``now`` is always monotonic seconds of the machine, for heartbeats and
time-outs; a sample's ``t`` is the tracker's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gazeveil.errors import GeometryError, PrivacyError
from gazeveil.gateway.sample import RawSample, Veiled, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.geometry import Geometry, Unit
from gazeveil.registry import Registry

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ViewingPlane:
    """Where a tracker's gaze lies; fractions start at the top left corner and grow downwards.

    `Geometry` converts arrays; this converts one point with plain arithmetic.
    """

    geometry: Geometry
    to_fraction: Callable[[float, float], Point] = field(init=False, repr=False, compare=False)
    from_fraction: Callable[[float, float], Point] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        there, back = _conversions(self.geometry)
        object.__setattr__(self, "to_fraction", there)
        object.__setattr__(self, "from_fraction", back)

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height in pixels, for protocols that send them to apps.

        Raises:
            GeometryError: If the viewing plane has no pixels.
        """
        if not self.geometry.knows_pixels:
            raise GeometryError(f"{self.geometry} has no pixels, and this protocol counts in them")
        return round(self.geometry.width_px or 0), round(self.geometry.height_px or 0)

    def from_pixels(self, x: float, y: float) -> Point:
        """Return a point in pixels as one of the viewing plane."""
        if self.geometry.unit is Unit.PIXEL:
            return x, y
        width, height = self.pixels
        return self.from_fraction(x / width, y / height)


def _conversions(
    geometry: Geometry,
) -> tuple[Callable[[float, float], Point], Callable[[float, float], Point]]:
    if geometry.unit is Unit.FRACTION:
        return _same, _same
    if geometry.unit is Unit.PIXEL:
        width, height = float(geometry.width_px or 0), float(geometry.height_px or 0)
        if not width or not height:
            raise GeometryError("a viewing plane in pixels must know how many there are")
        return (lambda x, y: (x / width, y / height)), (lambda x, y: (x * width, y * height))
    (across, across_back), (down, down_back) = _degrees(geometry, 0), _degrees(geometry, 1)
    return (lambda x, y: _both(across(x), down(y))), (lambda x, y: _both(across_back(x), down_back(y)))


def _same(x: float, y: float) -> Point:
    return x, y


def _both(x: float, y: float) -> Point:
    """Return a point, without either coordinate if one is missing."""
    return (x, y) if x == x and y == y else (math.nan, math.nan)  # noqa: PLR0124  (NaN, at the price of one comparison)


def _degrees(geometry: Geometry, axis: int) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return degrees to fractions of one axis, and back: what `Geometry.convert` does, for one number."""
    size = (geometry.width_mm, geometry.height_mm)[axis]
    if size is not None and geometry.distance_mm is not None:
        far = geometry.distance_mm / size
        return (
            lambda degrees: math.tan(math.radians(degrees)) * far + 0.5 if abs(degrees) < 90 else math.nan,
            lambda fraction: math.degrees(math.atan((fraction - 0.5) / far)),
        )
    field_of_view = (geometry.fov_x_deg, geometry.fov_y_deg)[axis]
    if field_of_view is not None:
        return (
            lambda degrees: degrees / field_of_view + 0.5,
            lambda fraction: (fraction - 0.5) * field_of_view,
        )

    def unknown(_: float) -> float:
        raise GeometryError(f"{geometry} has no size, so degrees have no place in it")

    return unknown, unknown


# --- Sources and sinks.


Transport = Literal["tcp", "zmq", "lsl"]
Output = Literal["samples", "fixations", "hits"]

MOST_WAITING = 1 << 20
"""Bytes of one incomplete message after which the connection is closed."""


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """What a sink may report to an app about the stream: all of it public, none of it gaze.

    Attributes:
        plane: Where gaze lies.
        rate_hz: How many samples a second the app gets at most.
        output: Samples, or only fixations, or only the names of areas.
        areas: Names of areas, where only these are reported.
        name: The app's name in the policy.
        guarantee: The guarantee in words, for protocols that can carry it.
        origins: Web pages that may read this app's stream, besides those of this machine; for WebSocket.
        shown_as: What its stream or surface is called, where that is not the app's name.
        blank_pupils: Whether gaze comes with a pupil of each eye in which nothing was measured; for Pupil.
    """

    plane: ViewingPlane
    rate_hz: float = 60.0
    output: Output = "samples"
    areas: tuple[str, ...] = ()
    name: str = "gazeveil"
    guarantee: str = ""
    origins: tuple[str, ...] = ()
    shown_as: str = ""
    blank_pupils: bool = False

    @property
    def stream(self) -> str:
        """What its stream or surface is called, in protocols that name them."""
        return self.shown_as or self.name


class _Speaker:
    """One end of a stream of bytes."""

    def __init__(self) -> None:
        self._out = bytearray()

    def data_to_send(self) -> bytes:
        """Return the bytes to send, and drop them."""
        if not self._out:
            return b""
        data = bytes(self._out)
        self._out.clear()
        return data


class Source(_Speaker, ABC):
    """A connection to a tracker, over a stream of bytes."""

    def __init__(self, plane: ViewingPlane) -> None:
        super().__init__()
        self.plane = plane

    @abstractmethod
    def connected(self, now: float) -> None:
        """Greet the tracker, and ask it for gaze."""

    @abstractmethod
    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples that are complete now; everything else in them is dropped.

        Raises:
            WireError: If they break the protocol; the connection is to be closed.
        """

    def tick(self, now: float) -> None:
        """Do what is due, such as heartbeats. Called a few times a second."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Which senders may connect where the gateway listens for gaze.

    Attributes:
        token: The token that a sender must show first.
        origins: Web pages that may connect, besides those of this machine.
        enter: Called when a sender has shown the token; returns why it is refused all the same, empty if it is not.
    """

    token: str = field(repr=False)
    origins: tuple[str, ...] = ()
    enter: Callable[[], str] = lambda: ""


class PushedSource(Source):
    """A connection of a sender: a tracker, a page or a program that connects to the gateway and sends gaze.

    Attributes:
        admitted: Whether it has shown the token and was admitted; before that it sends no samples.
        ended: Whether the connection is to be closed once everything is sent.
        refused_origin: The web page that was turned away, as it named itself; empty if none was.
        refused_token: Whether it showed a wrong token, or none.
        remark: A warning to the sender, for the log, which empties it.
    """

    def __init__(self, plane: ViewingPlane, gate: Gate) -> None:
        super().__init__(plane)
        self.gate = gate
        self.admitted = self.ended = self.refused_token = False
        self.refused_origin = self.remark = ""

    @abstractmethod
    def close(self, reason: str, code: int = 1001) -> None:
        """Report why the gateway closes the connection, and set ``ended``; codes are WebSocket's."""


class Sink(_Speaker, ABC):
    """A connection of an app, over a stream of bytes.

    Attributes:
        ended: Whether the connection is to be closed once everything is sent.
        refused_origin: The web page that was turned away, as it named itself; empty if none was.
    """

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__()
        self.shown = shown
        self.ended = False
        self.refused_origin = ""

    @property
    def wants_gaze(self) -> bool:
        """Whether the app has asked for gaze as its protocol does: for others nothing is veiled or paid for.

        Where a protocol has no such request, a connection counts as one.
        """
        return not self.ended

    def connected(self, now: float) -> None:
        """Greet the app, where the protocol does."""

    @abstractmethod
    def received(self, data: bytes, now: float) -> None:
        """Take bytes of the app and queue the answers.

        Raises:
            WireError: If they break the protocol; the connection is to be closed.
        """

    def show(self, veiled: Veiled, now: float) -> None:
        """Queue one veiled thing, if the app asked for data.

        Raises:
            PrivacyError: If it is anything but what a veil made.
        """
        kind = type(veiled)
        if kind is VeiledSample:
            self._sample(veiled, now)  # type: ignore[arg-type]
        elif kind is VeiledFixation:
            self._fixation(veiled, now)  # type: ignore[arg-type]
        elif kind is VeiledHit:
            self._hit(veiled, now)  # type: ignore[arg-type]
        else:
            raise PrivacyError(f"a sink takes only what a veil made, not {kind.__name__}")

    @abstractmethod
    def _sample(self, veiled: VeiledSample, now: float) -> None:
        """Queue a sample."""

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        raise PrivacyError("this protocol cannot carry fixations alone")

    def _hit(self, veiled: VeiledHit, now: float) -> None:
        raise PrivacyError("this protocol cannot carry names of areas alone")

    def regrade(self, shown: StreamFacts) -> None:
        """Switch to another kind of output; the old kind is not accepted any more."""
        self.shown = shown

    def silence(self, now: float) -> None:
        """Report as the protocol does that there is no gaze at present. Called when a stream falls silent."""

    @abstractmethod
    def end(self, reason: str, now: float) -> None:
        """Report as the protocol does why nothing more comes, and set ``ended``."""

    def stop(self, reason: str, now: float) -> None:
        """Report the same because the gateway stops, where a protocol can say that apps may come again later."""
        self.end(reason, now)

    def tick(self, now: float) -> None:
        """Do what is due, such as dropping an app without a heartbeat. Called a few times a second."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A wire protocol: its sides, and the fields that may leave in it.

    Attributes:
        name: Its name in a policy.
        title: Its name for participants.
        port: Where trackers of this kind listen by default.
        transport: What it runs over; sources and sinks of ``tcp`` are `Source` and `Sink`, of the others their own.
        source: Makes the client side from a viewing plane, and from fields if the policy has them; None if there is
            none.
        fields: Whether a policy may declare the names and units of such a tracker's fields.
        knows: What a source can read of head and eyes without fields; it reads what apps declare of that.
        link: How a tracker is followed if that takes more than one connection; empty if it does not.
        listener: Makes the side where the gateway listens and trackers connect, from a viewing plane, a gate and
            fields.
        sink: Makes the tracker side; None if there is none.
        outputs: What a sink can carry.
        leaves: Every field that may leave, with the reason; whatever is not here does not.
        withheld: Fields of the protocol that are dropped or derived from the veiled point, with the reason.
        head_and_eyes: Whether a sink can carry the head and where the eyes are, if a policy declares them.
    """

    name: str
    title: str
    port: int
    leaves: Mapping[str, str]
    withheld: Mapping[str, str]
    source: Callable[..., Any] | None = None
    sink: Callable[[StreamFacts], Any] | None = None
    transport: Transport = "tcp"
    outputs: frozenset[Output] = field(default_factory=lambda: frozenset({"samples"}))
    listener: Callable[..., PushedSource] | None = None
    fields: bool = False
    knows: frozenset[str] = frozenset()
    link: Literal["", "rtsp"] = ""
    head_and_eyes: bool = False


PROTOCOLS: Registry[Protocol] = Registry("protocol", "gazeveil.gateway.protocols")
