# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Order events: which number of the output is larger than which, whatever the numbers are.

Finds what leaks through the order of a list alone, such as the order in which participants were added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score, family
from gazeveil.types import FloatArray

_NUMBERS = 5


@family("order")
def orders(sample: Sample) -> Iterator[Score]:
    """Suggest the log ratio of how often the first few numbers come in this order."""
    if sample.width > 1:
        yield Order.fit(sample)


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """The logarithm of how much more often the first input gives this order than the second."""

    known: NDArray[np.int64]
    log_ratios: FloatArray
    words: str = "the log ratio of the order of the first numbers"

    @classmethod
    def fit(cls, sample: Sample) -> Order:
        """Count the orders of both inputs."""
        first, second = _order(sample.first), _order(sample.second)
        known, index = np.unique(np.concatenate([first, second]), return_inverse=True)
        counts_first = np.bincount(index[: len(first)], minlength=len(known)) + 0.5
        counts_second = np.bincount(index[len(first) :], minlength=len(known)) + 0.5
        return cls(known, np.log(counts_first) - np.log(counts_second))

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row; an order that was never seen says nothing."""
        orders = _order(outputs)
        near = np.minimum(np.searchsorted(self.known, orders), len(self.known) - 1)
        return np.where(self.known[near] == orders, self.log_ratios[near], 0.0)


def _order(outputs: Outputs) -> NDArray[np.int64]:
    """Return a code of all comparisons among the first numbers, three outcomes each."""
    head = outputs[:, :_NUMBERS]
    code = np.zeros(len(outputs), dtype=np.int64)
    for left, right in zip(*np.triu_indices(head.shape[1], 1), strict=True):
        larger = (head[:, left] > head[:, right]).astype(np.int64)
        smaller = head[:, left] < head[:, right]
        code = code * 3 + 1 + larger - smaller
    return code
