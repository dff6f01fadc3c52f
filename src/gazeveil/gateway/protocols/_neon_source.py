# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze of Neon and Invisible: RTSP asks for the stream, RTP carries it, RTCP says what time it is.

Eye centres, optical axes, pupils and lids follow the point in the same packet. They are not even decoded, but for the
centres where an app's policy declares them.
"""

from __future__ import annotations

import math
import re
import struct
from typing import Final

from gazeveil.errors import WireError
from gazeveil.gateway.bridge import mean_of
from gazeveil.gateway.plane import Plane
from gazeveil.gateway.protocol import Source
from gazeveil.gateway.protocols._neon_status import Sensor
from gazeveil.gateway.protocols._numbers import coordinate
from gazeveil.gateway.protocols._rtp import RECEIVER, Report, packet_of, report_in
from gazeveil.gateway.protocols._rtsp_messages import Message, Messages
from gazeveil.gateway.sample import FARTHEST_MM, ORIGINS, EyeGeometry, Place, RawSample

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
"""What is asked after each answer."""


class NeonSource(Source):
    """The client of the phone's gaze stream, once its status has said where that is.

    Args:
        plane: Where gaze lies.
        sensor: What the status said.
        host: Where the phone is, for addresses; the connection itself is someone else's.
        ports: Where datagrams are awaited, of gaze and of reports; None where they come over the connection.
        beside: What apps' policies declare beside gaze; the centres of the eyes are read only if it is among it.

    Attributes:
        datagrams: What waits to be sent from those ports: from which of the two, to which port of the phone, and bytes.
    """

    def __init__(
        self,
        plane: Plane,
        sensor: Sensor = Sensor(),  # noqa: B008  (it cannot be changed)
        host: str = "127.0.0.1",
        ports: tuple[int, int] | None = None,
        beside: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(plane)
        plane.from_fraction(0.5, 0.5)  # a plane without fractions is refused now, not at the first sample
        self.ports = ports
        self._reads_eyes = ORIGINS in beside
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
        """Begin to ask."""
        self._ask("OPTIONS")

    def received(self, data: bytes, now: float) -> list[RawSample]:
        """Take bytes of the connection: answers, and gaze where it comes in between.

        Raises:
            WireError: If they are not what RTSP says, or the tracker refuses.
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
        """Take one packet of gaze; what comes before the first report has no time, and what comes too late is left out.

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
        """Keep the session alive, and say that someone is there."""
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
