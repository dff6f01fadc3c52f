# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Gaussian noise on every sample by itself (Wilson 2024, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.noise import NoiseSource, gaussian, lattice_step
from gazeveil.noise.parameters import in_steps
from gazeveil.privacy.guarantee import Guarantee, Unproven
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism, Veil
from gazeveil.samples.space import in_degrees
from gazeveil.samples.veils import Kernels, NoisyVeil, positive


@MECHANISMS.register("gaussian")
@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise(SampleMechanism):
    """Add independent Gaussian noise to each coordinate of each sample.

    Guarantee: none. During a fixation of T samples the mean of them has only 1/√T of the noise (erratum W5), and any
    guarantee about a stretch of gaze would have to pay for every sample in it. Where gaze is missing, the last gaze
    seen gets fresh noise. The noise is exact and lies on a lattice of 64 to 128 steps to σ, to which gaze is rounded.

    Attributes:
        sigma: The noise's standard deviation in degrees; in a room, in its own unit.
    """

    name: ClassVar[str] = "gaussian"

    sigma: float = 1.0

    def __post_init__(self) -> None:
        SampleMechanism.__post_init__(self)
        object.__setattr__(self, "sigma", in_degrees(self.sigma, self.space, "sigma"))
        positive(self, "sigma")
        in_steps(self.own_sigma, lattice_step(self.own_sigma), "sigma")

    @property
    def own_sigma(self) -> float:
        """The standard deviation in the unit of the space."""
        return self.space.degrees(self.sigma)

    @property
    def guarantee(self) -> Guarantee:
        """Nothing is guaranteed."""
        return Unproven("noise that is new with every sample averages out over a fixation (W5)")

    def start(self, noise: NoiseSource) -> Veil:
        """Return a veil for a new stream."""
        from gazeveil.samples import point_kernels as kernels  # noqa: PLC0415

        step = lattice_step(self.own_sigma)
        return NoisyVeil(
            self,
            noise,
            Kernels(kernels.gaussian_step, kernels.gaussian_run),
            draw=partial(_draw, self.own_sigma, step),
            per_sample=self.space.axes,
            fixed=(step,),
        )


def _draw(sigma: float, step: float, source: NoiseSource, out: FloatArray) -> None:
    np.multiply(gaussian(source, sigma, len(out), step), step, out=out)
