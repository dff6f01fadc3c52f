# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway's counts as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from gazeveil.errors import needing
from gazeveil.gateway.meters import BOUNDS, Meters


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

    allowed = GaugeMetricFamily("gazeveil_budget_epsilon", "The budget of any 24 hours.", labels=["person"])
    left = GaugeMetricFamily(
        "gazeveil_budget_left_epsilon", "Left of the budget of the last 24 hours.", labels=["person"]
    )
    for budget in status.get("budgets", ()):
        allowed.add_metric([budget["person"]], budget["epsilon_per_day"])
        if budget["remaining"] is not None:
            left.add_metric([budget["person"]], budget["remaining"])
    yield from (allowed, left)

    clock = CounterMetricFamily("gazeveil_clock_faults", "Odd time stamps of a tracker.", labels=["tracker", "kind"])
    for tracker in status.get("trackers", ()):
        for kind, count in tracker["clock_faults"].items():
            clock.add_metric([tracker["name"], kind], count)
    restarts = CounterMetricFamily("gazeveil_veil_restarts", "Veils that met an error.", labels=["group"])
    for group in status.get("groups", ()):
        restarts.add_metric([group["name"]], group["restarts"])
    yield from (clock, restarts)
