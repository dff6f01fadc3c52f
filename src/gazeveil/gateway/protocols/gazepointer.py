# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""GazePointer's protocol: a key, then gaze as XML or JSON in .NET strings, or over WebSocket.

An app of the first kind begins with the letters "xml", a browser with "GET", so the first bytes show which it is. Both
then send an application key, receive "ok", and get one record per sample: a point in pixels, and a head pose that is
always 0 here. The protocol has no time and no record for missing gaze: without a point nothing is sent, and a source
takes the time at which a record came.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, Literal

from gazeveil.errors import WireError
from gazeveil.gateway.protocol import PROTOCOLS, Protocol, Source, StreamFacts, ViewingPlane
from gazeveil.gateway.protocols.app_sinks import OneOutputSink
from gazeveil.gateway.protocols.websocket_connection import GOING_AWAY, POLICY, TextClient, TextServer
from gazeveil.gateway.sample import RawSample, VeiledFixation, VeiledSample
from gazeveil.gateway.tracker_fields import MOST_COORDINATE, coordinate, number


class Strings:
    """Collects bytes into complete strings.

    Args:
        longest: Bytes of the longest string; a longer one is refused as soon as its length is known.
    """

    __slots__ = ("_longest", "_waiting")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._waiting = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """Take bytes and return the strings that are complete now.

        Raises:
            WireError: If one is too long or no UTF-8.
        """
        self._waiting += data
        found, begin = [], 0
        while (head := self._length(begin)) is not None:
            length, start = head
            if len(self._waiting) < start + length:
                break
            begin = start + length
            try:
                found.append(self._waiting[start:begin].decode())
            except UnicodeDecodeError:
                raise WireError("expected text, found other bytes") from None
        del self._waiting[:begin]
        return found

    def _length(self, at: int) -> tuple[int, int] | None:
        """Return the length of the string there, and where it starts; None if that is not known yet."""
        length = 0
        for place, byte in enumerate(self._waiting[at : at + 5]):
            length |= (byte & 0x7F) << 7 * place
            if length > self._longest:
                break
            if byte < 0x80:
                return length, at + place + 1
        else:
            if len(self._waiting) - at < 5:
                return None
        raise WireError("a string is too long")


def packed(text: str) -> bytes:
    """Return a string with its length in front."""
    data = text.encode()
    length, head = len(data), bytearray()
    while length >= 0x80:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + data


# --- GazePointer and its GazeFlow API: prefixed strings over TCP, or WebSocket, both on port 43333.


APP_KEY: Final = "AppKeyDemo"
"""The key that GazePointer's own examples name."""

LONGEST_KEY: Final = 4096
LONGEST_RECORD: Final = 1 << 16

PATIENCE: Final = 10.0
"""Seconds within which an app must send its key."""

_WELCOME: Final = "ok"
_HEAD: Final = ("HeadX", "HeadY", "HeadZ", "HeadYaw", "HeadPitch", "HeadRoll")
_HEAD_XML: Final = "".join(f"<{name}>0</{name}>" for name in _HEAD)
_HEAD_JSON: Final = "".join(f',"{name}":0' for name in _HEAD)
_GAZE_X: Final = re.compile(r"<GazeX>([^<]{1,64})</GazeX>")
_GAZE_Y: Final = re.compile(r"<GazeY>([^<]{1,64})</GazeY>")

Dialect = Literal["tcp", "websocket"]


