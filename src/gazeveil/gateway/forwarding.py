# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Forwards a bridge's samples to a gateway that listens for them (``pushlines``): ``gazeveil track --from``."""

from __future__ import annotations

import contextlib
import json
import math
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gazeveil.errors import InputError, OptionError, WireError
from gazeveil.gateway.bridge import Bridge, BridgeKind
from gazeveil.gateway.policy.settings import InletSetting, Policy, TrackerSetting, token_in
from gazeveil.gateway.protocols.json_gaze import converters
from gazeveil.gateway.protocols.pushed_gaze import FURTHEST
from gazeveil.gateway.sample import ORIGINS, EyeGeometry, RawSample
from gazeveil.gateway.telemetry import Limited, Log
from gazeveil.gateway.tracker_fields import REFUSE, Fields

PROTOCOL: Final = "pushlines"
SILENT_S: Final = 5.0
"""Seconds without a sample after which a tracker counts as lost: fewer than the gateway allows its sender."""
_POLL_S: Final = 0.004
_PATIENCE_S: Final = 5.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
_MOST_IN_ONE: Final = 256
TCP_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENS: Final = "0A"
_LATER: Final = ("closed", "sender")
"""Kinds of errors after which a sender may connect again."""
_CLOCK: Final = "time"
"""The kind of error for a clock: bridges send seconds, so the device's own clock is wrong."""
_CLOCK_HINT: Final = "the device's clock jumped or runs wrong; it is opened again after a pause"


def sender_in(policy: Policy, kind: BridgeKind, name: str = "") -> TrackerSetting:
    """Return the tracker of a policy that a bridge can send to.

    Raises:
        OptionError: If there is none, or more than one and none was chosen.
        InputError: If it is declared for something else.
    """
    able = [one for one in policy.trackers if one.protocol == PROTOCOL and name in ("", one.name)]
    if len(able) != 1:
        found = ", ".join(one.name for one in able) or "none"
        raise OptionError(
            f"{kind.title} sends to one tracker with protocol = {PROTOCOL!r}; the policy has {found}",
            hint="choose one with --tracker" if able else f"write into the policy:\n{kind.in_policy()}",
        )
    [tracker] = able
    fitting = [kind.fields, *([replace(kind.fields, origins=ORIGINS)] if ORIGINS in kind.knows else [])]
    if replace(tracker.fields or Fields(), others=REFUSE) not in fitting:
        raise InputError(
            f"tracker {tracker.name!r} is declared for other samples than those of {kind.title}",
            hint=f'write fields = {{ unit = "{kind.unit}" }} in its [[tracker]], and nothing else about fields',
        )
    if kind.unit not in converters(tracker.plane):
        raise InputError(
            f"{tracker.geometry} cannot hold gaze of {kind.title}", hint=f"for example:\n{kind.in_policy()}"
        )
    return tracker


@dataclass(slots=True)
class ForwardedCounts:
    """Counts of what was forwarded."""

    samples: int = 0
    sent: int = 0
    dropped: int = 0
    opened: int = 0
    lost: int = 0


class _Refused(WireError):  # noqa: N818
    """The gateway does not believe the device's clock."""


