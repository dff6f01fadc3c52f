# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Liu's optimal cap: all caps in one pass over the non-zero cells, against the paper's dense algorithm 1.

The dense algorithm takes g_max·n·r steps. At the paper's size (50,000 observers, 1050 x 1680 pixels) that is not to be
waited for, so it is measured on a smaller instance, in numpy, and scaled by the number of steps.
"""

from __future__ import annotations

import statistics

import numpy as np

from benchmarks.harness import Row, race, seconds
from gazeveil.aggregate.liu import ObserverMaps, optimal_cap
from gazeveil.lab.as_published.liu_maps import GaussianAsPublished

_OBSERVERS, _ROWS, _COLUMNS, _SAMPLES = 50_000, 1050, 1680, 300
_SMALL_OBSERVERS, _SMALL_CELLS = 60, 20_000


def run() -> list[Row]:
    rng = np.random.default_rng(2019)
    small = _gaze(rng, _SMALL_OBSERVERS, 100, _SMALL_CELLS // 100)
    table = np.zeros((_SMALL_OBSERVERS, _SMALL_CELLS), dtype=np.int64)
    table[small.observer, small.cell] = small.count
    unit = GaussianAsPublished(_SMALL_OBSERVERS, _SMALL_CELLS, 1).noise_sd
    if optimal_cap(small, unit).cap != int(np.argmin(_dense(table, unit))) + 1:
        raise RuntimeError("the two algorithms disagree")
    same, dense = race(lambda: optimal_cap(small, unit), lambda: _dense(table, unit), rounds=5, peer_rounds=3)
    steps = small.highest * small.observers * small.cells

    large = _gaze(rng, _OBSERVERS, _ROWS, _COLUMNS)
    large_unit = GaussianAsPublished(large.observers, large.cells, 1).noise_sd
    ours = statistics.median(seconds(lambda: optimal_cap(large, large_unit)) for _ in range(3))
    all_steps = large.highest * large.observers * large.cells
    return [
        Row(
            "optimal cap, all m, paper's size",
            "dense algorithm 1, scaled",
            ours,
            dense * all_steps / steps,
            target=1000.0,
            work=float(large.count.sum()),
            unit="samples",
            note=f"{len(large.count):,} non-zero cells, g_max {large.highest}; dense measured at "
            f"{small.highest} x {small.observers} x {small.cells:,} steps in numpy, "
            f"scaled by {all_steps / steps:,.0f}",
        ),
        Row(
            "optimal cap, all m, small instance",
            "dense algorithm 1",
            same,
            dense,
            target=10.0,
            work=float(small.count.sum()),
            unit="samples",
            note=f"{small.observers} observers x {small.cells:,} cells, g_max {small.highest}, nothing scaled",
        ),
    ]


def _gaze(rng: np.random.Generator, observers: int, rows: int, columns: int) -> ObserverMaps:
    """Twelve fixations a person of 25 samples each, a pixel and a half wide, around the middle."""
    fixations = _SAMPLES // 25
    shape = (observers, fixations, 1)
    across = columns * np.clip(0.5 + 0.15 * rng.standard_normal(shape), 0.05, 0.95)
    down = rows * np.clip(0.5 + 0.15 * rng.standard_normal(shape), 0.05, 0.95)
    x = np.clip(across + 1.5 * rng.standard_normal((observers, fixations, 25)), 0, columns - 1).astype(np.int64)
    y = np.clip(down + 1.5 * rng.standard_normal((observers, fixations, 25)), 0, rows - 1).astype(np.int64)
    who = np.repeat(np.arange(observers), _SAMPLES)
    return ObserverMaps.of_samples(who, (y * columns + x).ravel(), observers=observers, cells=rows * columns)


def _dense(table: np.ndarray[tuple[int, int], np.dtype[np.int64]], unit: float) -> list[float]:
    """Theorem 4.1 for every cap, over all n·r counts."""
    original = table.mean(axis=0)
    return [
        (cap * unit) ** 2 + float(np.mean((np.minimum(table, cap).mean(axis=0) - original) ** 2))
        for cap in range(1, int(table.max()) + 1)
    ]
