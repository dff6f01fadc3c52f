# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The contract of a heatmap strategy: a noisy sum that is decoded; and which strategy suits a task.

Noise hides one observer only if the sum keeps the kernel's bound. So no caller hands in a sum: `NoisySum.measure` takes
a corpus, sums its own kernel over it and adds its own noise.

1. ``kernel``: one observer's rows become integers whose norm is bounded (clipped in integers, rounded toward zero).
2. ``measure``: the kernel's sum over observers gets exact lattice noise. From here on everything is private.
3. ``decode``: the noisy integers become a heatmap, with error bars. Post-processing: it sees nothing but the noisy
   integers and public numbers.

Everything a strategy is made of is public and fixed before it sees data: grid, number of observers, ε, δ, blur.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gazeveil.aggregate.engine import Engine, Kernel
from gazeveil.aggregate.grid import Grid
from gazeveil.aggregate.saliency import Saliency
from gazeveil.arrays import FloatArray, IntArray, Tell, silent
from gazeveil.exact import Number, above_zero, probability
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.privacy.guarantee import Guarantee
from gazeveil.privacy.protection import Neighbours
from gazeveil.registry import Names


class NoisySum(ABC):
    """Something that sums its own kernel over observers and adds its own exact noise."""

    __slots__ = ()

    @abstractmethod
    def kernel(self) -> Kernel:
        """Return what turns one observer's rows into integers of a bounded size."""

    @abstractmethod
    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        """Return a sum of the kernel with exact noise; several sums, one a row, are several releases."""

    def measure(self, corpus: Corpus, noise: NoiseSource, engine: Engine, tell: Tell = silent) -> IntArray:
        """Return the noisy sum over a corpus: the only step that sees both data and noise."""
        return self._noised(engine.sum_over_observers(corpus, self.kernel(), tell).total, noise)


# --- The contract of a strategy.


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The public facts about one heatmap to release.

    Attributes:
        grid: Where gaze is counted.
        observers: How many participants there are. Public under replace-one; under add/remove a declared or privately
            counted number, which only tunes the decoder.
        epsilon: The ε that may be spent on this heatmap.
        delta: The δ that may be spent on it; 0 for pure guarantees.
        neighbours: How neighbouring data sets differ.
        blur_cells: Standard deviation of the point-spread function of the rendered map, in cells.
        saliency: What the picture that was looked at says about gaze, if it is known.
    """

    grid: Grid
    observers: int
    epsilon: Number
    delta: Number = Fraction(1, 100_000)
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    blur_cells: float = 1.1
    saliency: Saliency | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", above_zero(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", probability(self.delta, "delta"))


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A heatmap and how much to trust it.

    Attributes:
        map: Rows by columns, not negative, of mass 1, blurred.
        noise_sd: The standard deviation that the privacy noise alone gives each cell of ``map``.
        prior: What would be shown without any data, on the same scale.
        data_share: How much of the picture is data rather than prior, from 0 to 1.
        picture_share: How much of the prior behind ``map`` follows the stimulus's own pixels, from 0 to 1; 0 where
            they were not given.
        error_sd: How far the map of the same participants without noise may be from ``map``, as a standard deviation:
            noise and what the prior hides. 95 % intervals reach 1.96 of them to both sides, and end at 0.
        population_sd: The same for the map of all participants whom the participants stand for.
        hot_spots: Cells that have more than four times the gaze of an even map; at most one in ten of them is
            wrong if the models hold.
    """

    map: FloatArray
    noise_sd: FloatArray
    prior: FloatArray
    data_share: float
    picture_share: float = 0.0
    error_sd: FloatArray | None = None
    population_sd: FloatArray | None = None
    hot_spots: NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        rows, columns = self.map.shape
        pictured = f", {self.picture_share:.0%} of its prior from the picture" if self.picture_share else ""
        spots = "" if self.hot_spots is None else f", {int(self.hot_spots.sum())} cells in hot spots"
        return f"Estimate({rows} × {columns} cells, {self.data_share:.0%} from data{pictured}{spots})"


class Strategy(NoisySum):
    """A proven way of releasing one heatmap: a frozen dataclass of public numbers.

    Attributes:
        task: The public facts it was made for.
    """

    __slots__ = ()
    task: Task

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What it guarantees, before it sees data."""

    @abstractmethod
    def decode(self, noisy: IntArray) -> Estimate:
        """Return the heatmap, from the noisy integers alone."""

    @abstractmethod
    def to_dict(self) -> Mapping[str, Any]:
        """Return the strategy and its parameters as plain values."""


STRATEGIES: Names[type[Strategy]] = Names(
    "heatmap strategy",
    {"bumps": "gazeveil.aggregate.strategies.bumps:Bumps", "modes": "gazeveil.aggregate.strategies.modes:Modes"},
)
"""Strategies by name; each is made as ``STRATEGIES[name](task)``."""


# --- Which strategy suits a task: a rule that looks at public numbers alone.


_MORE = 1.15
"""How much more many numbers explain than a linear estimate from them does: the decoder is not linear."""


def choose(task: Task) -> str:
    """Return the name of the strategy for a task: the one whose numbers should explain more of the map."""
    if task.delta == 0:
        return "modes"
    shares = explained(task)
    return max(shares, key=lambda name: shares[name])


@lru_cache(maxsize=16)
def explained(task: Task) -> Mapping[str, float]:
    """Return which share of what the prior leaves open each strategy in question should explain."""
    from gazeveil.aggregate.strategies import bumps, modes  # noqa: PLC0415  (they ask here how much noise there is)

    if task.delta == 0:
        return {"modes": modes.explained(task)}
    return {"bumps": min(_MORE * bumps.explained(task), 1.0), "modes": modes.explained(task)}
