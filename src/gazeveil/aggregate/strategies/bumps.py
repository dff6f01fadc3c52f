# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Finer than a histogram: overlapping Gaussian bumps of each observer's map, scaled to one length, Gaussian noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate import neural_decoder, strategy_parts
from gazeveil.aggregate.bayes_decoder import NEGLIGIBLE, Decoded, Decoder, averaged, from_network
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_features import BUMP_DEG, SPACING_DEG, bumps_along, bumps_over, expected_moments
from gazeveil.aggregate.map_prior import (
    Plane,
    Projected,
    directions,
    mean_of,
    models_of,
    pictured_models,
    plain_models,
    working_grid,
)
from gazeveil.aggregate.maps import ManyOnGrid, add_products
from gazeveil.aggregate.saliency import SPECTRAL
from gazeveil.aggregate.strategy import Estimate, Task
from gazeveil.aggregate.strategy_parts import BOUND, Decodes, check_size, estimate, plane_of
from gazeveil.arrays import FloatArray, IntArray, one_thread

_MOST_DIRECTIONS = 150
"""How many directions of the noisy numbers the decoder uses; the others hold next to nothing of a map."""


@dataclass(frozen=True, slots=True, eq=False)
class BumpMap(ManyOnGrid):
    """One observer's map seen through bumps, as integers of bounded length without negative entries.

    Attributes:
        grid: The cells that gaze is counted in.
        across: How much each column of bumps sees of each column of cells, one row a column of cells.
        down: How much each row of bumps sees of each row of cells, one row a row of cells.
    """

    grid: Grid
    across: FloatArray
    down: FloatArray

    @property
    def size(self) -> int:
        """How many bumps."""
        return int(self.across.shape[1] * self.down.shape[1])

    def add_many(self, rows: Columns, starts: IntArray, total: IntArray) -> None:
        """Add the integers of several observers to ``total``, in one pass over the rows."""
        add_products(self.grid, self.across, self.down, BOUND, rows, starts, total)


@dataclass(frozen=True, slots=True)
class Bumps(strategy_parts.NormalisedStrategy):
    """Release how much gaze lies under each of many overlapping bumps and infer the map from it.

    Guarantee: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    def kernel(self) -> BumpMap:
        """Return what turns one observer's rows into integers."""
        grid = working_grid(self.task.grid)
        return BumpMap(grid, *bumps_along(grid))

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        numbers = check_size(noisy, self._size) / (BOUND * self.task.observers)
        return estimate(self.task, _decoder(self.task), np.asarray(numbers))

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        return {
            "strategy": "bumps",
            "bumps": self._size,
            "bump_deg": BUMP_DEG,
            "spacing_deg": SPACING_DEG,
            "bound": BOUND,
            "sigma": self.sigma,
            **neural_decoder.to_dict(*_networks(self.task)),
        }

    @property
    def _size(self) -> int:
        return int(bumps_over(working_grid(self.task.grid)).shape[1])


@one_thread()
def explained(task: Task) -> float:
    """Return the share of the map's variance that the bumps of a task should explain: a matter of public facts."""
    plane = plane_of(task)
    _, features, _ = _view(plane)
    about = expected_moments(plane, task.saliency)
    seen = features.T @ directions(plane.grid)
    second = np.outer(about.mean, about.mean) + about.between + about.within
    noise = (strategy_parts.sigma(task) / (BOUND * task.observers)) ** 2 * float(np.sum(seen @ second * seen))
    return about.explained(seen, noise, task.observers)


@lru_cache(maxsize=2)
@one_thread()
def _view(plane: Plane) -> tuple[FloatArray, FloatArray, Projected]:
    """Return what turns bumps into fewer numbers, the features of the blurred map they are, and the plain models'."""
    bumps = bumps_over(plane.grid)
    _, _, turn = np.linalg.svd(bumps, full_matrices=False)
    turn = np.ascontiguousarray(turn[:_MOST_DIRECTIONS])
    features = np.ascontiguousarray(plane.in_blurred(bumps @ turn.T))
    return turn, features, plane.project(plain_models(plane, many=True), features)


@dataclass(frozen=True, slots=True, eq=False)
class _NetworkDecoder:
    """Decodes bumps by the networks, where these were trained on releases like this one; follows no picture.

    Attributes:
        facts: The public facts.
        mean: The expected blurred map.
    """

    facts: neural_decoder.PublicFacts
    mean: FloatArray

    def decode(self, measured: FloatArray) -> Decoded:
        found = neural_decoder.of_bumps(self.facts, measured, self.mean)
        return from_network(self.facts.plane, found, self.mean, self.facts.observers)


@dataclass(frozen=True, slots=True, eq=False)
class _PictureNetworkDecoder:
    """Decodes bumps where a picture is known: one network follows it, one does not, and models weigh the two.

    Attributes:
        plain: The decoder that follows no picture.
        mean: The blurred map that the picture predicts.
        models: The decoder that finds how likely it is that gaze follows the picture.
    """

    plain: _NetworkDecoder
    mean: FloatArray
    models: _ModelDecoder

    def decode(self, measured: FloatArray) -> Decoded:
        plain, share = self.plain.decode(measured), self.models.pictured(measured)
        if share < NEGLIGIBLE:
            return replace(plain, picture_share=share)
        facts = self.plain.facts
        found = neural_decoder.of_pictured_bumps(facts, measured, self.mean, self.plain.mean)
        return averaged(from_network(facts.plane, found, self.mean, facts.observers), plain, share)


@dataclass(frozen=True, slots=True, eq=False)
class _ModelDecoder:
    """Decodes bumps by models, in fewer numbers."""

    models: Decoder
    turn: FloatArray

    def decode(self, measured: FloatArray) -> Decoded:
        return self.models.decode(self.turn @ measured)

    def pictured(self, measured: FloatArray) -> float:
        """Return how likely it is that gaze follows the picture."""
        return self.models.pictured(self.turn @ measured)


def _facts(task: Task) -> neural_decoder.PublicFacts:
    return neural_decoder.PublicFacts(plane_of(task), task.observers, strategy_parts.noise_sd(task))


def _networks(task: Task) -> tuple[neural_decoder.TrainedDecoder, ...]:
    """Return the networks that were trained on releases like this one; none where models decode."""
    facts, size = _facts(task), int(bumps_over(plane_of(task).grid).shape[1])
    pictured = task.saliency is not None and task.saliency.source != SPECTRAL
    wanted = (neural_decoder.BUMPS, neural_decoder.PICTURED) if pictured else (neural_decoder.BUMPS,)
    return wanted if all(each.knows(facts, size) for each in wanted) else ()


@lru_cache(maxsize=2)
@one_thread()
def _decoder(task: Task) -> Decodes:
    networks, facts = _networks(task), _facts(task)
    if not networks:
        return _by_models(task)
    plain = _NetworkDecoder(facts, mean_of(plain_models(facts.plane)))
    if neural_decoder.PICTURED not in networks:
        return plain
    return _PictureNetworkDecoder(plain, mean_of(models_of(facts.plane, task.saliency)), _by_models(task))


def _by_models(task: Task) -> _ModelDecoder:
    plane = plane_of(task)
    turn, features, projected = _view(plane)
    if task.saliency is not None:
        projected = projected.with_more(plane.project(pictured_models(plane, task.saliency, many=True), features))
    channel = strategy_parts.channel(task, plane, features, projected)
    return _ModelDecoder(Decoder(plane, strategy_parts.models_for(task, plane), channel, projected), turn)
