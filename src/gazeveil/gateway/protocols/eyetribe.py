# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The EyeTribe protocol: JSON objects over TCP, polled or pushed, with the calibration dialogue that apps expect.

The tracker is calibrated elsewhere, by its owner, and no request changes that. An app that goes through all its points
gets a perfect result: constants, and numbers that it sent itself.

Trackers end each object with a newline, but clients often do not, so an object ends where its braces close. A line
that is one object is parsed at once; only the rest is scanned brace by brace.

A frame has room for six points and two pupils. All six are the one veiled point; pupils are constants. An app that
does not send heartbeats is dropped, as the protocol guarantees.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import MOST_WAITING, PROTOCOLS, Protocol, Source, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import FixationFlag, OneOutputSink
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledSample
from gazeveil.gateway.tracker_fields import MOST_COORDINATE, coordinate, seconds

MOST_POINTS: Final = 64

RESULT: Final = {"result": True, "deg": 0.0, "degl": 0.0, "degr": 0.0, "calibpoints": []}

Answer = dict[str, Any]


class EyeTribeCalibration:
    """The progress of an app's calibration.

    Attributes:
        running: Whether it has started and not ended.
    """

    def __init__(self) -> None:
        self.running = False
        self._wanted = 0
        self._points: list[tuple[float, float]] = []
        self._at = (0.0, 0.0)

    def answer(self, request: object, values: object) -> Answer | None:
        """Return status and values for a request, None for an unknown one."""
        if request == "start":
            return self._start(values)
        if request == "pointstart":
            return self._point(values)
        if request == "pointend":
            return self._met()
        if request in ("abort", "clear"):
            self.running = False
            return {"statuscode": 200}
        return None

    def _start(self, values: object) -> Answer:
        count = coordinate(values.get("pointcount")) if isinstance(values, dict) else 0.0
        if not 1 <= count <= MOST_POINTS:
            return _wrong(f"pointcount must be between 1 and {MOST_POINTS}")
        self.running, self._wanted, self._points = True, int(count), []
        return {"statuscode": 200}

    def _point(self, values: object) -> Answer:
        x, y = (coordinate(values.get(name)) if isinstance(values, dict) else 0.0 for name in ("x", "y"))
        if x != x or y != y:  # noqa: PLR0124  (NaN)
            return _wrong("x and y must be numbers")
        self._at = x, y
        return {"statuscode": 200}

    def _met(self) -> Answer:
        values: Answer = {}  # there even when empty: clients look into it for the result
        if self.running:
            self._points.append(self._at)
            if len(self._points) == self._wanted:
                self.running = False
                values["calibresult"] = {**RESULT, "calibpoints": [_exact(x, y) for x, y in self._points]}
        return {"statuscode": 200, "values": values}


def _wrong(why: str) -> Answer:
    return {"statuscode": 400, "values": {"statusmessage": why}}


def _exact(x: float, y: float) -> Answer:
    return {
        "state": 2,
        "cp": {"x": x, "y": y},
        "mecp": {"x": x, "y": y},
        "acd": {"ad": 0.0, "adl": 0.0, "adr": 0.0},
        "mepix": {"mep": 0.0, "mepl": 0.0, "mepr": 0.0},
        "asdp": {"asd": 0.0, "asdl": 0.0, "asdr": 0.0},
    }


# --- Bytes in, whole JSON objects out, whether or not anything stands between them; bounded in size and depth.


MOST_DEPTH: Final = 32
"""How deep an object may be nested; those of the protocols here are four deep."""

_OUTSIDE: Final = re.compile(rb'[{}\[\]"]')
_INSIDE: Final = re.compile(rb'["\\]')
_SPACE: Final = b" \t\r\n"
_SPACES: Final = re.compile(rb"[ \t\r\n]*")
# float: an integer of a million digits is an infinity then, and costs no time
_DECODER: Final = json.JSONDecoder(parse_int=float)


