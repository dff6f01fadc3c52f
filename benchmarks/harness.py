# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How a benchmark is measured and told.

A benchmark is a file ``bench_NAME.py`` with ``def run() -> list[Row]``. Ours and the peer take turns in the same
process and run, so a busy machine slows both; the ratio of the medians is the result.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
BUSY_LOAD = 1.5


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: how often faster we are than the peer, and what we aimed at.

    ``work`` is how many ``unit`` one run handles, so that rates can be told.
    """

    name: str
    peer: str
    ours_s: float
    peer_s: float
    target: float
    work: float = 1.0
    unit: str = "runs"
    note: str = ""

    @property
    def ratio(self) -> float:
        """Peer's time over ours: above 1 we are faster."""
        return self.peer_s / self.ours_s

    @property
    def reached(self) -> bool:
        """Whether the ratio reached its target."""
        return self.ratio >= self.target

    def to_dict(self) -> dict[str, object]:
        """Return the row as plain values."""
        return {**asdict(self), "ratio": self.ratio, "reached": self.reached, "ours_per_s": self.work / self.ours_s}


def seconds(job: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return how long one run takes."""
    start = clock()
    job()
    return clock() - start


def race(
    ours: Callable[[], object],
    peer: Callable[[], object],
    rounds: int = 5,
    peer_rounds: int | None = None,
    summary: Callable[[list[float]], float] = statistics.median,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Let both take turns, after one warm-up of ours, and return the median seconds of each, or another summary."""
    peer_rounds = rounds if peer_rounds is None else peer_rounds
    ours()
    our_times, peer_times = [], []
    for turn in range(rounds):
        our_times.append(seconds(ours, clock))
        if turn < peer_rounds:
            peer_times.append(seconds(peer, clock))
    return summary(our_times), summary(peer_times)


def busy() -> str:
    """Return a remark for a note if others use the machine: then threads gain less, and ratios are worth less."""
    load = os.getloadavg()[0]
    return f"; machine busy, load {load:.0f}" if load > BUSY_LOAD else ""


def machine() -> dict[str, str]:
    """Describe the machine and the versions that matter."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = f"{len(lines)} x {lines[0].split(':', 1)[1].strip()}" if lines else model
    packages = {name: version(name) for name in ("numpy", "polars", "numba")}
    return {"cpu": model, "python": platform.python_version(), "system": platform.system(), **packages}
