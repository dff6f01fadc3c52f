# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What noise left of a release: of a heatmap, beside the prior too, and of a feature series. Metrics by name.

All compare an estimate with the truth, cell by cell, after any blur: render both first. Nothing is normalised unless
it says so. A map without any contrast tells nothing, so its correlation with anything is 0.

Bozkir 2020 divides the squared error by the product of two means, which can be about zero or negative, so its numbers
jump over many powers of ten (erratum B8). `nmse` and `utility` are kept to compare with it. `range_error`, the root
mean squared error as a part of the declared range, is stable and is what our tables show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.registry import Registry

_FLAT = 1e-10
"""Contrast below this share of a map's own size is rounding, not contrast."""

_FLOOR = 2.0**-52

MAP_METRICS: Registry[Callable[..., float]] = Registry("map metric")
"""What can be measured of a map by its name: ``MAP_METRICS["correlation"](estimate, truth)``."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over repeats.

    Attributes:
        mean: Its mean.
        sd: Its standard deviation (n - 1); NaN for a single repeat.
        repeats: How many there were.
    """

    mean: float
    sd: float
    repeats: int

    @staticmethod
    def of(values: Iterable[float]) -> Spread:
        """Return mean and standard deviation of some repeats.

        Raises:
            InputError: If there are none.
        """
        numbers = np.fromiter(values, dtype=np.float64)
        if not len(numbers):
            raise InputError("there are no repeats to summarise")
        sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else math.nan
        return Spread(float(numbers.mean()), sd, len(numbers))


