# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms made of others before the auditor: a chain behind a clock, and turns that a window may meet two of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gazeveil.arrays import FloatArray
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.samples._one_stream import OneStream
from gazeveil.samples._stream_audits import PLANE, Gaze, Ticks, made, padded, pairs_of, releases_of, seen_at
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.stream import StreamMechanism


@dataclass(frozen=True, slots=True)
class Combined(OneStream):
    """A mechanism that shows the released points of a clock."""

    clock: StreamMechanism

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the densities of the points."""
        return Ticks(self.clock).log_ratio(outputs, first, second)


@auditable("chain")
def chain(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """A clock and smoothing behind it, which adds nothing to what is lost."""
    clock = made("clock", epsilon, window, radius, ticks=ticks)
    kind: Any = MECHANISMS["chain"]
    smoothing: Any = MECHANISMS["smoothing"]
    mechanism = kind(PLANE, members=(clock, smoothing(PLANE, window=2)))
    # a point is held for longer than the smoothing reaches back: a sample later it is shown as it is
    pairs = [seen_at(pair, pair.first.seen + 1) for pair in pairs_of(clock) if "recorded" in pair.words]
    runner = Combined(mechanism, 4 * window, clock)
    return Subject(runner.run, mechanism.guarantee, padded(pairs), runner.log_ratio)


@auditable("rotate")
def rotate(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0) -> Subject:
    """Two clocks by turns, over windows that meet the end of one turn and the beginning of the next; claims 2 ε."""
    clocks = (made("clock", epsilon, window, radius, ticks=1),) * 2
    kind: Any = MECHANISMS["rotate"]
    mechanism = kind(PLANE, members=clocks, least=1.5 * window, most=1.5 * window)
    found = [pair for pair in pairs_of(clocks[0], after=window) if "a step" in pair.words and "burst" not in pair.words]
    pairs = [seen_at(pair, releases_of(mechanism, pair.first)) for pair in found]
    runner = Combined(mechanism, 6 * window, clocks[0])
    return Subject(runner.run, mechanism.guarantee, padded(pairs), runner.log_ratio)
