# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ways of making one heatmap that are compared: ours, its parts, baselines, and the frozen first recipe.

It is written down here once more, apart from `gazeveil.aggregate`, so that improvements there leave it alone. Lengths
are cells of about one degree. Below 40 effective participants few modes are released (A), else many bumps (B); both are
decoded by weighing 243 models of gaze by their evidence and then finding the likeliest map.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np

from gazeveil.aggregate.bayes_decoder import gamma_quantiles
from gazeveil.aggregate.engine import Columns, Kernel, add_up
from gazeveil.aggregate.grid import Grid, overlap, render
from gazeveil.aggregate.liu import GaussianMap
from gazeveil.aggregate.maps import dwell, to_bounded_integers
from gazeveil.aggregate.strategy import STRATEGIES, Estimate, Task, choose
from gazeveil.aggregate.strategy_parts import BOUND, ball_sensitivity, nonnegative_sensitivity, prior_of_task
from gazeveil.arrays import FloatArray, IntArray
from gazeveil.lab import load
from gazeveil.lab.baselines.coarse_maps import Histogram
from gazeveil.noise import NoiseSource, add_gaussian, radial_noise
from gazeveil.privacy.calibration import gaussian_sigma, radial_scale

Objective = Callable[[FloatArray], tuple[float, FloatArray]]

_MEMORY = 12
_ENOUGH_DECREASE = 1e-4
_MOST_HALVINGS = 25


def minimise(objective: Objective, start: FloatArray, most_steps: int, tolerance: float = 1e-5) -> FloatArray:
    """Return where the search from ``start`` ends: a flat spot, or as far as ``most_steps`` go.

    Args:
        objective: Gives value and gradient.
        start: Where to begin.
        most_steps: How many steps at most.
        tolerance: Stop once a step improves the value by less than this, or the gradient is this short.
    """
    here = np.array(start, dtype=np.float64)
    value, gradient = objective(here)
    memory: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=_MEMORY)
    for _ in range(most_steps):
        if float(np.linalg.norm(gradient)) < tolerance:
            break
        direction = _direction(gradient, memory)
        slope = float(gradient @ direction)
        step = 1.0 if memory else min(1.0, 1.0 / float(np.linalg.norm(gradient)))
        for _ in range(_MOST_HALVINGS):
            there = here + step * direction
            new_value, new_gradient = objective(there)
            if new_value <= value + _ENOUGH_DECREASE * step * slope:
                break
            step /= 2
        else:
            break
        change, bend = there - here, new_gradient - gradient
        curvature = float(change @ bend)
        if curvature > 1e-12 * float(bend @ bend):
            memory.append((change, bend, curvature))
        gained = value - new_value
        here, value, gradient = there, new_value, new_gradient
        if gained < tolerance:
            break
    return here


def _direction(gradient: FloatArray, memory: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """Return minus the gradient times the inverse curvature that the remembered steps suggest."""
    direction = -gradient
    shares: list[float] = []
    for change, bend, curvature in reversed(memory):
        share = float(change @ direction) / curvature
        shares.append(share)
        direction = direction - share * bend
    if memory:
        _, bend, curvature = memory[-1]
        direction = direction * (curvature / float(bend @ bend))
    for (change, bend, curvature), share in zip(memory, reversed(shares), strict=True):
        direction = direction + (share - float(bend @ direction) / curvature) * change
    return direction


# --- The recipe that our first heatmaps followed, with its constants, frozen: what later versions must beat.


FEW = 40.0
KINDS = ((0.5, 2.0), (2.0, 1.5), (8.0, 1.2))
"""Relative variance of a map around its mean, and the size of hot spots."""

_MULTIPLIER = 3.731  # Gaussian noise at ε = 1, δ = 1e-5, for which people count as one each
_GAINS = (0.3, 0.4, 0.5, 0.6, 0.75)
_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80)
_WAVES = (14, 11)
_LOOKS = 5.0


