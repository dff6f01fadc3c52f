# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Black box with exemplars: the best linear filter from veiled to raw gaze, learnt from other participants' gaze.

It needs far fewer exemplars than a network, and where a mechanism is itself a filter there is nothing better to learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.contract import ATTACKS, Attack, Grant, Knowledge, Prepared
from gazeveil.lab.attacks.restoring import Restoration
from gazeveil.lab.attacks.threats.wiener import best_filter, restored


@ATTACKS.register("exemplar-filter")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExemplarFilter(Attack):
    """A filter that looks both ways, and a constant shift.

    Attributes:
        seconds: How far the filter looks, both ways together; less if the exemplars are shorter.
    """

    name: ClassVar[str] = "exemplar-filter"
    threat_model: ClassVar[str] = "black box with exemplars, best linear filter"
    grants: ClassVar[frozenset[Grant]] = frozenset({Grant.EXEMPLARS})

    seconds: float = 8.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and 0 < self.seconds <= 30):
            raise OptionError(f"seconds must lie above 0 and up to 30, not at {self.seconds!r}")

    def _prepare(self, knowledge: Knowledge, seed: int) -> Prepared:
        exemplars = knowledge.exemplars or ()
        if not exemplars:
            raise InputError("there are no exemplars to learn from")
        rates = {exemplar.veiled.rate_hz for exemplar in exemplars}
        if len(rates) > 1:
            raise InputError(f"exemplars must have one rate, not {', '.join(f'{rate:g}' for rate in sorted(rates))} Hz")
        longest = max(len(exemplar.veiled.t) for exemplar in exemplars)
        size = 2 * max(4, min(round(self.seconds * rates.pop() / 2), longest // 4))
        taps, shift = best_filter(exemplars, size)
        return Restoration(lambda veiled: restored(veiled, taps, shift))
