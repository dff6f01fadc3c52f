# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What heatmap strategies share: bound and sensitivity of one observer's integers, noise, and decoding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

import numpy as np

from gazeveil.aggregate.bayes_decoder import Channel, Decoded, hot_spots
from gazeveil.aggregate.decoded_maps import of_mass_1, resampled
from gazeveil.aggregate.map_features import sqrt_up
from gazeveil.aggregate.map_prior import Model, Plane, Projected, mean_of, models_of, working_grid
from gazeveil.aggregate.strategy import Estimate, Strategy, Task
from gazeveil.arrays import FloatArray, IntArray, one_thread
from gazeveil.errors import InternalError, OptionError
from gazeveil.noise import NoiseSource, add_gaussian
from gazeveil.privacy.calibration import gaussian_sigma
from gazeveil.privacy.guarantee import ApproxDP, Guarantee
from gazeveil.privacy.protection import Neighbours

BOUND = 1 << 20
"""The Euclidean length that no observer's integers exceed: a fixed point of about six decimals."""


def check(task: Task) -> None:
    """Refuse a task that makes no sense.

    Raises:
        OptionError: If the number of observers is not a whole number from 1 up.
    """
    if type(task.observers) is not int or task.observers < 1:
        raise OptionError(f"observers must be a whole number from 1 up, not {task.observers!r}")


def nonnegative_sensitivity(neighbours: Neighbours) -> Fraction:
    """Return how far one observer moves a sum of vectors of length `BOUND` without negative entries.

    √2·`BOUND` for replace-one, rounded up; `BOUND` itself for add/remove (docs/proofs/heatmap-strategies.md).
    """
    if neighbours is Neighbours.ADD_REMOVE:
        return Fraction(BOUND)
    return sqrt_up(2 * BOUND * BOUND)


def ball_sensitivity(neighbours: Neighbours) -> Fraction:
    """Return how far one observer moves a sum of vectors of length `BOUND` of any sign."""
    return Fraction(BOUND if neighbours is Neighbours.ADD_REMOVE else 2 * BOUND)


def check_size(numbers: IntArray, size: int) -> IntArray:
    """Return integers as they are, after checking that each row has as many as the strategy's kernel gives."""
    if numbers.ndim not in (1, 2) or numbers.shape[-1] != size or numbers.dtype.kind != "i":
        raise InternalError(f"expected {size} integers, found {numbers.dtype} of shape {numbers.shape}")
    return numbers


def features_of(map_: FloatArray, features: FloatArray) -> FloatArray:
    """Return what features, one row a cell, see of a map: added cell by cell, so that every machine adds alike."""
    (where,) = np.nonzero(map_)
    return np.asarray(np.add.reduce(features[where] * map_[where, None], axis=0))


def plane_of(task: Task) -> Plane:
    """Return the cells that a task's map is decoded on, with the blur of the map in them."""
    working = working_grid(task.grid)
    down, across = working.rows / task.grid.rows, working.columns / task.grid.columns
    return Plane(working, (task.blur_cells * down, task.blur_cells * across))


def prior_of_task(task: Task) -> FloatArray:
    """Return what would be shown without any data, on the grid of the task."""
    plane = plane_of(task)
    return _map_on(task, mean_of(models_of(plane, task.saliency)).reshape(plane.grid.shape))


class Decodes(Protocol):
    """Turns noisy numbers into a map."""

    def decode(self, measured: FloatArray) -> Decoded:
        """Return the map that the measured numbers suggest."""
        ...


def estimate(task: Task, decoder: Decodes, measured: FloatArray) -> Estimate:
    """Decode on the working grid, and draw on the grid of the task."""
    if measured.ndim != 1:
        raise InternalError(f"expected one release to decode, not {len(measured)}")
    with one_thread():
        decoded: Decoded = decoder.decode(measured)
    area = decoded.map.size / task.grid.size

    def spread(values: FloatArray) -> FloatArray:
        return values if values.shape == task.grid.shape else area * resampled(values, task.grid)

    return Estimate(
        map=_map_on(task, decoded.map),
        noise_sd=spread(decoded.noise_sd),
        prior=prior_of_task(task),
        data_share=decoded.data_share,
        picture_share=decoded.picture_share,
        error_sd=spread(decoded.error_sd),
        population_sd=spread(decoded.population_sd),
        hot_spots=hot_spots(resampled(decoded.hot, task.grid)),
    )


def _map_on(task: Task, values: FloatArray) -> FloatArray:
    return values if values.shape == task.grid.shape else of_mass_1(resampled(values, task.grid))


# --- Strategies whose observers give vectors of one length without negative entries, under Gaussian noise.


GAINS = (0.7, 0.85, 1.0, 1.2, 1.45, 1.75)
"""How the scale of observers' vectors may differ from the one that is expected: who looks around has smaller ones."""


class NormalisedStrategy(Strategy):
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
