# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Finer than a histogram: overlapping Gaussian bumps of each observer's map, scaled to one length, Gaussian noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gazeveil.aggregate import learned
from gazeveil.aggregate.decoder import Decoded, Decoder, from_learned
from gazeveil.aggregate.design import expected
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.map_view import BUMP_DEG, SPACING_DEG, bumps_along, bumps_over
from gazeveil.aggregate.maps import ManyOnGrid, add_products
from gazeveil.aggregate.models import Plane, Projected, directions, mean_of, pictured_models, plain_models
from gazeveil.aggregate.prior import working_grid
from gazeveil.aggregate.strategies import _normalised
from gazeveil.aggregate.strategies._common import BOUND, Decodes, check_size, estimate, plane_of
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.blas import one_thread
from gazeveil.types import FloatArray, IntArray

_MOST_DIRECTIONS = 150
"""How many directions of the noisy numbers the decoder looks at; the others hold next to nothing of a map."""


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


@STRATEGIES.register("bumps")
@dataclass(frozen=True, slots=True)
class Bumps(_normalised.Normalised):
    """Release what overlapping bumps see of gaze and infer the map from it.

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
            **({"decoder": learned.NAME, "decoder_sha256": learned.digest()} if _learned(self.task) else {}),
        }

    @property
    def _size(self) -> int:
        return int(bumps_over(working_grid(self.task.grid)).shape[1])


@one_thread()
def explained(task: Task) -> float:
    """Return the share of the map's variance that the bumps of a task should explain: a matter of public facts."""
    plane = plane_of(task)
    _, features, _ = _view(plane)
    about = expected(plane, task.saliency)
    seen = features.T @ directions(plane.grid)
    second = np.outer(about.mean, about.mean) + about.between + about.within
    noise = (_normalised.sigma(task) / (BOUND * task.observers)) ** 2 * float(np.sum(seen @ second * seen))
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


@dataclass(frozen=True, slots=True)
class _Learned:
    """How bumps are decoded that follow no picture, where releases like this one were learnt from."""

    task: Task

    def decode(self, measured: FloatArray) -> Decoded:
        plane, observers = plane_of(self.task), self.task.observers
        mean = mean_of(plain_models(plane))
        found = learned.decoded(plane, measured, mean, observers, _normalised.noise_sd(self.task))
        return from_learned(plane, found, mean, observers)


@dataclass(frozen=True, slots=True, eq=False)
class _ByModels:
    """How bumps are decoded else: by models, in fewer numbers; those that follow no picture may have been learnt."""

    models: Decoder
    turn: FloatArray
    plain: _Learned | None

    def decode(self, measured: FloatArray) -> Decoded:
        plain = None if self.plain is None else self.plain.decode(measured)
        return self.models.decode(self.turn @ measured, plain)


def _learned(task: Task) -> bool:
    """Return whether maps that follow no picture are decoded by what was learnt."""
    return learned.knows(plane_of(task), task.observers, _normalised.noise_sd(task))


@lru_cache(maxsize=2)
@one_thread()
def _decoder(task: Task) -> Decodes:
    plane = plane_of(task)
    plain = _Learned(task) if _learned(task) else None
    if plain is not None and task.saliency is None:
        return plain
    turn, features, projected = _view(plane)
    if task.saliency is not None:
        projected = projected.with_more(plane.project(pictured_models(plane, task.saliency, many=True), features))
    channel = _normalised.channel(task, plane, features, projected)
    return _ByModels(Decoder(plane, _normalised.models_for(task, plane), channel, projected), turn, plain)
