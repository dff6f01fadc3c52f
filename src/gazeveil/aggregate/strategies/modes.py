# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""For few observers: a handful of numbers about each map, the ones that tell most, under ℓ2-radial noise.

The numbers are the coordinates of a map, less the prior's mean, along the directions that an optimal linear estimate
would use at this amount of noise. How many there are follows from the public numbers of the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate.decoder import Channel, Decoder
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.maps import ManyOnGrid, add_features
from gazeveil.aggregate.prior import FAINT_HOT_SPOTS, Prior, mixture_moments, prior_of, working_grid
from gazeveil.aggregate.render import render
from gazeveil.aggregate.strategies._common import (
    BOUND,
    ball_sensitivity,
    check,
    check_size,
    estimate,
    features_of,
)
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Strategy, Task
from gazeveil.noise import NoiseSource, add_gaussian, radial_noise
from gazeveil.privacy.calibrate import gaussian_sigma, radial_beats_gaussian, radial_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.unit import Neighbours
from gazeveil.types import FloatArray, IntArray

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80)
_WAVES_ACROSS, _WAVES_DOWN = 14, 11
_SQUARE_PER_MODE = 0.5
"""Modes have variance 1 under the prior; the square of the clipping length is this for each of them."""
_GAIN = 0.9


@dataclass(frozen=True, slots=True, eq=False)
class ModeMap(ManyOnGrid):
    """One observer's coordinates along the modes, clipped to a ball of radius `BOUND`; without gaze, the origin.

    Attributes:
        grid: The cells that gaze is counted in.
        modes: One row a cell, one column a mode; in units in which the ball has radius `BOUND`.
        origin: The coordinates of the prior's mean.
    """

    grid: Grid
    modes: FloatArray
    origin: FloatArray

    @property
    def size(self) -> int:
        """How many modes."""
        return int(self.modes.shape[1])

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the integers of several observers to ``total``, in one pass over the rows."""
        add_features(self.grid, self.modes, self.origin, BOUND, rows, starts, total)


@STRATEGIES.register("modes")
@dataclass(frozen=True, slots=True)
class Modes(Strategy):
    """Release few coordinates of gaze along the modes that tell most and infer the map from them.

    Promise: ε-differential privacy for observers wherever radial noise is the smaller one, which it is for up to
    about a dozen modes at ε = 1; else (ε, δ) (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    def __post_init__(self) -> None:
        check(self.task)
        _scale(self.task)

    @property
    def guarantee(self) -> Guarantee:
        """What it promises."""
        task = self.task
        if _is_radial(task, self._size):
            return PureDP(task.epsilon, neighbours=task.neighbours)
        return ApproxDP(task.epsilon, task.delta, neighbours=task.neighbours)

    def kernel(self) -> ModeMap:
        """Return what turns one observer's rows into integers."""
        design = _design(self.task)
        scaled = design.modes * (BOUND / design.radius)
        return ModeMap(design.grid, scaled, features_of(design.mean, scaled))

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        total = check_size(total, self._size)
        if _is_radial(self.task, self._size):
            rows = total.reshape(-1, self._size)
            noisy = rows + radial_noise(noise, self._size, _scale(self.task), len(rows))
            return np.asarray(noisy.reshape(total.shape))
        return add_gaussian(noise, total, _sigma(self.task))

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        unit = _design(self.task).radius / (BOUND * self.task.observers)
        measured = np.asarray(check_size(noisy, self._size) * unit)
        return estimate(self.task, _decoder(self.task), measured)

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        if _is_radial(self.task, self._size):
            noise: dict[str, Any] = {"noise": "radial", "scale": _scale(self.task)}
        else:
            noise = {"noise": "gaussian", "sigma": _sigma(self.task)}
        return {"strategy": "modes", "modes": self._size, "bound": BOUND, **noise}

    @property
    def _size(self) -> int:
        return int(_design(self.task).modes.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """The modes of a task.

    Attributes:
        grid: The cells.
        mean: The prior's mean map.
        modes: One row a cell, one column a mode, of variance 1 and uncorrelated under the prior.
        radius: Where coordinates are clipped.
    """

    grid: Grid
    mean: FloatArray
    modes: FloatArray
    radius: float


def _is_radial(task: Task, count: int) -> bool:
    return task.delta == 0 or radial_beats_gaussian(count, task.epsilon, task.delta)


def _scale(task: Task) -> float:
    return radial_scale(task.epsilon, ball_sensitivity(task.neighbours))


def _sigma(task: Task) -> float:
    return gaussian_sigma(task.epsilon, task.delta, ball_sensitivity(task.neighbours))


@lru_cache(maxsize=16)
def _design(task: Task) -> _Design:
    """Return the modes with the least expected error of the blurred map, over how many there are."""
    grid = working_grid(task.grid)
    mean, between, within, waves = _moments(grid)
    blur = task.blur_cells * grid.rows / task.grid.rows, task.blur_cells * grid.columns / task.grid.columns
    shifts = between @ waves
    blurred = render(np.ascontiguousarray(shifts.T).reshape(-1, *grid.shape), blur).reshape(-1, grid.size)
    wanted = blurred @ blurred.T
    signal, one, all_ = waves.T @ shifts, waves.T @ (within @ waves), waves.T @ ((between + within) @ waves)
    best: tuple[float, FloatArray] | None = None
    for count in COUNTS:
        if count > waves.shape[1]:
            break
        radius = math.sqrt(_SQUARE_PER_MODE * count)
        noise = _variance_factor(task, count) * (_reach(task) * radius / task.observers) ** 2
        seen = signal + one / task.observers
        chosen = _top(wanted, seen + noise * all_, count)
        chosen = _whitened(chosen, all_)
        explained = np.linalg.solve(
            chosen.T @ seen @ chosen + noise * np.eye(count), chosen.T @ wanted @ chosen
        ).trace()
        if best is None or explained > best[0]:
            best = float(explained), chosen
    if best is None:
        return _Design(grid, mean, np.zeros((grid.size, 1)), 1.0)
    modes = np.ascontiguousarray(waves @ best[1])
    return _Design(grid, mean, modes, math.sqrt(_SQUARE_PER_MODE * modes.shape[1]))


def _variance_factor(task: Task, count: int) -> float:
    """Return the variance of a coordinate's noise for sensitivity 1."""
    if _is_radial(task, count):
        return (count + 1) / float(task.epsilon) ** 2
    return gaussian_sigma(task.epsilon, task.delta) ** 2


def _reach(task: Task) -> float:
    return 1.0 if task.neighbours is Neighbours.ADD_REMOVE else 2.0


def _top(wanted: FloatArray, against: FloatArray, count: int) -> FloatArray:
    """Return the generalised eigenvectors of the largest eigenvalues, a column each."""
    root = np.linalg.inv(np.linalg.cholesky(against + 1e-12 * np.trace(against) * np.eye(len(against))))
    _, vectors = np.linalg.eigh(root @ wanted @ root.T)
    return np.asarray(root.T @ vectors[:, : -count - 1 : -1])


def _whitened(columns: FloatArray, metric: FloatArray) -> FloatArray:
    """Return the same span with columns orthonormal in a metric."""
    root = np.linalg.cholesky(columns.T @ metric @ columns)
    return np.asarray(np.linalg.solve(root, columns.T).T)


def _prior(grid: Grid) -> Prior:
    return replace(prior_of(grid), hot_spots=FAINT_HOT_SPOTS)


@lru_cache(maxsize=4)
def _moments(grid: Grid) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the prior's mean and covariances, and the slow waves that modes are made of, a column each."""
    mean, between, within = mixture_moments(_prior(grid))
    waves = [
        np.outer(_wave(grid.rows, down), _wave(grid.columns, across)).ravel()
        for across in range(min(_WAVES_ACROSS, grid.columns))
        for down in range(min(_WAVES_DOWN, grid.rows))
        if 0 < (across / _WAVES_ACROSS) ** 2 + (down / _WAVES_DOWN) ** 2 < 1
    ]
    return mean, between, within, np.array(waves).reshape(-1, grid.size).T


def _wave(size: int, frequency: int) -> FloatArray:
    return np.asarray(np.cos(math.pi * frequency * (np.arange(size) + 0.5) / size))


@lru_cache(maxsize=8)
def _decoder(task: Task) -> Decoder:
    if task.saliency is not None:
        return _decoder(replace(task, saliency=None)).of_picture(task.saliency)
    design = _design(task)
    count = design.modes.shape[1]
    reach = _reach(task) * design.radius / task.observers
    radial = _is_radial(task, count)
    channel = Channel(
        features=design.modes,
        offset=design.mean,
        gains=(_GAIN * min(1.0, design.radius / math.sqrt(count)),),
        observers=task.observers,
        noise_sd=math.sqrt(_variance_factor(task, count)) * reach,
        radial_scale=reach / float(task.epsilon) if radial else None,
        averages_models=True,
    )
    return Decoder(_prior(design.grid), channel)
