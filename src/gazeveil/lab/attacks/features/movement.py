# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The samples of a window as an attacker looks at them: what the tracker merely repeated is left out.

Many logs hold a sample again until the tracker has a new one (a third of the frames of some headsets), and so does a
mechanism that holds gaze. Times are kept, so nothing is stated about moments without news.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import Trial

_EACH = 1.6
"""Samples further apart than this many nominal steps (and a repeat) have something missing between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Movement:
    """New samples only.

    Attributes:
        t: Seconds.
        x: Degrees across, NaN where gaze was lost.
        y: Degrees down.
        step: Seconds between samples, by the nominal rate.
        window: All samples, repeats included.
    """

    t: FloatArray
    x: FloatArray
    y: FloatArray
    step: float
    window: Trial

    @staticmethod
    def of(window: Trial) -> Movement:
        """Return the new samples of a window."""
        repeats = np.zeros(len(window.t), dtype=np.bool_)
        repeats[1:] = (window.x[1:] == window.x[:-1]) & (window.y[1:] == window.y[:-1])
        new = ~repeats
        return Movement(window.t[new], window.x[new], window.y[new], 1 / window.rate_hz, window)

    @property
    def seconds(self) -> float:
        """How long the window is."""
        return float(self.window.t[-1] - self.window.t[0]) if len(self.window.t) else 0.0

    def pupil_between(self, onset: float, offset: float) -> float:
        """Return the mean pupil from one moment to another; NaN where it is not known or denied."""
        if self.window.pupil is None:
            return np.nan
        first, last = np.searchsorted(self.window.t, [onset - 1e-9, offset + 1e-9])
        sizes = self.window.pupil[first:last]
        there = np.isfinite(sizes)
        return float(sizes[there].mean()) if there.any() else np.nan

    def pairs(self, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of samples that lie this many nominal steps apart, the earlier and the later ones."""
        after = self.t + steps * self.step
        later = np.minimum(np.searchsorted(self.t, after - self.step / 2), max(len(self.t) - 1, 0))
        apart = np.abs(self.t[later] - after) <= 0.6 * self.step if len(self.t) else np.empty(0, dtype=np.bool_)
        return np.flatnonzero(apart), later[apart]

    def ways(self, steps: int) -> tuple[FloatArray, FloatArray]:
        """Return how far gaze moved across and down within this many steps.

        Only where it was there before and after.
        """
        earlier, later = self.pairs(steps)
        across, down = self.x[later] - self.x[earlier], self.y[later] - self.y[earlier]
        there = np.isfinite(across) & np.isfinite(down)
        return across[there], down[there]

    def velocities(self) -> tuple[FloatArray, FloatArray]:
        """Return velocities from sample to sample in degrees per second; NaN where something is missing."""
        apart = np.diff(self.t)
        whole = apart <= (_EACH + 1) * self.step
        return tuple(np.where(whole, np.diff(gaze) / apart, np.nan) for gaze in (self.x, self.y))  # type: ignore[return-value]


def stretches(trial: Trial, seconds: float, step: float) -> list[Trial]:
    """Return overlapping stretches of a trial, all samples as they are; a shorter trial is one stretch.

    Args:
        trial: What to cut.
        seconds: How long a stretch is; infinite for the whole trial.
        step: How much later the next begins.

    Raises:
        OptionError: If a stretch or step has no length.
    """
    if not seconds > 0 or not step > 0:
        raise OptionError(f"windows and steps must be longer than 0 s, not {seconds!r} and {step!r}")
    if not len(trial.t):
        return []
    lasts = float(trial.t[-1] - trial.t[0]) + 2 / trial.rate_hz  # the last sample lasts too, and clocks are not exact
    if not lasts > seconds:
        return [trial]
    found = []
    for number in range(math.floor((lasts - seconds) / step) + 1):
        begin = trial.t[0] + number * step
        first, last = np.searchsorted(trial.t, [begin - 1e-9, begin + seconds - 1e-9])
        pupil = None if trial.pupil is None else trial.pupil[first:last]
        gaze = trial.t[first:last], trial.x[first:last], trial.y[first:last]
        found.append(Trial(trial.person, trial.session, trial.name, *gaze, trial.rate_hz, pupil))
    return found
