# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""RTSP and HTTP messages from a stream of bytes, RTP packets, and RTCP reports that date them (RFC 3550).

A frame is ``$``, a channel, a length of two bytes and data. Incomplete messages have a limit.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from gazeveil.errors import WireError

NTP_TO_UNIX: Final = 2_208_988_800
"""Seconds from 1900 to 1970."""
SENDER_REPORT: Final = 200
RECEIVER: Final = struct.pack("!BBHI", 0x80, 201, 1, 0x67617A65)
"""The shortest receiver report."""
_HEADER: Final = struct.Struct("!BBHII")
_REPORT: Final = struct.Struct("!BBHIIIIII")
_WRAP: Final = 1 << 32


class Packet(NamedTuple):
    """The used fields of an RTP packet."""

    number: int
    stamp: int
    payload: bytes


class Report(NamedTuple):
    """The used fields of a sender report: Unix seconds, and the stamp of the same moment."""

    seconds: float
    stamp: int

    def time_of(self, stamp: int, clock_rate: int) -> float:
        """Return the Unix time of a stamp, which wraps at 2^32 and is near the report's."""
        return self.seconds + (((stamp - self.stamp + _WRAP // 2) % _WRAP) - _WRAP // 2) / clock_rate


def packet_of(data: bytes) -> Packet:
    """Return the fields of an RTP packet.

    Raises:
        WireError: If it is none.
    """
    if len(data) < _HEADER.size:
        raise WireError("an RTP packet is too short")
    first, _, number, stamp, _ = _HEADER.unpack_from(data)
    begin, end = _HEADER.size + 4 * (first & 0x0F), len(data)
    if first & 0x10:
        begin += 4 + 4 * int.from_bytes(data[begin + 2 : begin + 4], "big")
    if first & 0x20:
        end -= data[-1]
    if first >> 6 != 2 or begin > end:
        raise WireError("this is no RTP packet of version 2")
    return Packet(number, stamp, data[begin:end])


def report_in(data: bytes) -> Report | None:
    """Return the last sender report of a packet of RTCP; None if there is none.

    Raises:
        WireError: If it is no packet of RTCP.
    """
    found, at = None, 0
    while at < len(data):
        if len(data) - at < 4 or data[at] >> 6 != 2:
            raise WireError("this is no RTCP packet of version 2")
        end = at + 4 + 4 * int.from_bytes(data[at + 2 : at + 4], "big")
        if end > len(data):
            raise WireError("an RTCP packet is too short")
        if data[at + 1] == SENDER_REPORT:
            if end - at < _REPORT.size:
                raise WireError("a sender report is too short")
            _, _, _, _, whole, parts, stamp, _, _ = _REPORT.unpack_from(data, at)
            found = Report(whole - NTP_TO_UNIX + parts / _WRAP, stamp)
        at = end
    return found


class Sender:
    """Writes packets of one stream, and the reports that date their stamps.

    Args:
        payload_type: The stream's number in its description.
        clock_rate: How many stamps are one second.
    """

    REPORT_EVERY_S: Final = 5.0
    _SOURCE: Final = 0x67617A65  # the same for everybody: a random one would tell connections apart for nothing

    def __init__(self, payload_type: int, clock_rate: int) -> None:
        self._type, self._rate = payload_type, clock_rate
        self._number = self._bytes = 0
        self._begun: float | None = None
        self._reported = self._turns = -1

    def packets(self, payload: bytes, unix: float) -> tuple[bytes, bytes]:
        """Return a report, empty if none is due, and the packet that holds a payload of a moment in Unix seconds."""
        if self._begun is None:
            self._begun = unix
        count = max(round((unix - self._begun) * self._rate), 0)
        turns, stamp = divmod(count, _WRAP)
        due, report = int(count / self._rate // self.REPORT_EVERY_S), b""
        if due != self._reported or turns != self._turns:  # a client that misses a turn would be hours off
            self._reported, self._turns = due, turns
            whole, parts = divmod(round((self._begun + count / self._rate + NTP_TO_UNIX) * _WRAP), _WRAP)
            head = (0x80, SENDER_REPORT, _REPORT.size // 4 - 1, self._SOURCE)
            report = _REPORT.pack(*head, whole % _WRAP, parts, stamp, self._number % _WRAP, self._bytes % _WRAP)
        packet = _HEADER.pack(0x80, self._type, self._number % (1 << 16), stamp, self._SOURCE) + payload
        self._number += 1
        self._bytes += len(payload)
        return report, packet


# --- Messages of HTTP and RTSP, and RTSP's frames between them.


MOST_HEAD: Final = 1 << 14
MOST_BODY: Final = 1 << 18
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")


@dataclass(frozen=True, slots=True)
class Message:
    """One request or answer.

    Attributes:
        start: The first line.
        headers: By name, in small letters; of two with one name the last.
        body: What follows.
    """

    start: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def status(self) -> int:
        """The number of an answer; 0 if the first line has none."""
        found = re.match(r"(?:RTSP|HTTP)/\d\.\d (\d{3})(?: |$)", self.start)
        return int(found[1]) if found else 0

    @property
    def request(self) -> tuple[str, str, str]:
        """Method, address and protocol of a request.

        Raises:
            WireError: If the first line has not three words.
        """
        words = self.start.split(" ")
        if len(words) != 3 or not all(words):
            raise WireError("the first line of a request must be a method, an address and a protocol")
        return words[0], words[1], words[2]


@dataclass(frozen=True, slots=True)
class Frame:
    """Data between messages, on a channel."""

    channel: int
    data: bytes


class Messages:
    """Collects bytes into complete messages and frames."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, data: bytes) -> Iterator[Message | Frame]:
        """Take bytes and yield what is complete now.

        Raises:
            WireError: If they are no messages, or one is too long.
        """
        self._waiting += data
        while self._waiting:
            found = self._frame() if self._waiting[0] == ord("$") else self._message()
            if found is None:
                return
            yield found

    def _frame(self) -> Frame | None:
        held = self._waiting
        if len(held) < 4 or len(held) < 4 + int.from_bytes(held[2:4], "big"):
            return None
        end = 4 + int.from_bytes(held[2:4], "big")
        frame = Frame(held[1], bytes(held[4:end]))
        del held[:end]
        return frame

    def _message(self) -> Message | None:
        held = self._waiting
        while held.startswith(b"\r\n"):  # blank lines between messages are allowed
            del held[:2]
        at = held.find(b"\r\n\r\n", 0, MOST_HEAD + 4)
        if at < 0:
            if len(held) > MOST_HEAD:
                raise WireError(f"the head of a message is longer than {MOST_HEAD:,} bytes")
            return None
        start, headers = _head(bytes(held[:at]))
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body, end = _chunked(held, at + 4)
        else:
            size = _size(headers.get("content-length", "0"))
            body, end = bytes(held[at + 4 : at + 4 + size]), at + 4 + size
        if end < 0 or len(held) < end:
            return None
        del held[:end]
        return Message(start, headers, body)


def _head(data: bytes) -> tuple[str, dict[str, str]]:
    try:
        start, *lines = data.decode("utf-8").split("\r\n")
    except UnicodeDecodeError:
        raise WireError("the head of a message is not text") from None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise WireError("a line of a message's head is no header")
        headers[name.lower()] = value.strip()
    return start, headers


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and int(text) <= MOST_BODY):
        raise WireError(f"the length of a message must be a number up to {MOST_BODY:,}")
    return int(text)


def _chunked(held: bytearray, at: int) -> tuple[bytes, int]:
    """Return a chunked body and where it ends; -1 if it is incomplete."""
    body = bytearray()
    while True:
        line_end = held.find(b"\r\n", at, at + 300)
        if line_end < 0:
            if len(held) - at > 300:
                raise WireError("a chunk of a message has no size")
            return b"", -1
        found = _CHUNK.fullmatch(held, at, line_end + 2)
        if not found or int(found[1], 16) > MOST_BODY - len(body):
            raise WireError("a chunk of a message has no size, or one beyond the limit")
        size, at = int(found[1], 16), line_end + 2
        if len(held) < at + size + 2:
            return b"", -1
        if held[at + size : at + size + 2] != b"\r\n":
            raise WireError("a chunk of a message is longer than its size")
        body += held[at : at + size]
        at += size + 2
        if not size:  # no trailers: nobody who is meant here sends them
            return bytes(body), at
