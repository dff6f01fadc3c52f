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

from gazeveil.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.attacks.features.description import GROUPS, SECONDS, STEP, Description
from gazeveil.attacks.recognisers._galleries import ScoredGallery
from gazeveil.attacks.recognisers._rates import at_best_rate, check_rate
from gazeveil.attacks.recognisers.fisher import Fisher
from gazeveil.types import FloatArray


@RECOGNISERS.register("committee")
@dataclass(frozen=True, slots=True)
class Committee(Recogniser):
    """All features together, and every group of features for itself.

    Attributes:
        groups: Which groups of features.
        allow: What it may look at beside movement: ``position``, ``pupil``, both or nothing.
        seconds: How long a window is; infinite for whole trials.
        step: How much later the next window begins.
        rate_hz: The rate to look at gaze at; by default the one that the reference favours, infinite for gaze as it was
            recorded.
    """

    name: ClassVar[str] = "committee"

    groups: tuple[str, ...] = tuple(GROUPS)
    allow: frozenset[str] = frozenset()
    seconds: float = SECONDS
    step: float = STEP
    rate_hz: float | None = None

    def __post_init__(self) -> None:
        Description(self.groups, self.allow, self.seconds, self.step)
        check_rate(self.rate_hz)

    @property
    def sees(self) -> frozenset[str]:
        """What it looks at beyond velocity."""
        return self.allow

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials; nothing is drawn, so the seed changes nothing.

        Raises:
            InputError: If there is too little to learn from.
        """
        return at_best_rate(reference, self.learnt, self.rate_hz)

    def learnt(self, reference: Sequence[Trial]) -> Gallery:
        """Learn from trials at the rate that they have."""
        together = Fisher(self.groups, self.allow, self.seconds, self.step).learnt(reference)
        alone = [
            *(Fisher((name,), frozenset(), self.seconds, self.step) for name in self.groups),
            *(Fisher((), frozenset({name}), self.seconds, self.step) for name in sorted(self.allow)),
        ]
        members = [one.learnt(reference) for one in alone]

        def score(query: Trial) -> FloatArray:
            groups = [member.windows(query) for member in members]
            return np.asarray(together.windows(query) + np.mean(groups, axis=0))

        return ScoredGallery(together.people, score)
