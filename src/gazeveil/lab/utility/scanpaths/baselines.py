# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What similar means: scores of different participants before one scene, and of random scanpaths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.utility.scanpaths.comparison import DIMENSIONS, Simplify, multimatch
from gazeveil.lab.utility.scanpaths.path import Scanpath


class Chance(Protocol):
    """What draws numbers: any generator of numpy. This is a yardstick, not a release."""

    def uniform(self, low: float, high: float, size: int) -> FloatArray:
        """Return numbers between two."""
        ...

    def choice(self, a: FloatArray, size: int) -> FloatArray:
        """Return some of the given ones."""
        ...


def random_scanpath(
    rng: Chance, fixations: int, box: tuple[float, float, float, float], seconds: FloatArray
) -> Scanpath:
    """Return a scanpath without any sense: places anywhere in a box, durations drawn from given ones.

    Args:
        rng: From where chance comes.
        fixations: How many.
        box: Left, top, right, bottom of the viewing plane.
        seconds: Durations to draw from.

    Raises:
        InputError: If there are no durations.
    """
    if not len(seconds):
        raise InputError("a random scanpath needs durations to draw from")
    left, top, right, bottom = box
    return Scanpath(
        rng.uniform(left, right, fixations), rng.uniform(top, bottom, fixations), rng.choice(seconds, fixations)
    )


def between_people(
    paths: Sequence[Scanpath], size: tuple[float, float], simplify: Simplify | None = None
) -> FloatArray:
    """Return for everyone the mean scores with all others, in the order of `DIMENSIONS`; NaN without any other."""
    scores = np.full((len(paths), len(paths), len(DIMENSIONS)), np.nan)
    for row, one in enumerate(paths):
        for column in range(row):
            scores[row, column] = scores[column, row] = multimatch(one, paths[column], size, simplify).to_array()
    return mean_of_finite(scores, 1)


def mean_of_finite(values: FloatArray, axis: int) -> FloatArray:
    """Return the mean along an axis over what is a number; NaN where nothing is."""
    there = np.isfinite(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0))
