# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A gateway under load from trackers that connect to it, against a bare proxy: WebSocket, and lines over TCP.

The same race as `bench_gateway`: 100 senders at 120 Hz, each with a token and an app of its own behind the preset
``lphu`` and a budget in a ledger, in turns of ten seconds with the proxy. The proxy passes on the same samples as lines
and looks at nothing: no token, no WebSocket, no check of the first samples. So the aim is that of the gateway's own
benchmark for lines, and twice the proxy's time for WebSocket.
"""

from __future__ import annotations

import asyncio
import os

from benchmarks.bench_gateway import AIM, RATE_HZ, ROUND_S, STREAMS, race
from benchmarks.harness import Row, busy

ROUNDS = 3
AIMS = {"push": 1 / 2, "pushlines": AIM}
CARRIERS = {"push": "WebSocket", "pushlines": "lines over TCP"}


async def rows_of(protocol: str, rounds: int = ROUNDS, seconds: float = ROUND_S) -> list[Row]:
    """Return the rows of one protocol."""
    raced = await race(rounds, seconds, protocol=protocol)
    where = f"{STREAMS} senders x {RATE_HZ:.0f} Hz, {CARRIERS[protocol]}{busy()}"
    return [
        raced.row(f"latency, {name}, {where}", share, AIMS[protocol])
        for name, share in (("median", 50), ("99th percentile", 99))
    ]


def run() -> list[Row]:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    return [row for protocol in CARRIERS for row in asyncio.run(rows_of(protocol))]
