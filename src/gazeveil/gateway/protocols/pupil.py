# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Pupil Core's network API: requests over ZeroMQ REQ/REP on port 50020, data as [topic, msgpack] over PUB/SUB.

The other end is a list of frames at a time, so source and sink take and give frames instead of a stream of bytes. One
`PupilSink` serves all clients of one app: a REP socket passes requests to `PupilSink.answer`, and what `show`
returns goes out on a PUB socket at ``sub_port``. At ``pub_port`` a SUB socket without a subscription is enough: what
clients publish there is not passed on, since that would let one client feed made-up gaze to another.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from gazeveil.errors import PrivacyError, WireError, needing
from gazeveil.gateway.protocol import MOST_WAITING, PROTOCOLS, Protocol, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import CARRIES, TrackerClock
from gazeveil.gateway.sample import RawSample, Veiled, VeiledFixation, VeiledHit, VeiledSample
from gazeveil.gateway.tracker_fields import coordinate, number, seconds

Frames = list[bytes]

CONFIDENT: Final = 0.6
"""Gaze with a lower confidence is missing, as in recordings of this tracker."""

API_VERSION: Final = "3.5.1"
"""The version of Pupil Capture whose network API this is; apps compare it."""

GAZE_TOPIC: Final = "gaze.2d.01."
BLANK_TOPIC: Final = "gaze.3d.01."
"""The topic of gaze with blank pupils: clients that read pupils expect those of the 3d model."""

CALIBRATED: Final = "notify.calibration.successful"
FIXATION_TOPIC: Final = "fixations"


class PupilSource:
    """The client of Pupil Capture or Pupil Service: asks for the data port, and subscribes to gaze alone.

    Attributes:
        sub_port: The port at which the tracker publishes, once it has answered.
    """

    def __init__(self, plane: ViewingPlane) -> None:
        self.plane = plane
        self.sub_port: int | None = None
        self._decode = _gaze_decoder()

    def requests(self) -> list[Frames]:
        """Return the requests to send one after the other; pass each answer to `answered`."""
        return [] if self.sub_port else [[b"SUB_PORT"]]

    def answered(self, frames: Sequence[bytes]) -> None:
        """Take the answer to a request.

        Raises:
            WireError: If it is not a port.
        """
        text = bytes(frames[0]) if len(frames) == 1 else b""
        if not (len(text) <= 5 and text.isdigit() and 0 < int(text) < 1 << 16):
            raise WireError("the tracker did not say at which port it publishes")
        self.sub_port = int(text)

    def subscriptions(self) -> list[bytes]:
        """Return the topics to subscribe to: gaze alone, no pupils and no frames."""
        return [b"gaze."]

    def message(self, frames: Sequence[bytes], now: float) -> list[RawSample]:
        """Take one message and return its sample; other fields, such as ``base_data``, are never decoded.

        Raises:
            WireError: If it is not what the protocol guarantees.
        """
        if len(frames) < 2 or sum(map(len, frames)) > MOST_WAITING:
            raise WireError("a message must be a topic and a map, of at most a mebibyte")
        if not bytes(frames[0]).startswith(b"gaze"):
            return []
        try:
            datum = self._decode(frames[1])
        except (ValueError, RecursionError):
            raise WireError("gaze is not a map with norm_pos, confidence and timestamp") from None
        t = seconds(datum.timestamp)
        if t is None:
            return []
        x, y = map(coordinate, datum.norm_pos)
        if not datum.confidence >= CONFIDENT or math.isnan(x) or math.isnan(y):
            return [RawSample(t, math.nan, math.nan)]
        return [RawSample(t, *self.plane.from_fraction(x, 1.0 - y))]


