# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Heatmaps from coarse counts: hierarchical sparse release after Ghazi et al. 2023 (AAAI), and a plain histogram.

Each observer is a distribution of mass 1 on a square grid of D x D cells, D a power of two, and on all coarser grids of
2^i x 2^i cells. Every level is released with noise of its own size; then, from coarse to fine, only the cells with the
highest noisy mass among the children of cells that were kept are kept, and the map is made of these.

Where the paper gives each level a part of ε and Laplace noise, here the levels are weighted and share one Gaussian
release. Where it fits the kept cells in earth mover's distance, here they are fitted by least squares on the tree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate import bayes_decoder, strategy_parts
from gazeveil.aggregate.bayes_decoder import Channel, Decoder
from gazeveil.aggregate.engine import Columns
from gazeveil.aggregate.grid import Grid, overlap, render
from gazeveil.aggregate.map_prior import models_of, working_grid
from gazeveil.aggregate.maps import NormalisedMap, OnGrid, counts
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task
from gazeveil.aggregate.strategy_parts import BOUND, check_size, estimate, plane_of
from gazeveil.arrays import FloatArray, IntArray, one_thread
from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource, gaussian

KEPT = 20
"""How many cells are kept on each level, the paper's w."""

FADE = 0.65
"""How much smaller the weight of a level is than that of the next one nearer to the level of about `KEPT` cells."""

_FEWEST_LEVELS, _MOST_LEVELS = 1, 6
_MOST_DIRECTIONS = 150
_REDRAWS = 24
"""How many fresh draws of noise the standard deviations are taken from."""


