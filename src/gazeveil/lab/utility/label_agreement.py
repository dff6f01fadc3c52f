# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well labels survive: event labels sample by sample (F1, Cohen's kappa), and hits on areas of interest.

Labels are numbers: an area's own number from 0 up, -1 for "in none". A sample in none is no hit, so it has no score of
its own, but it counts against the others: an area left for nowhere is a miss, an area entered from nowhere a false hit.

What has no value is NaN: recall of an area that was never looked at, precision of one that is never reported. The F1 of
an area is NaN only if both hold. Means leave out areas that were never looked at in truth.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from operator import add

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.errors import InputError


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of samples by what two labellings say of one event. Counts of several recordings add up with ``+``.

    Attributes:
        both: Both say it is the event.
        first: Only the first does.
        second: Only the second does.
        neither: Neither does.
    """

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(*map(add, astuple(self), astuple(other)))

    @property
    def samples(self) -> int:
        """How many samples were compared."""
        return sum(astuple(self))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: the same whichever labelling is the truth; NaN without the event."""
        labelled = 2 * self.both + self.first + self.second
        return 2 * self.both / labelled if labelled else math.nan

    @property
    def kappa(self) -> float:
        """Agreement beyond chance (Cohen 1960): 1 if perfect, 0 if as by chance; NaN if chance alone is perfect."""
        total = self.samples
        if not total:
            return math.nan
        # in integers as long as possible: total² * (observed, expected)
        observed = total * (self.both + self.neither)
        firsts, seconds = self.both + self.first, self.both + self.second
        expected = firsts * seconds + (total - firsts) * (total - seconds)
        return (observed - expected) / (total * total - expected) if expected != total * total else math.nan


def agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Compare two labellings of the same samples for one event: each says whether a sample belongs to it.

    Raises:
        InputError: If they do not have the same number of samples, or are not true or false.
    """
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape or one.ndim != 1 or one.dtype != np.bool_ or other.dtype != np.bool_:
        raise InputError(
            f"two lists of true and false of the same length are needed, "
            f"found {one.shape} of {one.dtype} and {other.shape} of {other.dtype}"
        )
    both, ones, others = int((one & other).sum()), int(one.sum()), int(other.sum())
    return Agreement(both, ones - both, others - both, len(one) - ones - others + both)


# --- How well hits on areas of interest survive: precision, recall and F1, area by area and over all.


NOWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class AoiHits:
    """Counts of samples by area. Counts of several recordings of the same areas add up with ``+``.

    Attributes:
        both: Samples in the area, in truth and as reported.
        true: Samples in the area in truth.
        reported: Samples reported in the area.
    """

    both: NDArray[np.int64]
    true: NDArray[np.int64]
    reported: NDArray[np.int64]

    def __add__(self, other: AoiHits) -> AoiHits:
        if len(self.true) != len(other.true):
            raise InputError(f"hits on {len(self.true)} and on {len(other.true)} areas do not add up")
        return AoiHits(self.both + other.both, self.true + other.true, self.reported + other.reported)

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the samples reported in each area that were there."""
        return _ratio(self.both, self.reported)

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the samples in each area that were reported there."""
        return _ratio(self.both, self.true)

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall of each area."""
        return _ratio(2 * self.both, self.true + self.reported)

    def macro(self, measure: str = "f1") -> float:
        """Return the plain mean of precision, recall or f1 over the areas that were looked at; NaN if none was."""
        return self._mean(measure, np.ones(len(self.true)))

    def weighted(self, measure: str = "f1") -> float:
        """Return the mean weighted by how long each area was looked at; NaN if none was."""
        return self._mean(measure, self.true.astype(np.float64))

    def _mean(self, measure: str, weights: NDArray[np.float64]) -> float:
        if measure not in ("precision", "recall", "f1"):
            raise InputError(f"hits have precision, recall and f1, no {measure!r}")
        looked_at = self.true > 0
        if not looked_at.any():
            return math.nan
        # an area that is looked at but never reported has no precision: nothing reported, nothing right
        values = np.nan_to_num(getattr(self, measure)[looked_at])
        return float(np.average(values, weights=weights[looked_at]))


def aoi_hits(true: ArrayLike, reported: ArrayLike, areas: int) -> AoiHits:
    """Compare hits, sample by sample.

    Args:
        true: The area of each sample, -1 for none.
        reported: The area reported for it, -1 for none.
        areas: How many areas there are.

    Raises:
        InputError: If the two have not the same length, or hold other numbers than -1 to areas - 1.
    """
    one, other = np.asarray(true), np.asarray(reported)
    if one.shape != other.shape or one.ndim != 1:
        raise InputError(f"two lists of the same length are needed, found {one.shape} and {other.shape}")
    for labels in (one, other):
        whole = np.issubdtype(labels.dtype, np.integer)
        if not whole or (labels.size and not (labels.min() >= NOWHERE and labels.max() < areas)):
            raise InputError(f"labels must be whole numbers from -1 to {areas - 1}")
    count = [np.bincount(labels[labels >= 0], minlength=areas) for labels in (one[one == other], one, other)]
    return AoiHits(*count)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    ratio = np.full(len(whole), math.nan)
    np.divide(part, whole, out=ratio, where=whole > 0)
    return ratio
