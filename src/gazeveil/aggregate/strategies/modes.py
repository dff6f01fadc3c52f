# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""For few observers: a handful of numbers about each map, the most informative ones, under ℓ2-radial noise.

The numbers are the coordinates of a blurred map, less the expected one, along the directions in which this stimulus's
map is most uncertain (`gazeveil.aggregate.map_features`); a known picture shapes them. Their number follows from the
public facts of the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate import neural_decoder
from gazeveil.aggregate.bayes_decoder import Channel, Decoded, Decoder, from_network
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_features import CLIP, GAIN, designed_coordinates, expected_moments
from gazeveil.aggregate.map_prior import PLAIN_KINDS, Plane, directions, mean_of, models_of, plain_projection
from gazeveil.aggregate.maps import ManyOnGrid, add_features
from gazeveil.aggregate.strategy import Estimate, Strategy, Task
from gazeveil.aggregate.strategy_parts import (
    BOUND,
    ball_sensitivity,
    check,
    check_size,
    estimate,
    features_of,
    plane_of,
)
from gazeveil.arrays import FloatArray, IntArray, one_thread
from gazeveil.noise import NoiseSource, add_gaussian, radial_noise
from gazeveil.privacy.calibration import gaussian_sigma, radial_beats_gaussian, radial_scale
from gazeveil.privacy.guarantee import ApproxDP, Guarantee, PureDP
from gazeveil.privacy.protection import Neighbours


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


