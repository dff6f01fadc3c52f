# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Features of movement, fixations and saccades, compared by angle in the space where participants differ.

The strongest recogniser here that needs no training on other participants, on both public data sets. It is `lda` up to
its last step: everyone is a direction from the middle of all participants, and the nearest direction wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gazeveil.lab.attacks.contract import RECOGNISERS
from gazeveil.lab.attacks.enrolment import Discriminant, Score
from gazeveil.lab.attacks.recognisers.lda import Lda


@RECOGNISERS.register("fisher")
@dataclass(frozen=True, slots=True)
class Fisher(Lda):
    """Many features of a window, whitened by how one participant varies between windows and sessions."""

    name: ClassVar[str] = "fisher"

    @staticmethod
    def _score(fitted: Discriminant) -> Score:
        return fitted.cosines
