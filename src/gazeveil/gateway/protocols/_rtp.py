# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Packets of RTP, and the sender reports of RTCP that say what time a packet's stamp is (RFC 3550)."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from gazeveil.errors import WireError

NTP_TO_UNIX: Final = 2_208_988_800
"""Seconds from 1900 to 1970."""
SENDER_REPORT: Final = 200
RECEIVER: Final = struct.pack("!BBHI", 0x80, 201, 1, 0x67617A65)
"""The shortest report of a receiver: it says that someone is there."""
_HEADER: Final = struct.Struct("!BBHII")
_REPORT: Final = struct.Struct("!BBHIIIIII")
_WRAP: Final = 1 << 32


class Packet(NamedTuple):
    """What of an RTP packet is used."""

    number: int
    stamp: int
    payload: bytes


class Report(NamedTuple):
    """What of a sender report is used: Unix seconds, and the stamp of the same moment."""

    seconds: float
    stamp: int

    def time_of(self, stamp: int, clock_rate: int) -> float:
        """Return the Unix time of a stamp, which counts round after 2^32 and is near the report's."""
        return self.seconds + (((stamp - self.stamp + _WRAP // 2) % _WRAP) - _WRAP // 2) / clock_rate


def packet_of(data: bytes) -> Packet:
    """Return what an RTP packet holds.

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
    """Writes packets of one stream, and the reports that say what time their stamps are.

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
