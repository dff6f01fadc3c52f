# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Strategies whose observers give vectors of one length without negative entries, under Gaussian noise."""

from __future__ import annotations

import numpy as np

from gazeveil.aggregate.decoder import Channel
from gazeveil.aggregate.prior import HOT_SPOTS, Prior, features_spread
from gazeveil.aggregate.strategies._common import BOUND, check, check_size, nonnegative_sensitivity
from gazeveil.aggregate.strategy import Strategy, Task
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.privacy.calibrate import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.types import FloatArray, IntArray

GAINS = (0.3, 0.4, 0.5, 0.6, 0.75)
_LENGTH = 0.2
"""The scale of the numbers: their squares as a part of those that the prior expects of one observer."""


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
            "Gaussian noise keeps no promise with delta 0", hint="allow a small delta, or use the strategy modes"
        )
    return gaussian_sigma(task.epsilon, task.delta, nonnegative_sensitivity(task.neighbours))


def unit(prior: Prior, features: FloatArray) -> float:
    """Return how long an observer's vector is taken to be, on the scale of the features of a map of mass 1."""
    squares = 0.0
    for hot_spots in HOT_SPOTS:
        expected, covariances = features_spread(prior, features, hot_spots, observers=1)
        squares += float(prior.weights @ (np.sum(expected**2, axis=1) + np.trace(covariances, axis1=1, axis2=2)))
    return float(np.sqrt(_LENGTH * squares / len(HOT_SPOTS)))


def channel(task: Task, prior: Prior, features: FloatArray, length: float) -> Channel:
    """Return what is measured when vectors scaled to ``length`` are averaged over observers."""
    return Channel(
        features=features,
        offset=np.zeros(prior.grid.size),
        gains=GAINS,
        observers=task.observers,
        noise_sd=sigma(task) / BOUND * length / task.observers,
    )
