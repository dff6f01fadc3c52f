# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The strongest recogniser here that learns from its reference alone: `fisher` over all features, and over each group.

Together the groups say most, because what one gets wrong another explains. Alone each is weak, but errs elsewhere. The
score is the cosine of all together plus the mean of the groups' cosines; there is no weight to tune.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Trial
from gazeveil.lab.attacks.enrolment import ScoredGallery
from gazeveil.lab.attacks.recognisers.fisher import Fisher


@RECOGNISERS.register("committee")
@dataclass(frozen=True, slots=True)
class Committee(Fisher):
    """All features together, and every group of features for itself; it has the options of `lda`."""

    name: ClassVar[str] = "committee"

    def learnt(self, reference: Sequence[Trial]) -> Gallery:
        """Learn from trials at the rate that they have."""
        together = Fisher.learnt(self, reference)
        alone = [
            *(Fisher((name,), frozenset(), self.seconds, self.step) for name in self.groups),
            *(Fisher((), frozenset({name}), self.seconds, self.step) for name in sorted(self.allow)),
        ]
        members = [one.learnt(reference) for one in alone]

        def score(query: Trial) -> FloatArray:
            groups = [member.windows(query) for member in members]
            return np.asarray(together.windows(query) + np.mean(groups, axis=0))

        return ScoredGallery(together.people, score)
