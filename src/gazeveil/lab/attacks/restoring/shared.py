# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What all attacks share that guess the raw gaze: gaps, angles that come round, and the way back.

A guess has as many samples as what was veiled, at the same times, and is missing where that is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InternalError, OptionError
from gazeveil.lab.attacks.contract import Attack, Knowledge, Prepared, Trial
from gazeveil.noise import NoiseSource
from gazeveil.samples.mechanism import SampleMechanism
from gazeveil.samples.space import FULL_TURN

Gaze = tuple[FloatArray, FloatArray]

LEAST_SAMPLES: Final = 8
"""A trial with less gaze than this is left as it is: there is nothing to average or to learn from."""


@dataclass(frozen=True, slots=True, eq=False)
class Restoration(Prepared):
    """An attack that turns a veiled trial into a guess of the gaze before the mechanism.

    Attributes:
        guess: Gets a trial without name and without gaps, angles unwound; returns gaze of the same length.
    """

    guess: Callable[[Trial], Gaze]

    def query(self, veiled: Trial) -> Trial:
        """Return the guess, without a name."""
        seen = veiled.anonymous()
        there = np.isfinite(seen.x) & np.isfinite(seen.y)
        if np.count_nonzero(there) < LEAST_SAMPLES:
            return seen.with_gaze(seen.x, seen.y)
        x, y = self.guess(seen.with_gaze(unwound(seen.x, there), without_gaps(seen.y, there)))
        if len(x) != len(seen.t) or len(y) != len(seen.t):
            raise InternalError("an attack gave another number of samples than it got")
        return seen.with_gaze(np.where(there, around(x), np.nan), np.where(there, y, np.nan))


def without_gaps(values: FloatArray, there: BoolArray) -> FloatArray:
    """Return values with straight lines across gaps; before the first and after the last they stay."""
    at = np.flatnonzero(there)
    return np.interp(np.arange(len(values)), at, values[at])


def unwound(yaw: FloatArray, there: BoolArray) -> FloatArray:
    """Return yaw without gaps and without jumps of a whole turn."""
    at = np.flatnonzero(there)
    return np.interp(np.arange(len(yaw)), at, np.unwrap(yaw[at], period=FULL_TURN))


def around(yaw: FloatArray) -> FloatArray:
    """Return yaw within ±180 degrees; what lies there already stays as it is, to the last bit."""
    turns = np.floor(yaw / FULL_TURN + 0.5)
    return np.where(turns == 0, yaw, yaw - FULL_TURN * turns)


def in_degrees(mechanism: SampleMechanism | None) -> SampleMechanism:
    """Return the mechanism, if it works on what trials hold: two coordinates in degrees.

    Raises:
        OptionError: If it does not.
    """
    if mechanism is None:
        raise InternalError("an attack that is granted the mechanism got none")
    if mechanism.space.unit != "deg" or mechanism.space.axes != 2:
        raise OptionError(
            f"trials are in degrees, but {mechanism.name} works in {mechanism.space.unit}",
            hint="make the mechanism for a Sphere, for example Sphere(100, 80)",
        )
    return mechanism


def veiled_by(mechanism: SampleMechanism, trial: Trial, noise: NoiseSource) -> Trial:
    """Return a trial as the mechanism lets it out."""
    x, y = mechanism.start(noise).run(trial.t, trial.x, trial.y)
    return trial.with_gaze(x, y)


def fitting(attack: Attack, knowledge: Knowledge) -> SampleMechanism:
    """Return the mechanism that an attack was granted, if the attack has something to do against it.

    Raises:
        OptionError: If it has nothing to do, or the mechanism veils something else than trials hold.
    """
    mechanism = in_degrees(knowledge.mechanism)
    if not attack.fits(mechanism):
        raise OptionError(
            f"{attack.name} has nothing to do against {mechanism.name}", hint="ask attack.fits(mechanism) before"
        )
    return mechanism
