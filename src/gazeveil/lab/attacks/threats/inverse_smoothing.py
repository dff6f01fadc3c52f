# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""White box: smoothing undone exactly (erratum W3), and as well as can be where its output was rounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import Gaze, Restoration, can_be_undone, fitting, parts, undo, undo_tail
from gazeveil.samples.mechanism import SampleMechanism

QUANTA: Final = (1.0, 0.5, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001)
"""Steps that a released number may have been rounded to, in degrees."""
_SAME_DEG = 1e-8  # the inverse is exact to 1e-12 or so, and no tracker is so fine
_HELD_SAMPLES = 3  # trackers repeat a sample once, seldom twice
_MOST_LOST = 0.3
_SETTLE_S = 1.0  # gaze as a first-order process; of 0.05 to 1 s the best on simulated people


@ATTACKS.register("inverse-smoothing")
@dataclass(frozen=True, slots=True, kw_only=True)
class InverseSmoothing(Attack):
    """The filter's own inverse; of a chain, that of all filters at its end.

    The inverse of smoothing is stable, but it makes rounding errors larger, at high frequencies most. How much larger
    is known, so a Wiener filter takes out what is more rounding than gaze. Without rounding the inverse is so exact
    that it shows which samples the tracker gave twice, and where the mechanism held the last gaze because there was
    none.

    Attributes:
        quantum: To which step released numbers were rounded, in degrees; None finds out by looking at them.
    """

    name: ClassVar[str] = "inverse-smoothing"
    threat_model: ClassVar[str] = "white box, exact inverse"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.MECHANISM})

    quantum: float | None = None

    def __post_init__(self) -> None:
        if self.quantum is not None and not (math.isfinite(self.quantum) and self.quantum >= 0):
            raise OptionError(f"quantum must be at least 0 degrees, not {self.quantum!r}")

    def fits(self, mechanism: SampleMechanism) -> bool:
        """Whether the last of what gaze goes through is a filter with an inverse."""
        return can_be_undone(parts(mechanism)[-1])

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        mechanism = fitting(self, knowledge)
        return Restoration(lambda veiled: self.guess(mechanism, veiled))

    def guess(self, mechanism: SampleMechanism, veiled: Trial) -> Gaze:
        """Return what the filters were given; one unit of the mechanism's space is a degree."""
        left, x, y = undo_tail(mechanism, veiled.t, veiled.x, veiled.y)
        quantum = quantum_of(veiled.x, veiled.y) if self.quantum is None else self.quantum
        grown = _grown(mechanism, veiled.t)
        if quantum and grown.mean() > 1.5:  # otherwise nothing was made larger, and gaze itself may be rounded
            x, y = (_cleared(values, grown * quantum**2 / 12.0, veiled.rate_hz) for values in (x, y))
            return x, y
        return (x, y) if left else as_tracked(x, y)


def quantum_of(*columns: FloatArray) -> float:
    """Return the coarsest usual step that all numbers are multiples of, 0 if there is none."""
    for quantum in QUANTA:
        if all(np.abs(values / quantum - np.rint(values / quantum)).max() * quantum < 1e-9 for values in columns):
            return quantum
    return 0.0


def as_tracked(x: FloatArray, y: FloatArray) -> Gaze:
    """Return gaze with repeats that are repeats to the last bit, and missing where it was repeated for long.

    A recogniser leaves repeats out, and counts what is lost, so both must look as they do in raw gaze.
    """
    still = np.zeros(len(x), np.bool_)
    still[1:] = (np.abs(np.diff(x)) < _SAME_DEG) & (np.abs(np.diff(y)) < _SAME_DEG)
    first = np.maximum.accumulate(np.where(still, 0, np.arange(len(x))))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], still.astype(np.int8), [0]))))
    lost = np.zeros(len(x), np.bool_)
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        lost[begin:end] = end - begin >= _HELD_SAMPLES
    if lost.mean() > _MOST_LOST:  # gaze itself stands still
        lost[:] = False
    return np.where(lost, np.nan, x[first]), np.where(lost, np.nan, y[first])


def _grown(mechanism: SampleMechanism, t: FloatArray) -> FloatArray:
    """Return by how much the inverse enlarges the variance of white noise, frequency by frequency."""
    impulse = np.zeros(len(t))
    impulse[1] = 1.0  # the first sample fills the window, so it stands for many
    answer = impulse
    for part in reversed(parts(mechanism)):
        if not can_be_undone(part):
            break
        answer, _ = undo(part, t, answer, answer + np.arange(len(t)))  # the ramp keeps samples apart
    return np.abs(np.fft.rfft(answer, 2 * len(t))) ** 2


def _cleared(values: FloatArray, noise: FloatArray, rate_hz: float) -> FloatArray:
    """Return gaze with the noise of this spectrum filtered out; gaze is taken to move on after a fixation."""
    count = len(values)
    line = np.linspace(values[0], values[-1], count)
    mirrored = np.concatenate((values - line, (line - values)[::-1]))  # odd at its ends: no jump where it comes round
    seen = np.fft.rfft(mirrored)
    variance = max(float(np.var(values)) - float(noise.mean()), 0.0)
    stays = math.exp(-1.0 / (rate_hz * _SETTLE_S))
    phase = np.linspace(0.0, np.pi, len(seen))
    gaze = variance * (1 - stays**2) / (1 - 2 * stays * np.cos(phase) + stays**2)
    cleared: FloatArray = np.fft.irfft(seen * gaze / (gaze + noise), 2 * count)[:count] + line
    return cleared