class PupilSink:
    """The Pupil Capture that an app sees.

    The whole viewing plane is also a surface with the name of the app's stream, for clients that follow gaze on
    surfaces. The tracker is calibrated elsewhere, by its owner: a calibration that an app starts always succeeds.

    Attributes:
        ended: Whether the sockets are to be closed once everything is sent.
    """

    def __init__(self, shown: StreamFacts, sub_port: int = 50021, pub_port: int = 50022) -> None:
        self.shown = shown
        self.sub_port = sub_port
        self.pub_port = pub_port
        self.ended = False
        shown.plane.to_fraction(0.0, 0.0)  # a plane without fractions is refused now, not at the first sample
        topic = BLANK_TOPIC if shown.blank_pupils else GAZE_TOPIC
        self._gaze = _form(_gaze_datum(topic, _BLANK_PUPILS if shown.blank_pupils else ()))
        self._gaze_topic = topic.encode()
        self._surface = _form(_surface_datum(shown.stream, topic))
        self._surface_topic = f"surfaces.{shown.stream}".encode()
        self._clock = TrackerClock()
        self._shift = 0.0  # from the tracker's time to what the app calls time
        self._app_time_set: float | None = (
            None  # the app's time minus the machine's, as set or reported before gaze came
        )
        self._last_t: float | None = None
        self._last_area = ""
        self._notices: list[Frames] = []

    def carries(self, subscription: bytes) -> bool:
        """Whether a subscription brings gaze, and not only notices."""
        if self.shown.output == "samples":
            topics = [self._gaze_topic, self._surface_topic]
        elif self.shown.output == "fixations":
            topics = [FIXATION_TOPIC.encode()]
        else:
            topics = [f"surfaces.{area}".encode() for area in self.shown.areas]
        return any(topic.startswith(subscription) for topic in topics)

    def answer(self, frames: Sequence[bytes], now: float) -> Frames:
        """Return the answer to a request; no request reaches the tracker."""
        if len(frames) != 1:
            return [b"Message forwarded."]
        request = bytes(frames[0])[:64]
        if request == b"SUB_PORT":
            return [b"%d" % self.sub_port]
        if request == b"PUB_PORT":
            return [b"%d" % self.pub_port]
        if request == b"C":
            notice = {"topic": CALIBRATED, "subject": CALIBRATED.removeprefix("notify.")}
            self._notices = [[CALIBRATED.encode(), _encode(notice)]]
        if request in {b"C", b"c"} or request[:1] in {b"R", b"r"}:
            return [b"OK"]
        if request[:1] == b"T":
            return [self._set_time(request[2:], now)]
        if request[:1] == b"t":
            return [repr(self._time(now)).encode()]
        if request[:1] == b"v":
            return [API_VERSION.encode()]
        return [b"Unknown command."]

    def notices(self) -> list[Frames]:
        """Return what is to be published after an answer, once."""
        notices, self._notices = self._notices, []
        return notices

    def show(self, veiled: Veiled, now: float) -> list[Frames]:
        """Return the messages for one veiled thing.

        Raises:
            PrivacyError: If it is anything but what a veil made.
        """
        kind = type(veiled)
        if kind is not CARRIES[self.shown.output]:
            raise PrivacyError(f"a sink of {self.shown.output} takes only those that a veil made, not {kind.__name__}")
        if self.ended:
            return []
        self._last_t = t = self._stamp(veiled.t, now)
        if isinstance(veiled, VeiledSample):
            return self._sample(t, veiled.x, veiled.y)
        if isinstance(veiled, VeiledFixation):
            return self._fixation(t, veiled)
        return self._hit(t, veiled.area) if isinstance(veiled, VeiledHit) else []

    def silence(self, now: float) -> list[Frames]:
        """Return a datum without confidence, as a tracker sends when it sees no eye."""
        if self.ended or self._last_t is None:
            return []
        if self.shown.output == "samples":
            return self._sample(self._last_t, math.nan, math.nan)
        return self._hit(self._last_t, "")

    def end(self, reason: str, now: float) -> list[Frames]:
        """Return the notice that the tracker stops, and why, and set ``ended``."""
        if self.ended:
            return []
        self.ended = True
        line = {"topic": "logging.error", "levelname": "ERROR", "levelno": 40, "name": "gazeveil", "msg": reason}
        notice = {"topic": "notify.world_process.stopped", "subject": "world_process.stopped"}
        return [[datum["topic"].encode(), _encode(datum)] for datum in (line, notice)]  # type: ignore[attr-defined]

    def _sample(self, t: float, x: float, y: float) -> list[Frames]:
        x, y = self.shown.plane.to_fraction(x, y)
        if math.isnan(x) or math.isnan(y):
            return [[self._gaze_topic, self._gaze(0.0, 0.0, 0.0, t)]]
        y = 1.0 - y
        return [
            [self._gaze_topic, self._gaze(x, y, 1.0, t)],
            [self._surface_topic, self._surface(t, x, y, t, t)],
        ]

    def _fixation(self, t: float, veiled: VeiledFixation) -> list[Frames]:
        x, y = self.shown.plane.to_fraction(veiled.x, veiled.y)
        datum = {
            "topic": FIXATION_TOPIC,
            "norm_pos": (x, 1.0 - y),
            "confidence": 1.0,
            "timestamp": t - veiled.duration,
            "duration": veiled.duration * 1000.0,
            "id": veiled.number,
            "base_data": (),
        }
        return [[FIXATION_TOPIC.encode(), _encode(datum)]]

    def _hit(self, t: float, area: str) -> list[Frames]:
        left, self._last_area = self._last_area, area
        messages = []
        if left and left != area:
            messages.append([f"surfaces.{left}".encode(), _form(_surface_datum(left))(t)])
        if area:
            messages.append([f"surfaces.{area}".encode(), _form(_surface_datum(area, GAZE_TOPIC))(t, 0.5, 0.5, t, t)])
        return messages

    def _stamp(self, t: float, now: float) -> float:
        if self._app_time_set is not None:
            self._shift = now + self._app_time_set - t
            self._app_time_set = None
        self._clock.seen(t, now)
        return t + self._shift

    def _time(self, now: float) -> float:
        if self._clock.ahead is not None:
            return now - self._clock.ahead + self._shift
        self._app_time_set = self._app_time_set or 0.0  # gaze that comes later must agree with this answer
        return now + self._app_time_set

    def _set_time(self, text: bytes, now: float) -> bytes:
        wanted = seconds(number(text))
        if wanted is None:
            return b"The time cannot be converted to float."
        if self._clock.ahead is None:
            self._app_time_set = wanted - now
        else:
            self._shift += wanted - self._time(now)
        return b"Timesync successful."


