# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Histogram events: the bins that one input fills much more often than the other.

Values that come up again and again get a bin of their own, so a secret that shows as one special value is found; so
does not-a-number. Two-dimensional bins look at the position along the line through the two means and at the distance
from it, which is all that tells two inputs apart under noise that is the same in every direction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score, family
from gazeveil.privacy.audit.events.views import Along, Aside, all_views, line
from gazeveil.types import FloatArray, IntArray

_BINS = 256
_SIDE = 24
_MOST_SPECIAL = 2048
_SPECIAL_SHARE = 1e-4


@family("histogram")
def histograms(sample: Sample) -> Iterator[Score]:
    """Suggest the logarithm of the ratio of the two histograms, of each view and of the two joint ones."""
    for view in all_views(sample):
        cutter = Bins.fit(view, sample)
        yield Histogram.fit((cutter,), sample)
    if sample.width > 1:
        origin, direction = line(sample)
        grid = tuple(Bins.fit(view, sample, _SIDE) for view in (Along(origin, direction), Aside(origin, direction)))
        yield Histogram.fit(grid, sample)


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Turns a view into bin numbers: special values first, then intervals, then not-a-number."""

    view: Score
    special: FloatArray
    edges: FloatArray

    @classmethod
    def fit(cls, view: Score, sample: Sample, bins: int = _BINS) -> Bins:
        """Cut where both inputs together have equal shares."""
        values = np.concatenate([view(sample.first), view(sample.second)])
        values = values[~np.isnan(values)]
        different, counts = np.unique(values, return_counts=True)
        often = counts >= max(4, _SPECIAL_SHARE * len(values))
        special = different[often][np.argsort(-counts[often], kind="stable")[:_MOST_SPECIAL]]
        finite = different[np.isfinite(different)]
        edges = finite[np.linspace(0, len(finite) - 1, bins + 1)[1:-1].astype(int)] if len(finite) else finite
        return cls(view, np.sort(special), np.unique(edges))

    @property
    def count(self) -> int:
        """How many bins there are."""
        return len(self.special) + len(self.edges) + 2

    def __call__(self, outputs: Outputs) -> IntArray:
        """Return the number of the bin of each row."""
        values = self.view(outputs)
        bins = len(self.special) + np.searchsorted(self.edges, values, side="right")
        if len(self.special):
            near = np.minimum(np.searchsorted(self.special, values), len(self.special) - 1)
            bins = np.where(self.special[near] == values, near, bins)
        return np.where(np.isnan(values), self.count - 1, bins).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The logarithm of how much more often the first input fills the bin of an output than the second."""

    axes: tuple[Bins, ...]
    log_ratios: FloatArray

    @classmethod
    def fit(cls, axes: tuple[Bins, ...], sample: Sample) -> Histogram:
        """Count both inputs; one half is added everywhere, so that empty bins say little."""
        size = int(np.prod([axis.count for axis in axes]))
        first = np.bincount(_places(axes, sample.first), minlength=size) + 0.5
        second = np.bincount(_places(axes, sample.second), minlength=size) + 0.5
        return cls(axes, np.log(first) - np.log(second))

    @property
    def words(self) -> str:
        """What the number is."""
        views = " and ".join(axis.view.words for axis in self.axes)
        return f"the log ratio of the bin of {views}"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return self.log_ratios[_places(self.axes, outputs)]


def _places(axes: tuple[Bins, ...], outputs: Outputs) -> IntArray:
    places = np.zeros(len(outputs), dtype=np.int64)
    for axis in axes:
        places = places * axis.count + axis(outputs)
    return places
