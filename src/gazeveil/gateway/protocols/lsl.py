# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lab Streaming Layer: streams that describe themselves; liblsl itself does the network.

Channels have the names of Pupil Labs' own relay, so that its clients read ours: ``norm_pos`` starts at the bottom left.
A stream with a name like that of Neon's phone has Neon's channels instead. Names of areas are a stream of string
markers. Times are LSL's: the ``now`` of a sink must be ``pylsl.local_clock()``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from gazeveil.errors import GeometryError, MissingExtra, PrivacyError, WireError
from gazeveil.gateway.protocol import PROTOCOLS, Point, Protocol, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import CARRIES, TrackerClock
from gazeveil.gateway.protocols.json_gaze import converters
from gazeveil.gateway.protocols.neon_phone import CAMERAS, version_for
from gazeveil.gateway.sample import RawSample, Veiled, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gateway.tracker_fields import Fields, coordinate, seconds
from gazeveil.geometry import Unit

MOST_CHANNELS: Final = 1024
"""The most channels of a gaze stream."""

CONFIDENT: Final = 0.6
"""Gaze with a lower confidence is missing, as in recordings."""

NEON_NAME: Final = "_Neon Gaze"
"""How the name of a stream of Neon's phone ends, after the phone's own name."""

_FRACTIONS: Final = ("normalized", "normalised")
_PIXELS: Final = ("pixels", "pixel", "px")
_Reader = Callable[[Sequence[float]], Point]


