# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The phone of Pupil Labs' Neon and Invisible: its status, its gaze over RTSP, and the phone that an app sees.

*Source*: eye centres, optical axes, pupils and lids follow the point in the same packet. None of them is decoded,
except the centres where an app's policy declares them.

*Sink*: the status is made of the policy and of constants alone, without any data of a phone; it names no scene camera,
so no client waits for one. The phone has four ports: HTTP and WebSocket for its status, RTSP for streams, and one that
echoes the time. Here one port serves all of them, since the first bytes of a connection show which is meant. Streams
come over the connection itself: clients learn that from ``rtspt`` in the status.
"""

from __future__ import annotations

import json
import math
import re
import struct
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import mean_of
from gazeveil.gateway.protocol import Output, Source, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import OneOutputSink, TrackerClock
from gazeveil.gateway.protocols.rtsp import MOST_HEAD, RECEIVER, Message, Messages, Report, Sender, packet_of, report_in
from gazeveil.gateway.protocols.websocket_connection import TextServer, may_read
from gazeveil.gateway.sample import FARTHEST_MM, ORIGINS, EyeGeometry, Place, RawSample, VeiledFixation, VeiledSample
from gazeveil.gateway.tracker_fields import coordinate

Size = tuple[int, int]

INVISIBLE, NEON = "1", "2"
"""Versions of the glasses."""
CAMERAS: Final[dict[str, Size]] = {INVISIBLE: (1088, 1080), NEON: (1600, 1200)}
"""Pixels of their scene cameras, in which gaze is counted."""
STREAMS: Final[dict[Output, str]] = {"samples": "gaze", "fixations": "eye_events"}
"""The stream of each kind of output."""
MEMORY: Final = 1 << 36
_PARAMETERS: Final = re.compile(r"[A-Za-z0-9_.=&-]{0,200}")
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Sensor:
    """Where a phone publishes its gaze.

    Attributes:
        port: On the same machine.
        parameters: Of its address.
        interleaved: Whether gaze comes over the same connection, and not in datagrams.
        camera: Pixels of the scene camera.
    """

    port: int = 8080
    parameters: str = "camera=gaze"
    interleaved: bool = True
    camera: Size = CAMERAS[NEON]


def version_for(shown: StreamFacts) -> str:
    """Return the glasses that an app sees: Invisible if gaze is in its pixels, else Neon."""
    geometry = shown.plane.geometry
    return INVISIBLE if (geometry.width_px, geometry.height_px) == CAMERAS[INVISIBLE] else NEON


def place_in(host: str) -> tuple[str, int]:
    """Return the name and port by which a client reached this machine, from its ``Host`` header.

    Raises:
        WireError: If it does not say.
    """
    found = _HOST.fullmatch(host)
    if not found or int(found[2] or 80) > 65_535:
        raise WireError("a request must say in its Host header whom it means")
    return found[1], int(found[2] or 80)


def components(shown: StreamFacts, place: tuple[str, int], why_not: str = "") -> list[dict[str, Any]]:
    """Return the parts of the status; with a reason if there is no gaze to come."""
    host, port = place
    phone = {
        "ip": host, "port": port, "device_id": "gazeveil", "device_name": shown.stream,
        "battery_level": 100, "battery_state": "OK", "memory": MEMORY, "memory_state": "OK", "time_echo_port": port,
    }  # fmt: skip
    glasses = {
        "version": version_for(shown), "glasses_serial": "gazeveil", "module_serial": "gazeveil",
        "world_camera_serial": "gazeveil",
    }  # fmt: skip
    found = [("Phone", phone), ("Hardware", glasses)]
    for output, stream in STREAMS.items():
        sensor = {
            "sensor": stream, "conn_type": "DIRECT", "connected": output == shown.output and not why_not,
            "ip": host, "port": port, "protocol": "rtspt", "params": f"camera={stream}", "stream_error": bool(why_not),
        }  # fmt: skip
        found.append(("Sensor", sensor))
    if why_not:
        found.append(("Recording", {"action": "ERROR", "id": "", "message": why_not, "rec_duration_ns": 0}))
    return [{"model": model, "data": data} for model, data in found]


def sensor_in(body: bytes) -> Sensor:
    """Return where gaze is published, from the status of a phone; everything else in it is dropped.

    Raises:
        WireError: If it is no status, or no glasses are connected.
    """
    try:
        parts = json.loads(body)["result"]
        known = [(part["model"], part["data"]) for part in parts]
        versions = [data.get("version") for model, data in known if model == "Hardware"]
        sensors = [data for model, data in known if model == "Sensor" and _is_gaze(data)]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise WireError("the tracker's status does not follow its API") from None
    if not sensors:
        raise WireError("the tracker sends no gaze: are the glasses connected?")
    port, parameters, protocol = (sensors[0].get(name) for name in ("port", "params", "protocol"))
    if type(port) is not int or not 0 < port < 1 << 16:
        raise WireError("the tracker does not say at which port gaze comes out")
    if type(parameters) is not str or not _PARAMETERS.fullmatch(parameters):
        raise WireError("the tracker does not say at which address gaze comes out")
    version = str(versions[0]) if versions and type(versions[0]) in (str, int) else NEON
    return Sensor(port, parameters, protocol == "rtspt", CAMERAS.get(version, CAMERAS[NEON]))


def _is_gaze(data: Any) -> bool:
    return data.get("sensor") == "gaze" and data.get("conn_type") == "DIRECT" and data.get("connected") is True


# --- The source: RTSP asks for the stream, RTP carries it, RTCP dates it.


ENCODING: Final = "com.pupillabs.gaze1"
WORN: Final = 255
EACH_EYE: Final = 17
"""Length of a payload that has a point for each eye, and none for both."""
LENGTHS: Final = frozenset({8, 9, EACH_EYE, 25, 65, 89, 105})
"""The point; whether the glasses are worn; points of each eye; the state of the eyes; lids; and all together."""
_POINT: Final = struct.Struct("!ff")
_CENTRES: Final = struct.Struct("!4x3f16x3f")
"""Of the state of the eyes, which begins at byte 9: after each pupil's size the centre, and after that the axis."""
_STATE_AT, _LEAST_STATE = 9, 65
_KEEP_ALIVE_S, _REPORT_S = 54.0, 5.0
_STEPS: Final = {"OPTIONS": "DESCRIBE", "DESCRIBE": "SETUP", "SETUP": "PLAY", "PLAY": ""}
"""The next request after each answer."""


