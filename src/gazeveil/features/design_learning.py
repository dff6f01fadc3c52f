# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Learning a public design from public participants' series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.features.design import COSINES, MOST_DIRECTIONS, Ball, Design, quarter_root, shapes
from gazeveil.features.ranges import Ranges
from gazeveil.features.series import panel_of
from gazeveil.features.spherical_noise import in_ball
from gazeveil.features.table import FeatureTable

MOST_SHAPES: Final = 24
MOST_COMPONENTS: Final = 24
SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 40, 64, 100, 150, 200)
QUANTILES: Final = (0.5, 0.7, 0.9)
STEP_SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24)

_DIGITS = 9


def learn(tasks: Sequence[FloatArray], ranges: Ranges, source: str, kind: str = COSINES) -> Design:
    """Return the design that public series suggest.

    Args:
        tasks: For every public task the series of participants, participant by step by feature, from 0 to 1, nothing
            missing.
        ranges: The declared ranges that scaled them.
        source: Where they come from, in words.
        kind: Which shapes over time to use.

    Raises:
        InputError: If there are too few series, or they do not fit together.
    """
    tasks = [np.asarray(series, dtype=np.float64) for series in tasks if len(series)]
    if sum(len(series) for series in tasks) < 2:
        raise InputError("a design needs the series of at least two public participants")
    steps, features = tasks[0].shape[1:]
    if features != len(ranges) or any(series.shape[1:] != (steps, features) for series in tasks):
        raise InputError("all public series need the same steps, and a declared range for every feature")
    if not all(np.isfinite(series).all() for series in tasks):
        raise InputError("a public series has a missing value", hint="fill it first")
    mean = np.round(_mean([series.mean(axis=(0, 1)) for series in tasks]), _DIGITS)
    components = _components(_mean([_moment(series - mean) for series in tasks]), min(features, MOST_COMPONENTS))
    time = shapes(kind, steps, min(steps, MOST_SHAPES))
    each = [np.einsum("kt,ntf,fp->nkp", time, series - mean, components, optimize=True) for series in tasks]
    energies = np.round(_mean([np.mean(np.square(parts), axis=0) for parts in each]), _DIGITS)
    energy = float(np.mean([np.mean(np.square(series - mean)) for series in tasks]))
    rest = round(max(energy - float(energies.sum()) / (steps * features), 0.0), _DIGITS)
    return Design(
        ranges=ranges,
        steps=steps,
        kind=kind,
        mean=mean,
        components=components,
        energies=energies,
        between=np.round(_between(each, energies), _DIGITS),
        rest=rest,
        series_balls=_series_balls(np.concatenate(each), energies),
        step_balls=_step_balls(np.concatenate(tasks) - mean, components, time, energies),
        source=source,
    )


def learn_from(table: FeatureTable, ranges: Ranges, steps: int, source: str, kind: str = COSINES) -> Design:
    """Return the design that a table of public participants' features suggests, for series of this many steps.

    Raises:
        InputError: If the table has too few series, or no usable value.
    """
    panel = panel_of(table, ranges, steps)
    rows = [[row for row, task in enumerate(panel.tasks) if task == one] for one in sorted(set(panel.tasks))]
    return learn([panel.values[some] for some in rows], ranges, source, kind)


def _series_balls(people: FloatArray, energies: FloatArray) -> tuple[Ball, ...]:
    order = np.argsort(-energies, axis=None, kind="stable")[:MOST_DIRECTIONS]
    rows = people.reshape(len(people), -1)[:, order] * quarter_root(energies.ravel()[order])
    balls = []
    for size in SIZES:
        if size <= rows.shape[1]:
            part = rows[:, :size]
            lengths = np.linalg.norm(part, axis=1)
            for quantile in QUANTILES:
                radius = _radius(lengths, quantile)
                clipped = in_ball(part, radius)
                balls.append(_ball(size, quantile, radius, part, clipped))
    return tuple(balls)


def _step_balls(
    centred: FloatArray, components: FloatArray, time: FloatArray, energies: FloatArray
) -> tuple[Ball, ...]:
    weights = quarter_root(energies.sum(axis=0))
    balls = []
    for size in STEP_SIZES:
        if size <= components.shape[1]:
            vectors = centred @ (components[:, :size] * weights[:size])
            radius = _radius(np.linalg.norm(vectors, axis=2).ravel(), QUANTILES[-1])
            whole = np.einsum("kt,ntp->nkp", time, vectors, optimize=True)
            clipped = np.einsum("kt,ntp->nkp", time, in_ball(vectors, radius), optimize=True)
            balls.append(_ball(size, QUANTILES[-1], radius, whole, clipped))
    return tuple(balls)


def _radius(lengths: FloatArray, quantile: float) -> float:
    return max(round(float(np.quantile(lengths, quantile)), _DIGITS), 1e-6)


def _ball(size: int, quantile: float, radius: float, whole: FloatArray, clipped: FloatArray) -> Ball:
    cross = np.asarray(np.mean(whole * clipped, axis=0))
    square = np.asarray(np.mean(np.square(clipped), axis=0))
    return Ball(size, quantile, radius, np.round(cross, _DIGITS), np.round(square, _DIGITS))


def _between(tasks: list[FloatArray], energies: FloatArray) -> FloatArray:
    """Return the variance of tasks' means, less what sampling participants adds.

    A quarter of the energy for one task.
    """
    if len(tasks) < 2:
        return energies / 4
    means = np.array([parts.mean(axis=0) for parts in tasks])
    sampling = _mean([np.var(parts, axis=0) / len(parts) for parts in tasks])
    return np.asarray(np.maximum(np.var(means, axis=0, ddof=1) - sampling, 0.0))


def _components(moment: FloatArray, count: int) -> FloatArray:
    """Return the features that vary together, the strongest first, each with its largest entry positive."""
    vectors = np.linalg.eigh(moment)[1][:, ::-1][:, :count]
    largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(count)]
    return np.asarray(vectors * np.sign(largest))


def _moment(centred: FloatArray) -> FloatArray:
    rows = centred.reshape(-1, centred.shape[-1])
    return np.asarray(rows.T @ rows / len(rows))


def _mean(arrays: list[FloatArray]) -> FloatArray:
    return np.asarray(np.mean(np.array(arrays), axis=0))
