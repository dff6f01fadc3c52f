# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Black box: find the fixations behind the noise, and average them (erratum W5).

Noise that is new with every sample has 1/√T of its size in the mean of T samples. Noise also hides where fixations
begin and end, so these are found by the best division of the whole stream into stretches of constant gaze.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Knowledge, Prepared, Trial
from gazeveil.lab.attacks.restoring import Gaze, Restoration

_MAD = 1.482602218505602  # standard deviations of a Gaussian in a median absolute deviation


@ATTACKS.register("fixation-average")
@dataclass(frozen=True, slots=True, kw_only=True)
class FixationAverage(Attack):
    """Every stretch of constant gaze becomes its mean.

    The division minimises the squared error over both axes, in units of the noise, plus a penalty for each stretch; it
    is the exact optimum, by dynamic programming with pruning (Killick, Fearnhead and Eckley 2012).

    Attributes:
        sigma: Standard deviation of the noise of a sample in degrees, if it is known; None estimates it from how
            neighbouring samples differ.
        penalty: What a stretch costs, as a multiple of the logarithm of the number of samples. A stretch has three
            unknowns (a beginning, two coordinates), which makes 3 by Schwarz's criterion.
    """

    name: ClassVar[str] = "fixation-average"
    threat_model: ClassVar[str] = "black box, fixation averaging"

    sigma: float | None = None
    penalty: float = 3.0

    def __post_init__(self) -> None:
        if self.sigma is not None and not (math.isfinite(self.sigma) and self.sigma > 0):
            raise OptionError(f"sigma must be above 0 degrees, not {self.sigma!r}")
        if not (math.isfinite(self.penalty) and self.penalty > 0):
            raise OptionError(f"penalty must be above 0, not {self.penalty!r}")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        return Restoration(self._guess)

    def _guess(self, veiled: Trial) -> Gaze:
        sigma = noise_of(veiled.x, veiled.y) if self.sigma is None else self.sigma
        if sigma == 0:
            return veiled.x, veiled.y
        return averaged(veiled.x, veiled.y, sigma, self.penalty * math.log(len(veiled.x)))


def noise_of(x: FloatArray, y: FloatArray) -> float:
    """Return the standard deviation of independent noise, from steps between samples; saccades are too few to count."""
    steps = np.concatenate((np.diff(x), np.diff(y)))
    return float(_MAD * np.median(np.abs(steps - np.median(steps))) / math.sqrt(2.0))


def averaged(x: FloatArray, y: FloatArray, sigma: float, penalty: float) -> Gaze:
    """Return the means of the best stretches."""
    from gazeveil.lab.attacks import restoring_kernels as kernels  # noqa: PLC0415  (numba loads on use)

    begins = kernels.stretches(np.ascontiguousarray(x), np.ascontiguousarray(y), penalty * sigma * sigma)
    lengths = np.diff(np.append(begins, len(x)))
    return tuple(np.repeat(np.add.reduceat(values, begins) / lengths, lengths) for values in (x, y))  # type: ignore[return-value]
