# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a product's own ``measure`` very many times on one sum, which is how audits see the code that releases run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from gazeveil.aggregate.engine import Engine, Kernel, Summed
from gazeveil.errors import InternalError
from gazeveil.gaze.corpus import Corpus
from gazeveil.noise import NoiseSource
from gazeveil.types import IntArray, Tell, silent

Noisy_co = TypeVar("Noisy_co", covariant=True)


class Measures(Protocol[Noisy_co]):
    """What releases a noisy sum over observers."""

    def measure(self, corpus: Corpus, noise: NoiseSource, engine: Engine) -> Noisy_co:
        """Return the noisy sum over a corpus."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """An engine that answers with one sum, a row for every trial: nothing but the noise differs between trials."""

    total: IntArray
    trials: int

    def sum_over_observers(self, corpus: Corpus, kernel: Kernel, tell: Tell = silent) -> Summed:
        """Return the sum, as often as there are trials.

        Raises:
            InternalError: If the sum is not one of this kernel.
        """
        if self.total.shape != (kernel.size,):
            raise InternalError(f"a sum of shape {self.total.shape} is none of {kernel.size} integers")
        return Summed(np.tile(self.total, (self.trials, 1)), 1)

    def map_recordings(self, corpus: Corpus, function: Any, tell: Tell = silent) -> Iterator[Any]:
        """There are no recordings here."""
        raise InternalError("an audit of sums has no recordings")


def measured(product: Measures[Noisy_co], total: IntArray, noise: NoiseSource, trials: int) -> Noisy_co:
    """Return what this many releases with this sum over observers measure, one a row."""
    return product.measure(Corpus.of([]), noise, Repeated(total, trials))