class JsonObjects:
    """Collects bytes until an object is whole."""

    __slots__ = ("_at", "_decode", "_depth", "_in_string", "_waiting")

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._decode = quickest()
        self._begin()

    def _begin(self) -> None:
        self._at = 0
        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Take bytes and return the objects that are whole now.

        Raises:
            WireError: If they are no JSON objects, or one is too long or too deep.
        """
        self._waiting += data
        found = [] if self._depth else self._lines()
        while (end := self._end()) is not None:
            found.append(self._decoded(self._waiting[:end]))
            del self._waiting[:end]
            self._begin()
            if b"\n" in self._skipped():  # only here: a line of many objects is not to be tried once for each
                found += self._lines()
        if len(self._waiting) > MOST_WAITING:
            raise WireError("an object does not end")
        return found

    def _skipped(self) -> bytes:
        """Drop space before an object, and return it."""
        space = _SPACES.match(self._waiting)
        skipped = bytes(space[0]) if space else b""
        del self._waiting[: len(skipped)]
        return skipped

    def _lines(self) -> list[dict[str, Any]]:
        """Take objects that fill a line: the quick way, for what trackers send."""
        found = []
        begin, waiting = 0, self._waiting
        while (end := waiting.find(b"\n", begin)) >= 0:
            line = waiting[begin:end].strip(_SPACE)
            if line:
                if line.count(b"{") + line.count(b"[") > MOST_DEPTH or len(line) > MOST_WAITING:
                    break  # perhaps too deep: to be looked at closely
                try:
                    value = self._decode(line)
                except ValueError:
                    break  # perhaps the first line of an object, or two of them
                if type(value) is not dict:
                    raise WireError("expected a JSON object, found something else")
                found.append(value)
            begin = end + 1
        del waiting[:begin]
        return found

    def _end(self) -> int | None:
        """Return where the first object ends, None if that is not known yet."""
        waiting = self._waiting
        if not self._depth:
            self._skipped()
            if not waiting:
                return None
            if waiting[0] != 0x7B:
                raise WireError("expected a JSON object, found something else")
        while (match := (_INSIDE if self._in_string else _OUTSIDE).search(waiting, self._at)) is not None:
            self._at = match.end()
            sign = match[0]
            if sign == b'"':
                self._in_string = not self._in_string
            elif sign == b"\\":
                if self._at == len(waiting):  # what it escapes is still to come
                    self._at -= 1
                    return None
                self._at += 1
            elif sign in b"{[":
                self._depth += 1
                if self._depth > MOST_DEPTH:
                    raise WireError("an object is nested too deeply")
            else:
                self._depth -= 1
                if not self._depth:
                    if self._at > MOST_WAITING:
                        raise WireError("an object does not end")
                    return self._at
        self._at = len(waiting)
        return None

    def _decoded(self, text: bytearray) -> dict[str, Any]:
        try:
            value = self._decode(text)
        except ValueError:
            raise WireError("expected a JSON object, found something else") from None
        return value if type(value) is dict else {}


def plainly(text: bytearray) -> Any:
    """Decode JSON, with "NaN" and "Infinity", which some trackers say, and numbers of any length."""
    return _DECODER.decode(text.decode())


@functools.cache
def quickest() -> Callable[[bytearray], Any]:
    """Return the quickest way to decode JSON that is installed; what it does not understand is decoded plainly."""
    try:
        import msgspec  # noqa: PLC0415
    except ImportError:
        return plainly
    quickly, trouble = msgspec.json.Decoder().decode, msgspec.DecodeError

    def decode(text: bytearray) -> Any:
        try:
            return quickly(text)
        except trouble:
            return plainly(text)

    return decode


# --- The EyeTribe API: JSON objects over TCP on port 6555, asked for one by one or pushed.


HEARTBEAT_MS: Final = 3000
"""How often an app is to send a heartbeat."""

SILENT_FOR: Final = 10.0
"""Seconds without a request after which an app is dropped: three heartbeats and a little."""

POLLED_FOR: Final = 10.0
"""Seconds for which one request for a frame counts as listening, where frames are not pushed."""

RESEND_AFTER: Final = 1.0

TRACKING: Final = 1 | 2 | 4
FAILED: Final = 8
LOST: Final = 16
_GAZE: Final = 1

_CONNECTED: Final = 0
_NO_STREAM: Final = 4
_STATE_CHANGED: Final = 802

_AGES: Final = 253_402_300_800  # seconds from 1970 to the year 10000, where calendars end
_EPOCH: Final = datetime(1970, 1, 1)
_SETTABLE: Final = frozenset({"push", "version", "screenindex", "screenresw", "screenresh", "screenpsyw", "screenpsyh"})

Reply = dict[str, Any]


class EyeTribeSource(Source):
    """The client of an EyeTribe server."""

    def __init__(self, plane: ViewingPlane) -> None:
        super().__init__(plane)
        self._objects = JsonObjects()
        self._size = plane.pixels if plane.geometry.knows_pixels else None
        self._every = HEARTBEAT_MS / 3000
        self._beaten = self._asked = 0.0
        self._pushing = False

    def connected(self, now: float) -> None:
        """Ask how large the screen is, and then for frames."""
        self._ask(now)
        self._beat(now)

    def tick(self, now: float) -> None:
        """Send heartbeats, and ask again for frames if there was no answer."""
        if now - self._beaten >= self._every:
            self._beat(now)
        if not self._pushing and now - self._asked >= RESEND_AFTER:
            self._ask(now)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of whole frames."""
        samples = []
        for reply in self._objects.feed(data):
            if reply.get("category") != "tracker":
                continue
            values = reply.get("values")
            if reply.get("statuscode") != 200:
                self._pushing = False  # refused, or the screen or the tracker changed: ask again
            elif reply.get("request") == "set":
                self._pushing = True
            elif isinstance(values, dict):
                self._learn(values)
                if (frame := values.get("frame")) is not None:
                    sample = self._frame(frame)
                    if sample is not None:
                        samples.append(sample)
        return samples

    def _ask(self, now: float) -> None:
        self._asked = now
        self._out += (
            b'{"category":"tracker","request":"get","values":["screenresw","screenresh","heartbeatinterval"]}\n'
            b'{"category":"tracker","request":"set","values":{"push":true,"version":1}}\n'
        )

    def _beat(self, now: float) -> None:
        self._beaten = now
        self._out += b'{"category":"heartbeat"}\n'

    def _learn(self, values: Reply) -> None:
        if "screenresw" in values and "screenresh" in values:
            width, height = coordinate(values["screenresw"]), coordinate(values["screenresh"])
            if width >= 1 and height >= 1:
                self._size = round(width), round(height)
        every = coordinate(values.get("heartbeatinterval"))
        if every > 0:
            self._every = min(max(every / 3000, 0.1), 1.0)

    def _frame(self, frame: object) -> RawSample | None:
        if not isinstance(frame, dict):
            return None
        t = seconds(frame.get("time"))
        if t is None:
            return None
        t /= 1000
        point, state = frame.get("raw"), frame.get("state")
        if self._size is not None and isinstance(point, dict) and coordinate(state) % 2 == _GAZE:
            x, y = coordinate(point.get("x")), coordinate(point.get("y"))
            if (x or y) and x == x and y == y:  # noqa: PLR0124  ((0, 0) is no gaze, and so is NaN)
                return RawSample(t, *self.plane.from_fraction(x / self._size[0], y / self._size[1]))
        return RawSample(t, math.nan, math.nan)


