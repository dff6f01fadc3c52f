# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The Open Gaze API (Gazepoint): lines with one XML element each, and the calibration dialogue that apps expect.

Only single elements with attributes are parsed: no document types, no entities, no nesting.

The tracker is calibrated elsewhere, by its owner. An app that starts a calibration gets every point at the pace that
it asked for, with a perfect result: constants, and numbers that it sent itself.

An app sets flags, each of which adds fields to every record, and then asks for data. Records carry one veiled point in
every place where the protocol has room for a point; whatever else an app enables reads as "not measured".
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable
from typing import Final

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import MOST_WAITING, PROTOCOLS, Protocol, Source, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import FixationFlag, OneOutputSink
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledSample
from gazeveil.gateway.tracker_fields import MOST_COORDINATE, coordinate, number, seconds


class Lines:
    """Collects bytes until a line is whole. Lines end with LF; a CR before it is part of the ending."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes and return the lines that are whole now, without their ends and without empty ones.

        Raises:
            WireError: If a line is longer than `MOST_WAITING`.
        """
        if b"\n" not in data:
            self._waiting += data
            whole: list[bytes] = []
        else:
            *whole, rest = (bytes(self._waiting) + data if self._waiting else data).split(b"\n")
            self._waiting = bytearray(rest)
        if len(self._waiting) > MOST_WAITING or max(map(len, whole), default=0) > MOST_WAITING:
            raise WireError("a line does not end")
        return [line for line in map(bytes.strip, whole) if line]


# --- One empty XML element with attributes, which is all that the Open Gaze API says; nothing else of XML is
# understood.


# names are short: they are remembered, so that the same ones need not be looked at with every record
_START: Final = re.compile(r"<([A-Z]{1,16})(\s{1,8}[A-Z_][A-Z0-9_]{0,63}\s{0,8}=\s{0,8})?", re.ASCII)
_NAME: Final = re.compile(r"\s{1,8}([A-Z_][A-Z0-9_]{0,63})\s{0,8}=\s{0,8}", re.ASCII)
_REFERENCE: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")


def element(line: bytes) -> tuple[str, dict[str, str]]:
    """Return an element's name and attributes; values stay as they were written, references too.

    Raises:
        WireError: If the line is anything but one empty element.
    """
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise _wrong() from None
    if text[-2:] != "/>" or text.count("<") != 1:
        raise _wrong()
    # quotes part names from values: the second, fourth … piece is a value, and the last one must be empty
    first, *pieces = text[:-2].rstrip().split('"')
    name, attribute = _started(first)
    if not attribute:
        if pieces:
            raise _wrong()
        return name, {}
    if not pieces or len(pieces) % 2 or pieces[-1]:
        raise _wrong()
    return name, dict(zip([attribute, *map(_named, pieces[1:-1:2])], pieces[::2], strict=True))


@functools.lru_cache(256)
def _started(text: str) -> tuple[str, str]:
    found = _START.fullmatch(text)
    if found is None:
        raise _wrong()
    return found[1], _named(found[2]) if found[2] else ""


@functools.lru_cache(1024)
def _named(text: str) -> str:
    found = _NAME.fullmatch(text)
    if found is None:
        raise _wrong()
    return found[1]


def _wrong() -> WireError:
    return WireError("expected one XML element without content on a line, found something else")


def may_be_repeated(value: str, most: int) -> bool:
    """Whether a value as written may be sent back as it is: short, printable, and only XML's own five references."""
    return len(value) <= most and value.isprintable() and _REFERENCE.search(value) is None