@MAP_METRICS.register("correlation")
def correlation(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return Pearson's correlation coefficient (CC) of two maps; 0 if one of them is flat."""
    one, other = _pair(estimate, truth)
    return _cosine(_centred(one), _centred(other))


def residual_correlation(estimate: ArrayLike, truth: ArrayLike, prior: ArrayLike) -> float:
    """Return the correlation of what is left of two maps once a prior is regressed out of both.

    Correlation rewards the centre bias that each participant's gaze has. This is the part that the prior does not
    explain (the partial correlation given the prior): 0 if the estimate is just the prior, scaled and shifted.
    """
    one, other = _pair(estimate, truth)
    _, known = _pair(estimate, prior)
    direction = _centred(known)
    length = float(np.linalg.norm(direction))
    left = [_without(_centred(values), direction / length if length else direction) for values in (one, other)]
    return _cosine(*left)


@MAP_METRICS.register("mean_squared_error")
def mean_squared_error(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the mean over cells of the squared difference, in the maps' own scale."""
    one, other = _pair(estimate, truth)
    return float(np.mean(np.square(one - other)))


@MAP_METRICS.register("divergence")
def divergence(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the Kullback-Leibler divergence of the truth from the estimate, in nats.

    Both are made distributions first: negative cells become 0 and the sum 1. An estimate's empty cell counts as 2⁻⁵²,
    so that looking where the estimate saw nothing costs much but not everything. NaN if a map has no mass at all.
    """
    one, other = (np.clip(values, 0, None) for values in _pair(estimate, truth))
    if not (one.sum() > 0 and other.sum() > 0):
        return math.nan
    guess, true = one / one.sum(), other / other.sum()
    seen = true > 0
    return float(np.sum(true[seen] * np.log(true[seen] / np.maximum(guess[seen], _FLOOR))))


def hot_spots(values: ArrayLike, count: int = 3, radius: float = 2.0) -> list[tuple[int, int]]:
    """Return the row and column of the highest peaks, highest first.

    A peak is at least as high as its eight neighbours, above the map's mean, and further than ``radius`` cells from
    every higher peak. There may be fewer than ``count``.
    """
    heat = np.asarray(values, dtype=np.float64)
    if heat.ndim != 2 or count < 1 or not radius >= 0:
        raise OptionError("hot spots need a map of rows and columns, a count from 1 up and a radius from 0 up")
    around = np.pad(heat, 1, constant_values=-np.inf)
    rows, columns = heat.shape
    neighbours = [around[i : i + rows, j : j + columns] for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    peak = (heat >= np.maximum.reduce(neighbours)) & (heat > heat.mean())
    places = np.argwhere(peak)
    found: list[tuple[int, int]] = []
    for row, column in places[np.argsort(-heat[peak], kind="stable")].tolist():
        if all(math.hypot(row - y, column - x) > radius for y, x in found):
            found.append((row, column))
            if len(found) == count:
                break
    return found


@MAP_METRICS.register("hot_spot_hits")
def hot_spot_hits(estimate: ArrayLike, truth: ArrayLike, count: int = 3, radius: float = 2.0) -> float:
    """Return which share of the true hot spots has one of the estimate's hot spots within ``radius`` cells.

    Both maps are searched for at most ``count`` peaks, so flooding a map with peaks does not help. NaN if the truth
    has none.
    """
    guess, true = _pair(estimate, truth)
    wanted = hot_spots(true, count, radius)
    offered = hot_spots(guess, count, radius)
    if not wanted:
        return math.nan
    hits = sum(any(math.hypot(y - v, x - u) <= radius for v, u in offered) for y, x in wanted)
    return hits / len(wanted)


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.size == 0:
        raise InputError(f"two maps of the same size are needed, not {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise InputError("a map has cells that are not finite numbers")
    return one, other


def _centred(values: FloatArray) -> FloatArray:
    flat = values.ravel()
    scale = float(np.abs(flat).max())
    centred = flat - flat.mean()
    contrast = np.linalg.norm(centred) > _FLAT * np.linalg.norm(flat)
    return np.asarray(centred / scale if contrast else np.zeros_like(centred))


def _without(values: FloatArray, direction: FloatArray) -> FloatArray:
    left = values - (values @ direction) * direction
    return np.asarray(left if np.linalg.norm(left) > _FLAT * np.linalg.norm(values) else left * 0.0)


def _cosine(one: FloatArray, other: FloatArray) -> float:
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    return float(np.clip(one @ other / lengths, -1, 1)) if lengths else 0.0


# --- What noise left of a series, and how much its own correlation gives away.


SERIES_METRICS: Registry[Callable[..., float]] = Registry("series metric")
"""What can be measured of released series by its name: ``SERIES_METRICS["range_error"](true, released)``."""


@SERIES_METRICS.register("range_error")
def range_error(true: FloatArray, released: FloatArray) -> float:
    """Return the root mean squared error of values that are parts of their declared ranges."""
    _check(true, released)
    return float(np.sqrt(np.mean(np.square(true - released))))


@SERIES_METRICS.register("nmse")
def nmse(true: FloatArray, released: FloatArray) -> float:
    """Return the article's normalised error of one series: mean squared error over the product of the means."""
    _check(true, released)
    product = float(np.mean(true) * np.mean(released))
    error = float(np.mean(np.square(true - released)))
    if product == 0:
        return float("nan")
    return error / product


def utility(true: FloatArray, released: FloatArray) -> float:
    """Return the article's utility of one series: one over its normalised error."""
    value = nmse(true, released)
    return float("inf") if value == 0 else 1.0 / value


def correlation_over_time(series: FloatArray, since: int = 4, until: int = 200) -> FloatArray:
    """Return how values correlate, across participants, with the value at one step, over the steps after it.

    Figure 1 of Bozkir 2020 shows this for one feature, from the fifth step on.

    Args:
        series: Participants by steps, of one feature.
        since: The step to compare with, counted from 0.
        until: How many steps after it are shown.

    Raises:
        OptionError: If there are fewer than three participants, or no steps behind the first.
    """
    if series.ndim != 2 or len(series) < 3 or series.shape[1] <= since:
        raise OptionError("correlation across participants needs at least three series that are long enough")
    part = series[:, since : since + until + 1]
    centred = part - part.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = centred.T @ centred[:, 0] / (length * length[0])
    return np.where(np.isfinite(found), found, 0.0)


def correlated_factor(series: FloatArray, most: int = 200) -> float:
    """Return ε′/ε: how much more than a step's ε someone learns who knows how steps correlate.

    With independent noise on every step a guarantee of ε for one step costs, to who knows that step s moves with step t
    as ρ(s, t), up to Σ_s |ρ(s, t)| times as much, because every other step tells about this one too (correlated
    sensitivity, Zhu 2015; dependent differential privacy, Zhao 2017). The sum is taken over lags up to ``most`` on both
    sides, with correlations pooled over participants and time; it is 1 for steps that are independent.

    Args:
        series: Participants by steps, of one feature.
        most: The longest lag.
    """
    centred = series - series.mean()
    variance = float(np.mean(np.square(centred)))
    if variance == 0:
        return 1.0
    total = 1.0
    for lag in range(1, min(most, series.shape[1] - 1) + 1):
        total += 2 * abs(float(np.mean(centred[:, lag:] * centred[:, :-lag])) / variance)
    return total


def _check(true: FloatArray, released: FloatArray) -> None:
    if true.shape != released.shape or true.size == 0:
        raise OptionError(f"series of shapes {true.shape} and {released.shape} cannot be compared")
