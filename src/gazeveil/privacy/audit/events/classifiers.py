# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Learned events: a logistic regression tells the two inputs apart, and its score is cut where it tells most.

Features are the standardised numbers of the output, their squares, magnitudes and products; for wide outputs the
numbers alone. A second classifier sees only the order of neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score, family
from gazeveil.privacy.audit.events.logistic import fit_logistic
from gazeveil.privacy.audit.events.views import coordinates, finite
from gazeveil.types import FloatArray

MOST_ROWS = 20_000
_MOST_NUMBERS = 120
_MOST_SQUARED = 40
_MOST_MULTIPLIED = 12
_FAR = 8.0


@family("classifier")
def classifiers(sample: Sample) -> Iterator[Score]:
    """Suggest the score of a logistic regression on the numbers, and one on their order."""
    yield learn(Quadratic.fit(sample), sample, "the score of a classifier")
    if sample.width > 2:
        yield learn(Ascents(), sample, "the score of a classifier that sees the order of neighbouring numbers")


def learn(features: Callable[[Outputs], FloatArray], sample: Sample, words: str) -> Score:
    """Return the score of a logistic regression on features."""
    weights = fit_logistic(features(sample.first[:MOST_ROWS]), features(sample.second[:MOST_ROWS]))
    return Linear(features, weights[:-1], float(weights[-1]), words)


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A weighted sum of features."""

    features: Callable[[Outputs], FloatArray]
    weights: FloatArray
    intercept: float
    words: str

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return np.asarray(self.features(outputs) @ self.weights + self.intercept, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """Standardised numbers; where they are few also squares, magnitudes and products; and whether any is missing."""

    chosen: tuple[int, ...]
    centre: FloatArray
    spread: FloatArray

    @classmethod
    def fit(cls, sample: Sample) -> Quadratic:
        """Standardise by median and typical distance from it, which a few wild values do not move."""
        chosen = coordinates(sample, _MOST_NUMBERS)
        both = finite(np.vstack([sample.first[:, chosen], sample.second[:, chosen]]))
        centre = np.median(both, axis=0)
        spread = np.abs(both - centre).mean(axis=0)
        spread[spread == 0] = 1.0
        return cls(tuple(chosen), centre, spread)

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        numbers = outputs[:, list(self.chosen)]
        lost = np.isnan(numbers)
        z = np.clip((np.where(lost, self.centre, finite(numbers)) - self.centre) / self.spread, -_FAR, _FAR)
        parts = [z, lost.any(axis=1, keepdims=True)]
        if z.shape[1] <= _MOST_SQUARED:
            parts += [z * z / _FAR, np.abs(z)]
        if 1 < z.shape[1] <= _MOST_MULTIPLIED:
            left, right = np.triu_indices(z.shape[1], 1)
            parts.append(z[:, left] * z[:, right] / _FAR)
        return np.hstack(parts)


@dataclass(frozen=True, slots=True, eq=False)
class Ascents:
    """Whether each number is larger than, equal to or smaller than the one before."""

    most: int = 200

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        before, after = outputs[:, : self.most], outputs[:, 1 : self.most + 1]
        return (after > before[:, : after.shape[1]]).astype(np.float64) - (after < before[:, : after.shape[1]])
