# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Steil's exponential mechanism as it is evaluated (Steil 2019; pseudo-code in David-John 2022), to compare with.

Every value is moved by the exponential mechanism with quality -|r - x| on the whole line: r has a density proportional
to exp(-ε |r - x| / 2δ), where δ is how far the feature ranges in the data at hand. That is Laplace noise of scale 2δ/ε,
and is drawn exactly. The pseudo-code has the length of the series in its λ and divides by it again, so it cancels: ε
pays for one value of one feature, not for a participant. The corrected form is `exponential`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.exact import exact, whole_number
from gazeveil.features.series import SERIES_MECHANISMS, STEP, SeriesMechanism, checked
from gazeveil.noise import NoiseSource, add_laplace, from_lattice, to_lattice
from gazeveil.privacy.guarantee import Guarantee, Unproven

_LEAST = 2.0**-20
"""Where nobody differs, the paper would add no noise; a scale of nothing cannot be drawn."""


@SERIES_MECHANISMS.add_unlisted("exponential-as-published")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialAsPublished(SeriesMechanism):
    """Keeps every so-manieth step and moves each value on its own; in between, the value is repeated.

    Attributes:
        every: Which steps are kept: every tenth, as published.
        measures_people: Whether δ is the range of the participants at hand, as published, or the declared range.
    """

    name: ClassVar[str] = "exponential-as-published"

    every: int = 10
    measures_people: bool = True

    def __post_init__(self) -> None:
        super(ExponentialAsPublished, self).__post_init__()
        object.__setattr__(self, "every", whole_number(self.every, "every", at_least=1))
        if exact(self.delta) or self.stretch is not None:
            raise OptionError("as published there is neither delta nor stretch")

    @property
    def claimed(self) -> str:
        """What its authors state, in words."""
        return f"ε-differential privacy with ε = {float(self.epsilon):g} for every feature."

    @property
    def guarantee(self) -> Guarantee:
        """None."""
        return Unproven(
            "Steil's exponential mechanism as published: ranges come from the data themselves (B1), and every value of "
            "every feature spends another ε/2, so the claim for a feature covers only two values of it",
            unit=self.unit,
        )

    def epsilon_for(self, changed: int) -> Fraction:
        """Return the ε that the noise would really guarantee if ranges were the declared ones."""
        return exact(self.epsilon) / 2 * self.features * -(-changed // self.every)

    def scale(self, apart: float = 1.0) -> float:
        """Return the scale of the noise on a feature that ranges over so much."""
        return max(2.0 * apart / float(exact(self.epsilon)), _LEAST)

    def perturb(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series: participants by steps by features, each value from 0 to 1."""
        return np.clip(self.unclipped(values, noise), 0.0, 1.0)

    def unclipped(self, values: FloatArray, noise: NoiseSource) -> FloatArray:
        """Return noisy series as they are published: values may lie outside their ranges.

        Raises:
            InputError: If there is one participant only, whose own range would be all there is.
        """
        kept = checked(values, self.steps, self.features)[:, :: self.every]
        if self.measures_people and len(kept) < 2:
            raise InputError("as published, noise is as wide as participants range: that takes at least two of them")
        noisy = np.empty_like(kept)
        for feature in range(self.features):
            column = kept[:, :, feature]
            scale = self.scale(float(np.ptp(column)) if self.measures_people else 1.0)
            noisy[:, :, feature] = from_lattice(add_laplace(noise, to_lattice(column, STEP), scale, STEP), STEP)
        return np.repeat(noisy, self.every, axis=1)[:, : self.steps]
