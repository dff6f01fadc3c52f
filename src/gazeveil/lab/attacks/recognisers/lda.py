# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features of movement, fixations and saccades, told apart by linear discriminant analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import Discriminant, Score, at_best_rate, check_rate, described
from gazeveil.lab.attacks.gaze_features import GROUPS, SECONDS, STEP, Description


@RECOGNISERS.register("lda")
@dataclass(frozen=True, slots=True)
class Lda(Recogniser):
    """Many features of a window, and the directions in which participants differ more than one participant varies.

    Attributes:
        groups: Which groups of features; ``("events",)`` for fixations and saccades alone.
        allow: What it may look at beside movement: ``position``, ``pupil``, both or nothing.
        seconds: How long a window is; infinite for whole trials.
        step: How much later the next window begins.
        rate_hz: The rate to look at gaze at; by default the one that the reference favours, infinite for gaze as it was
            recorded.
    """

    name: ClassVar[str] = "lda"

    groups: tuple[str, ...] = tuple(GROUPS)
    allow: frozenset[str] = frozenset()
    seconds: float = SECONDS
    step: float = STEP
    rate_hz: float | None = None

    def __post_init__(self) -> None:
        self._describe()
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
        return described(reference, self._describe().rows, lambda rows: self._score(Discriminant.fit(rows)))

    @staticmethod
    def _score(fitted: Discriminant) -> Score:
        return fitted.scores

    def _describe(self) -> Description:
        return Description(self.groups, self.allow, self.seconds, self.step)