class EyeTribeSink(OneOutputSink):
    """The server, as an app sees it."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._width, self._height = shown.plane.pixels
        self._objects = JsonObjects()
        self._calibration = EyeTribeCalibration()
        self._fixating = FixationFlag(shown.plane)
        self._push = False
        self._last_request: float | None = None
        self._polled: float | None = None
        self._t = 0.0
        self._second = -1
        self._date = ""
        self._frame = self._framed(0.0, "0.00", "0.00", LOST, fixating=False)

    @property
    def wants_gaze(self) -> bool:
        """Whether frames are pushed, or the app has asked for one lately."""
        return (self._push or self._polled is not None) and not self.ended

    def connected(self, now: float) -> None:
        """Start to wait for heartbeats."""
        self._last_request = now

    def received(self, data: bytes, now: float) -> None:
        """Answer every request."""
        if self.ended:
            return
        for request in self._objects.feed(data):
            self._last_request = now
            self._reply(request)

    def tick(self, now: float) -> None:
        """Drop an app without a heartbeat; forget a request for a frame that is long ago."""
        if self._last_request is not None and now - self._last_request > SILENT_FOR:
            self.ended = True
        if self._polled is not None and now - self._polled > POLLED_FOR:
            self._polled = None
            if not self._push:  # an old frame would look like a new one to whoever asks again
                self._frame = self._framed(self._t, "0.00", "0.00", LOST, fixating=False)

    def silence(self, now: float) -> None:
        """Send a frame in which tracking is lost."""
        self._fixating.lost()
        self._send_frame(self._framed(self._t, "0.00", "0.00", LOST, fixating=False))

    def end(self, reason: str, now: float) -> None:
        """Report that the tracker's state has changed: there is no stream, and why."""
        self._frame = self._framed(self._t, "0.00", "0.00", LOST, fixating=False)
        values = {"trackerstate": _NO_STREAM, "statusmessage": reason[:200]}
        self._say({"category": "tracker", "request": "get", "statuscode": _STATE_CHANGED, "values": values})
        self.ended = True

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        across, down = self.shown.plane.to_fraction(veiled.x, veiled.y)
        if abs(across) <= MOST_COORDINATE >= abs(down):
            self._fixating.push(veiled.t, across, down)
            self._point(veiled.t, across, down, fixating=self._fixating.now)
        else:
            self._fixating.lost()
            self._send_frame(self._framed(veiled.t, "0.00", "0.00", FAILED, fixating=False))

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._point(veiled.t, *self.shown.plane.to_fraction(veiled.x, veiled.y), fixating=True)

    def _point(self, t: float, across: float, down: float, *, fixating: bool) -> None:
        x, y = f"{across * self._width:.2f}", f"{down * self._height:.2f}"
        self._send_frame(self._framed(t, x, y, TRACKING, fixating=fixating))

    def _send_frame(self, frame: str) -> None:
        self._frame = frame
        if self._push:
            self._out += f'{{"category":"tracker","request":"get","statuscode":200,"values":{{{frame}}}}}\n'.encode()

    def _framed(self, t: float, x: str, y: str, state: int, *, fixating: bool) -> str:
        self._t = t
        second, thousandth = divmod(round(t * 1000), 1000)
        if second != self._second:
            self._second = second
            self._date = str(_EPOCH + timedelta(seconds=second % _AGES))  # Windows' own calendar ends in 3000
        point = f'{{"x":{x},"y":{y}}}'
        eye = f'{{"raw":{point},"avg":{point},"psize":0.0,"pcenter":{{"x":0.0,"y":0.0}}}}'
        return (
            f'"frame":{{"timestamp":"{self._date}.{thousandth:03d}","time":{second * 1000 + thousandth},'
            f'"fix":{"true" if fixating else "false"},"state":{state},"raw":{point},"avg":{point},'
            f'"lefteye":{eye},"righteye":{eye}}}'
        )

    def _say(self, reply: Reply) -> None:
        self._out += json.dumps(reply, separators=(",", ":")).encode() + b"\n"

    def _reply(self, request: Reply) -> None:
        category, what, values = request.get("category"), request.get("request"), request.get("values")
        if category == "heartbeat":
            self._say({"category": "heartbeat", "statuscode": 200})
        elif category == "tracker" and what == "get":
            self._get(values)
        elif category == "tracker" and what == "set":
            self._set(values)
        elif category == "calibration" and (answer := self._calibration.answer(what, values)) is not None:
            self._say({"category": category, "request": what, **answer})
        else:
            known = {"category": category} if category in ("tracker", "calibration") else {}
            self._say({**known, "statuscode": 400, "values": {"statusmessage": "no such request"}})

    def _get(self, names: object) -> None:
        known, parts = self._values(), []
        for name in dict.fromkeys(name for name in names if isinstance(name, str)) if isinstance(names, list) else ():
            if name == "frame":
                self._polled = self._last_request
                parts.append(self._frame)
            elif name in known:
                parts.append(f'"{name}":{json.dumps(known[name], separators=(",", ":"))}')
            else:
                self._refuse("get", "no such value")
                return
        if not parts:
            self._refuse("get", "values must be a list of names")
            return
        both = f'{{"category":"tracker","request":"get","statuscode":200,"values":{{{",".join(parts)}}}}}\n'
        self._out += both.encode()

    def _set(self, values: object) -> None:
        if not isinstance(values, dict) or not values:
            self._refuse("set", "values must be an object")
        elif not _SETTABLE.issuperset(values):
            self._refuse("set", "no such value, or not one to be set")
        elif "push" in values and (push := _flag(values["push"])) is None:
            self._refuse("set", "push must be true or false")
        else:
            if "push" in values:
                self._push = bool(push)
            # clients read back what they set; the screen is the tracker's, and stays as it is
            parts = {name: value for name, value in self._values().items() if name in values}
            self._say({"category": "tracker", "request": "set", "statuscode": 200, "values": parts})

    def _refuse(self, what: str, why: str) -> None:
        self._say({"category": "tracker", "request": what, "statuscode": 400, "values": {"statusmessage": why}})

    def _values(self) -> Reply:
        geometry = self.shown.plane.geometry
        return {
            "push": self._push,
            "heartbeatinterval": HEARTBEAT_MS,
            "version": 1,
            "trackerstate": _NO_STREAM if self.ended else _CONNECTED,
            "framerate": round(self.shown.rate_hz),
            "iscalibrated": True,
            "iscalibrating": self._calibration.running,
            "calibresult": RESULT,
            "screenindex": 1,
            "screenresw": self._width,
            "screenresh": self._height,
            "screenpsyw": (geometry.width_mm or 0.0) / 1000,
            "screenpsyh": (geometry.height_mm or 0.0) / 1000,
        }