def recipe(people: Sequence[Columns], task: Task, noise: NoiseSource) -> FloatArray:
    """Release a map by the recipe, under the task's guarantee (replace-one only), and decode it."""
    few = task.observers * _MULTIPLIER / gaussian_sigma(task.epsilon, task.delta) < FEW
    design = _few_modes(task) if few else _many_bumps(task)
    total = np.zeros(design.released.shape[1], dtype=np.int64)
    for rows in people:
        map_ = dwell(task.grid, rows)
        if map_.any():
            seen = (map_ - design.offset) @ design.released
            total += to_bounded_integers(seen * (BOUND / design.bound), BOUND, only_clip=True)
    if design.radial is not None:
        scale = radial_scale(task.epsilon, ball_sensitivity(task.neighbours))
        noisy = total + radial_noise(noise, len(total), scale)[0]
    else:
        reach = (ball_sensitivity if few else nonnegative_sensitivity)(task.neighbours)
        noisy = add_gaussian(noise, total, gaussian_sigma(task.epsilon, task.delta, reach))
    measured = design.turn @ (noisy * (design.bound / (BOUND * task.observers)))
    return render(_decoded(measured, design, task).reshape(task.grid.shape), task.blur_cells)


def recipe_prior(task: Task) -> FloatArray:
    """Return what the recipe would show without any data."""
    means, weights = _means(task.grid)
    return render((weights @ means).reshape(task.grid.shape), task.blur_cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """What is released, and what the decoder needs to know about it.

    Attributes:
        released: Features of one participant's map, a column each.
        offset: What is taken from the map before.
        bound: Where features are clipped.
        turn: From the released numbers to those the decoder looks at.
        features: The same of features.
        gains: What clipping may have done to them.
        variances: Those of the noise; several where it is radial.
        radial: The scale of radial noise, or None where it is Gaussian.
        few: Whether this is mechanism A.
    """

    released: FloatArray
    offset: FloatArray
    bound: float
    turn: FloatArray
    features: FloatArray
    gains: tuple[float, ...]
    variances: tuple[float, ...]
    radial: float | None
    few: bool


@lru_cache(maxsize=2)
def _many_bumps(task: Task) -> _Design:
    grid = task.grid
    along = [_bell(_middles(count), _lattice(count), 1.0) for count in (grid.columns, grid.rows)]
    bumps: FloatArray = np.asarray(np.kron(along[1], along[0]), dtype=np.float64)
    mean, between, within = _moments(grid)
    squares = float(np.sum((between + within + np.outer(mean, mean)) * (bumps @ bumps.T)))
    bound = math.sqrt(0.2 * squares)
    turn = np.linalg.svd(bumps, full_matrices=False)[2][:150]
    spread = gaussian_sigma(task.epsilon, task.delta) * math.sqrt(2) * bound / task.observers
    none = np.zeros(grid.size)
    return _Design(bumps, none, bound, turn, bumps @ turn.T, _GAINS, (spread**2,), None, few=False)


@lru_cache(maxsize=2)
def _few_modes(task: Task) -> _Design:
    grid, people, epsilon = task.grid, task.observers, float(task.epsilon)
    mean, between, within = _moments(grid)
    waves = np.array(
        [
            np.outer(_wave(grid.rows, down), _wave(grid.columns, across)).ravel()
            for across, down in product(range(_WAVES[0]), range(_WAVES[1]))
            if 0 < (across / _WAVES[0]) ** 2 + (down / _WAVES[1]) ** 2 < 1
        ]
    ).T
    shifted = between @ waves
    blurred = render(shifted.T.reshape(-1, *grid.shape), task.blur_cells).reshape(-1, grid.size)
    wanted = blurred @ blurred.T
    signal, one = waves.T @ shifted, waves.T @ within @ waves
    whole = signal + one
    best_explained, best = -1.0, waves[:, :1]
    gaussian = gaussian_sigma(task.epsilon, task.delta) ** 2
    for count in _COUNTS:
        bound = math.sqrt(0.5 * count)
        noise = min((count + 1) / epsilon**2, gaussian) * (2 * bound / people) ** 2
        seen = signal + one / people
        root = np.linalg.inv(np.linalg.cholesky(seen + noise * whole))
        top = root.T @ np.linalg.eigh(root @ wanted @ root.T)[1][:, : -count - 1 : -1]
        top = np.linalg.solve(np.linalg.cholesky(top.T @ whole @ top), top.T).T
        explained = float(np.trace(np.linalg.solve(top.T @ seen @ top + noise * np.eye(count), top.T @ wanted @ top)))
        if explained > best_explained:
            best_explained, best = explained, waves @ top
    count = best.shape[1]
    bound = math.sqrt(0.5 * count)
    scale = 2 * bound / (people * epsilon)
    radial = scale if (count + 1) / epsilon**2 < gaussian else None
    variances = (gaussian * (2 * bound / people) ** 2,)
    if radial is not None:
        variances = tuple((gamma_quantiles((count + 1) / 2, 6) * 2 * scale**2).tolist())
    gain = 0.9 * min(1.0, bound / math.sqrt(count))
    return _Design(best, mean, bound, np.eye(count), best, (gain,), variances, radial, few=True)


def _decoded(measured: FloatArray, design: _Design, task: Task) -> FloatArray:
    """Return the map, of mass 1 and not yet blurred."""
    means, weights = _means(task.grid)
    spectra = _spectra(task, design.few)
    logs = []
    for values, vectors in spectra:
        turned = np.einsum("hki,k->hi", vectors, measured)
        expected = np.einsum("hki,hk->hi", vectors, (means - design.offset) @ design.features)
        for gain, variance in product(design.gains, design.variances):
            spread = gain**2 * values + variance
            logs.append(-0.5 * np.sum((turned - gain * expected) ** 2 / spread + np.log(spread), axis=1))
    settings = list(product(design.gains, design.variances))
    log = np.array(logs).reshape(len(KINDS), len(settings), len(means)) + np.log(weights)
    chance = np.exp(log - log.max())
    chance /= chance.sum()
    middle = chance.sum(axis=(0, 1)) @ means
    by_kind = chance.sum(axis=(1, 2))
    found = sum(
        share * _likeliest(measured, middle, kind, design, task.grid)
        for share, kind in zip(by_kind, KINDS, strict=True)
        if share > 1e-3
    )
    found = np.asarray(found / np.sum(found))
    if not design.few:
        return found
    linear = middle.copy()
    for k, kind in enumerate(KINDS):
        values, vectors = spectra[k]
        for h, mean in enumerate(means):
            miss = vectors[h].T @ measured
            expected = vectors[h].T @ ((mean - design.offset) @ design.features)
            pull = sum(
                chance[k, j, h] * gain * (miss - gain * expected) / (gain**2 * values[h] + variance)
                for j, (gain, variance) in enumerate(settings)
            )
            linear += _hot(task.grid, mean, kind, (design.features @ (vectors[h] @ pull))[:, None])[:, 0]
    linear = np.maximum(linear, 0.0)
    return np.asarray((found + linear / linear.sum()) / 2)


def _likeliest(
    measured: FloatArray, middle: FloatArray, kind: tuple[float, float], design: _Design, grid: Grid
) -> FloatArray:
    """Return the likeliest map softmax(log m + L ξ)."""
    field, start = _log_field(grid, kind), np.log(middle)
    low, high = design.gains[0], design.gains[-1]

    def map_of(xi: FloatArray) -> FloatArray:
        logs = start + field @ xi
        raised = np.exp(logs - logs.max())
        return np.asarray(raised / raised.sum())

    def objective(xi: FloatArray) -> tuple[float, FloatArray]:
        found = map_of(xi)
        seen = (found - design.offset) @ design.features
        gain = min(max(float(measured @ seen) / max(float(seen @ seen), 1e-300), low), high)
        miss = gain * seen - measured
        if design.radial is None:
            value, slope = float(miss @ miss) / (2 * design.variances[0]), miss / design.variances[0]
        else:
            distance = math.sqrt(float(miss @ miss) + (1e-3 * design.radial) ** 2)
            value, slope = distance / design.radial, miss / (distance * design.radial)
        pull = gain * (design.features @ slope)
        return value + float(xi @ xi) / 2, (found * (pull - float(found @ pull))) @ field + xi

    return map_of(minimise(objective, np.zeros(field.shape[1]), 60))


@lru_cache(maxsize=4)
def _means(grid: Grid) -> tuple[FloatArray, FloatArray]:
    """Return the 81 mean maps, a row each, and their weights."""
    means, weights = [], []
    across, down = (_middles(count) / count for count in (grid.columns, grid.rows))
    for x, y, wide, high in product((0.45, 0.5, 0.55), (0.44, 0.5, 0.56), (0.14, 0.19, 0.26), (0.14, 0.19, 0.26)):
        bump = np.outer(np.exp(-0.5 * ((down - y) / high) ** 2), np.exp(-0.5 * ((across - x) / wide) ** 2)).ravel()
        means.append(0.9 * bump / bump.sum() + 0.1 / grid.size)
        weights.append((1.0 if x == 0.5 else 0.5) * (1.0 if y == 0.5 else 0.5))
    return np.array(means), np.array(weights) / sum(weights)


@lru_cache(maxsize=4)
def _moments(grid: Grid) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, covariance between scenes, and covariance between participants, over all models."""
    means, weights = _means(grid)
    weighted = weights[:, None] * means
    second = weighted.T @ means
    hot = np.zeros((grid.size, grid.size))
    for variance, length in KINDS:
        near = _near(grid, length, np.eye(grid.size))
        sums = means * (means @ near)  # of the rows of mean mean' near, a row a mean
        cross = weighted.T @ sums
        whole = (weighted * sums.sum(axis=1, keepdims=True)).T @ means
        hot += variance / len(KINDS) * (near * second - cross - cross.T + whole)
    mean = weights @ means
    return mean, hot + second - np.outer(mean, mean), (np.diag(mean) - second - hot / 2) / _LOOKS


@lru_cache(maxsize=2)
def _spectra(task: Task, few: bool) -> list[tuple[FloatArray, FloatArray]]:
    """Return the covariance of the features under every model, as eigenvalues and eigenvectors."""
    design = _few_modes(task) if few else _many_bumps(task)
    features, found = design.features, []
    for kind in KINDS:
        covariances = []
        for mean in _means(task.grid)[0]:
            hot = features.T @ _hot(task.grid, mean, kind, features)
            seen = mean @ features
            single = features.T @ (mean[:, None] * features) - np.outer(seen, seen)
            covariances.append(hot + (single - hot / 2) / (_LOOKS * task.observers))
        values, vectors = np.linalg.eigh(np.array(covariances))
        found.append((np.maximum(values, 0.0), vectors))
    return found


def _hot(grid: Grid, mean: FloatArray, kind: tuple[float, float], columns: FloatArray) -> FloatArray:
    """Multiply columns by the covariance of maps around a mean, projected so that mass stays 1."""
    centred = mean[:, None] * (columns - mean @ columns)
    moved = mean[:, None] * _near(grid, kind[1], centred)
    return np.asarray(kind[0] * (moved - mean[:, None] * moved.sum(axis=0)))


def _near(grid: Grid, length: float, columns: FloatArray) -> FloatArray:
    """Multiply columns by exp(-d²/2l²) of the distances between cells."""
    down, across = (_bell(_middles(count), _middles(count), length) for count in grid.shape)
    cube = columns.reshape(*grid.shape, -1)
    return np.tensordot(down, np.matmul(across, cube), axes=1).reshape(columns.shape)


@lru_cache(maxsize=8)
def _log_field(grid: Grid, kind: tuple[float, float]) -> FloatArray:
    unit = np.eye(grid.size)
    covariance = math.log1p(kind[0]) * _near(grid, kind[1], unit) + 0.2 * _near(grid, 9.0, unit)
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors[:, -220:] * np.sqrt(np.maximum(values[-220:], 0.0)))


def _bell(at: FloatArray, around: FloatArray, length: float) -> FloatArray:
    return np.asarray(np.exp(-0.5 * ((at[:, None] - around) / length) ** 2))


def _middles(count: int) -> FloatArray:
    return np.asarray(np.arange(count) + 0.5, dtype=np.float64)


def _lattice(count: int) -> FloatArray:
    bumps = math.ceil(count / 1.25)
    return np.asarray(_middles(bumps) * (count / bumps))


def _wave(size: int, frequency: int) -> FloatArray:
    return np.asarray(np.cos(math.pi * frequency * _middles(size) / size))


# --- The ways of making one heatmap that the study of usefulness compares: ours, its parts, and the baselines.


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
