# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Who looks unlike all others: DBSCAN's outliers among scanpaths (Kaleido, section 7.3.1, figure 11).

DBSCAN calls a point a core if at least `FEWEST` points, itself included, lie within a reach of it; what lies within
reach of no core is an outlier. That is all an attacker on outliers needs of it: clusters have no names here.

The paper does not say how far the reach is. Ours is the knee of the curve of distances to the nearest few, sorted: the
value furthest below the straight line from the smallest to the largest. The attacker applies the same rule to what is
released. Truth is what the rule finds in gaze that nobody veiled.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add
from typing import Final

import numpy as np

from gazeveil.arrays import BoolArray, FloatArray
from gazeveil.errors import InputError, OptionError

FEWEST: Final = 4
"""How many points, itself included, make a core; the fewest that DBSCAN's authors recommend in two dimensions."""


def reach_of_the_rest(distances: FloatArray, fewest: int = FEWEST) -> FloatArray:
    """Return for every point how far it must reach to be a core; infinite where a distance is not known.

    Args:
        distances: From everyone to everyone, symmetric, NaN where a point has no distance to others.
        fewest: How many points make a core, itself included.

    Raises:
        InputError: If distances are no square.
        OptionError: If a core needs fewer than two points.
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InputError(f"distances from everyone to everyone are needed, not {distances.shape}")
    if fewest < 2:
        raise OptionError(f"a core needs 2 points at least, not {fewest}")
    if len(distances) < fewest:
        return np.full(len(distances), np.inf)
    known = np.where(np.isfinite(distances), distances, np.inf)
    np.fill_diagonal(known, 0.0)
    return np.asarray(np.sort(known, axis=1)[:, fewest - 1])


def knee(distances: FloatArray, fewest: int = FEWEST) -> float:
    """Return the reach by the rule above; 0 if there are too few points for any core."""
    values = np.sort(reach_of_the_rest(distances, fewest))
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0
    chord = np.linspace(values[0], values[-1], len(values))
    return float(values[int(np.argmax(chord - values))])


def outliers(distances: FloatArray, reach: float | None = None, fewest: int = FEWEST) -> BoolArray:
    """Return who lies within reach of no core; by default the reach is the knee."""
    within = knee(distances, fewest) if reach is None else reach
    core = reach_of_the_rest(distances, fewest) <= within
    known = np.where(np.isfinite(distances), distances, np.inf)
    np.fill_diagonal(known, 0.0)
    return np.asarray(~((known <= within) & core).any(axis=1))


@dataclass(frozen=True, slots=True)
class Found:
    """How well outliers are found, over all scenes.

    Attributes:
        true: Outliers there are.
        flagged: Participants who were called outliers.
        right: Who is both.
        by_chance: How many would be right if as many were called so in every scene, drawn at random.
        people: How many there are.
    """

    true: int = 0
    flagged: int = 0
    right: int = 0
    by_chance: float = 0.0
    people: int = 0

    @staticmethod
    def of(truth: BoolArray, flagged: BoolArray) -> Found:
        """Compare those called outliers in one scene with those who are."""
        true, called, people = int(truth.sum()), int(flagged.sum()), len(truth)
        return Found(true, called, int((truth & flagged).sum()), true * called / people if people else 0.0, people)

    def __add__(self, other: Found) -> Found:
        return Found(*map(add, astuple(self), astuple(other)))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if nobody is one and nobody is called one."""
        return 2 * self.right / (self.true + self.flagged) if self.true + self.flagged else np.nan

    @property
    def random_f1(self) -> float:
        """What calling as many, drawn at random, gives in the mean."""
        return 2 * self.by_chance / (self.true + self.flagged) if self.true + self.flagged else np.nan

    @property
    def everybody_f1(self) -> float:
        """What calling everyone an outlier gives, the best that is open to who knows nothing."""
        return 2 * self.true / (self.true + self.people) if self.people else np.nan