def escaped(text: str) -> str:
    """Return a text as the value of an attribute."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


# --- The Open Gaze calibration that an app may ask for: the dialogue it expects, without a tracker behind it.


Point = tuple[float, float]

FIVE: Final[tuple[Point, ...]] = ((0.5, 0.5), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85), (0.15, 0.15))
"""Where these trackers show points unless told otherwise."""

MOST_POINTS: Final = 32
LONGEST: Final = 10.0


class OpenGazeCalibration:
    """Points, pace, and how far a run has come.

    Attributes:
        points: As fractions of the screen.
        delay: Seconds before a point is measured.
        timeout: Seconds for which it is measured.
    """

    def __init__(self) -> None:
        self.points: list[Point] = list(FIVE)
        self.delay = 0.5
        self.timeout = 1.25
        self._at: int | None = None
        self._until = 0.0

    def replace(self, points: Iterable[Point]) -> None:
        """Take other points; a run that shows the old ones is broken off."""
        self.points = list(points)
        self._at = None

    def add(self, x: float, y: float) -> bool:
        """Add a point, and say whether there was room for it."""
        if len(self.points) >= MOST_POINTS or not (math.isfinite(x) and math.isfinite(y)):
            return False
        self.points.append((x, y))
        return True

    def listed(self) -> str:
        """Return the points as attributes."""
        pairs = (f' X{n}="{x:.5f}" Y{n}="{y:.5f}"' for n, (x, y) in enumerate(self.points, 1))
        return f'PTS="{len(self.points)}"' + "".join(pairs)

    def start(self, now: float) -> None:
        """Begin with the first point."""
        self._at, self._until = -1, now

    def stop(self) -> None:
        """Break off."""
        self._at = None

    def advance(self, now: float) -> str:
        """Return what there is to say by now, one step at a time."""
        if self._at is None or now < self._until:
            return ""
        said = ""
        if self._at >= 0:
            said = _point("CALIB_RESULT_PT", self._at, *self.points[self._at])
        self._at += 1
        if self._at < len(self.points):
            self._until = now + self.delay + self.timeout
            return said + _point("CALIB_START_PT", self._at, *self.points[self._at])
        self._at = None
        return said + self._result()

    def _result(self) -> str:
        met = (
            f' CALX{n}="{x:.5f}" CALY{n}="{y:.5f}" LX{n}="{x:.5f}" LY{n}="{y:.5f}" LV{n}="1"'
            f' RX{n}="{x:.5f}" RY{n}="{y:.5f}" RV{n}="1"'
            for n, (x, y) in enumerate(self.points, 1)
        )
        return '<CAL ID="CALIB_RESULT"' + "".join(met) + " />\r\n"


def _point(what: str, at: int, x: float, y: float) -> str:
    return f'<CAL ID="{what}" PT="{at + 1}" CALX="{x:.4f}" CALY="{y:.4f}" />\r\n'


# --- The Open Gaze API of Gazepoint's trackers: one XML element a line, over TCP on port 4242.


TICKS_PER_SECOND: Final = 1_000_000
LONGEST_USER_DATA: Final = 256
RESEND_AFTER: Final = 1.0
"""Seconds without an answer after which a tracker is asked again; real ones lose commands while they start."""

_DATA: Final = "ENABLE_SEND_DATA"
_ID: Final = re.compile(r"[A-Z0-9_]{1,64}")

# What each flag adds to a record. Anything that would be measured at the eye is a constant that says "not valid".
_FIELDS: Final = {
    "ENABLE_SEND_COUNTER": 'CNT="%(count)d"',
    "ENABLE_SEND_TIME": 'TIME="%(t).5f"',
    "ENABLE_SEND_TIME_TICK": 'TIME_TICK="%(tick)d"',
    "ENABLE_SEND_POG_FIX": (
        'FPOGX="%(fx).5f" FPOGY="%(fy).5f" FPOGS="%(start).5f" FPOGD="%(duration).5f" '
        'FPOGID="%(number)d" FPOGV="%(fixating)d"'
    ),
    "ENABLE_SEND_POG_LEFT": 'LPOGX="%(x)s" LPOGY="%(y)s" LPOGV="%(valid)s"',
    "ENABLE_SEND_POG_RIGHT": 'RPOGX="%(x)s" RPOGY="%(y)s" RPOGV="%(valid)s"',
    "ENABLE_SEND_POG_BEST": 'BPOGX="%(x)s" BPOGY="%(y)s" BPOGV="%(valid)s"',
    "ENABLE_SEND_PUPIL_LEFT": 'LPCX="0.00000" LPCY="0.00000" LPD="0.00000" LPS="0.00000" LPV="0"',
    "ENABLE_SEND_PUPIL_RIGHT": 'RPCX="0.00000" RPCY="0.00000" RPD="0.00000" RPS="0.00000" RPV="0"',
    "ENABLE_SEND_EYE_LEFT": 'LEYEX="0.00000" LEYEY="0.00000" LEYEZ="0.00000" LPUPILD="0.00000" LPUPILV="0"',
    "ENABLE_SEND_EYE_RIGHT": 'REYEX="0.00000" REYEY="0.00000" REYEZ="0.00000" RPUPILD="0.00000" RPUPILV="0"',
    "ENABLE_SEND_CURSOR": 'CX="0.00000" CY="0.00000" CS="0"',
    "ENABLE_SEND_BLINK": 'BKID="0" BKDUR="0.00000" BKPMIN="0"',
    "ENABLE_SEND_PUPILMM": 'LPMM="0.00000" LPMMV="0" RPMM="0.00000" RPMMV="0"',
    "ENABLE_SEND_USER_DATA": 'USER="%(user)s"',
}

_CONSTANTS: Final = {
    "PRODUCT_ID": 'VALUE="gazeveil"',
    "SERIAL_ID": 'VALUE="0"',
    "COMPANY_ID": 'VALUE="gazeveil"',
    "API_ID": 'VALUE="2.0"',
    "CAMERA_SIZE": 'WIDTH="640" HEIGHT="480"',
    "TIME_TICK_FREQUENCY": f'FREQ="{TICKS_PER_SECOND}"',
}


class OpenGazeSource(Source):
    """The client of a Gazepoint tracker. Asks for the time and the point alone: what is not sent cannot leak."""

    def __init__(self, plane: ViewingPlane) -> None:
        super().__init__(plane)
        self._lines = Lines()
        self._unanswered: dict[str, bytes] = {}
        self._asked = 0.0
        self._frequency = math.nan

    def connected(self, now: float) -> None:
        """Ask for the fields that are needed, then for data."""
        self._unanswered["TIME_TICK_FREQUENCY"] = b'<GET ID="TIME_TICK_FREQUENCY" />\r\n'
        for what in ("TIME", "TIME_TICK", "POG_BEST", "POG_FIX", "DATA"):
            flag = f"ENABLE_SEND_{what}"
            self._unanswered[flag] = f'<SET ID="{flag}" STATE="1" />\r\n'.encode()
        self._ask(now)

    def tick(self, now: float) -> None:
        """Ask again for what was not answered."""
        if self._unanswered and now - self._asked >= RESEND_AFTER:
            self._ask(now)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of whole records."""
        samples = []
        for line in self._lines.feed(data):
            name, attributes = element(line)
            if name == "REC":
                sample = self._sample(attributes)
                if sample is not None:
                    samples.append(sample)
            elif name in {"ACK", "NACK"}:
                self._answered(name, attributes)
        return samples

    def _ask(self, now: float) -> None:
        self._asked = now
        for command in self._unanswered.values():
            self._out += command

    def _answered(self, name: str, attributes: dict[str, str]) -> None:
        what = attributes.get("ID", "").upper()
        self._unanswered.pop(what, None)
        if name == "NACK" and what == _DATA:
            raise WireError("the tracker refuses to send data")
        if name == "ACK" and what == "TIME_TICK_FREQUENCY":
            frequency = number(attributes.get("FREQ", ""))
            self._frequency = frequency if 0 < frequency < math.inf else math.nan

    def _sample(self, record: dict[str, str]) -> RawSample | None:
        if "TIME" in record:
            t = seconds(number(record["TIME"]))
        else:
            t = seconds(number(record.get("TIME_TICK", "")) / self._frequency)
        if t is None:
            return None
        point = "BPOG" if "BPOGX" in record else "FPOG"
        if record.get(f"{point}V") == "1":
            x, y = coordinate(number(record.get(f"{point}X", ""))), coordinate(number(record.get(f"{point}Y", "")))
            if x == x and y == y:  # noqa: PLR0124  (not NaN)
                return RawSample(t, *self.plane.from_fraction(x, y))
        return RawSample(t, math.nan, math.nan)


