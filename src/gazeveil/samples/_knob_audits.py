# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The privacy level before the auditor.

A stream whose guarantee is changed while it runs, over windows around the change.

A looser guarantee must wait until windows that began before the change are over; a stricter one counts what was spent
before it. In both pairs the stricter guarantee is the claim. The change is one of the window: with a short window a
release may come soon after the last, with a long one it may not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events import Outputs
from gazeveil.privacy.audit.subject import Pair, Subject, auditable
from gazeveil.samples._stream_audits import PLANE, Gaze
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil

_LONG, _SHORT = 0.5, 0.125
_RATE = 40.0
_TICKS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Turned(Gaze):
    """A stream of gaze, and when its window is changed from what to what."""

    change: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Knob:
    """A mechanism whose window is changed in every trial and changed back after it; trials are parts of one stream.

    Attributes:
        mechanism: What is audited, with the long window; a release costs the same with the short one.
    """

    mechanism: SampleMechanism

    def run(self, data: Turned, noise: NoiseSource, trials: int) -> Outputs:
        """Return what was released, x and y by turns; every other trial is stepped through as a live app does."""
        veil = self.mechanism.with_promise(window=data.before).start(noise)
        cut = int(np.searchsorted(data.t, data.change))
        rows = np.zeros((trials, data.width))
        for trial, row in enumerate(rows):
            start = trial * 4.0
            parts = [_taken(veil, data, start, slice(0, cut), bool(trial % 2))]
            veil.change(start + data.change, window=data.after)
            parts.append(_taken(veil, data, start, slice(cut, None), bool(trial % 2)))
            veil.change(start + data.t.item(-1), window=data.before)
            row[: 2 * len(data.seen)] = np.concatenate(parts)[data.seen].ravel()
        return rows

    def log_ratio(self, outputs: Outputs, first: Gaze, second: Gaze) -> FloatArray:
        """Return the log ratio of the two densities: every release costs an equal share of ε."""
        knob = self.mechanism.knob
        per_px = float(knob["epsilon"] / knob["radius"] / _TICKS)
        points = outputs[:, : 2 * len(first.seen)].reshape(len(outputs), -1, 2)
        here, there = (np.linalg.norm(points - side.points(), axis=2).sum(axis=1) for side in (first, second))
        return np.asarray((there - here) * per_px)


@auditable("clock-turned")
def clock_turned(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """The clock while its privacy level is changed, over windows around the change."""
    return _subject("clock", epsilon, radius, filter=False)


@auditable("held-ticks-turned")
def held_ticks_turned(epsilon: float = 1.0, radius: float = 60.0) -> Subject:
    """Held ticks while the privacy level is changed, over windows around the change."""
    return _subject("held-ticks", epsilon, radius)


def _subject(name: str, epsilon: float, radius: float, **options: Any) -> Subject:
    kind: Any = MECHANISMS[name]
    mechanism = kind(PLANE, epsilon=epsilon, window=_LONG, radius=radius, ticks=_TICKS, **options)
    runner = Knob(mechanism)
    return Subject(runner.run, mechanism.guarantee, _pairs(runner, radius), runner.log_ratio)


def _pairs(runner: Knob, radius: float) -> tuple[Pair, ...]:
    """Return windows that begin before the privacy level is loosened, and such that a stricter guarantee must count."""
    moved = math.nextafter(radius, 0.0)
    t = np.arange(0.0, 1.2, 1 / _RATE)
    everything = np.arange(len(t))
    pairs = []
    for before, after, change, start, words in (
        (_LONG, _SHORT, 0.29, 0.0, "looser, within a window that began before"),
        (_SHORT, _LONG, 0.26, 0.225, "stricter, and what was spent before it counts"),
    ):
        inside = (t >= start - 1e-9) & (t <= start + _LONG + 1e-9)
        x, y = np.full(len(t), 16384.0), np.full(len(t), 16384.0)
        whole = Turned(t, x, y, everything, 2 * len(t), change, before, after)
        seen = _releases(runner, whole)
        sides = [Turned(t, gaze, y, seen, 2 * len(t), change, before, after) for gaze in (x, x + moved * inside)]
        pairs.append(
            Pair(sides[0], sides[1], f"a step of {radius:g} within {_LONG:g} s, the privacy level changed {words}")
        )
    return tuple(pairs)


def _releases(runner: Knob, data: Turned) -> NDArray[np.int64]:
    """Return the samples at which something is released; that is public."""
    shown = runner.run(data, NoiseSource.seeded(1), 1).reshape(len(data.t), 2)
    return np.flatnonzero(np.any(np.diff(shown, axis=0, prepend=np.nan) != 0, axis=1))


def _taken(veil: Veil, data: Gaze, start: float, part: slice, live: bool) -> FloatArray:
    t, x, y = data.t[part] + start, data.x[part], data.y[part]
    if live:
        return np.array([veil.step(*sample) for sample in zip(t.tolist(), x.tolist(), y.tolist(), strict=True)])
    return np.column_stack(veil.run(t, x, y))
