# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whether fixations survive: how many a velocity-threshold detector finds before and after.

Only compared samples are looked at; in degrees, so NaN where these are not known.
"""

from __future__ import annotations

import math

import numpy as np

from gazeveil.gaze.events import VelocityThreshold
from gazeveil.gaze.recording import Recording
from gazeveil.lab.utility.streams.pair import METRICS, Pair


@METRICS.register("fixations")
def fixations(pair: Pair) -> float:
    """Return how many fixations the raw stream has."""
    return _count(pair, pair.raw)


@METRICS.register("veiled_fixations")
def veiled_fixations(pair: Pair) -> float:
    """Return how many fixations the detector finds in the veiled stream."""
    return _count(pair, pair.veiled)


@METRICS.register("fixation_count_error")
def fixation_count_error(pair: Pair) -> float:
    """Return the change in the number of fixations, relative to the true number; NaN if there was none."""
    before, after = fixations(pair), veiled_fixations(pair)
    return (after - before) / before if before else math.nan


def _count(pair: Pair, recording: Recording) -> float:
    if not recording.geometry.knows_degrees:
        return math.nan
    x, y = (np.where(pair.both, values, np.nan) for values in (recording.x, recording.y))
    compared = Recording(recording.t, x, y, recording.geometry, recording.observer)
    return float((VelocityThreshold().detect(compared)["kind"] == "fixation").sum())
