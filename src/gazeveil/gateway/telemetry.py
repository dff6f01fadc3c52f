# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a running gateway reports: structured logs, counters, and the counters as Prometheus reads them. Never gaze.

Logs hold counts, names of the policy, durations and messages of our own errors. Bytes, arrays and samples are replaced
by their type, so that a careless call logs nothing of them. `Limited` keeps one cause from filling the disk.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import IO, Any, Final

from gazeveil.errors import needing

Log = Callable[..., None]
Field = str | int | float | bool | None

_LONGEST = 500
_LONGEST_FOREIGN = 120
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 10.0, 3600.0
"""Seconds for which a repeated line is held back; they double."""
_MOST_WORDINGS = 16
"""Wordings of one event of one app or tracker that are distinguished; more of them count as one."""
_SUBJECTS = ("app", "tracker", "group")


def log_to(file: IO[str] | None = None, *, now: Callable[[], datetime] | None = None) -> Log:
    """Return a function ``log(event, **fields)`` that writes JSON lines; by default to standard error."""
    out = sys.stderr if file is None else file
    clock = now or (lambda: datetime.now(UTC))
    door = threading.Lock()

    def log(event: str, **fields: object) -> None:
        record = {"time": clock().isoformat(timespec="milliseconds"), "event": event}
        line = json.dumps(record | {name: _plain(value) for name, value in fields.items()}, ensure_ascii=False)
        with door:
            try:
                out.write(line + "\n")
                out.flush()
            except (OSError, ValueError):
                return  # a log that cannot be written (disk full, closed) must not stop or change what is veiled

    return log


@dataclass(slots=True)
class _Repeated:
    """What is known of a line that came before."""

    until: float
    pause: float = _FIRST_PAUSE_S
    held: int = 0
    fields: dict[str, object] = field(default_factory=dict)


class Limited:
    """A log that writes a line once, and then, at growing intervals, how often it came again (``times``).

    A line that does not come for two of its pauses is new again. Where one event of one app or tracker has many
    wordings, the first few are distinguished. May be called from several threads.
    """

    def __init__(self, log: Log, now: Callable[[], float] = time.monotonic) -> None:
        self._log, self._now = log, now
        self._known: dict[tuple[str, ...], _Repeated] = {}
        self._door = threading.RLock()

    def __call__(self, event: str, **fields: object) -> None:
        """Write a line, or count it."""
        with self._door:
            now = self._now()
            self.tick(now)
            key = self._key(event, fields)
            known = self._known.get(key)
            if known is None:
                self._known[key] = _Repeated(now + _FIRST_PAUSE_S)
                self._log(event, **fields)
            else:
                known.held += 1
                known.fields = fields

    def tick(self, now: float | None = None) -> None:
        """Write the counts that are due, and drop lines that did not come again."""
        with self._door:
            now = self._now() if now is None else now
            for key, known in list(self._known.items()):
                if now < known.until:
                    continue
                if known.held:
                    self._write_count(key[0], known)
                    known.pause = min(2 * known.pause, _LONGEST_PAUSE_S)
                    known.until = now + known.pause
                elif now >= known.until + known.pause:
                    del self._known[key]

    def close(self) -> None:
        """Write all counts that wait."""
        with self._door:
            for key, known in self._known.items():
                if known.held:
                    self._write_count(key[0], known)

    def _write_count(self, event: str, known: _Repeated) -> None:
        self._log(event, **known.fields, times=known.held)
        known.held = 0

    def _key(self, event: str, fields: dict[str, object]) -> tuple[str, ...]:
        subject = (event, *(str(fields.get(name, "")) for name in _SUBJECTS))
        key = (*subject, repr({name: _plain(value) for name, value in fields.items()}))
        if key in self._known or sum(known[:-1] == subject for known in self._known) < _MOST_WORDINGS:
            return key
        return (*subject, "…")


def shortened(foreign: str) -> str:
    """Return a foreign text so that it can be logged: short, in printable ASCII."""
    text = foreign[: _LONGEST_FOREIGN + 1].encode("unicode_escape").decode()
    return text if len(text) <= _LONGEST_FOREIGN else text[:_LONGEST_FOREIGN] + "…"