class NeonSource(Source):
    """The client of the phone's gaze stream, whose place is known from the status.

    Args:
        plane: Where gaze lies.
        sensor: What the status said.
        host: Where the phone is, for addresses; the connection itself is someone else's.
        ports: Where datagrams are awaited, of gaze and of reports; None where they come over the connection.
        head_and_eyes: What apps' policies declare of head and eyes; eye centres are read only if declared.

    Attributes:
        datagrams: What waits to be sent from those ports: from which of the two, to which port of the phone, and bytes.
    """

    def __init__(
        self,
        plane: ViewingPlane,
        sensor: Sensor = Sensor(),  # noqa: B008  (it cannot be changed)
        host: str = "127.0.0.1",
        ports: tuple[int, int] | None = None,
        head_and_eyes: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(plane)
        plane.from_fraction(0.5, 0.5)  # a plane without fractions is refused now, not at the first sample
        self.ports = ports
        self._reads_eyes = ORIGINS in head_and_eyes
        self._width, self._height = sensor.camera
        self._url = f"rtsp://{host}:{sensor.port}/?{sensor.parameters}"
        self._messages = Messages()
        self._asked, self._count, self._session = "", 0, ""
        self._clock_rate = 0
        self._report: Report | None = None
        self._channels = (0, 1)
        self._last_number: int | None = None
        self._keep_alive_at = self._report_at = math.inf
        self._their_ports: tuple[int, int] | None = None
        self.datagrams: list[tuple[int, int, bytes]] = []

    def connected(self, now: float) -> None:
        """Send the first request."""
        self._ask("OPTIONS")

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes of the connection: answers, and gaze where it comes in between.

        Raises:
            WireError: If they are not RTSP, or the tracker refuses.
        """
        found: list[RawSample] = []
        for one in self._messages.feed(data):
            if isinstance(one, Message):
                self._answered(one, now)
            elif one.channel == self._channels[0]:
                found += self.gaze(one.data)
            elif one.channel == self._channels[1]:
                self.report(one.data)
        return found

    def gaze(self, data: bytes) -> list[RawSample]:
        """Take one packet of gaze; one before the first report has no time and is dropped, as is one that is late.

        Raises:
            WireError: If it is none, or its payload has a length that no glasses send.
        """
        packet = packet_of(data)
        if len(packet.payload) not in LENGTHS:
            raise WireError("a packet of gaze has a length that is not known", hint="is the phone's app newer?")
        if self._last_number is not None and not 0 < (packet.number - self._last_number) % (1 << 16) < 1 << 15:
            return []
        self._last_number = packet.number
        if self._report is None or not self._clock_rate:
            return []
        t = self._report.time_of(packet.stamp, self._clock_rate)
        eyes = _eyes(packet.payload) if self._reads_eyes else None
        return [RawSample(t, *self._point(packet.payload), eyes=eyes)]

    def report(self, data: bytes) -> None:
        """Take one packet of reports.

        Raises:
            WireError: If it is none.
        """
        self._report = report_in(data) or self._report

    def tick(self, now: float) -> None:
        """Keep the session alive, and send a receiver report."""
        if now >= self._report_at:
            self._report_at = now + _REPORT_S
            if self.ports is None:
                self._out += struct.pack("!cBH", b"$", self._channels[1], len(RECEIVER)) + RECEIVER
            elif self._their_ports is not None:
                self.datagrams.append((1, self._their_ports[1], RECEIVER))
        if now >= self._keep_alive_at:
            self._keep_alive_at = now + _KEEP_ALIVE_S
            self._ask("OPTIONS")

    def _point(self, payload: bytes) -> tuple[float, float]:
        x, y = map(coordinate, _POINT.unpack_from(payload))
        if len(payload) == EACH_EYE:
            right_x, right_y = map(coordinate, _POINT.unpack_from(payload, 9))
            x, y = mean_of((x, y), (right_x, right_y))
        if (len(payload) > 8 and payload[8] != WORN) or math.isnan(x) or math.isnan(y):
            return math.nan, math.nan
        return self.plane.from_fraction(x / self._width, y / self._height)

    def _ask(self, method: str) -> None:
        self._asked, self._count = method, self._count + 1
        lines = [f"{method} {self._url} RTSP/1.0", f"CSeq: {self._count}", "User-Agent: gazeveil"]
        if self._session:
            lines.append(f"Session: {self._session}")
        if method == "DESCRIBE":
            lines.append("Accept: application/sdp")
        elif method == "SETUP" and self.ports is not None:
            lines.append(f"Transport: RTP/AVP;unicast;client_port={self.ports[0]}-{self.ports[1]}")
        elif method == "SETUP":
            lines.append("Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        elif method == "PLAY":
            lines.append("Range: npt=now-")
        self._out += "\r\n".join([*lines, "", ""]).encode()

    def _answered(self, answer: Message, now: float) -> None:
        if not answer.status:
            raise WireError("the tracker does not speak RTSP")
        if answer.headers.get("cseq", "") != str(self._count) or not self._asked:
            return
        if answer.status != 200:
            raise WireError(f"the tracker refuses to send gaze: its answer to {self._asked} is {answer.status}")
        asked, self._asked = self._asked, ""
        if asked == "DESCRIBE":
            self._described(answer)
        elif asked == "SETUP":
            self._set_up(answer)
        elif asked == "PLAY":
            self._keep_alive_at, self._report_at = now + _KEEP_ALIVE_S, now + _REPORT_S
        if self._keep_alive_at == math.inf and (next_step := _STEPS[asked]):
            self._ask(next_step)

    def _described(self, answer: Message) -> None:
        """Take the clock rate, and the address by which the stream wants to be asked for."""
        text = answer.body.decode("utf-8", "replace")
        found = re.search(
            rf"^a=rtpmap: *\d+ +{re.escape(ENCODING)}/(\d{{1,9}})\s*$", text, re.MULTILINE | re.IGNORECASE
        )
        if not found or not int(found[1]):
            raise WireError(f"the tracker's stream is not of gaze: expected the encoding {ENCODING}")
        self._clock_rate = int(found[1])
        base = answer.headers.get("content-base", "")
        if base.startswith("rtsp://") and " " not in base:
            self._url = base

    def _set_up(self, answer: Message) -> None:
        self._session = answer.headers.get("session", "").partition(";")[0].strip()
        if not self._session or " " in self._session:
            raise WireError("the tracker began no session")
        found = re.search(r"interleaved=(\d{1,3})-(\d{1,3})", answer.headers.get("transport", ""))
        if found and self.ports is None:
            self._channels = int(found[1]), int(found[2])
        found = re.search(r"server_port=(\d{1,5})-(\d{1,5})", answer.headers.get("transport", ""))
        if found and self.ports is not None and all(0 < int(port) < 1 << 16 for port in found.groups()):
            self._their_ports = int(found[1]), int(found[2])
            # A firewall lets datagrams in from where some went out to.
            self.datagrams += [(which, port, RECEIVER) for which, port in enumerate(self._their_ports)]


def _eyes(payload: bytes) -> EyeGeometry | None:
    """Return where the eyes are, in mm to the right, down and ahead of the scene camera; None where it is not said."""
    if len(payload) < _LEAST_STATE or payload[8] != WORN:
        return None
    numbers = _CENTRES.unpack_from(payload, _STATE_AT)
    return EyeGeometry(_place(numbers[:3]), _place(numbers[3:]))


def _place(numbers: tuple[float, ...]) -> Place | None:
    x, y, z = numbers
    return (x, y, z) if all(abs(one) <= FARTHEST_MM for one in numbers) else None  # NaN is not, either


# --- The sink: the phone that an app sees.


CLOCK_RATE: Final = 90_000
FILL_S: Final = 1.0
"""Seconds between messages: clients give up a stream after ten seconds of silence."""
ENCODINGS: Final = {"gaze": ENCODING, "eye_events": "com.pupillabs.eye_events1"}
_TYPE: Final = 96
_FIXATION, _KEEP_ALIVE = 1, 5
_GAZE: Final = struct.Struct("!ffB")
_EVENT: Final = struct.Struct("!iqq10f")
_NO_GAZE: Final = _GAZE.pack(math.nan, math.nan, 0)
_ECHO: Final = struct.Struct("!Q")
_MOST_EVENT: Final = 1 << 62
_UPGRADES: Final = re.compile(rb"^upgrade: *websocket\s*$", re.MULTILINE)
_PUBLIC: Final = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, TEARDOWN"
_NOT_HERE: Final = "not here: the gateway shows gaze alone"
_NO_RECORDING: Final = "the gateway does not record; record on the phone itself"


class NeonSink(OneOutputSink):
    """One connection of a client, of whichever kind.

    Args:
        shown: What may be reported.
        unix: What is to be added to the machine's monotonic seconds to get Unix time; found out if not given.
    """

    def __init__(self, shown: StreamFacts, unix: float | None = None) -> None:
        super().__init__(shown)
        shown.plane.to_fraction(0.0, 0.0)  # a plane without fractions is refused now, not at the first sample
        self._unix = time.time() - time.monotonic() if unix is None else unix
        self._kind: Literal["", "messages", "status", "echo"] = ""
        self._waiting = bytearray()
        self._messages = Messages()
        self._texts = TextServer(MOST_HEAD, shown.origins)
        self._place = ("", 0)
        self._why_not = ""
        self._stream, self._channels, self._playing = "", (0, 1), False
        self._sender = Sender(_TYPE, CLOCK_RATE)
        self._clock, self._last_stamp, self._said_at = TrackerClock(), -math.inf, -math.inf

    @property
    def wants_gaze(self) -> bool:
        """Whether a stream plays."""
        return self._playing and not self.ended

    def received(self, data: bytes, now: float) -> None:
        """Take bytes of the client.

        Raises:
            WireError: If they are none of what the phone understands.
        """
        if self.ended:
            return
        if not self._kind:
            self._waiting += data
            data = self._begun()
        if self._kind == "echo":
            self._answer_echo(data, now)
        elif self._kind == "messages":
            for one in self._messages.feed(data):
                if isinstance(one, Message) and not self.ended:
                    self._answer(one, now)
        elif self._kind == "status":
            self._texts.feed(data)  # its messages are ignored
            self._out += self._texts.to_send()
            self.refused_origin, self.ended = self._texts.refused_origin, self._texts.closed

    def regrade(self, shown: StreamFacts) -> None:
        """Report the new output to connections that follow the status; end those of the other stream."""
        super().regrade(shown)
        self._tell_status()
        if self._stream and self._stream != STREAMS.get(shown.output):
            self.ended = True

    def silence(self, now: float) -> None:
        """Report that there is no gaze at present, like glasses that nobody wears; this undoes an end."""
        self._go_on()
        if self.wants_gaze:
            self._fill(now)

    def tick(self, now: float) -> None:
        """Send a message each second so that a stream stays alive."""
        if self.wants_gaze and now - self._said_at >= FILL_S:
            self._fill(now)

    def end(self, reason: str, now: float) -> None:
        """Say why nothing more comes, and end streams.

        Who follows the status stays, since clients that are closed out come again at once, without end. Who has asked
        nothing yet is reported when it does.
        """
        self._why_not, self._playing = reason, False
        self.ended = self._kind in ("messages", "echo")
        self._tell_status()

    def _go_on(self) -> None:
        if self._why_not:
            self._why_not = ""
            self._tell_status()

    def _begun(self) -> bytes:
        """Find out what kind of connection this is, and return what is to be understood; nothing if it is too early."""
        held = bytes(self._waiting)
        if held[:1] == b"\0":  # milliseconds since 1970, in eight bytes
            self._kind = "echo"
            self._waiting.clear()
            return held
        head, blank, rest = held.partition(b"\r\n\r\n")
        if len(head) > MOST_HEAD:
            raise WireError("the client's request is too long")
        if not blank:
            return b""
        self._waiting.clear()
        start, _, headers = head.lower().partition(b"\r\n")
        if not (start.startswith(b"get /api/status ") and _UPGRADES.search(headers)):
            self._kind = "messages"
            return held
        self._kind = "status"
        self._follow_status(head + blank)
        return rest

    def _follow_status(self, head: bytes) -> None:
        for request in Messages().feed(head):
            if isinstance(request, Message):
                self._place = place_in(request.headers.get("host", ""))
        if not self._place[0]:
            raise WireError("a WebSocket is asked for without a body")
        self._texts.feed(head)
        self._out += self._texts.to_send()
        self._tell_status()

    def _tell_status(self) -> None:
        """Send an update to connections that follow the status."""
        if self._texts.open:
            for part in components(self.shown, self._place, self._why_not):
                self._out += self._texts.packed(json.dumps(part))

    def _answer_echo(self, data: bytes, now: float) -> None:
        """Answer a time with itself and the machine's time."""
        held = self._waiting
        held += data
        while len(held) >= _ECHO.size:
            self._out += held[: _ECHO.size] + _ECHO.pack(max(int((now + self._unix) * 1000), 0))
            del held[: _ECHO.size]

    def _answer(self, request: Message, now: float) -> None:
        method, address, protocol = request.request
        if protocol.startswith("HTTP/1."):
            self._answer_http(method, address, request, now)
        elif protocol == "RTSP/1.0":
            self._answer_rtsp(method, address, request, now)
        else:
            raise WireError("a request must be of HTTP or of RTSP")

    # HTTP

    def _answer_http(self, method: str, address: str, request: Message, now: float) -> None:
        origins = [request.headers["origin"]] if "origin" in request.headers else []
        if not may_read(origins, self.shown.origins):
            self.refused_origin, self.ended = origins[0], True
            self._say_http(HTTPStatus.FORBIDDEN, "this page may not read gaze here; the policy can list it")
            return
        self._place = place_in(request.headers.get("host", ""))
        if self._why_not:
            self._say_http(HTTPStatus.SERVICE_UNAVAILABLE, self._why_not)
            self.ended = True
            return
        match method, address.partition("?")[0]:
            case "GET", "/api/status":
                self._say_http(HTTPStatus.OK, "Success", components(self.shown, self._place))
            case "POST", "/api/event":
                self._say_http(HTTPStatus.OK, "Success", self._event(request.body, now))
            case "POST", path if path.startswith("/api/recording:"):
                self._say_http(HTTPStatus.INTERNAL_SERVER_ERROR, _NO_RECORDING)
            case _:
                self._say_http(HTTPStatus.NOT_FOUND, _NOT_HERE)
        self.ended = request.headers.get("connection", "").lower() == "close"

    def _event(self, body: bytes, now: float) -> dict[str, Any]:
        """Answer as the phone does while nothing is recorded: the event has a time, and is in no recording."""
        try:
            stamp = json.loads(body).get("timestamp")
        except (ValueError, RecursionError, AttributeError):
            stamp = None
        own = int((now + self._unix) * 1e9)
        return {"timestamp": stamp if type(stamp) is int and 0 <= stamp < _MOST_EVENT else own, "recording_id": None}

    def _say_http(self, status: HTTPStatus, message: str, result: Any = None) -> None:
        body = json.dumps({"message": message, "result": result}).encode()
        head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        self._out += f"{head}Content-Length: {len(body)}\r\nCache-Control: no-store\r\n\r\n".encode() + body

    # RTSP

    def _answer_rtsp(self, method: str, address: str, request: Message, now: float) -> None:
        number = request.headers.get("cseq", "")
        if not (number.isascii() and number.isdigit() and len(number) <= 10):
            raise WireError("a request of RTSP must have a number")
        if self._why_not:
            self._say_rtsp(number, "503 Service Unavailable")
            self.ended = True
            return
        stream = _stream_in(address)
        if method == "OPTIONS":
            self._say_rtsp(number, "200 OK", f"Public: {_PUBLIC}")
        elif method in ("DESCRIBE", "SETUP") and stream != STREAMS.get(self.shown.output):
            self._say_rtsp(number, "404 Not Found")
        elif method == "DESCRIBE":
            self._say_rtsp(number, "200 OK", "Content-Type: application/sdp", body=_description(stream))
        elif method == "SETUP":
            self._set_up(number, stream, request.headers.get("transport", ""))
        elif method in ("PLAY", "PAUSE", "GET_PARAMETER", "TEARDOWN") and self._stream:
            self._playing = (self._playing or method == "PLAY") and method not in ("PAUSE", "TEARDOWN")
            self.ended = method == "TEARDOWN"
            self._said_at = now
            self._say_rtsp(number, "200 OK")
        elif method == "TEARDOWN":
            self.ended = True
            self._say_rtsp(number, "200 OK")
        else:
            self._say_rtsp(number, "455 Method Not Valid in This State")

    def _set_up(self, number: str, stream: str, transports: str) -> None:
        for transport in transports.split(","):
            found = re.search(r"interleaved=(\d{1,3})-(\d{1,3})(?:;|$)", transport.strip())
            if transport.strip().startswith("RTP/AVP/TCP") and found and int(found[1]) < 256 > int(found[2]):
                self._stream, self._channels = stream, (int(found[1]), int(found[2]))
                chosen = f"Transport: RTP/AVP/TCP;unicast;interleaved={found[1]}-{found[2]}"
                self._say_rtsp(number, "200 OK", chosen)
                return
        self._say_rtsp(number, "461 Unsupported Transport")

    def _say_rtsp(self, number: str, status: str, *lines: str, body: bytes = b"") -> None:
        head = [f"RTSP/1.0 {status}", f"CSeq: {number}", *lines]
        if self._stream:
            head.append("Session: gazeveil;timeout=60")
        if body:
            head.append(f"Content-Length: {len(body)}")
        self._out += "\r\n".join([*head, "", ""]).encode() + body

    # Streams

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        self._go_on()
        if not self._playing:
            return
        x, y = self._pixels(veiled.x, veiled.y)
        missing = math.isnan(x) or math.isnan(y)
        self._send(_NO_GAZE if missing else _GAZE.pack(x, y, WORN), self._time(veiled.t, now), now)

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._go_on()
        if not self._playing:
            return
        stamp = self._time(veiled.t, now)
        point = self._pixels(veiled.x, veiled.y)
        times = round((stamp - veiled.duration) * 1e9), round(stamp * 1e9)
        self._send(_EVENT.pack(_FIXATION, *times, *point, *point, *point, 0.0, 0.0, 0.0, 0.0), stamp, now)

    def _fill(self, now: float) -> None:
        payload = _NO_GAZE if self._stream == "gaze" else struct.pack("!i", _KEEP_ALIVE)
        self._last_stamp = max(self._last_stamp, now + self._unix)
        self._send(payload, self._last_stamp, now)

    def _time(self, t: float, now: float) -> float:
        """Return a sample's time on the machine's clock, in Unix seconds, since clients compare it with theirs."""
        self._last_stamp = max(self._last_stamp, t + self._clock.seen(t, now) + self._unix)
        return self._last_stamp

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        across, down = self.shown.plane.to_fraction(x, y)
        width, height = CAMERAS[version_for(self.shown)]
        return across * width, down * height

    def _send(self, payload: bytes, stamp: float, now: float) -> None:
        self._said_at = now
        report, packet = self._sender.packets(payload, stamp)
        for channel, data in ((self._channels[1], report), (self._channels[0], packet)):
            if data:
                self._out += struct.pack("!cBH", b"$", channel, len(data)) + data


def _stream_in(address: str) -> str:
    """Return which stream an address means; empty if none."""
    try:
        return parse_qs(urlsplit(address).query, max_num_fields=8).get("camera", [""])[0]
    except ValueError:
        return ""


def _description(stream: str) -> bytes:
    lines = [
        "v=0", "o=- 0 0 IN IP4 0.0.0.0", f"s={stream}", "c=IN IP4 0.0.0.0", "t=0 0",
        f"m=application 0 RTP/AVP {_TYPE}", f"a=rtpmap:{_TYPE} {ENCODINGS[stream]}/{CLOCK_RATE}",
    ]  # fmt: skip
    return "\r\n".join([*lines, ""]).encode()
