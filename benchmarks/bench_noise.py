# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Lattice noise for a full heatmap (1,764,000 cells), table set-up, planar Laplace, and what timing could tell."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, race, seconds
from gazeveil.noise import NoiseSource, add_gaussian, gaussian, planar_laplace
from gazeveil.noise import sampling_kernels as refine_kernels
from gazeveil.noise.exact_rounding import GAUSSIAN, Table, table
from gazeveil.noise.sampling_kernels import walk

CELLS = 1_764_000
OPENDP_CELLS = 5_000
PYDP_CELLS = 50_000
POINTS = 200_000


def run() -> list[Row]:
    rows = []
    for sigma in (1, 50, 1000):
        rows += [_against_numpy(sigma), _against_opendp(sigma), _against_pydp(sigma)]
    return [*rows, *_set_up(), _planar(), _live_point(), *_timing()]


def _against_numpy(sigma: int) -> Row:
    source, generator = NoiseSource.secure(), np.random.default_rng()
    ours, peer = race(partial(gaussian, source, sigma, CELLS), partial(generator.standard_normal, CELLS), rounds=9)
    return Row(f"lattice Gaussian, σ = {sigma}", "numpy standard_normal", ours, peer, 1, CELLS, "cells")


def _against_opendp(sigma: int) -> Row:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    mechanism = dp.m.make_gaussian(*space, scale=float(sigma))
    peer = partial(mechanism, [0] * OPENDP_CELLS)
    return _adding(sigma, "OpenDP integer Gaussian", peer, OPENDP_CELLS, target=1000)


def _against_pydp(sigma: int) -> Row:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    mechanism = GaussianMechanism(1.0, 1e-5, float(sigma))  # finds its own σ; the time hardly depends on it

    def peer() -> None:
        add = mechanism.add_noise
        for _ in range(PYDP_CELLS):
            add(0.0)

    return _adding(sigma, "python-dp Gaussian, a call a cell", peer, PYDP_CELLS, target=100)


def _adding(sigma: int, name: str, peer: Callable[[], object], peer_cells: int, target: float) -> Row:
    source, cells = NoiseSource.secure(), np.zeros(CELLS, np.int64)
    ours, theirs = race(partial(add_gaussian, source, cells, sigma), peer, rounds=5, peer_rounds=3)
    note = f"the peer ran on {peer_cells:,} cells; its time is scaled up"
    theirs *= CELLS / peer_cells
    return Row(f"add lattice Gaussian, σ = {sigma}", name, ours, theirs, target, CELLS, "cells", note)


def _set_up() -> list[Row]:
    rows = []
    for sigma in (50, 1000, 10_000):
        times = sorted(seconds(partial(table.__wrapped__, GAUSSIAN, Fraction(sigma))) for _ in range(5))
        rows.append(Row(f"table set-up, σ = {sigma:,}", "budget of 50 ms", times[2], 0.05, 1, 1, "tables"))
    return rows


def _planar() -> Row:
    source, generator = NoiseSource.secure(), np.random.default_rng()
    x = y = np.zeros(POINTS)

    def recipe() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        radius, angle = generator.gamma(2, 10, POINTS), generator.uniform(0, 2 * np.pi, POINTS)
        return x + radius * np.cos(angle), y + radius * np.sin(angle)

    ours, peer = race(lambda: planar_laplace(source, x, y, 0.1), recipe)
    return Row("planar Laplace, array", "numpy gamma and angle, inexact", ours, peer, 0, POINTS, "points", "note only")


def _live_point() -> Row:
    source, generator = NoiseSource.secure(), np.random.default_rng()

    def ours() -> None:
        for _ in range(10_000):
            planar_laplace(source, 512.25, 300.5, 0.1)

    def recipe() -> None:
        for _ in range(10_000):
            radius, angle = generator.gamma(2, 10), generator.uniform(0, 2 * np.pi)
            _ = 512.25 + radius * np.cos(angle), 300.5 + radius * np.sin(angle)

    mine, peer = race(ours, recipe)
    return Row("planar Laplace, a call a point", "numpy, inexact", mine, peer, 0, 10_000, "points", "note only")


def _timing() -> list[Row]:
    """Does time tell the size of a sample? Words are chosen so that all samples are small, or all are large."""
    words = NoiseSource.secure().words(999_999)
    small = words | np.uint64(1 << 63)  # uniform numbers above 1/2
    large = words >> np.uint64(10)  # below 1/1024
    note = "1 would be no difference; note only"

    def row(name: str, job: Callable[[NDArray[np.uint64]], object], samples: int) -> Row:
        outer, inner = race(partial(job, large), partial(job, small), rounds=9)
        return Row(f"time of large samples, {name}", "of small samples", outer, inner, 0, samples, "samples", note)

    rows = [row(f"table, σ = {sigma}", _walker(table(GAUSSIAN, Fraction(sigma))), len(words)) for sigma in (50, 1000)]
    parts, out = np.zeros((len(words) // 3, 2)), np.empty((len(words) // 3, 2), np.int64)
    rows.append(row("planar Laplace", lambda chosen: refine_kernels.radial(chosen, 100.0, parts, 0.0, out), len(out)))
    return rows


def _walker(boundaries: Table) -> Callable[[NDArray[np.uint64]], object]:
    out = np.empty(999_999, np.int64)
    return lambda chosen: walk(chosen, boundaries.tails, boundaries.guide, boundaries.shift, boundaries.width, out)