@dataclass(frozen=True, slots=True)
class Channel:
    """A stream's description of one channel."""

    label: str
    type: str
    unit: str = ""
    eye: str = "both"
    coordinate_system: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a stream; its rate is always irregular."""

    name: str
    type: str
    source_id: str
    format: Literal["double64", "string"]
    channels: tuple[Channel, ...]

    def info(self) -> Any:
        """Return it as a ``pylsl.StreamInfo``, for an outlet.

        Raises:
            MissingExtra: If pylsl or liblsl is not there.
        """
        pylsl = liblsl()
        info = pylsl.StreamInfo(
            self.name, self.type, len(self.channels), pylsl.IRREGULAR_RATE, self.format, self.source_id
        )
        channels = info.desc().append_child("channels")
        for channel in self.channels:
            entry = channels.append_child("channel")
            for name in ("label", "eye", "type", "unit", "coordinate_system"):
                if value := getattr(channel, name):
                    entry.append_child_value(name, value)
        return info


def channels_of(info: Any) -> tuple[Channel, ...]:
    """Return the channels in the description of a stream, a ``pylsl.StreamInfo``.

    Raises:
        WireError: If it has too many, or describes none.
    """
    if not 0 < info.channel_count() <= MOST_CHANNELS:
        raise WireError(f"a gaze stream has at most {MOST_CHANNELS} channels")
    found: list[Channel] = []
    entry = info.desc().child("channels").child("channel")
    while not entry.empty() and len(found) < info.channel_count():
        names = ("label", "type", "unit", "eye", "coordinate_system")
        label, kind, *rest = (str(entry.child_value(name)) for name in names)
        found.append(
            Channel(label, kind or str(entry.child_value("metatype")), *rest)
        )  # as the relay of Invisible says
        entry = entry.next_sibling("channel")
    if len(found) != info.channel_count():
        raise WireError("the stream does not describe each of its channels")
    return tuple(found)


class LslSource:
    """Reads an inlet: the channels that hold gaze by their description, and no others.

    Attributes:
        query: A predicate for the streams to search, for liblsl's ``resolve_bypred``.
    """

    query: Final = "type='Gaze'"

    def __init__(self, plane: ViewingPlane, fields: Fields | None = None) -> None:
        if fields is not None and fields.unit not in converters(plane):
            raise GeometryError(f"{plane.geometry} cannot hold gaze in {fields.unit!r}")
        self.plane, self._fields = plane, fields
        self._read: _Reader | None = None
        self._confidence: int | None = None

    def described(self, channels: Sequence[Channel], name: str = "") -> None:
        """Choose the channels to read by their description; if the stream's name is like Neon's, also by their labels.

        Raises:
            WireError: If none of them holds gaze in this viewing plane.
        """
        both = [(i, channel) for i, channel in enumerate(channels) if channel.eye.lower() in {"", "both"}]
        at = {channel.label.lower(): i for i, channel in both}
        kinds: dict[str, int] = {}
        for i, channel in both:
            kinds.setdefault(f"{channel.type} {channel.unit}".lower(), i)
        self._confidence = at.get("confidence")
        self._read = self._reader(at, kinds, is_neon=name.endswith(NEON_NAME))

    def sample(self, values: Sequence[float], timestamp: float) -> RawSample | None:
        """Return one sample of the stream; None if it has no time.

        Raises:
            WireError: If it has fewer channels than the stream described, or the stream described nothing.
        """
        if self._read is None:
            raise WireError("the stream has not described its channels")
        t = seconds(timestamp)
        if t is None:
            return None
        try:
            x, y = self._read(values)
            confident = self._confidence is None or values[self._confidence] >= CONFIDENT
        except (IndexError, TypeError):
            raise WireError(
                "a sample has fewer channels than its stream described, or other things than numbers"
            ) from None
        if not confident or math.isnan(x) or math.isnan(y):
            return RawSample(t, math.nan, math.nan)
        return RawSample(t, x, y)

    def _reader(self, at: dict[str, int], kinds: dict[str, int], *, is_neon: bool) -> _Reader:
        plane = self.plane

        def pair(
            names: dict[str, int], across: str, down: str, convert: Callable[[float, float], Point]
        ) -> _Reader | None:
            if across not in names or down not in names:
                return None
            i, j = names[across], names[down]
            return lambda values: convert(coordinate(values[i]), coordinate(values[j]))

        if self._fields is not None:
            convert, height = converters(plane)[self._fields.unit]
            turned = (lambda x, y: convert(x, height - y)) if self._fields.up else convert
            declared = pair(at, self._fields.x.lower(), self._fields.y.lower(), turned)
            if declared is None:
                raise WireError(
                    "the stream has no channels with the labels that the policy names",
                    hint=f"expected {self._fields.x} and {self._fields.y}",
                )
            return declared
        choices = [pair(at, "norm_pos_x", "norm_pos_y", lambda x, y: plane.from_fraction(x, 1.0 - y))]
        choices += [pair(kinds, f"screenx {unit}", f"screeny {unit}", plane.from_fraction) for unit in _FRACTIONS]
        choices += [pair(kinds, f"screenx {unit}", f"screeny {unit}", plane.from_pixels) for unit in _PIXELS]
        if is_neon:
            choices.append(pair(at, "x", "y", plane.from_pixels))
        if plane.geometry.unit is Unit.DEGREE:
            choices.insert(0, self._direction(kinds))
        for choice in choices:
            if choice is not None:
                return choice
        raise WireError(
            "the stream has no channels that say where both eyes look in this viewing plane",
            hint="norm_pos_x and _y, ScreenX and ScreenY, or for a headset DirectionX, DirectionY and DirectionZ; "
            'for others [tracker.fields] of the policy, such as x = "x", y = "y" and unit = "px"',
        )

    def _direction(self, kinds: dict[str, int]) -> _Reader | None:
        axes = {kind.split(" ")[0]: i for kind, i in reversed(kinds.items())}
        try:
            i, j, k = (axes[f"direction{axis}"] for axis in "xyz")
        except KeyError:
            return None
        return lambda values: _degrees(coordinate(values[i]), coordinate(values[j]), coordinate(values[k]))


LslSample = tuple[list[float] | list[str], float]
"""The values of all channels, and when."""


class LslSink:
    """Writes an outlet's samples, which its methods return.

    Attributes:
        description: The description of the stream.
        ended: Whether the outlet is to be closed.
    """

    def __init__(self, shown: StreamFacts) -> None:
        self.shown = shown
        self.ended = False
        self.description = _describe(shown)
        self._camera = CAMERAS[version_for(shown)] if self.description.channels is _NEON else None
        shown.plane.to_fraction(0.0, 0.0)  # a plane without fractions is refused now, not at the first sample
        self._clock = TrackerClock()
        self._silent = True

    def show(self, veiled: Veiled, now: float) -> LslSample | None:
        """Return one veiled thing as a sample.

        Raises:
            PrivacyError: If it is anything but what a veil made, or the stream carries other things.
        """
        kind = type(veiled)
        if kind is not CARRIES[self.shown.output]:
            raise PrivacyError(
                f"a stream of {self.shown.output} takes only those that a veil made, not {kind.__name__}"
            )
        if self.ended:
            return None
        self._silent = False
        t = veiled.t + self._clock.seen(veiled.t, now)
        if isinstance(veiled, VeiledHit):
            return [veiled.area], t
        if not isinstance(veiled, VeiledSample | VeiledFixation):
            return None
        x, y = self.shown.plane.to_fraction(veiled.x, veiled.y)
        if math.isnan(x) or math.isnan(y):
            return self._nothing(), t
        if isinstance(veiled, VeiledFixation):
            return [1.0, x, 1.0 - y, veiled.duration * 1000.0], t - veiled.duration
        if self._camera is not None:
            return [x * self._camera[0], y * self._camera[1]], t
        return [1.0, x, 1.0 - y], t

    def silence(self, now: float) -> LslSample | None:
        """Return a sample without gaze, once each time the stream falls silent."""
        if self._silent or self.ended:
            return None
        self._silent = True
        return ([""] if self.shown.output == "hits" else self._nothing()), now

    def end(self, reason: str, now: float) -> LslSample | None:
        """Set ``ended``, and return a last sample; only a stream of markers can give the reason."""
        if self.ended:
            return None
        last = ([f"end: {reason}"], now) if self.shown.output == "hits" else self.silence(now)
        self.ended = True
        return last

    def _nothing(self) -> list[float]:
        return [0.0 if channel is _CONFIDENCE else math.nan for channel in self.description.channels]


_CONFIDENCE: Final = Channel("confidence", "Confidence", "normalized")
_GAZE: Final = (
    _CONFIDENCE,
    Channel("norm_pos_x", "ScreenX", "normalized", coordinate_system="world"),
    Channel("norm_pos_y", "ScreenY", "normalized", coordinate_system="world"),
)
_NEON: Final = (
    Channel("x", "ScreenX", "pixels", coordinate_system="world"),
    Channel("y", "ScreenY", "pixels", coordinate_system="world"),
)
_DURATION: Final = Channel("duration", "com.pupil-labs.fixation.duration", "milliseconds")
_AREA: Final = Channel("area", "Marker", eye="")


def _describe(shown: StreamFacts) -> Description:
    channels = {"samples": _GAZE, "fixations": (*_GAZE, _DURATION), "hits": (_AREA,)}[shown.output]
    if shown.output == "samples" and shown.stream.endswith(NEON_NAME):
        channels = _NEON
    # Inlets find a stream again by its source id. It names the app and nothing else: no device, no person.
    source_id = f"gazeveil:{shown.name}"
    if shown.output == "hits":
        return Description(shown.stream, "Markers", source_id, "string", channels)
    return Description(shown.stream, "Gaze", source_id, "double64", channels)


def _degrees(right: float, down: float, ahead: float) -> Point:
    if not (right or down or ahead) or math.isnan(right + down + ahead):
        return math.nan, math.nan
    return math.degrees(math.atan2(right, ahead)), math.degrees(math.atan2(down, math.hypot(right, ahead)))


def liblsl() -> Any:
    """Return ``pylsl``, which loads liblsl.

    Raises:
        MissingExtra: If either is not there.
    """
    try:
        import pylsl  # noqa: PLC0415
        import pylsl.util  # noqa: PLC0415
    except (ImportError, RuntimeError):  # pylsl raises the latter where liblsl is not found
        raise MissingExtra("pylsl", "live", "Lab Streaming Layer") from None
    return pylsl


LEAVES: Final = {
    "confidence": "Made up: 1 where the veil shows a point, 0 where it shows none.",
    "norm_pos_x": "The veiled point.",
    "norm_pos_y": "The veiled point.",
    "x": "The veiled point, in pixels of Neon's scene camera, where the stream is called like Neon's.",
    "y": "The veiled point, in pixels of Neon's scene camera, where the stream is called like Neon's.",
    "duration": "Of a fixation found in veiled points.",
    "area": "The name of the area a veiled point is in.",
    "timestamp": "The device's time is public; given on LSL's clock.",
}
WITHHELD: Final = {
    "gaze_point_3d_*": "Raw gaze, with its depth.",
    "eye_center*, EyeballCenter*": "Positions of the eyes: a biometric.",
    "gaze_normal*": "Raw direction of each eye.",
    "diameter*, PupilDiameter": "Pupil size is not veiled.",
    "fixation id": "Counts the tracker's own fixations.",
    "dispersion": "Of a raw fixation.",
    "method": "How the tracker found a fixation.",
    "source_id of the tracker": "Names the device; ours names the app.",
    "every other channel": "Unknown.",
}

PROTOCOLS.register("lsl")(
    Protocol(
        name="lsl",
        title="Lab Streaming Layer",
        port=16571,
        transport="lsl",
        leaves=LEAVES,
        withheld=WITHHELD,
        source=LslSource,
        sink=LslSink,
        outputs=frozenset({"samples", "fixations", "hits"}),
        fields=True,
    )
)