class OpenGazeSink(OneOutputSink):
    """The tracker, as an app sees it."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._lines = Lines()
        self._flags = dict.fromkeys((_DATA, "CALIBRATE_SHOW", "TRACKER_DISPLAY", *_FIELDS), False)
        self._template = ""
        self._user = "0"
        self._count = 0
        self._t: float | None = None
        self._fixating = FixationFlag(shown.plane)
        self._calibration = OpenGazeCalibration()
        self._to_fraction = shown.plane.to_fraction

    @property
    def wants_gaze(self) -> bool:
        """Whether the app has enabled data."""
        return self._flags[_DATA] and not self.ended

    def received(self, data: bytes, now: float) -> None:
        """Answer every command with ACK or NACK."""
        if self.ended:
            return
        for line in self._lines.feed(data):
            command, attributes = element(line)
            what = attributes.get("ID", "").upper()
            if command not in {"GET", "SET"} or not _ID.fullmatch(what):
                raise WireError("an app says GET or SET, with the ID of what it means")
            answer = self._set(what, attributes, now) if command == "SET" else self._get(what)
            if answer is None:
                self._say(f'<NACK ID="{what}" />\r\n')
            else:
                self._say(f'<ACK ID="{what}" {answer} />\r\n' if answer else f'<ACK ID="{what}" />\r\n')

    def tick(self, now: float) -> None:
        """Go on with a calibration that the app asked for."""
        self._say(self._calibration.advance(now))

    def silence(self, now: float) -> None:
        """Send a record in which no point is valid."""
        self._fixating.lost()
        if self._flags[_DATA] and self._t is not None:
            self._record(self._t, math.nan, math.nan)

    def end(self, reason: str, now: float) -> None:
        """Say that there is no data any more, as a refusal of the command that asks for it."""
        self._say(f'<NACK ID="{_DATA}" STATE="0" REASON="{escaped(reason[:200])}" />\r\n')
        self._flags[_DATA] = False
        self.ended = True

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        self._t = veiled.t
        if self._flags[_DATA]:
            self._record(veiled.t, *self._to_fraction(veiled.x, veiled.y))

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._t = veiled.t
        if not self._flags[_DATA]:
            return
        x, y = self._to_fraction(veiled.x, veiled.y)
        resting = self._fixating
        resting.x, resting.y, resting.start, resting.duration = x, y, veiled.t - veiled.duration, veiled.duration
        resting.number, resting.now = veiled.number, True
        self._write(veiled.t, f"{x:.5f}", f"{y:.5f}", "1")

    def _record(self, t: float, x: float, y: float) -> None:
        if abs(x) <= MOST_COORDINATE >= abs(y):
            if self._flags["ENABLE_SEND_POG_FIX"]:
                self._fixating.push(t, x, y)
            self._write(t, f"{x:.5f}", f"{y:.5f}", "1")
        else:
            self._fixating.lost()
            self._write(t, "0.00000", "0.00000", "0")

    def _write(self, t: float, x: str, y: str, valid: str) -> None:
        self._count += 1
        resting = self._fixating
        record = self._template % {
            "count": self._count,
            "t": t,
            "tick": t * TICKS_PER_SECOND,
            "x": x,
            "y": y,
            "valid": valid,
            "fx": resting.x,
            "fy": resting.y,
            "start": resting.start,
            "duration": resting.duration,
            "number": resting.number,
            "fixating": resting.now,
            "user": self._user,
        }
        self._out += record.encode()

    def _say(self, text: str) -> None:
        self._out += text.encode()

    def _get(self, what: str) -> str | None:
        if what in self._flags:
            return f'STATE="{self._flags[what]:d}"'
        if what == "SCREEN_SIZE":
            return self._screen()
        if what == "USER_DATA":
            return f'VALUE="{self._user}"'
        if what == "CALIBRATE_RESULT_SUMMARY":
            return f'AVE_ERROR="0.00" VALID_POINTS="{len(self._calibration.points)}"'
        if what == "CALIBRATE_ADDPOINT":
            return self._calibration.listed()
        return _CONSTANTS.get(what)

    def _set(self, what: str, attributes: dict[str, str], now: float) -> str | None:
        if what in self._flags or what == "CALIBRATE_START":
            state = attributes.get("STATE")
            if state not in {"0", "1"}:
                return None
            self._switch(what, state == "1", now)
            return f'STATE="{state}"'
        if what == "USER_DATA":
            value = attributes.get("VALUE", "")
            if not may_be_repeated(value, LONGEST_USER_DATA):
                return None
            self._user = value
            return f'VALUE="{value}"'
        if what == "SCREEN_SIZE":
            return self._screen()
        return self._set_calibration(what, attributes)

    def _switch(self, what: str, on: bool, now: float) -> None:
        if what == "CALIBRATE_START":
            if on:
                self._calibration.start(now)
            else:
                self._calibration.stop()
            return
        self._flags[what] = on
        enabled = " ".join(text for flag, text in _FIELDS.items() if self._flags[flag])
        self._template = f"<REC {enabled} />\r\n"

    def _set_calibration(self, what: str, attributes: dict[str, str]) -> str | None:
        calibration = self._calibration
        if what == "CALIBRATE_CLEAR":
            calibration.replace(())
            return ""
        if what == "CALIBRATE_RESET":
            calibration.replace(FIVE)
            return ""
        if what == "CALIBRATE_ADDPOINT":
            x, y = coordinate(number(attributes.get("X", ""))), coordinate(number(attributes.get("Y", "")))
            return f'X="{x:.5f}" Y="{y:.5f}"' if calibration.add(x, y) else None
        if what in {"CALIBRATE_DELAY", "CALIBRATE_TIMEOUT"}:
            value = number(attributes.get("VALUE", ""))
            if not 0 <= value <= LONGEST:
                return None
            setattr(calibration, what.removeprefix("CALIBRATE_").lower(), value)
            return f'VALUE="{value:.2f}"'
        return None

    def _screen(self) -> str | None:
        if not self.shown.plane.geometry.knows_pixels:
            return None
        width, height = self.shown.plane.pixels
        return f'X="0" Y="0" WIDTH="{width}" HEIGHT="{height}"'


_POINT = "the veiled point"
_BOTH_EYES = "the veiled point, the same for both eyes"
_NOT_MEASURED = "always 0, as a tracker says that it was not measured"

PROTOCOLS.register("opengaze")(
    Protocol(
        name="opengaze",
        title="Open Gaze API (Gazepoint)",
        port=4242,
        source=OpenGazeSource,
        sink=OpenGazeSink,
        outputs=frozenset({"samples", "fixations"}),
        leaves={
            "CNT": "records sent on this connection",
            "TIME": "the tracker's clock",
            "TIME_TICK": f"the same, {TICKS_PER_SECOND:,} a second",
            "BPOGX": _POINT,
            "BPOGY": _POINT,
            "BPOGV": "whether there is a veiled point",
            **dict.fromkeys(("FPOGX", "FPOGY", "FPOGS", "FPOGD", "FPOGID", "FPOGV"), "found in the veiled points"),
            **dict.fromkeys(("LPOGX", "LPOGY", "LPOGV", "RPOGX", "RPOGY", "RPOGV"), _BOTH_EYES),
            **dict.fromkeys(
                (
                    *("LPCX", "LPCY", "LPD", "LPS", "LPV", "RPCX", "RPCY", "RPD", "RPS", "RPV"),
                    *("LEYEX", "LEYEY", "LEYEZ", "LPUPILD", "LPUPILV", "REYEX", "REYEY", "REYEZ", "RPUPILD", "RPUPILV"),
                    *("LPMM", "LPMMV", "RPMM", "RPMMV", "BKID", "BKDUR", "BKPMIN", "CX", "CY", "CS"),
                ),
                _NOT_MEASURED,
            ),
            "USER": "what this app itself asked to be repeated",
            "ID": "which command is answered",
            "STATE": "what the app itself set",
            "REASON": "why there is no data any more; never about gaze",
            "VALUE": "what the app itself set, or a constant",
            "FREQ": "a constant",
            **dict.fromkeys(("X", "Y", "WIDTH", "HEIGHT"), "the screen, from the policy; the camera is a constant"),
            **dict.fromkeys(("PT", "PTS", "CALX", "CALY"), "points of a calibration that the app itself set"),
            **dict.fromkeys(("AVE_ERROR", "VALID_POINTS"), "always that all points were met exactly"),
            "CALX1, CALY1, LX1, LY1, LV1, RX1, RY1, RV1, X1, Y1, …": "the same for each point",
        },
        withheld={
            "CNT of the tracker": "would count what was dropped",
            "FPOG* of the tracker": "its fixations follow the eye, and end when the eye moves",
            "LPOG*, RPOG* of the tracker": "two points of one gaze are two noisy copies of it, and tell eyes apart",
            "BPOGV of the tracker": "it shows blinks; ours says whether there is a veiled point",
            "LPCX, LPCY, LPS, RPCX, RPCY, RPS": "pupils in the camera's picture: the head's place, and gaze itself",
            "LPD, RPD, LPUPILD, RPUPILD, LPMM, RPMM": "pupil sizes reveal arousal, age and identity",
            "LEYE*, REYE*": "eyes in space: the head's pose, and the distance between the eyes",
            "BKID, BKDUR, BKPMIN": "blinks tell tiredness and health",
            "CX, CY, CS": "the mouse is not gaze, and follows it",
            "SERIAL_ID, PRODUCT_ID of the tracker": "name the device, so that apps could link its users",
            "calibration of the tracker": "its errors are the shape of one participant's eyes; apps get constants",
        },
    )
)
