# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Probabilities of the usual distributions. scipy is imported on use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gazeveil.errors import needing


def distributions() -> Any:
    """Return scipy's distributions.

    Raises:
        MissingExtra: If scipy is not installed.
    """
    with needing("scipy", "userstudy", "the statistics of a user study"):
        from scipy import stats  # noqa: PLC0415
    return stats


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function crosses zero between two points of other signs."""
    distributions()
    from scipy.optimize import brentq  # noqa: PLC0415

    return float(brentq(function, low, high, xtol=1e-11))


def above_chi_square(value: float, degrees: float) -> float:
    """Return the chance of a chi-square number above a value."""
    return float(distributions().chi2.sf(value, degrees))


def above_f(value: float, upper: float, lower: float) -> float:
    """Return the chance of an F number above a value."""
    return float(distributions().f.sf(value, upper, lower))
