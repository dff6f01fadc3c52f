# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Trackers without hardware: recordings played at their own or another speed, and simulated eyes.

`moments` groups samples by when they are due, without a clock; `play` pushes them in time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazeveil.errors import InputError
from gazeveil.gateway.sample import RawSample
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, Unit, with_usual_screen

Moment = tuple[float, list[RawSample]]
"""Seconds since the start, and the samples that come then."""

_BEAT_S = 0.005
_BLOCK_S = 1.0


def recording_of(path: Path | str, geometry: Geometry) -> Recording:
    """Return the first recording of a file, in the viewing plane's unit.

    Raises:
        InputError: If there is none.
    """
    from gazeveil.gaze.reading import read  # noqa: PLC0415  (polars loads on use)

    recordings = read(path, geometry=geometry).recordings
    if not recordings or not len(recordings[0].t):
        raise InputError(f"there is no gaze in {path}", hint="`gazeveil info` says what a file holds")
    return recordings[0].to(geometry.unit)


def replayed(recording: Recording, *, loop: bool = True) -> Iterator[RawSample]:
    """Yield a recording's samples, with time from 0; again and again if ``loop``, and time goes on."""
    tracked = recording.tracked
    t = recording.t - recording.t[0]
    x, y = np.where(tracked, recording.x, math.nan), np.where(tracked, recording.y, math.nan)
    step = float(np.median(np.diff(t))) if len(t) > 1 else 1.0 / 60
    begun = 0.0
    while True:
        yield from map(RawSample, (t + begun).tolist(), x.tolist(), y.tolist())
        if not loop:
            return
        begun += float(t[-1]) + max(step, 1e-3)


def simulated(geometry: Geometry, *, seed: int = 1, rate_hz: float = 60.0) -> Iterator[RawSample]:
    """Yield endless gaze of a simulated participant before a simulated scene.

    A screen of unknown size is taken as usual.
    """
    from gazeveil.simulate import TRACKERS, GazeStream, Population, scene  # noqa: PLC0415

    kind = "headset" if geometry.unit is Unit.DEGREE else "remote"
    tracker = replace(TRACKERS[kind], rate_hz=rate_hz)
    plane = geometry if geometry.knows_degrees else with_usual_screen(geometry)
    stream = GazeStream(Population(seed).observer(0), scene(seed, 0), tracker, seed=seed, geometry=plane)
    for block in stream.blocks(_BLOCK_S):
        yield from map(RawSample, block.t.tolist(), block.x.tolist(), block.y.tolist())


def moments(samples: Iterator[RawSample], *, speed: float = 1.0) -> Iterator[Moment]:
    """Yield samples grouped by when they are due, in seconds since the start."""
    first: float | None = None
    due = 0.0
    waiting: list[RawSample] = []
    for sample in samples:
        first = sample.t if first is None else first
        at = math.ceil((sample.t - first) / speed / _BEAT_S) * _BEAT_S
        if waiting and at > due:
            yield due, waiting
            waiting = []
        due = at
        waiting.append(sample)
    if waiting:
        yield due, waiting


async def play(feed: Iterator[Moment], push: Callable[[list[RawSample], float], None]) -> None:
    """Push samples when they are due; late ones at once."""
    begun = time.monotonic()
    for due, samples in feed:
        wait = begun + due - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        elif wait < -1.0:
            begun -= wait  # the machine slept: go on from here instead of catching up in a burst
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(0)
        push(samples, time.monotonic())
