# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings behind a mechanism: each behind a mechanism of its own, or all of them made anew together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.gaze.recording import Recording
from gazeveil.lab.attacks.judging.scores import interval, resampled_people
from gazeveil.lab.experiments.grid.contract import Number, Protected
from gazeveil.lab.experiments.grid.gaze_data import GazeData
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism

DRAWS = 1000


@lru_cache(maxsize=4)
def released(data: GazeData, protected: Protected, seed: int) -> tuple[Recording, ...]:
    """Return all recordings behind a mechanism, in their order."""
    mechanism = protected.mechanism
    if mechanism is None or isinstance(mechanism, SampleMechanism):
        return tuple(map(veiler(mechanism, seed), data.recordings))
    return tuple(mechanism.apply_all(data.recordings, NoiseSource.seeded(seed).spawn("all recordings")))


def veiler(mechanism: SampleMechanism | None, seed: int) -> Callable[[Recording], Recording]:
    """Return what veils a recording; it can be sent to other machines."""
    return partial(_veiled, mechanism, seed)


def _veiled(mechanism: SampleMechanism | None, seed: int, recording: Recording) -> Recording:
    if mechanism is None:
        return recording
    return mechanism.apply(recording, NoiseSource.seeded(seed).spawn("/".join(recording.key)))


def over_people(metric: str, people: Sequence[str], values: Sequence[float], seed: int = 1, **more: Any) -> Number:
    """Return the mean over participants of their own means, and where it lies for participants resampled.

    Args:
        metric: What it is.
        people: Whose value each is.
        values: The values; those that are not numbers are left out.
        seed: From which participants are drawn.
        more: What else the number says.
    """
    own: dict[str, list[float]] = {}
    for person, value in zip(people, values, strict=True):
        if np.isfinite(value):
            own.setdefault(person, []).append(float(value))
    means: FloatArray = np.array([np.mean(own[person]) for person in sorted(own)])
    if not len(means):
        return Number(metric, np.nan, n=0, **more)
    drawn = resampled_people(len(means), DRAWS, seed)
    low, high = interval(drawn @ means / len(means)) if len(means) > 1 else (np.nan, np.nan)
    return Number(metric, float(means.mean()), low, high, len(means), **more)