def _plain(value: object) -> Field:
    if isinstance(value, BaseException):
        value = getattr(value, "message", "") or type(value).__name__
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
    if value is None or isinstance(value, bool | int | float):
        return value
    return f"<{type(value).__name__}>"


# --- Counters: plain numbers that are cheap to raise.


BOUNDS: Final = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.5)
"""Upper ends of the latency histogram's bins, in seconds."""
REFUSALS: Final = ("host", "origin", "token", "key", "raw")
"""A foreign host name, a web page, no token, an invalid link, and raw gaze that may not be seen."""


@dataclass(slots=True)
class Latency:
    """From the arrival of a tracker's bytes to the hand-over of the app's to the system."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def saw(self, seconds: float, count: int = 1) -> None:
        """Count ``count`` things that took ``seconds``."""
        self.counts[bisect_left(BOUNDS, seconds)] += count
        self.total += seconds * count

    def share_ms(self, share: float) -> float | None:
        """Return the milliseconds within which a share of them was done, from the bins; None before the first.

        Beyond the last bin it is that bin's upper end.
        """
        wanted, seen = share * sum(self.counts), 0
        for index, count in enumerate(self.counts):
            if count and seen + count >= wanted:
                low = BOUNDS[index - 1] if index else 0.0
                high = BOUNDS[min(index, len(BOUNDS) - 1)]
                return round(1e3 * (low + (high - low) * (wanted - seen) / count), 3)
            seen += count
        return None


@dataclass(slots=True)
class AppMeter:
    """Counts of one app."""

    connections: int = 0
    listeners: int = 0
    """Connections that have asked for gaze; where a protocol does not tell how many, 1 for any."""
    sent: int = 0
    dropped: int = 0
    """Veiled samples that a slow reader did not get: the oldest go first."""
    refused: int = 0
    """Connections that were cut: too many, garbage, mute, or stalled."""
    refused_origins: int = 0
    """Web pages that were turned away."""
    latency: Latency = field(default_factory=Latency)


@dataclass(slots=True)
class TrackerMeter:
    """Counts of one tracker."""

    connected: bool = False
    samples: int = 0
    connects: int = 0
    garbage: int = 0
    refused: int = 0
    """Senders that were turned away: another one is connected, or too many showed no token."""
    refused_origins: int = 0
    """Web pages that were turned away."""
    refused_tokens: int = 0
    """Connections that showed a wrong token, or none."""


@dataclass(slots=True)
class Meters:
    """All counts of a gateway."""

    apps: dict[str, AppMeter] = field(default_factory=lambda: defaultdict(AppMeter))
    trackers: dict[str, TrackerMeter] = field(default_factory=lambda: defaultdict(TrackerMeter))
    control_refused: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REFUSALS, 0))
    """Requests to the control API that were refused, by reason."""
    payments: int = 0
    payment_errors: int = 0
    faults: int = 0
    """Errors that should not happen, each of them logged."""


# --- The counters as Prometheus reads them.


def exposition(meters: Meters, status: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the text, and its content type.

    Raises:
        MissingExtra: If prometheus-client is not installed.
    """
    with needing("prometheus-client", "live", "metrics"):
        from prometheus_client import CollectorRegistry  # noqa: PLC0415
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415
        from prometheus_client.registry import Collector  # noqa: PLC0415

    class Counts(Collector):
        def collect(self) -> Iterator[Any]:
            yield from _families(meters, status)

    registry = CollectorRegistry()
    registry.register(Counts())
    return generate_latest(registry), CONTENT_TYPE_LATEST


