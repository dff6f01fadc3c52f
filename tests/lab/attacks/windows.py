# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Windows of a trial for recognisers made up in tests: gaze at an even rate, cut into stretches that overlap."""

from __future__ import annotations

import numpy as np

from gazeveil.lab.attacks import Trial


def windows(trial: Trial, seconds: float, step: float, rate_hz: float) -> np.ndarray:
    """Return windows x (x, y) x samples; none if the trial is shorter than one."""
    size, hop = round(seconds * rate_hz), round(step * rate_hz)
    lasts = trial.t[-1] - trial.t[0] + 1 / trial.rate_hz if len(trial.t) else 0.0
    if (count := int(lasts * rate_hz + 1e-6)) < size:
        return np.empty((0, 2, size))
    times = trial.t[0] + np.arange(count) / rate_hz
    gaze = np.stack([np.interp(times, trial.t, trial.x), np.interp(times, trial.t, trial.y)])
    return np.lib.stride_tricks.sliding_window_view(gaze, size, axis=1)[:, ::hop].transpose(1, 0, 2)