class GazePointerSource(Source):
    """The client of GazePointer.

    Args:
        plane: Where gaze lies; it must know its pixels.
        dialect: Which of the two to speak; a GazePointer understands both at the same port.
    """

    def __init__(self, plane: ViewingPlane, dialect: Dialect = "tcp") -> None:
        super().__init__(plane)
        self._size = plane.pixels
        self._texts = TextClient(LONGEST_RECORD) if dialect == "websocket" else Strings(LONGEST_RECORD)
        self._read = _read_json if dialect == "websocket" else _read_xml
        self._welcome = False

    def connected(self, now: float) -> None:
        """Send the key."""
        if isinstance(self._texts, TextClient):
            self._texts.open()
            self._texts.send(APP_KEY)
            self._out += self._texts.to_send()
        else:
            self._out += b"xml" + packed(APP_KEY)

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes and return the samples of complete records, each at the time it came."""
        samples = []
        for text in self._texts.feed(data):
            if not self._welcome:
                if not text.startswith(_WELCOME):
                    raise WireError("the tracker refuses this application key")
                self._welcome = True
                continue
            x, y = self._read(text)
            if x == x and y == y:  # noqa: PLR0124  (not NaN)
                x, y = self.plane.from_fraction(x / self._size[0], y / self._size[1])
            else:
                x = y = math.nan
            samples.append(RawSample(now, x, y))
        if isinstance(self._texts, TextClient):
            self._out += self._texts.to_send()
        return samples


class GazePointerSink(OneOutputSink):
    """GazePointer, as an app sees it."""

    def __init__(self, shown: StreamFacts) -> None:
        super().__init__(shown)
        self._width, self._height = shown.plane.pixels
        self._first = bytearray()
        self._strings: Strings | None = None
        self._texts: TextServer | None = None
        self._welcome = False
        self._deadline = math.inf

    @property
    def wants_gaze(self) -> bool:
        """Whether the app has sent its key."""
        return self._welcome and not self.ended

    def connected(self, now: float) -> None:
        """Wait for a key, for a limited time."""
        self._deadline = now + PATIENCE

    def tick(self, now: float) -> None:
        """Drop an app that sends no key."""
        if not self._welcome and now > self._deadline:
            self.ended = True

    def received(self, data: bytes, now: float) -> None:
        """Detect the dialect, and accept an app that sends a key."""
        if self.ended:
            return
        if self._strings is None and self._texts is None:
            self._first += data
            if len(self._first) < 3:
                return
            data = bytes(self._first)
            if data.startswith(b"xml"):
                self._strings, data = Strings(LONGEST_KEY), data[3:]
            elif data.startswith(b"GET"):
                self._texts = TextServer(LONGEST_KEY, self.shown.origins)
            else:
                raise WireError("an app begins with xml, or asks for a WebSocket")
        if self._texts is not None:
            named = self._texts.feed(data)
            self._out += self._texts.to_send()
            self.ended = self._texts.closed
            self.refused_origin = self._texts.refused_origin
        elif self._strings is not None and not self._welcome:
            named = self._strings.feed(data)
        else:
            return  # an app of this kind sends nothing after its key
        if named and not self._welcome and not self.ended:
            self._send(_WELCOME)
            self._welcome = True

    def end(self, reason: str, now: float, code: int = POLICY) -> None:
        """Close with the reason: as a text that is no record, which clients print, or in a WebSocket's close frame."""
        if self._texts is not None:
            self._texts.close(reason, code)
            self._out += self._texts.to_send()
        elif self._strings is not None:
            self._send(f"closed: {reason[:200]}")
        self.ended = True

    def stop(self, reason: str, now: float) -> None:
        """Report that the gateway stops, also in a WebSocket's close frame."""
        self.end(reason, now, GOING_AWAY)

    def _sample(self, veiled: VeiledSample, now: float) -> None:
        self._point(veiled.x, veiled.y)

    def _fixation(self, veiled: VeiledFixation, now: float) -> None:
        self._point(veiled.x, veiled.y)

    def _point(self, x: float, y: float) -> None:
        if not self._welcome or self.ended:
            return
        across, down = self.shown.plane.to_fraction(x, y)
        if not abs(across) <= MOST_COORDINATE >= abs(down):
            return
        x, y = across * self._width, down * self._height
        if self._texts is not None:
            self._send(f'{{"GazeX":{x:.2f},"GazeY":{y:.2f}{_HEAD_JSON}}}')
        else:
            self._send(f"<CGazeData><GazeX>{x:.2f}</GazeX><GazeY>{y:.2f}</GazeY>{_HEAD_XML}</CGazeData>")

    def _send(self, text: str) -> None:
        self._out += packed(text) if self._texts is None else self._texts.packed(text)


def _read_xml(text: str) -> tuple[float, float]:
    x, y = _GAZE_X.search(text), _GAZE_Y.search(text)
    if x is None or y is None:
        raise WireError("expected a record with a point, found something else")
    return coordinate(number(x[1])), coordinate(number(y[1]))


def _read_json(text: str) -> tuple[float, float]:
    try:
        record: Any = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or "GazeX" not in record or "GazeY" not in record:
        raise WireError("expected a record with a point, found something else")
    return coordinate(record["GazeX"]), coordinate(record["GazeY"])


PROTOCOLS.register("gazepointer")(
    Protocol(
        name="gazepointer",
        title="GazePointer (GazeFlow API)",
        port=43333,
        source=GazePointerSource,
        sink=GazePointerSink,
        outputs=frozenset({"samples", "fixations"}),
        leaves={
            "GazeX": "the veiled point",
            "GazeY": "the veiled point",
            **dict.fromkeys(_HEAD, "always 0"),
            "CGazeData": "the name of a record",
        },
        withheld={
            "GazeX and GazeY of the tracker": "gaze before the veil",
            "HeadX, HeadY, HeadZ": "where the head is, and when it moves",
            "HeadYaw, HeadPitch, HeadRoll": "where the head points, which reveals much of where its owner looks",
        },
    )
)
