# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a trial: stretches of some seconds, each a step after the one before, at an even rate.

Missing gaze stays missing: a moment whose neighbours in time are not both there is NaN.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gazeveil.attacks.contract import Trial
from gazeveil.errors import OptionError
from gazeveil.types import FloatArray

WINDOW_S: Final = 5.0
STEP_S: Final = 1.0
RATE_HZ: Final = 125.0
"""As Wilson et al. 2024 cut and resample their recordings."""

_SLACK = 1e-6


def evenly(trial: Trial, rate_hz: float = RATE_HZ) -> FloatArray:
    """Return gaze at an even rate, by straight lines between neighbours: rows x and y, from the trial's first moment.

    Raises:
        OptionError: If the rate is not above 0.
    """
    if not rate_hz > 0:
        raise OptionError(f"the rate must be above 0 Hz, not {rate_hz!r}")
    if not len(trial.t):
        return np.empty((2, 0))
    lasts = trial.t[-1] - trial.t[0] + 1 / trial.rate_hz  # the last sample stands for as long as any
    times = trial.t[0] + np.arange(int(lasts * rate_hz + _SLACK)) / rate_hz
    return np.stack([np.interp(times, trial.t, trial.x), np.interp(times, trial.t, trial.y)])


def windows(
    trial: Trial, seconds: float = WINDOW_S, step: float = STEP_S, rate_hz: float = RATE_HZ, tracked: float = 0.0
) -> FloatArray:
    """Return the windows of a trial: windows x (x, y) x samples.

    Args:
        trial: What to cut.
        seconds: How long a window is.
        step: How much later the next one begins.
        rate_hz: The rate they have.
        tracked: The share of a window that must not be missing; others are left out.

    Raises:
        OptionError: If a window or step holds no sample.
    """
    size, hop = round(seconds * rate_hz), round(step * rate_hz)
    if size < 1 or hop < 1:
        raise OptionError(f"a window of {seconds:g} s by {step:g} s holds no sample at {rate_hz:g} Hz")
    gaze = evenly(trial, rate_hz)
    if gaze.shape[1] < size:
        return np.empty((0, 2, size))
    cut = np.lib.stride_tricks.sliding_window_view(gaze, size, axis=1)[:, ::hop].transpose(1, 0, 2)
    there = np.isfinite(cut).all(axis=1).mean(axis=1) >= tracked
    return np.ascontiguousarray(cut[there])
