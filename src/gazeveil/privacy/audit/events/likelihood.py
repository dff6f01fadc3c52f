# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Likelihood-ratio events, where the densities are known: no event tells two inputs apart better (Neyman, Pearson)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gazeveil.privacy.audit.events.base import Outputs, Sample, Score, family
from gazeveil.types import FloatArray


@family("likelihood-ratio")
def likelihood_ratio(sample: Sample) -> Iterator[Score]:
    """Suggest the known logarithm of the ratio of densities, if there is one."""
    if sample.log_ratio is not None:
        yield KnownLogRatio(sample.log_ratio)


@dataclass(frozen=True, slots=True, eq=False)
class KnownLogRatio:
    """The logarithm of the ratio of densities."""

    log_ratio: Callable[[Outputs], FloatArray]
    words: str = "the log ratio of the known densities"

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return it for each row."""
        return self.log_ratio(outputs)