class Forwarder:
    """One bridge and one gateway.

    Args:
        kind: The bridge.
        device: Which tracker, in the bridge's words.
        tracker: The policy's tracker that samples are sent to.
        log: Where events are reported, never gaze.
        stop: Set to end it.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        kind: BridgeKind,
        device: str,
        tracker: TrackerSetting,
        log: Log,
        stop: threading.Event,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if tracker.inlet is None:
            raise OptionError(f"the gateway does not listen for tracker {tracker.name!r}")
        self._kind, self._device, self._tracker, self._stop, self._clock = kind, device, tracker, stop, clock
        self._inlet: InletSetting = tracker.inlet
        self._log = Limited(log, clock)
        self._written = _Writer(kind, tracker)
        self._gateway: _GatewayConnection | None = None
        self._next_try = -math.inf
        self._pause = _FIRST_PAUSE_S
        self._connected_at = -math.inf
        self.carried = ForwardedCounts()

    def run(self) -> ForwardedCounts:
        """Forward samples until it is stopped.

        Raises:
            GazeveilError: If trying again is useless: the package is missing, or the gateway refuses the samples.
        """
        pause = _FIRST_PAUSE_S
        try:
            while not self._stop.is_set():
                try:
                    bridge = self._kind.open(self._device, self._tracker.plane)
                except WireError as error:
                    self._log("tracker not there", bridge=self._kind.name, why=error, hint=error.hint)
                    self._stop.wait(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
                    continue
                self.carried.opened += 1
                if self._followed(bridge):
                    pause = _FIRST_PAUSE_S
                if not self._stop.is_set():
                    self._stop.wait(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE_S)
        finally:
            self._hang_up()
            self._log.close()
        return self.carried

    def _followed(self, bridge: Bridge) -> bool:
        """Forward until the tracker is lost; return whether a sample came that was not refused."""
        came, last = False, self._clock()
        try:
            while not self._stop.is_set():
                samples, now = bridge.poll(), self._clock()
                if samples:
                    came, last = True, now
                    self._carry(samples, now)
                elif now - last > SILENT_S:
                    raise WireError(f"{self._kind.title}: no sample for {SILENT_S:g} seconds")
                self._wait()
        except WireError as error:
            self.carried.lost += 1
            self._log("tracker lost", bridge=self._kind.name, why=error, hint=error.hint)
            came = came and not isinstance(error, _Refused)
        finally:
            bridge.close()
            self._hang_up()
        return came

    def _carry(self, samples: list[RawSample], now: float) -> None:
        self.carried.samples += len(samples)
        if self._gateway is None:
            self._connect(now)
        if self._gateway is None:
            self.carried.dropped += len(samples)
            return
        try:
            for begin in range(0, len(samples), _MOST_IN_ONE):
                self._gateway.send(self._written.line(samples[begin : begin + _MOST_IN_ONE]))
            self.carried.sent += len(samples)
        except OSError as error:
            self._answers()  # its last words may say why
            self._away(error.strerror or type(error).__name__, now)

    def _connect(self, now: float) -> None:
        if now < self._next_try:
            return
        try:
            self._gateway = _GatewayConnection(self._inlet)
        except OSError as error:
            self._away(error.strerror or type(error).__name__, now)
        else:
            self._connected_at = now
            self._answers()
            self._log("connected", tracker=self._tracker.name)

    def _wait(self) -> None:
        """Wait a moment, and read the gateway's replies."""
        if self._gateway is None:
            self._stop.wait(_POLL_S)
        elif self._gateway.has_said_something(_POLL_S):
            self._answers()

    def _answers(self) -> None:
        gateway = self._gateway
        if gateway is None:
            return
        texts, is_open = gateway.replies()
        for text in texts:
            kind, message, hint = text.get("error", ""), str(text.get("message", "")), str(text.get("hint", ""))
            if "warning" in text:
                self._log("warning of the gateway", tracker=self._tracker.name, why=message, hint=hint)
            elif kind in _LATER:
                is_open = False
                self._away(message, self._clock())
            elif kind == _CLOCK:
                raise _Refused(f"the gateway refuses what {self._kind.title} sends: {message}", hint=_CLOCK_HINT)
            elif kind:
                self._hang_up()
                raise InputError(f"the gateway refuses what {self._kind.title} sends: {message}", hint=hint)
        if not is_open and self._gateway is not None:
            self._away("the gateway closed the connection", self._clock())

    def _away(self, why: str, now: float) -> None:
        self._hang_up()
        self._log("gateway away", tracker=self._tracker.name, why=why)
        self._next_try = now + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_S)

    def _hang_up(self) -> None:
        if self._gateway is not None:
            self._gateway.close()
            self._gateway = None
            if self._clock() - self._connected_at > _PATIENCE_S:  # a gateway that closes at once is not called at once
                self._pause = _FIRST_PAUSE_S


