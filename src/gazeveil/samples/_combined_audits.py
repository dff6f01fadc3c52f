# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms made of others before the auditor: a chain behind a clock, and turns that a window may meet two of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events.base import Outputs
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.samples._stream_audits import PLANE, Gaze, made, pairs_of
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism


@dataclass(frozen=True, slots=True)
class Combined:
    """A mechanism, started anew for every trial; samples come one by one and all at once by turns."""

    mechanism: SampleMechanism

    def run(self, data: Gaze, noise: NoiseSource, trials: int) -> Outputs:
        """Return what is shown at the samples that are looked at, x and y by turns."""
        samples = list(zip(data.t.tolist(), data.x.tolist(), data.y.tolist(), strict=True))
        rows = np.zeros((trials, data.width))
        for trial, row in enumerate(rows):
            veil = self.mechanism.start(noise)
            if trial % 2:
                shown = np.column_stack(veil.run(data.t, data.x, data.y))
            else:
                shown = np.array([veil.step(*sample) for sample in samples])
            row[: 2 * len(data.seen)] = shown[data.seen].ravel()
        return rows


@auditable("chain")
def chain(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0, ticks: int = 2) -> Subject:
    """A clock and smoothing behind it, which adds nothing to what is lost."""
    clock = made("clock", epsilon, window, radius, ticks=ticks)
    kind: Any = MECHANISMS["chain"]
    smoothing: Any = MECHANISMS["smoothing"]
    mechanism = kind(PLANE, members=(clock, smoothing(PLANE, window=2)))
    return Subject(Combined(mechanism).run, mechanism.guarantee, pairs_of(clock))


@auditable("rotate")
def rotate(epsilon: float = 1.0, window: float = 0.5, radius: float = 60.0) -> Subject:
    """Two clocks by turns, over windows that meet the end of one turn and the beginning of the next; claims 2 ε."""
    clocks = tuple(made("clock", epsilon, window, radius, ticks=ticks) for ticks in (1, 2))
    kind: Any = MECHANISMS["rotate"]
    turn = window + 0.01
    mechanism = kind(PLANE, members=clocks, least=turn, most=turn)
    return Subject(Combined(mechanism).run, mechanism.guarantee, pairs_of(clocks[1], window, after=window / 2))
