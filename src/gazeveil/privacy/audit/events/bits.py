# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bit-pattern events: what the 64 bits of a number give away that its value does not.

Floating-point noise lies on a grid that depends on the secret it was added to (Mironov 2012, Haney 2022). Two scores
look for it: a logistic regression on the 64 bits, and a histogram of the finest digit: the weight of the lowest bit
that is set, which is the step of the coarsest grid that the number lies on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score, family
from gazeveil.privacy.audit.events.classifiers import learn
from gazeveil.privacy.audit.events.histograms import Bins, Histogram
from gazeveil.privacy.audit.events.views import coordinates
from gazeveil.types import FloatArray

_MOST_COORDINATES = 4
_EXPONENT_BIAS = 1075
"""The lowest bit of a float with exponent field e weighs 2^(e - 1075)."""


@family("bit-pattern")
def bit_patterns(sample: Sample) -> Iterator[Score]:
    """Suggest a classifier on the bits and a histogram of the finest digit, for a few numbers of the output."""
    for index in coordinates(sample, _MOST_COORDINATES):
        yield learn(Bits(index), sample, f"the score of a classifier that sees the bits of number {index + 1}")
        yield Histogram.fit((Bins.fit(FinestDigit(index), sample),), sample)


@dataclass(frozen=True, slots=True)
class Bits:
    """The 64 bits of one number."""

    index: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the features of each row."""
        words = _words(outputs, self.index)
        bits = (words[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        return np.asarray(bits, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class FinestDigit:
    """The exponent of two of the lowest bit that is set."""

    index: int

    @property
    def words(self) -> str:
        """What the number is."""
        return f"the finest binary digit of number {self.index + 1}"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row; zero has none, which is told as 10,000."""
        words = _words(outputs, self.index)
        if outputs.dtype.kind == "f":
            field = ((words >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
            mantissa = words & np.uint64((1 << 52) - 1)
            mantissa = np.where(field > 0, mantissa | np.uint64(1 << 52), mantissa)
            weight = np.maximum(field, 1) - _EXPONENT_BIAS
        else:
            mantissa, weight = words, np.zeros(len(words), dtype=np.int64)
        lowest = mantissa & (~mantissa + np.uint64(1))
        digit = np.log2(np.where(lowest > 0, lowest, np.uint64(1)).astype(np.float64)) + weight
        return np.asarray(np.where(mantissa > 0, digit, 10_000.0), dtype=np.float64)


def _words(outputs: Outputs, index: int) -> NDArray[np.uint64]:
    return np.ascontiguousarray(outputs[:, index]).view(np.uint64)
