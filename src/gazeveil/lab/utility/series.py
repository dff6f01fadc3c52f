# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What noise left of a series, and how much its own correlation gives away.

Bozkir 2020 divides the squared error by the product of two means, which can be about zero or negative, so its numbers
jump over many powers of ten (erratum B8). `nmse` and `utility` are kept to compare with it. `range_error`, the root
mean squared error as a part of the declared range, is stable and is what our tables show.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.registry import Registry

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
