# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every registered veil, live and on file, against what the machine can do at all.

Live: the median and the 99th percentile of ``step``, one call after another, each timed by itself. The floor is a
method of the same signature that returns its arguments, timed the same way in the same run; the timer's own share is
in both. The ratio of a row is floor over ours, so it is below 1; its target is the floor of that run over the aim
(2 µs for the median, 10 µs for the 99th percentile), so a row is reached where the aim is met.

On file: samples per second of ``run`` on one core, by the thread's own processor time, so that neighbours on the
machine do not count. The floor is one pass of numpy over the same two arrays (a copy with an addition). The target is
the share of that pass which 20 million samples a second are, or 5 million for the veils that spend an ε.

Memory: what 10,000 concurrent veils hold, which have all seen a sample, is told in the notes, against an aim of 200 MB.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row
from gazeveil import NoiseSource
from gazeveil.samples import MECHANISMS, SampleMechanism, Screen

SCREEN = Screen(1280, 720, 40.0)
STEPS = 20_000
SAMPLES = 1_000_000
VEILS = 10_000
MEDIAN_AIM, P99_AIM = 2e-6, 10e-6
RATE_AIM, SPENDING_RATE_AIM = 20e6, 5e6
MEMORY_AIM = 200e6

Array = NDArray[np.float64]


class Floor:
    """What a call with the signature of ``step`` costs at least."""

    __slots__ = ()

    def step(self, t: float, x: float, y: float) -> tuple[float, float]:
        """Do nothing."""
        return x, y


def mechanism(name: str) -> SampleMechanism:
    """Return a veil with the defaults, and the promise of the preset lphu where it makes one."""
    kind = MECHANISMS[name]
    known = {field.name for field in fields(kind)}
    given: dict[str, Any] = {}
    if "epsilon" in known:
        given = {"epsilon": 3, "window": "0.5", "radius": 60}
    if "members" in known:
        given = {"members": (mechanism("spatial"), mechanism("smoothing"))}
    return kind(SCREEN, **given)


def streams(kind: SampleMechanism) -> int:
    """Return how many streams a veil has in one: eyes and head are two."""
    return 2 if hasattr(kind, "head") else 1


def gaze(samples: int, rate: float = 120.0) -> tuple[Array, Array, Array]:
    """Fixations of a quarter of a second with noise of a few pixels, and every hundredth sample missing."""
    rng = np.random.default_rng(3)
    hold = round(rate / 4)
    places = rng.uniform(0.1, 0.9, (samples // hold + 1, 2)).repeat(hold, axis=0)[:samples] * SCREEN.size
    x, y = (places + rng.normal(0, 3, places.shape)).T
    x[::100] = np.nan
    return np.arange(samples) / rate, np.ascontiguousarray(x), np.ascontiguousarray(y)


def timed(step: Any, columns: tuple[list[float], list[float], list[float]]) -> list[float]:
    """Return how long each call took."""
    clock, took = time.perf_counter, []
    for t, x, y in zip(*columns, strict=True):
        start = clock()
        step(t, x, y)
        took.append(clock() - start)
    return took


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


def live_rows(names: list[str]) -> list[Row]:
    t, x, y = gaze(STEPS)
    columns = (t.tolist(), x.tolist(), y.tolist())
    floor = Floor()
    rows = []
    for name in names:
        veil = mechanism(name).start(NoiseSource.secure())
        timed(veil.step, tuple(column[:500] for column in columns))
        ours, least = [], []
        for turn in range(3):  # in turns, so that a busy machine slows both
            later = ([moment + 1e6 * (turn + 1) for moment in columns[0]], columns[1], columns[2])
            ours.append(timed(veil.step, later))
            least.append(timed(floor.step, later))
        for label, share, one in (("median", 0.5, MEDIAN_AIM), ("p99", 0.99, P99_AIM)):
            aim = one * streams(veil.mechanism)
            took = statistics.median(percentile(times, share) for times in ours)
            bare = statistics.median(percentile(times, share) for times in least)
            note = f"{took * 1e6:.2f} µs, aim {aim * 1e6:g} µs; an empty method {bare * 1e6:.2f} µs"
            rows.append(Row(f"{name}: step, {label}", "an empty method", took, bare, bare / aim, 1, "samples", note))
    return rows


def core_seconds(job: Any) -> float:
    start = time.thread_time()
    job()
    return time.thread_time() - start


def file_rows(names: list[str]) -> list[Row]:
    t, x, y = gaze(SAMPLES)
    rows = []
    for name in names:
        kind = mechanism(name)
        veil = kind.start(NoiseSource.secure())
        veil.run(t[:1000], x[:1000], y[:1000])
        turns = [(core_seconds(partial(veil.run, t, x, y)), core_seconds(lambda: (x + 1.0, y + 1.0))) for _ in range(5)]
        took, bare = (statistics.median(times) for times in zip(*turns, strict=True))
        aim = (SPENDING_RATE_AIM if hasattr(kind, "epsilon") else RATE_AIM) / streams(kind)
        note = f"{SAMPLES / took / 1e6:.1f} M samples/s, aim {aim / 1e6:g} M"
        rows.append(
            Row(f"{name}: run", "numpy copy and add", took, bare, bare / (SAMPLES / aim), SAMPLES, "samples", note)
        )
    return rows


def memory_told(name: str) -> str:
    """Say what 10,000 veils hold that have all seen a sample."""
    kind, noise = mechanism(name), NoiseSource.secure()
    kind.start(noise).step(0.0, 10.0, 10.0)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    veils = [kind.start(noise) for _ in range(VEILS)]
    for veil in veils:
        veil.step(0.0, 10.0, 10.0)
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    aim = MEMORY_AIM * streams(kind)
    missed = ", **missed**" if held > aim else ""
    return f"{VEILS:,} veils hold {held / 1e6:.0f} MB, aim {aim / 1e6:g} MB{missed}"


def run() -> list[Row]:
    names = MECHANISMS.names()
    on_file = [replace(row, note=f"{row.note}; {memory_told(row.name.split(':')[0])}") for row in file_rows(names)]
    return [*live_rows(names), *on_file]
