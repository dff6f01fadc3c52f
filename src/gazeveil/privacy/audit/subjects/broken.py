# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Two mechanisms that break their guarantee, to see whether the auditor finds it. Never release with these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gazeveil.noise import NoiseSource
from gazeveil.privacy.audit.events.base import Outputs
from gazeveil.privacy.audit.neighbours.pair import Pair
from gazeveil.privacy.audit.subject import Subject, auditable
from gazeveil.privacy.audit.subjects.samplers import LaplaceCount
from gazeveil.privacy.calibrate import laplace_scale
from gazeveil.privacy.guarantee import PureDP


@dataclass(frozen=True, slots=True)
class FloatLaplace:
    """A number plus numpy's floating-point Laplace noise: right on paper, wrong in its last bits."""

    scale: float

    def run(self, data: float, noise: NoiseSource, trials: int) -> Outputs:
        """Return noisy numbers."""
        generator = np.random.default_rng(noise.words(4))  # noqa: TID251  (numpy's noise is what is audited here)
        return data + generator.laplace(0.0, self.scale, trials)


@auditable("numpy-laplace")
def numpy_laplace(epsilon: float = 1.0) -> Subject:
    """Broken: floating-point Laplace noise by numpy, which shows the secret in its last bits."""
    mechanism = FloatLaplace(laplace_scale(epsilon))
    return Subject(mechanism.run, PureDP(epsilon), (Pair(0.0, 1.0, "a count of 0 and a count of 1"),))


@auditable("half-scale-laplace")
def half_scale_laplace(epsilon: float = 1.0) -> Subject:
    """Broken: Laplace noise at half the scale that the claim needs."""
    mechanism = LaplaceCount(laplace_scale(epsilon) / 2)
    return Subject(mechanism.run, PureDP(epsilon), (Pair(0.0, 1.0, "a count of 0 and a count of 1"),))
