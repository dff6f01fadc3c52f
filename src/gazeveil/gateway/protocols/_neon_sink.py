# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The phone of Neon or Invisible, as far as an app may see it.

The phone has four ports: HTTP and WebSocket for its status, RTSP for streams, and one that echoes the time. Here one
port is all of them, since the first bytes of a connection say which is meant. Streams come over the connection itself:
the status says ``rtspt``, from which clients learn it. There is no scene, no eye and no motion among them.
"""

from __future__ import annotations

import json
import math
import re
import struct
import time
from http import HTTPStatus
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import Shown
from gazeveil.gateway.protocols._graded import GradedSink
from gazeveil.gateway.protocols._neon_source import ENCODING, WORN
from gazeveil.gateway.protocols._neon_status import CAMERAS, STREAMS, components, place_in, version_for
from gazeveil.gateway.protocols._rtp import Sender
from gazeveil.gateway.protocols._rtsp_messages import MOST_HEAD, Message, Messages
from gazeveil.gateway.protocols._tracker_clock import TrackerClock
from gazeveil.gateway.protocols._websocket_text import TextServer, may_read
from gazeveil.gateway.sample import VeiledFixation, VeiledSample

CLOCK_RATE: Final = 90_000
FILL_S: Final = 1.0
"""A client takes a stream for dead that says nothing for ten seconds, so something is stated each second."""
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


class NeonSink(GradedSink):
    """One connection of a client, of whichever kind.

    Args:
        shown: What may be reported.
        unix: What is to be added to the machine's monotonic seconds to get Unix time; found out if not given.
    """

    def __init__(self, shown: Shown, unix: float | None = None) -> None:
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
        self._clock, self._told, self._said_at = TrackerClock(), -math.inf, -math.inf

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
            self._texts.feed(data)  # whatever it says is ignored
            self._out += self._texts.to_send()
            self.refused_origin, self.ended = self._texts.refused_origin, self._texts.closed

    def regrade(self, shown: Shown) -> None:
        """Tell who follows the status what comes now; who follows the other stream is let go."""
        super().regrade(shown)
        self._tell_status()
        if self._stream and self._stream != STREAMS.get(shown.output):
            self.ended = True

    def silence(self, now: float) -> None:
        """Say that there is no gaze at present, as glasses do that nobody wears; an end is taken back."""
        self._go_on()
        if self.wants_gaze:
            self._fill(now)

    def tick(self, now: float) -> None:
        """Say each second that a stream is alive, where nothing else says so."""
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
        """Tell whoever follows the status."""
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
                told = f"Transport: RTP/AVP/TCP;unicast;interleaved={found[1]}-{found[2]}"
                self._say_rtsp(number, "200 OK", told)
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
        told = self._time(veiled.t, now)
        point = self._pixels(veiled.x, veiled.y)
        times = round((told - veiled.duration) * 1e9), round(told * 1e9)
        self._send(_EVENT.pack(_FIXATION, *times, *point, *point, *point, 0.0, 0.0, 0.0, 0.0), told, now)

    def _fill(self, now: float) -> None:
        payload = _NO_GAZE if self._stream == "gaze" else struct.pack("!i", _KEEP_ALIVE)
        self._told = max(self._told, now + self._unix)
        self._send(payload, self._told, now)

    def _time(self, t: float, now: float) -> float:
        """Return a sample's time on the machine's clock, in Unix seconds, since clients compare it with theirs."""
        self._told = max(self._told, t + self._clock.seen(t, now) + self._unix)
        return self._told

    def _pixels(self, x: float, y: float) -> tuple[float, float]:
        across, down = self.shown.plane.to_fraction(x, y)
        width, height = CAMERAS[version_for(self.shown)]
        return across * width, down * height

    def _send(self, payload: bytes, told: float, now: float) -> None:
        self._said_at = now
        report, packet = self._sender.packets(payload, told)
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
