# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Kaleido's biometric attacker: features of Cluster Fix, told apart by discriminant analysis (section 7.3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import Discriminant, at_best_rate, check_rate, described
from gazeveil.lab.attacks.gaze_features import (
    FEWEST_SAMPLES,
    SECONDS,
    STEP,
    WIDTH,
    Movement,
    cached,
    clusterfix,
    stretches,
)


@RECOGNISERS.register("clusterfix")
@dataclass(frozen=True, slots=True)
class ClusterFix(Recogniser):
    """Fixations and saccades by clusters, and linear discriminant analysis.

    Attributes:
        seconds: How long a window is; infinite for whole trials.
        step: How much later the next window begins.
        rate_hz: The rate to look at gaze at; by default the one that the reference favours, infinite for gaze as it was
            recorded.
    """

    name: ClassVar[str] = "clusterfix"

    seconds: float = SECONDS
    step: float = STEP
    rate_hz: float | None = None

    def __post_init__(self) -> None:
        check_rate(self.rate_hz)
        if not self.seconds > 0 or not self.step > 0:
            raise OptionError(f"windows and steps must be longer than 0 s, not {self.seconds!r} and {self.step!r}")

    @property
    def sees(self) -> frozenset[str]:
        """Nothing but movement."""
        return frozenset()

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the participants of the reference trials; nothing is drawn, so the seed changes nothing.

        Raises:
            InputError: If there is too little to learn from.
        """
        return at_best_rate(reference, self._learnt, self.rate_hz)

    def _learnt(self, reference: Sequence[Trial]) -> Gallery:
        return described(reference, self._rows, lambda rows: Discriminant.fit(rows).scores)

    def _rows(self, trial: Trial) -> FloatArray:
        seen = trial.with_gaze(trial.x, trial.y)
        return cached(("clusterfix", self.seconds, self.step), seen, self._work_out)

    def _work_out(self, trial: Trial) -> FloatArray:
        movements = [Movement.of(window) for window in stretches(trial, self.seconds, self.step)]
        rows = [clusterfix(one) for one in movements if np.isfinite(one.x).sum() >= FEWEST_SAMPLES]
        return np.array(rows).reshape(-1, WIDTH)
