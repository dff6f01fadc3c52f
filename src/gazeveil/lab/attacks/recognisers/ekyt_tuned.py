# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A trained EKYT network whose last layer is learnt anew, on the participants of the reference.

What the network's convolutions find in a window stays: 258 averages of each of its folds. The layer that made 128
numbers of them knew other participants. In its place comes the space in which these participants differ, found by
discriminant analysis as in `fisher`: one solution, no steps to count, and seconds on a CPU once windows are embedded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from gazeveil.lab.attacks.contract import RECOGNISERS, Gallery, Recogniser, Trial
from gazeveil.lab.attacks.enrolment import Discriminant, described
from gazeveil.lab.attacks.recognisers.ekyt import Ekyt

SHRINKAGE: Final = 0.1
"""Chosen on sessions 1 to 3 of the headset's participants; 0.3 and 0.03 do about as well."""


@RECOGNISERS.register("ekyt-tuned")
@dataclass(frozen=True, slots=True)
class TunedEkyt(Ekyt):
    """Eye Know You Too, fine-tuned on the participants it shall tell apart. Parameters are those of `Ekyt`."""

    name: ClassVar[str] = "ekyt-tuned"

    def enrol(self, reference: Sequence[Trial], seed: int = 1) -> Gallery:
        """Learn the last layer from the reference trials; nothing is drawn, so the seed does not matter.

        Raises:
            InputError: If there is no model, or too little to learn from.
        """
        seen = self._embedding(before_last=True)
        return described(reference, seen, lambda rows: Discriminant.fit(rows, SHRINKAGE).cosines)

    trained_on = Recogniser.trained_on
    """What there is to learn of a mechanism is in the reference behind it."""