_HOLE: Final = 1.2345678e-301


def _blank_pupil(eye: int) -> dict[str, Any]:
    nothing = (math.nan,) * 3
    return {
        "topic": f"pupil.{eye}.3d",
        "id": eye,
        "confidence": 0.0,
        "norm_pos": nothing[:2],
        "diameter": math.nan,
        "diameter_3d": math.nan,
        "sphere": {"center": nothing, "radius": math.nan},
        "theta": math.nan,
        "phi": math.nan,
    }


_BLANK_PUPILS: Final = (_blank_pupil(0), _blank_pupil(1))
"""Two pupils without measurements: constants and NaN, no numbers that could mislead."""


def _gaze_datum(topic: str, pupils: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "topic": topic,
        "norm_pos": (_HOLE, _HOLE),
        "confidence": _HOLE,
        "timestamp": _HOLE,
        "base_data": pupils,
    }


def _surface_datum(name: str, gaze_topic: str = "") -> dict[str, Any]:
    """Return a surface with one point, which has the topic and time of a datum of gaze; without a topic, with none."""
    point = {
        "topic": f"{gaze_topic}_on_surface",
        "norm_pos": (_HOLE, _HOLE),
        "confidence": 1.0,
        "on_surf": True,
        "base_data": (gaze_topic, _HOLE),
        "timestamp": _HOLE,
    }
    return {
        "topic": f"surfaces.{name}",
        "name": name,
        "timestamp": _HOLE,
        "gaze_on_surfaces": [point] if gaze_topic else (),
        "fixations_on_surfaces": (),
    }


