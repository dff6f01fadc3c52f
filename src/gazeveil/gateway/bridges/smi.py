# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""SMI trackers (RED, Hi-Speed) by the remote commands of iView X: lines of text over UDP, without a package.

We ask for ``%ET %TU %SX %SY``: which eyes, microseconds, then x and y of the left and the right eye in pixels. A gaze
of 0, 0 is how iView X writes that there is none. Only datagrams from the tracker's own address are read.
"""

from __future__ import annotations

import contextlib
import ipaddress
import math
import re
import socket
from typing import Final

from gazeveil.errors import OptionError, WireError
from gazeveil.gateway.bridge import BRIDGES, MOST_AT_ONCE, NOWHERE, Bridge, BridgeKind, Point, mean_of, moment_of
from gazeveil.gateway.sample import RawSample
from gazeveil.gateway.tracker_fields import coordinate, number

TITLE: Final = "SMI iView X"
_USUAL: Final = "127.0.0.1:4444:5555"
_DEVICE: Final = re.compile(r"([0-9.]+|[A-Za-z][A-Za-z0-9.-]*):(\d{1,5}):(\d{1,5})")
_ASKED: Final = (b'ET_FRM "%ET %TU %SX %SY"\n', b"ET_STR\n")
_STOP: Final = b"ET_EST\n"
_LONGEST: Final = 4096
_EYES: Final = {"l": 1, "r": 1, "b": 2}


class Smi(Bridge):
    """A socket that iView X streams to."""

    def __init__(self, device: str) -> None:
        match = _DEVICE.fullmatch(device or _USUAL)
        if match is None or not all(0 < int(port) < 1 << 16 for port in match.groups()[1:]):
            raise OptionError(f"{TITLE}: --device must be HOST:ITS_PORT:OUR_PORT", hint=f"for example {_USUAL}")
        try:
            self._host = socket.gethostbyname(match[1])
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        except OSError as error:
            raise WireError(f"{TITLE}: {match[1]} is not known: {error.strerror}") from error
        self._tracker = (self._host, int(match[2]))
        here = "127.0.0.1" if ipaddress.ip_address(self._host).is_loopback else ""
        try:
            self._socket.setblocking(False)
            self._socket.bind((here, int(match[3])))
            for command in _ASKED:
                self._socket.sendto(command, self._tracker)
        except OSError as error:
            self._socket.close()
            raise WireError(f"{TITLE}: port {match[3]} cannot be used: {error.strerror}") from error

    def poll(self) -> list[RawSample]:
        """Return the samples of all datagrams that wait."""
        found: list[RawSample] = []
        for _ in range(MOST_AT_ONCE):
            try:
                data, (host, _port) = self._socket.recvfrom(_LONGEST)
            except BlockingIOError:
                break
            except OSError as error:  # nothing listens there: the machine says so
                raise WireError(f"{TITLE}: the tracker does not listen: {error.strerror}") from error
            if host == self._host:
                found += samples_in(data)
        return found

    def close(self) -> None:
        """Ask for no more, and close."""
        with contextlib.suppress(OSError):
            self._socket.sendto(_STOP, self._tracker)
        self._socket.close()


def samples_in(data: bytes) -> list[RawSample]:
    """Return the sample in a datagram; none in one that says something else.

    Raises:
        WireError: If it is a sample, but not one that we asked for.
    """
    words = data.decode("ascii", "replace").split()
    if not words or words[0] != "ET_SPL":
        return []
    eyes = _EYES.get(words[1], 0) if len(words) > 1 else 0
    if not eyes or len(words) != 3 + 2 * eyes:
        raise WireError(f"{TITLE}: a sample is not in the format that was asked for")
    t, *sides = (number(word) if len(word) < 40 else math.nan for word in words[2:])
    moment = moment_of(TITLE, t, 1e6)
    points = [_point(sides[eye], sides[eyes + eye]) for eye in range(eyes)]
    return [RawSample(moment, *mean_of(points[0], points[-1]))]


def _point(x: float, y: float) -> Point:
    across, down = coordinate(x), coordinate(y)
    return NOWHERE if math.isnan(across + down) or (across == 0 and down == 0) else (across, down)


BRIDGES.register("smi")(
    BridgeKind(
        name="smi",
        title=TITLE,
        unit="px",
        open=lambda device, _: Smi(device),
        device=f"HOST:ITS_PORT:OUR_PORT, {_USUAL} if not given",
        withheld={
            "%DX, %DY": "Pupil size is not veiled; it is not asked for.",
            "%PX, %PY, %CX, %CY": "Images of pupil and reflex; they are not asked for.",
            "every other datagram": "Unknown.",
        },
    )
)