def _flag(value: object) -> bool | None:
    """Return a truth value; some clients put it into quotes."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


_POINT = "the veiled point"
_CONSTANT = "a constant"

PROTOCOLS.register("eyetribe")(
    Protocol(
        name="eyetribe",
        title="EyeTribe API",
        port=6555,
        source=EyeTribeSource,
        sink=EyeTribeSink,
        outputs=frozenset({"samples", "fixations"}),
        leaves={
            "category": "repeats the request",
            "request": "repeats the request",
            "statuscode": "whether the request was understood",
            "statusmessage": "why not, or why there is no stream; never about gaze",
            "values": "holds the rest",
            "frame": "holds the next nine",
            "timestamp": "the tracker's clock",
            "time": "the tracker's clock",
            "fix": "whether the veiled points rest",
            "state": "whether there is a veiled point",
            "raw": _POINT,
            "avg": _POINT,
            "lefteye": "the veiled point, the same for both eyes",
            "righteye": "the veiled point, the same for both eyes",
            "x": _POINT,
            "y": _POINT,
            "psize": "always 0",
            "pcenter": "always (0, 0)",
            "push": "repeats what the app set",
            "heartbeatinterval": _CONSTANT,
            "version": _CONSTANT,
            "trackerstate": "whether there is a stream",
            "framerate": "from the policy",
            "iscalibrated": "always true: the tracker is calibrated elsewhere",
            "iscalibrating": "whether the app itself is at it",
            "calibresult": "constants, and the points that the app itself sent",
            **dict.fromkeys(("result", "deg", "degl", "degr", "calibpoints", "cp", "mecp"), "part of calibresult"),
            **dict.fromkeys(("acd", "ad", "adl", "adr", "mepix", "mep", "mepl", "mepr"), "part of calibresult"),
            **dict.fromkeys(("asdp", "asd", "asdl", "asdr"), "part of calibresult"),
            "screenindex": _CONSTANT,
            **dict.fromkeys(("screenresw", "screenresh", "screenpsyw", "screenpsyh"), "the screen, from the policy"),
        },
        withheld={
            "raw and avg of the tracker": "gaze before the veil, and a smoothed copy of it",
            "lefteye.raw, lefteye.avg, righteye.raw, righteye.avg of the tracker": "further copies of one gaze",
            "fix of the tracker": "it follows the eye; ours follows the veiled points",
            "state of the tracker": "it shows blinks and presence",
            "psize of the tracker": "pupil sizes reveal arousal, age and identity",
            "pcenter of the tracker": "pupils in the camera's picture: the head's place, and gaze itself",
            "calibresult of the tracker": "its errors are the shape of one participant's eyes",
        },
    )
)
