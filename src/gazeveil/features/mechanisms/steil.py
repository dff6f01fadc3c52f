# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""One of few levels for every tenth value, by the exponential mechanism (after Steil 2019), as a baseline.

The nearer a level is to the value, the likelier it is. Drawing is done by report noisy max with one-sided noise, which
keeps the same guarantee as the exponential mechanism and is never less accurate (McKenna & Sheldon 2020). Every value
that is kept pays for itself, so at the level of participants ε is divided by the number of values that a participant
releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.exact import exact, whole_number
from gazeveil.features.series import SERIES_MECHANISMS, STEP, SeriesMechanism, checked
from gazeveil.noise import NoiseSource, laplace, to_lattice
from gazeveil.privacy.calibration import laplace_scale, pure_epsilon

_CHUNK = 1 << 16


@SERIES_MECHANISMS.register("exponential")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(SeriesMechanism):
    """Keeps every n-th step and releases one of a few levels for it; in between, the level is repeated.

    Attributes:
        every: Which steps are kept: every tenth, as published.
        levels: How many levels the range is divided into.
    """

    name: ClassVar[str] = "exponential"

    every: int = 10
    levels: int = 21

    def __post_init__(self) -> None:
        super(ExponentialMechanism, self).__post_init__()
        object.__setattr__(self, "every", whole_number(self.every, "every", at_least=1))
        object.__setattr__(self, "levels", whole_number(self.levels, "levels", at_least=2))
        if exact(self.delta):
            raise OptionError("the exponential mechanism is purely ε-private: leave delta at 0")

    @property
    def scale(self) -> float:
        """The scale of the noise on every level's score: twice a value's range and a step for rounding, over ε."""
        return laplace_scale(exact(self.epsilon), self._change(self.changed))

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise guarantees for a stretch of this many steps."""
        if changed == self.changed:
            return exact(self.epsilon)
        return pure_epsilon(self.scale, self._change(changed))

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        kept = checked(values, self.steps, self.features)[:, :: self.every]
        levels = np.linspace(0.0, 1.0, self.levels)
        flat = kept.ravel()
        chosen = np.empty(len(flat))
        for start in range(0, len(flat), _CHUNK):
            part = flat[start : start + _CHUNK, None]
            bonus = np.abs(laplace(noise, self.scale, (len(part), self.levels), STEP))
            chosen[start : start + _CHUNK] = levels[np.argmax(bonus - to_lattice(np.abs(part - levels), STEP), axis=1)]
        return np.repeat(chosen.reshape(kept.shape), self.every, axis=1)[:, : self.steps]

    def _change(self, changed: int) -> Fraction:
        values = self.features * (-(-changed // self.every))
        return values * 2 * (1 + 2 * Fraction(STEP))