@dataclass(frozen=True, slots=True)
class Modes(Strategy):
    """Release few coordinates of gaze along the most informative modes and infer the map from them.

    Guarantee: ε-differential privacy for observers where radial noise is the smaller one, which holds for up to about a
    dozen modes at ε = 1; else (ε, δ) (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    def __post_init__(self) -> None:
        check(self.task)

    @property
    def guarantee(self) -> Guarantee:
        """What it guarantees."""
        task = self.task
        if _is_radial(task, self._size):
            return PureDP(task.epsilon, neighbours=task.neighbours)
        return ApproxDP(task.epsilon, task.delta, neighbours=task.neighbours)

    def kernel(self) -> ModeMap:
        """Return what turns one observer's rows into integers."""
        design = _design(self.task)
        scaled = design.modes * (BOUND / CLIP)
        return ModeMap(design.plane.grid, design.plane.blurred(scaled), features_of(design.mean, scaled))

    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        total = check_size(total, self._size)
        if _is_radial(self.task, self._size):
            rows = total.reshape(-1, self._size)
            noisy = rows + radial_noise(noise, self._size, _scale(self.task), len(rows))
            return np.asarray(noisy.reshape(total.shape))
        return add_gaussian(noise, total, _sigma(self.task))

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        unit = CLIP / (BOUND * self.task.observers)
        measured = np.asarray(check_size(noisy, self._size) * unit)
        return estimate(self.task, network_decoder_for(self.task) or _decoder(self.task), measured)

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        if _is_radial(self.task, self._size):
            noise: dict[str, Any] = {"noise": "radial", "scale": _scale(self.task)}
        else:
            noise = {"noise": "gaussian", "sigma": _sigma(self.task)}
        decoder = {} if network_decoder_for(self.task) is None else neural_decoder.to_dict(neural_decoder.MODES)
        return {"strategy": "modes", "modes": self._size, "bound": BOUND, **noise, **decoder}

    @property
    def _size(self) -> int:
        return int(_design(self.task).modes.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """The modes of a task.

    Attributes:
        plane: The cells, and the blur of the map.
        modes: One row a cell, one column a mode of the blurred map.
        mean: The blurred map that is expected.
    """

    plane: Plane
    modes: FloatArray
    mean: FloatArray


def _is_radial(task: Task, count: int) -> bool:
    return task.delta == 0 or radial_beats_gaussian(count, task.epsilon, task.delta)


def _scale(task: Task) -> float:
    return radial_scale(task.epsilon, ball_sensitivity(task.neighbours))


def _sigma(task: Task) -> float:
    return gaussian_sigma(task.epsilon, task.delta, ball_sensitivity(task.neighbours))


@one_thread()
def explained(task: Task) -> float:
    """Return the share of the map's variance that the modes of a task should explain: a matter of public facts."""
    design = _design(task)
    about = expected_moments(design.plane, task.saliency)
    noise = _noise_variance(task, design.modes.shape[1]) * (CLIP / GAIN) ** 2
    return about.explained(design.modes.T @ directions(design.plane.grid), noise, task.observers)


@lru_cache(maxsize=16)
@one_thread()
def _design(task: Task) -> _Design:
    """Return the modes that should explain most of the blurred map."""
    plane = plane_of(task)
    coordinates = designed_coordinates(
        expected_moments(plane, task.saliency), task.observers, lambda count: _noise_variance(task, count)
    )
    modes = np.ascontiguousarray(directions(plane.grid) @ coordinates.T)
    return _Design(plane, modes, mean_of(models_of(plane, task.saliency)))


def _noise_variance(task: Task, count: int) -> float:
    """Return the variance of the noise of the mean of coordinates in a ball of radius 1."""
    reach = (1.0 if task.neighbours is Neighbours.ADD_REMOVE else 2.0) / task.observers
    if _is_radial(task, count):
        return (count + 1) * (reach / float(task.epsilon)) ** 2
    return (gaussian_sigma(task.epsilon, task.delta) * reach) ** 2


@lru_cache(maxsize=8)
@one_thread()
def _decoder(task: Task) -> Decoder:
    design = _design(task)
    count = design.modes.shape[1]
    reach = 1.0 if task.neighbours is Neighbours.ADD_REMOVE else 2.0
    channel = Channel(
        features=design.modes,
        offset=design.mean,
        gains=(GAIN,),
        observers=task.observers,
        noise_sd=math.sqrt(_noise_variance(task, count)) * CLIP,
        radial_scale=reach * CLIP / (task.observers * float(task.epsilon)) if _is_radial(task, count) else None,
    )
    return Decoder(design.plane, models_of(design.plane, task.saliency), channel)


@dataclass(frozen=True, slots=True, eq=False)
class ModesNetworkDecoder:
    """Decodes modes by the network, where it was trained on releases like this one; they follow no picture then.

    Attributes:
        facts: The public facts.
        responses: How the numbers become pictures for the network.
        mean: The expected blurred map.
        models: The decoder that weighs the kinds of variation.
    """

    facts: neural_decoder.PublicFacts
    responses: neural_decoder.ModeResponses
    mean: FloatArray
    models: Decoder

    def decode(self, measured: FloatArray) -> Decoded:
        """Return the map that the measured numbers suggest."""
        by_kind = self.models.chances(measured).reshape(-1, len(PLAIN_KINDS)).sum(axis=0)
        found = neural_decoder.of_modes(self.facts, self.responses, measured, by_kind, self.mean)
        return from_network(self.facts.plane, found, self.mean, self.facts.observers)


@lru_cache(maxsize=8)
@one_thread()
def network_decoder_for(task: Task) -> ModesNetworkDecoder | None:
    """Return the network decoder of a task's modes; None where the network was not trained on such releases."""
    design = _design(task)
    count = design.modes.shape[1]
    facts = neural_decoder.PublicFacts(design.plane, task.observers, math.sqrt(_noise_variance(task, count)) * CLIP)
    if task.saliency is not None or not _is_radial(task, count) or not neural_decoder.MODES.knows(facts, count):
        return None
    return ModesNetworkDecoder(facts, _responses(design, facts), design.mean, _decoder(task))


def _responses(design: _Design, facts: neural_decoder.PublicFacts) -> neural_decoder.ModeResponses:
    """Return how places of the map respond to the numbers under each kind of variation, by a linear estimate."""
    ways = directions(design.plane.grid)
    seen = design.modes.T @ ways
    lattice = neural_decoder.lattice_for(design.plane)
    plain, answers = plain_projection(design.plane), []
    for kind in range(len(PLAIN_KINDS)):
        alike = np.zeros((len(plain.expected) // len(PLAIN_KINDS), len(PLAIN_KINDS)))
        alike[:, kind] = 1.0
        _, between, within = plain.moments(alike.ravel())
        noise = (facts.noise_sd / GAIN) ** 2 * np.eye(len(seen))
        inner = seen @ (between + within / facts.observers) @ seen.T + noise
        answer = ways @ np.linalg.solve(inner, seen @ between).T / GAIN / design.mean[:, None]
        answers.append(np.stack([lattice.on_lattice(column) for column in answer.T], axis=-1))
    return neural_decoder.ModeResponses(np.stack(answers))
