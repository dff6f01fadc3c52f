# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Linear discriminant analysis that knows of sessions: who is it, from a row of many correlated numbers?

What must be ignored is not only how a participant varies from window to window but how the same participant differs
from session to session: another calibration, another task, another day. Both go into the covariance that rows are
whitened by, the second with more weight, because a few sessions show little of it. There are often more features than
rows, so that covariance is pulled towards its mean variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError
from gazeveil.lab.attacks.judging.matching import directions
from gazeveil.lab.attacks.recognisers._galleries import Rows

SHRINKAGE: Final = 0.3
SESSIONS: Final = 4.0
"""Both chosen on training sessions alone; the page on re-identification has the figures."""


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Brings features to one scale as the reference has them; what lies beyond its range is put on the edge.

    A missing value becomes the median. A feature that never varies says nothing and becomes 0.
    """

    median: FloatArray
    low: FloatArray
    high: FloatArray
    mean: FloatArray
    spread: FloatArray

    @staticmethod
    def of(rows: FloatArray) -> Scale:
        """Learn the scale of some rows; NaN are left out."""
        there = np.isfinite(rows)
        last = np.maximum(there.sum(axis=0) - 1, 0)
        ordered = np.sort(np.where(there, rows, np.inf), axis=0)
        ordered[:, ~there.any(axis=0)] = 0.0
        every = np.arange(rows.shape[1])
        low, median, high = (ordered[np.round(share * last).astype(np.int64), every] for share in (0.01, 0.5, 0.99))
        filled = np.clip(np.where(there, rows, median), low, high)
        spread = filled.std(axis=0)
        return Scale(median, low, high, filled.mean(axis=0), np.where(spread > 1e-12, spread, np.inf))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return rows in units of the reference's spread."""
        filled = np.clip(np.where(np.isfinite(rows), rows, self.median), self.low, self.high)
        return np.asarray((filled - self.mean) / self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class Discriminant:
    """What was learnt: how to map a row into the space where participants differ, and where each lies there.

    That space has a dimension less than there are participants, its origin is the middle of all participants, and
    each participant's own spread is a unit sphere. What lies across it is the same for everyone.
    """

    scale: Scale
    into: FloatArray
    origin: FloatArray
    centres: FloatArray

    @staticmethod
    def fit(rows: Rows, shrinkage: float = SHRINKAGE, sessions: float = SESSIONS) -> Discriminant:
        """Learn from rows of known participants; participants and sessions weigh the same, however many rows they have.

        Args:
            rows: Everyone has at least one.
            shrinkage: The share of the covariance that is its mean variance, the same in all directions.
            sessions: The weight of what differs between sessions of one participant.

        Raises:
            InputError: If nobody has two rows.
        """
        if len(rows.values) <= len(rows.people):
            raise InputError(
                "every participant has a single window, so variation within a participant cannot be learnt",
                hint="give more reference trials, or shorter windows",
            )
        scale = Scale.of(rows.values)
        scaled = scale.apply(rows.values)
        occasion, of_person = rows.occasions()
        means = _means(scaled, occasion, len(of_person))
        centres = _means(means, of_person, len(rows.people))
        within = _covariance(scaled - means[occasion], len(rows.values) - len(of_person))
        between = _covariance(means - centres[of_person], len(of_person) - len(rows.people))
        covariance = within + sessions * between
        level = float(np.trace(covariance)) / len(covariance) or 1.0
        covariance = (1 - shrinkage) * covariance + shrinkage * level * np.eye(len(covariance))
        whitening = np.linalg.inv(np.linalg.cholesky(covariance)).T
        middle = centres.mean(axis=0)
        away = (centres - middle) @ whitening
        differing = np.linalg.svd(away, full_matrices=False)[2][: max(len(away) - 1, 1)]
        into = whitening @ differing.T
        return Discriminant(scale, into, middle @ into, away @ differing.T)

    def project(self, rows: FloatArray) -> FloatArray:
        """Return rows in the space where participants differ."""
        return np.asarray(self.scale.apply(rows) @ self.into - self.origin)

    def scores(self, rows: FloatArray) -> FloatArray:
        """Return the logarithm of each participant's probability for each row, nobody being likelier beforehand."""
        return log_softmax(self.project(rows) @ self.centres.T - (self.centres**2).sum(axis=1) / 2)

    def cosines(self, rows: FloatArray) -> FloatArray:
        """Return the cosine of each row with everyone, seen from the middle of all participants.

        How far a window lies from the middle is left out: it grows with whatever is unusual about a window, and says
        little about whose it is.
        """
        return np.asarray(directions(self.project(rows)) @ directions(self.centres).T)


def log_softmax(scores: FloatArray) -> FloatArray:
    """Return scores as logarithms of probabilities, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _means(rows: FloatArray, owner: NDArray[np.int64], owners: int) -> FloatArray:
    sums = np.zeros((owners, rows.shape[1]))
    np.add.at(sums, owner, rows)
    return np.asarray(sums / np.bincount(owner, minlength=owners)[:, None])


def _covariance(residuals: FloatArray, degrees: int) -> FloatArray:
    """Return the covariance of rows whose means are taken off; zero if none is free."""
    return np.asarray(residuals.T @ residuals / max(degrees, 1))
