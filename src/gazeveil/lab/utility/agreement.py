# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How far two labellings of the same samples agree: F1 and Cohen's kappa, sample by sample."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from operator import add

import numpy as np
from numpy.typing import ArrayLike

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