class _Writer:
    """Writes samples as the policy declares them. Impossible points become missing: they would end the stream."""

    def __init__(self, kind: BridgeKind, tracker: TrackerSetting) -> None:
        self._convert = converters(tracker.plane)[kind.unit][0]
        self._to_fraction = tracker.plane.to_fraction
        self._tells_eyes = tracker.fields is not None and bool(tracker.fields.origins)

    def line(self, samples: list[RawSample]) -> bytes:
        return json.dumps([self._written(sample) for sample in samples], allow_nan=False).encode() + b"\n"

    def _written(self, sample: RawSample) -> dict[str, object]:
        x, y = sample.x, sample.y
        eyes = sample.eyes or EyeGeometry()
        head_and_eyes: dict[str, object] = {ORIGINS: [eyes.left, eyes.right]} if self._tells_eyes else {}
        share = self._to_fraction(*self._convert(x, y))
        if not all(-FURTHEST <= one <= 1.0 + FURTHEST for one in share):  # NaN is not, either
            return {"t": sample.t, "x": None, "y": None, **head_and_eyes}
        return {"t": sample.t, "x": x, "y": y, **head_and_eyes}


class _GatewayConnection:
    """A connection to a gateway. The listener must be the gateway: raw gaze would reach any other program as well.

    Raises:
        OSError: If nobody listens, or someone else does.
    """

    def __init__(self, inlet: InletSetting) -> None:
        at = inlet.listen.from_here
        self._socket = socket.create_connection((at.host, at.port), _PATIENCE_S)
        self._waiting = b""
        try:
            if inlet.tls is not None:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False  # this very certificate is wanted, whatever its name
                context.load_verify_locations(inlet.tls.certificate)
                self._socket = context.wrap_socket(self._socket)
            else:
                _check_listener(inlet)
            self.send(json.dumps({"token": token_in(inlet.token_file)}).encode() + b"\n")
        except BaseException:
            self._socket.close()
            raise

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def has_said_something(self, patience_s: float) -> bool:
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        return bool(select.select([self._socket], [], [], patience_s)[0])

    def replies(self) -> tuple[list[dict[str, object]], bool]:
        """Return its replies, and whether the connection is still open."""
        is_open = True
        if self.has_said_something(0.0):
            try:
                data = self._socket.recv(1 << 16)
            except OSError:
                data = b""
            is_open, self._waiting = bool(data), self._waiting + data
        *lines, self._waiting = self._waiting.split(b"\n")
        texts = []
        for line in lines:
            with contextlib.suppress(ValueError):
                reply = json.loads(line)
                texts += [reply] if isinstance(reply, dict) else []
        return texts, is_open and len(self._waiting) < 1 << 16

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def _check_listener(inlet: InletSetting) -> None:
    """Refuse a listener of another user than the token's: while the gateway is away, any program may take its port.

    Linux shows the owner of a listening port. Elsewhere only TLS makes sure. A port without a listener is refused:
    the program that answered may have closed it to hide.

    Raises:
        OSError: If it is someone else's or nobody's, or the gateway has made no token yet.
    """
    owner = inlet.token_file.stat().st_uid
    tables = [table.read_text(encoding="ascii") for table in TCP_TABLES if table.exists()]
    listeners = set()
    for line in (line for table in tables for line in table.splitlines()[1:]):
        _, local, _, state, _, _, _, uid, *_ = line.split()
        if state == _LISTENS and int(local.rpartition(":")[2], 16) == inlet.listen.port:
            listeners.add(int(uid))
    if tables and listeners != {owner}:
        raise PermissionError(0, "a program of another user listens on its port, or none does any more")
