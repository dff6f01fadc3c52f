# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Strategies whose observers give vectors of one length without negative entries, under Gaussian noise."""

from __future__ import annotations

import math

import numpy as np

from gazeveil.aggregate.decoder import Channel
from gazeveil.aggregate.models import Model, Plane, Projected, models_of
from gazeveil.aggregate.strategies._common import BOUND, check, check_size, nonnegative_sensitivity
from gazeveil.aggregate.strategy import Strategy, Task
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.types import FloatArray, IntArray

GAINS = (0.7, 0.85, 1.0, 1.2, 1.45, 1.75)
"""How the scale of observers' vectors may differ from the one that is expected: who looks around has smaller ones."""


class Normalised(Strategy):
    """A strategy whose kernel gives such vectors: a frozen dataclass with the field ``task``."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check(self.task)
        sigma(self.task)

    @property
    def guarantee(self) -> Guarantee:
        """What Gaussian noise guarantees."""
        return ApproxDP(self.task.epsilon, self.task.delta, neighbours=self.task.neighbours)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise on the integers."""
        return sigma(self.task)

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        return add_gaussian(noise, check_size(total, self.kernel().size), self.sigma)


def sigma(task: Task) -> float:
    """Return the standard deviation of the noise on the integers.

    Raises:
        OptionError: If δ is 0, which Gaussian noise cannot keep.
    """
    if task.delta == 0:
        raise OptionError(
            "Gaussian noise keeps no guarantee with delta 0", hint="allow a small delta, or use the strategy modes"
        )
    return gaussian_sigma(task.epsilon, task.delta, nonnegative_sensitivity(task.neighbours))


def noise_sd(task: Task) -> float:
    """Return the standard deviation of the noise of the mean over observers."""
    return sigma(task) / (BOUND * task.observers)


def channel(task: Task, plane: Plane, features: FloatArray, projected: Projected) -> Channel:
    """Return what is measured when vectors of length 1 are averaged over observers.

    Args:
        task: The public facts.
        plane: The cells and their blur.
        features: Of the blurred map, one row a cell.
        projected: What the features show of maps under each model of `models_for`.
    """
    weights = np.array([model.weight for model in models_for(task, plane)])
    usual = 1 / math.sqrt(float(weights @ squares(projected)))
    return Channel(
        features=features,
        offset=np.zeros(plane.grid.size),
        gains=tuple(gain * usual for gain in GAINS),
        observers=task.observers,
        noise_sd=noise_sd(task),
    )


def models_for(task: Task, plane: Plane) -> tuple[Model, ...]:
    """Return the models that many numbers are weighed by."""
    return models_of(plane, task.saliency, many=True)


def squares(projected: Projected) -> FloatArray:
    """Return the mean square length of what features show of one observer's map, under each model."""
    spread = np.trace(projected.between + projected.within, axis1=1, axis2=2)
    return np.asarray(np.sum(projected.expected**2, axis=1) + spread)