@dataclass(frozen=True, slots=True)
class LevelMaps(OnGrid):
    """One observer's distribution on grids of 2 x 2, 4 x 4, … cells, each times its weight, one after the other.

    On level i no entry is negative and the entries add up to at most the weight of the level, in integers. So the
    squares of all entries add up to at most the sum of the squared weights.

    Attributes:
        grid: The finest cells.
        weights: Those of the levels, coarsest first.
    """

    grid: Grid
    weights: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers."""
        return sum(4**level for level in range(1, len(self.weights) + 1))

    def __call__(self, rows: Columns) -> IntArray:
        """Return one observer's integers; whoever has no gaze gives zeros."""
        finest = counts(self.grid, rows).reshape(self.grid.shape)
        samples = max(int(finest.sum()), 1)
        levels = []
        for weight in reversed(self.weights):
            levels.append((finest * weight // samples).ravel())
            finest = _added_up(finest)
        return np.concatenate(levels[::-1])


@STRATEGIES.add_unlisted("hierarchical")
@dataclass(frozen=True, slots=True)
class Hierarchical(strategy_parts.NormalisedStrategy):
    """Release distributions of gaze on grids from coarse to fine and keep the cells with most of it.

    Guarantee: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
        decoder: Whether to infer the map with our decoder instead of showing what was kept.
        kept: How many cells are kept on each level.
        fade: How fast weights fall from level to level, above 0 and up to 1.
    """

    task: Task
    decoder: bool = False
    kept: int = KEPT
    fade: float = FADE

    def __post_init__(self) -> None:
        strategy_parts.NormalisedStrategy.__post_init__(self)
        if type(self.kept) is not int or self.kept < 1:
            raise OptionError(f"kept must be a whole number from 1 up, not {self.kept!r}")
        if not 0 < self.fade <= 1:
            raise OptionError(f"fade must lie above 0 and up to 1, not at {self.fade!r}")

    def kernel(self) -> LevelMaps:
        """Return what turns one observer's rows into integers."""
        levels = _levels(self.task.grid)
        return LevelMaps(Grid(2**levels, 2**levels, self.task.grid.geometry), _weights(levels, self.kept, self.fade))

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        noisy = check_size(noisy, self.kernel().size)
        if self.decoder:
            decoder, turn = _decoder(self.task, self.kernel().weights)
            return estimate(self.task, decoder, np.asarray(turn @ (noisy / (BOUND * self.task.observers))))
        again = NoiseSource.seeded(0)  # post-processing of numbers that are private already: it needs no secret
        redrawn = [self._shown(noisy + gaussian(again, self.sigma, noisy.shape)) for _ in range(_REDRAWS)]
        even = np.full(self.task.grid.shape, 1 / self.task.grid.size)
        return Estimate(self._shown(noisy), np.std(redrawn, axis=0, ddof=1), even, 1.0)

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        return {
            "strategy": "hierarchical",
            "decoder": self.decoder,
            "kept": self.kept,
            "fade": self.fade,
            "weights": list(self.kernel().weights),
            "bound": BOUND,
            "sigma": self.sigma,
        }

    def _shown(self, noisy: IntArray) -> FloatArray:
        """Return the map that the kept cells make, blurred, of mass 1."""
        weights = self.kernel().weights
        sides = [2**level for level in range(1, len(weights) + 1)]
        parts = np.split(noisy, np.cumsum([side * side for side in sides])[:-1])
        scales = [weight * self.task.observers for weight in weights]
        masses = [part.reshape(side, side) / scale for part, side, scale in zip(parts, sides, scales, strict=True)]
        finest = fitted(masses, [1 / scale**2 for scale in scales], kept_cells(masses, self.kept))
        side, (rows, columns) = sides[-1], self.task.grid.shape
        plane = self.task.grid.geometry
        down, across = (overlap(Grid(1, side, plane), Grid(1, count, plane)) for count in (rows, columns))
        drawn = render(down.T @ finest @ across, self.task.blur_cells)
        return np.asarray(drawn / drawn.sum())


def kept_cells(masses: list[FloatArray], most: int) -> list[NDArray[np.bool_]]:
    """Return which cells are kept on each level: those of highest mass among the children of kept ones."""
    kept: list[NDArray[np.bool_]] = []
    candidates = np.ones((2, 2), dtype=np.bool_)
    for mass in masses:
        ranked = np.where(candidates, mass, -np.inf).ravel()
        best = np.argsort(-ranked, kind="stable")[: min(most, int(candidates.sum()))]
        chosen = np.zeros(mass.size, dtype=np.bool_)
        chosen[best] = True
        kept.append(chosen.reshape(mass.shape))
        candidates = _for_children(kept[-1])
    return kept


def fitted(masses: list[FloatArray], variances: list[float], kept: list[NDArray[np.bool_]]) -> FloatArray:
    """Return a map of mass 1 on the finest level that fits the noisy masses of the kept cells.

    Upwards, a cell's own mass and that of its kept children are averaged by their precision. Downwards, what the
    children lack of their parent's mass is shared among them by their variance; none gets less than nothing. The mass
    of a cell without kept children lies evenly in it.
    """
    guess = [np.where(keep, mass, 0.0) for mass, keep in zip(masses, kept, strict=True)]
    spread = [np.where(keep, variance, 0.0) for keep, variance in zip(kept, variances, strict=True)]
    for level in range(len(masses) - 2, -1, -1):
        below, uncertain = _added_up(guess[level + 1]), _added_up(spread[level + 1])
        both = kept[level] & (uncertain > 0)
        own = variances[level] / np.where(both, uncertain + variances[level], 1.0)
        guess[level] = np.where(both, guess[level] + own * (below - guess[level]), guess[level])
        spread[level] = np.where(both, own * uncertain, spread[level])
    found = np.ones((1, 1))
    for level, keep in enumerate(kept):
        lacking = _for_children(found - _added_up(guess[level]))
        among = _for_children(_added_up(spread[level]))
        share = np.where(among > 0, spread[level] / np.where(among > 0, among, 1.0), 0.0)
        wanted = np.maximum(np.where(keep, guess[level] + lacking * share, 0.0), 0.0)
        total = _for_children(_added_up(wanted))
        parent = _for_children(found)
        found = np.where(total > 0, wanted * parent / np.where(total > 0, total, 1.0), parent / 4)
    return found


def _levels(grid: Grid) -> int:
    """Return how many levels there are, so that the finest cells are no larger than those of the working grid."""
    working = working_grid(grid)
    levels = math.ceil(math.log2(max(working.columns, working.rows)))
    return min(max(levels, _FEWEST_LEVELS), _MOST_LEVELS)


def _weights(levels: int, kept: int, fade: float) -> tuple[int, ...]:
    """Return whole weights whose squares add up to at most the square of `BOUND`, largest where ``kept`` cells are."""
    middle = math.floor(math.log2(math.sqrt(kept)))
    weights = np.array([fade ** abs(level - middle) for level in range(1, levels + 1)])
    whole = np.floor(weights * (BOUND / np.sqrt(np.sum(weights**2)))).astype(np.int64)
    while sum(int(weight) ** 2 for weight in whole) > BOUND * BOUND:  # rounding down nearly always did it already
        whole[np.argmax(whole)] -= 1
    return tuple(int(weight) for weight in whole)


def _added_up(cells: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of two by two cells."""
    rows, columns = cells.shape
    return np.asarray(cells.reshape(rows // 2, 2, columns // 2, 2).sum(axis=(1, 3)))


def _for_children(cells: NDArray[Any]) -> NDArray[Any]:
    """Return each cell's value for each of its four children."""
    return np.asarray(cells.repeat(2, axis=0).repeat(2, axis=1))


@lru_cache(maxsize=2)
@one_thread()
def _decoder(task: Task, weights: tuple[int, ...]) -> tuple[Decoder, FloatArray]:
    """Return our decoder for the levels, and what turns their numbers into the fewer that it looks at."""
    plane = plane_of(task)
    levels = [
        overlap(plane.grid, Grid(2**level, 2**level, task.grid.geometry)) * (weight / BOUND)
        for level, weight in enumerate(weights, start=1)
    ]
    seen = np.concatenate(levels, axis=1)
    _, _, turn = np.linalg.svd(seen, full_matrices=False)
    turn = np.ascontiguousarray(turn[:_MOST_DIRECTIONS])
    channel = Channel(
        features=np.ascontiguousarray(plane.in_blurred(seen @ turn.T)),
        offset=np.zeros(plane.grid.size),
        gains=(1.0,),
        observers=task.observers,
        noise_sd=strategy_parts.sigma(task) / (BOUND * task.observers),
    )
    return Decoder(plane, models_of(plane, task.saliency), channel), turn


# --- The plain way: each observer's map on a coarse grid, scaled to one length, summed, Gaussian noise, then decoded.


MUCH = 0.01319
COARSE, FINER = (8, 8), (16, 12)
"""Columns and rows that are released where each participant's share of the noise is above `MUCH`, and below.

For replace-one, ε = 1 and δ = 10⁻⁵, fewer than 400 participants have more.
"""


@STRATEGIES.add_unlisted("histogram")
@dataclass(frozen=True, slots=True)
class Histogram(strategy_parts.NormalisedStrategy):
    """Release a coarse histogram of gaze and infer the fine map from it.

    Guarantee: (ε, δ)-differential privacy for observers (docs/proofs/heatmap-strategies.md).

    Attributes:
        task: The public facts.
    """

    task: Task

    @property
    def coarse(self) -> Grid:
        """The cells that are released."""
        return coarse_grid(self.task)

    def kernel(self) -> NormalisedMap:
        """Return what turns one observer's rows into integers."""
        return NormalisedMap(self.coarse, BOUND)

    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""
        measured = check_size(noisy, self.coarse.size) / (BOUND * self.task.observers)
        return estimate(self.task, _coarse_decoder(self.task), np.asarray(measured))

    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""
        return {
            "strategy": "histogram",
            "columns": self.coarse.columns,
            "rows": self.coarse.rows,
            "bound": BOUND,
            "sigma": self.sigma,
        }


def coarse_grid(task: Task) -> Grid:
    """Return the cells to release: the more noise there is for each participant, the fewer."""
    columns, rows = COARSE if strategy_parts.noise_sd(task) > MUCH else FINER
    working = working_grid(task.grid)
    return Grid(min(columns, working.columns), min(rows, working.rows), task.grid.geometry)


@lru_cache(maxsize=4)
@one_thread()
def _coarse_decoder(task: Task) -> bayes_decoder.Decoder:
    plane = plane_of(task)
    features = plane.in_blurred(overlap(plane.grid, coarse_grid(task)))
    models = strategy_parts.models_for(task, plane)
    projected = plane.project(models, features)
    return bayes_decoder.Decoder(plane, models, strategy_parts.channel(task, plane, features, projected), projected)