def _families(meters: Meters, status: Mapping[str, Any]) -> Iterator[Any]:
    from prometheus_client.core import (  # noqa: PLC0415
        CounterMetricFamily,
        GaugeMetricFamily,
        HistogramMetricFamily,
    )

    latency = HistogramMetricFamily(
        "gazeveil_latency_seconds", "From the tracker's bytes to the app's.", labels=["app"]
    )
    sent = CounterMetricFamily("gazeveil_sent", "Veiled things sent.", labels=["app"])
    dropped = CounterMetricFamily("gazeveil_dropped", "Veiled things a slow app did not get.", labels=["app"])
    refused = CounterMetricFamily("gazeveil_refused", "Connections that were cut.", labels=["app"])
    origins = CounterMetricFamily("gazeveil_refused_origins", "Web pages that were turned away.", labels=["app"])
    connections = GaugeMetricFamily("gazeveil_connections", "Connections of an app.", labels=["app"])
    listeners = GaugeMetricFamily("gazeveil_listeners", "Connections that asked for gaze.", labels=["app"])
    for name, app in meters.apps.items():
        bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
        buckets = list(zip(bounds, accumulate(app.latency.counts), strict=True))
        latency.add_metric([name], buckets=buckets, sum_value=app.latency.total)
        sent.add_metric([name], app.sent)
        dropped.add_metric([name], app.dropped)
        refused.add_metric([name], app.refused)
        origins.add_metric([name], app.refused_origins)
        connections.add_metric([name], app.connections)
        listeners.add_metric([name], app.listeners)
    yield from (latency, sent, dropped, refused, origins, connections, listeners)

    taken = CounterMetricFamily("gazeveil_samples", "Samples taken from a tracker.", labels=["tracker"])
    connects = CounterMetricFamily("gazeveil_tracker_connects", "Connections made to a tracker.", labels=["tracker"])
    garbage = CounterMetricFamily("gazeveil_tracker_garbage", "Times a tracker broke its protocol.", labels=["tracker"])
    senders = CounterMetricFamily(
        "gazeveil_tracker_refused", "Senders of gaze that were refused.", labels=["tracker", "why"]
    )
    up = GaugeMetricFamily("gazeveil_tracker_up", "Whether a tracker gives gaze.", labels=["tracker"])
    for name, tracker in meters.trackers.items():
        taken.add_metric([name], tracker.samples)
        connects.add_metric([name], tracker.connects)
        garbage.add_metric([name], tracker.garbage)
        up.add_metric([name], float(tracker.connected))
        senders.add_metric([name, "another sender"], tracker.refused)
        senders.add_metric([name, "origin"], tracker.refused_origins)
        senders.add_metric([name, "token"], tracker.refused_tokens)
    yield from (taken, connects, garbage, up, senders)

    asked = CounterMetricFamily("gazeveil_control_refused", "Requests to the control API refused.", labels=["why"])
    for why, count in meters.control_refused.items():
        asked.add_metric([why], count)
    yield asked
    yield CounterMetricFamily("gazeveil_payments", "Leases paid from the ledger.", value=meters.payments)
    yield CounterMetricFamily("gazeveil_payment_errors", "Leases not paid.", value=meters.payment_errors)
    yield CounterMetricFamily("gazeveil_faults", "Errors that should not happen.", value=meters.faults)

    yield GaugeMetricFamily(
        "gazeveil_latched",
        "1 if the ledger was replaced, is gone or is an old copy, and nothing leaves any more.",
        value=float(bool(status.get("latched"))),
    )

    allowed = GaugeMetricFamily("gazeveil_budget_epsilon", "The budget of any 24 hours.", labels=["participant"])
    left = GaugeMetricFamily(
        "gazeveil_budget_left_epsilon", "Left of the budget of the last 24 hours.", labels=["participant"]
    )
    for budget in status.get("budgets", ()):
        allowed.add_metric([budget["participant"]], budget["epsilon_per_day"])
        if budget["remaining"] is not None:
            left.add_metric([budget["participant"]], budget["remaining"])
    yield from (allowed, left)

    clock = CounterMetricFamily("gazeveil_clock_faults", "Odd time stamps of a tracker.", labels=["tracker", "kind"])
    for tracker in status.get("trackers", ()):
        for kind, count in tracker["clock_faults"].items():
            clock.add_metric([tracker["name"], kind], count)
    restarts = CounterMetricFamily("gazeveil_veil_restarts", "Veils that met an error.", labels=["group"])
    for group in status.get("groups", ()):
        restarts.add_metric([group["name"]], group["restarts"])
    yield from (clock, restarts)
