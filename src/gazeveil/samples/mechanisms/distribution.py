# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Budget distribution (BD, Kellaris and others 2014) for gaze: a release gets half of what is left in the window."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from gazeveil.errors import OptionError
from gazeveil.exact import exact
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.mechanisms._slots import Slotted
from gazeveil.samples.mechanisms.kaleido import halving
from gazeveil.samples.stream import Plan


@MECHANISMS.register("distribution")
@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution(Slotted):
    """Budget distribution: in each slot a private test, and where it says far, half of what is left.

    Attributes:
        floor: The least share of a window's budget that a release may get.
    """

    name: ClassVar[str] = "distribution"
    floor: Fraction = Fraction(1, 10)

    def plan(self) -> Plan:
        """Return what tests and releases may cost."""
        return halving(self, self._rule(), noises=self.noises)

    def _check(self) -> None:
        Slotted._check(self)
        object.__setattr__(self, "floor", exact(self.floor, "floor"))
        if not 0 <= self.floor < 1:
            raise OptionError("floor is a share of a window's budget, between 0 and 1")
