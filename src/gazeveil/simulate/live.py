# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaze without end: one participant keeps looking at one scene, for live trackers and streams."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry
from gazeveil.simulate.oculomotor import Resumed, look
from gazeveil.simulate.population import Observer
from gazeveil.simulate.seeds import Purpose, generator
from gazeveil.simulate.stimulus import Stimulus
from gazeveil.simulate.tracker import Tracker

_EPISODE_S = 10.0  # how far ahead the eye's way is worked out


class Block(NamedTuple):
    """Some consecutive samples; x and y are NaN where the eye was lost."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    valid: BoolArray
    pupil: FloatArray


@dataclass(frozen=True, slots=True)
class GazeStream:
    """Endless gaze of one participant on one scene through one tracker; the same every time for the same seed.

    Attributes:
        observer: Who looks; `Observer.on_day` gives the participant of one day.
        stimulus: At what.
        tracker: Through which tracker.
        seed: The stream's own seed.
        geometry: The viewing plane to measure on instead of the tracker's own.
    """

    observer: Observer
    stimulus: Stimulus
    tracker: Tracker
    seed: int = 1
    geometry: Geometry | None = None

    def blocks(self, seconds: float = 0.1) -> Iterator[Block]:
        """Yield blocks of this many seconds, for ever. The caller keeps the pace; nothing sleeps here."""
        size = math.floor(seconds * self.tracker.rate_hz + 1e-9)
        if size < 1:
            raise OptionError(
                f"a block of {seconds:g} s holds no sample at {self.tracker.rate_hz:g} Hz",
                hint=f"take at least {1 / self.tracker.rate_hz:.3g} s",
            )
        waiting: list[Block] = []
        held = 0
        for episode in self._episodes():
            waiting.append(episode)
            held += len(episode.t)
            if held < size:
                continue
            joined = Block._make(np.concatenate(parts) for parts in zip(*waiting, strict=True))
            full = held - held % size
            for begin in range(0, full, size):
                yield Block._make(column[begin : begin + size] for column in joined)
            waiting = [Block._make(column[full:] for column in joined)]
            held -= full

    def _episodes(self) -> Iterator[Block]:
        """Yield stretches of gaze, each going on where the last one stopped, cut while the eye rests."""
        plane = self.tracker.geometry if self.geometry is None else self.geometry
        rng = generator(self.seed, Purpose.STREAM, self.observer.seed, self.observer.index, self.stimulus.name)
        calibration = self.tracker.calibrate(self.observer, rng)
        noise_state = rng.standard_normal(2)
        resumed = Resumed()
        begun, sample = 0.0, 0
        while True:
            true = look(self.observer, self.stimulus, plane, _EPISODE_S, rng, resumed)
            cut = true.resting_moment()
            last = math.ceil((begun + cut) * self.tracker.rate_hz - 1e-9)
            if last > sample:
                times = self.tracker.stamps(np.arange(sample, last), rng) + self.tracker.latency_s
                measured = self.tracker.observe(
                    true, self.observer, calibration, times - begun, plane, rng, noise_state=noise_state
                )
                x, y, tracked, pupil = measured
                yield Block(times, np.where(tracked, x, np.nan), np.where(tracked, y, np.nan), tracked, pupil)
            resumed = true.resume_at(cut, resumed)
            begun, sample = begun + cut, last
