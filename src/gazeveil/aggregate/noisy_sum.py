# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A sum over observers with noise: whoever owns the noise owns the kernel and its bound, too.

Noise hides one observer only if the sum keeps the kernel's bound. So nobody hands in a sum: `NoisySum.measure` takes a
corpus, sums its own kernel over it and adds its own noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from gazeveil.aggregate.engine import Engine, Kernel
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.types import IntArray, Tell, silent


class NoisySum(ABC):
    """Something that sums its own kernel over observers and adds its own exact noise."""

    __slots__ = ()

    @abstractmethod
    def kernel(self) -> Kernel:
        """Return what turns one observer's rows into integers of a bounded size."""

    @abstractmethod
    def _noised(self, total: IntArray, noise: NoiseSource) -> IntArray:
        """Return a sum of the kernel with exact noise; several sums, one a row, are several releases."""

    def measure(self, corpus: Corpus, noise: NoiseSource, engine: Engine, tell: Tell = silent) -> IntArray:
        """Return the noisy sum over a corpus: the only step that sees both data and noise."""
        return self._noised(engine.sum_over_observers(corpus, self.kernel(), tell).total, noise)