def _form(datum: dict[str, Any]) -> Callable[..., bytes]:
    """Return a function that packs ``datum`` with numbers in place of its holes, much faster than msgpack does."""
    *before, tail = _encode(datum).split(b"\xcb" + struct.pack(">d", _HOLE))
    parts: list[bytes | float] = [part for piece in before for part in (piece + b"\xcb", 0.0)] + [tail]
    pack = struct.Struct(">" + "d".join(f"{len(piece)}s" for piece in [*parts[::2]])).pack  # type: ignore[arg-type]

    def fill(*numbers: float) -> bytes:
        parts[1::2] = numbers
        return pack(*parts)

    return fill


def _msgpack() -> Any:
    with needing("msgspec", "live", "Pupil Core's network API"):
        import msgspec.msgpack  # noqa: PLC0415
    return msgspec


def _encode(datum: dict[str, Any]) -> bytes:
    packed: bytes = _msgpack().msgpack.encode(datum)
    return packed


@functools.cache
def _gaze_decoder() -> Callable[[bytes], Any]:
    msgspec = _msgpack()
    fields = [("norm_pos", tuple[float, float]), ("confidence", float), ("timestamp", float)]
    decode: Callable[[bytes], Any] = msgspec.msgpack.Decoder(msgspec.defstruct("Gaze", fields)).decode
    return decode


LEAVES: Final = {
    "topic": "Names the kind of datum; the same for every participant.",
    "norm_pos": "The veiled point; the middle of the surface where only names of areas may leave.",
    "timestamp": "The device's time is public.",
    "confidence": "Made up: 1 where the veil shows a point, 0 where it shows none, and 0 of a blank pupil.",
    "base_data": "Of gaze: empty, or two blank pupils where the policy says so. On a surface: which gaze it is.",
    **dict.fromkeys(
        ("diameter", "diameter_3d", "sphere", "center", "radius", "theta", "phi"),
        "Only in a blank pupil, and never a number: NaN.",
    ),
    "duration": "Of a fixation found in veiled points.",
    "id": "Counts fixations found in veiled points; 0 and 1 in blank pupils.",
    "name": "The app's own name, or what the policy says in its place, or that of the area a veiled point is in.",
    "gaze_on_surfaces": "Holds the veiled point.",
    "fixations_on_surfaces": "Always empty; clients look for it.",
    "on_surf": "Made up: always true.",
    "subject": "Of the notice that the stream has ended, or that the calibration an app asked for was successful.",
    "levelname": "Of the log line that says why a stream has ended.",
    "levelno": "Of the log line that says why a stream has ended.",
    "msg": "Why a stream has ended; never about gaze.",
}
WITHHELD: Final = {
    "pupil.*": "Pupil data is raw: sizes, positions and models of the eyes.",
    "frame.*": "Images of the eyes and of the scene.",
    "blinks": "Blinks are raw.",
    "notify.*": "What other clients and the tracker send may be about the participant, for example a calibration.",
    "diameter, diameter_3d of the tracker": "Pupil size is not veiled.",
    "ellipse": "The outline of the raw pupil.",
    "circle_3d": "Where the raw pupil is and where it points.",
    "sphere of the tracker": "Position and size of the eyeball: a biometric.",
    "projected_sphere": "Position and size of the eyeball: a biometric.",
    "theta, phi of the tracker": "Raw direction of one eye.",
    "gaze_point_3d": "Raw gaze, with its depth.",
    "gaze_normal_3d": "Raw direction of one eye.",
    "gaze_normals_3d": "Raw direction of each eye.",
    "eye_center_3d": "Position of the eye: a biometric.",
    "eye_centers_3d": "Positions of the eyes: a biometric.",
    "dispersion": "Of a fixation: not needed to show it.",
    "method": "How the tracker found a pupil.",
    "surf_to_img_trans": "Pose of the head.",
}

PROTOCOLS.register("pupil")(
    Protocol(
        name="pupil",
        title="Pupil Core network API",
        port=50020,
        transport="zmq",
        leaves=LEAVES,
        withheld=WITHHELD,
        source=PupilSource,
        sink=PupilSink,
        outputs=frozenset({"samples", "fixations", "hits"}),
    )
)
