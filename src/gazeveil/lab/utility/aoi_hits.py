# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How well hits on areas of interest survive: precision, recall and F1, area by area and over all.

Labels are numbers: an area's own number from 0 up, -1 for "in none". A sample in none is no hit, so it has no score of
its own, but it counts against the others: an area left for nowhere is a miss, an area entered from nowhere a false hit.

What has no value is NaN: recall of an area that was never looked at, precision of one that is never reported. The F1 of
an area is NaN only if both hold. Means leave out areas that were never looked at in truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gazeveil.errors import InputError

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
