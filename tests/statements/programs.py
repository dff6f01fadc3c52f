# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Real releases of gaze for programs that try to refute a statement: what left the veil, and what that tells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.privacy.statement import Statement, statement
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.space import Screen
from gazeveil.samples.stream import StreamMechanism
from gazeveil.samples.window_budget import LOSS_UNIT

PLANE = Screen(32768.0, 32768.0)
RATE_HZ = 60.0
HERE = (16000.0, 16000.0)


@dataclass(frozen=True, slots=True)
class Stream:
    """A clock without its filter, which is post-processing: what it shows is the noised vector itself."""

    epsilon: str = "1"
    window: str = "0.5"
    radius: float = 60.0
    ticks: int = 2

    @property
    def mechanism(self) -> StreamMechanism:
        kind: Any = MECHANISMS["clock"]
        made: StreamMechanism = kind(
            PLANE, epsilon=self.epsilon, window=self.window, radius=self.radius, ticks=self.ticks, filter=False
        )
        return made

    @property
    def statement(self) -> Statement:
        return statement(self.mechanism.guarantee)

    def released(self, apart: float, seconds: float, seed: int) -> tuple[FloatArray, FloatArray]:
        """Return when points were released and where, for gaze that rests so far to the right of `HERE`."""
        t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
        gaze = (np.full(len(t), HERE[0] + apart), np.full(len(t), HERE[1]))
        shown = np.column_stack(self.mechanism.start(NoiseSource.seeded(seed)).run(t, *gaze))
        new = np.concatenate([[True], np.any(np.diff(shown, axis=0) != 0, axis=1)])
        return t[new], shown[new]

    def log_ratios(self, points: FloatArray, apart: float) -> FloatArray:
        """Return how much likelier each point is for gaze at `HERE` than for gaze so far to the right, as logarithm."""
        per_px = self.mechanism.plan().loss / LOSS_UNIT
        near, far = (np.hypot(points[:, 0] - x, points[:, 1] - HERE[1]) for x in (HERE[0], HERE[0] + apart))
        return np.asarray((far - near) * per_px)


def likelier(first: FloatArray, second: FloatArray, chance: float) -> float:
    """Return a lower bound on the log of how much likelier some event {score > c} is in the first sample.

    It is wrong with at most the given chance: two Hoeffding bounds for each of 40 cuts.
    """
    slack = math.sqrt(math.log(80 / chance) / (2 * min(len(first), len(second))))
    best = 0.0
    for cut in np.quantile(np.concatenate([first, second]), np.linspace(0.01, 0.99, 40)):
        here, there = float(np.mean(first > cut)), float(np.mean(second > cut))
        if here > slack:
            best = max(best, math.log((here - slack) / (there + slack)))
    return best
