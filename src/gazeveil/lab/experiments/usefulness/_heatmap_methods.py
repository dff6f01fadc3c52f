# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ways of making one heatmap that the study of usefulness compares: ours, its parts, and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gazeveil.aggregate.engine import Columns, Kernel, add_up
from gazeveil.aggregate.grid import Grid, overlap, render
from gazeveil.aggregate.liu import GaussianMap
from gazeveil.aggregate.maps import dwell
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task, choose
from gazeveil.aggregate.strategy_parts import BOUND, prior_of_task
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.lab import load
from gazeveil.lab.baselines.histogram import Histogram
from gazeveil.lab.experiments.usefulness._heatmap_recipe import recipe
from gazeveil.noise import NoiseSource

load()

People = Sequence[Columns]
Way = Callable[[People, Task, NoiseSource], FloatArray]
"""Makes a blurred map on the grid of the task from the gaze of some participants."""

LIU_GRIDS: Final = ((4, 3), (8, 6), (16, 12), (32, 24))
LIU_CAPS: Final = (1, 10, 100)
"""Samples of 10 to 17 ms that a participant may add to a cell, at most: a glance, a short fixation, a long look."""


@dataclass(frozen=True, slots=True)
class Method:
    """One row of the comparison.

    Attributes:
        title: What it is called in tables.
        ways: Its variants by name; with several, the best by mean correlation is shown, chosen by an oracle.
        private: Whether it guarantees anything.
    """

    title: str
    ways: Mapping[str, Way] = field(hash=False)
    private: bool = True

    @property
    def oracle(self) -> bool:
        """Whether the variant shown was chosen with knowledge of the truth, which nobody has."""
        return len(self.ways) > 1


def truth(people: People, task: Task) -> FloatArray:
    """Return the map of these participants without noise.

    Each participant's dwell times, as shares, averaged and blurred.
    """
    mean = np.mean([dwell(task.grid, rows) for rows in people], axis=0)
    return render(mean.reshape(task.grid.shape), task.blur_cells)


def by_strategy(name: str) -> Way:
    """Return the way of a registered strategy, or of whichever `choose` takes."""

    def way(people: People, task: Task, noise: NoiseSource) -> FloatArray:
        return estimated(people, task, noise, name).map

    return way


def estimated(people: People, task: Task, noise: NoiseSource, name: str = "auto") -> Estimate:
    """Return the map of some participants by a strategy, or by whichever `choose` takes, with its error bars."""
    strategy = STRATEGIES[choose(task) if name == "auto" else name](task)  # type: ignore[call-arg]
    return strategy.decode(strategy._noised(_sum(strategy.kernel(), people), noise))


def _plain_histogram(people: People, task: Task, noise: NoiseSource) -> FloatArray:
    """Release a coarse histogram as `histogram` does, and show its noisy cells as they are."""
    strategy = Histogram(task)
    noisy = strategy._noised(_sum(strategy.kernel(), people), noise) / (BOUND * len(people))
    return _shown(noisy, strategy.coarse, task)


def _liu(columns: int, rows: int, cap: int) -> Way:
    def way(people: People, task: Task, noise: NoiseSource) -> FloatArray:
        grid = Grid(min(columns, task.grid.columns), min(rows, task.grid.rows), task.grid.geometry)
        mechanism = GaussianMap(len(people), grid.size, task.epsilon, cap=cap, delta=task.delta, grid=grid)
        return _shown(mechanism._noisy_sum(_sum(mechanism.kernel(), people), noise) / len(people), grid, task)

    return way


def _without_noise(people: People, task: Task, noise: NoiseSource) -> FloatArray:
    del noise
    return truth(people, task)


def _no_data(people: People, task: Task, noise: NoiseSource) -> FloatArray:
    del people, noise
    return prior_of_task(task)


def _sum(kernel: Kernel, people: People) -> IntArray:
    total = np.zeros(kernel.size, dtype=np.int64)
    rows = {name: np.concatenate([person[name] for person in people]) for name in kernel.columns}
    starts = np.concatenate(([0], np.cumsum([len(person["x"]) for person in people])))
    add_up(kernel, rows, starts, total)
    return total


def _shown(noisy: FloatArray, coarse: Grid, task: Task) -> FloatArray:
    """Spread coarse cells over the fine ones they cover, blur, and cut off what noise made negative."""
    fine = overlap(task.grid, coarse) @ noisy * (coarse.size / task.grid.size)
    return np.maximum(render(fine.reshape(task.grid.shape), task.blur_cells), 0.0)


METHODS: Final[Mapping[str, Method]] = {
    "prior": Method("prior alone, no data", {"prior": _no_data}),
    "liu": Method(
        "Liu 2019, corrected noise",
        {f"{c} x {r}, cap {cap}": _liu(c, r, cap) for c, r in LIU_GRIDS for cap in LIU_CAPS},
    ),
    "grid": Method("clipped grid, no decoder", {"grid": _plain_histogram}),
    "hierarchical": Method("hierarchical, after Ghazi 2023", {"hierarchical": by_strategy("hierarchical")}),
    "histogram": Method("`histogram` with the decoder", {"histogram": by_strategy("histogram")}),
    "recipe": Method("an earlier version", {"recipe": recipe}),
    "ours": Method("`auto`, ours", {"auto": by_strategy("auto")}),
    "none": Method("without privacy", {"none": _without_noise}, private=False),
}
"""Methods by the name they have on the command line."""

MORE_METHODS: Final[Mapping[str, Method]] = {
    name: Method(f"`{name}`", {name: by_strategy(name)}) for name in ("bumps", "modes")
}
"""Methods that are measured only if asked for."""
