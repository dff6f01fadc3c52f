# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How strong a guarantee is: one scale, for help texts, statements, warnings and advice alike.

The scale goes by what ε means for a belief. Someone who was undecided about a participant (50 %) can become at most
e^ε / (1 + e^ε) sure, whatever else they know:

| ε up to | at most sure | called |
|---|---|---|
| 1 | 73.2 % | strong |
| 3 | 95.3 % | moderate |
| 10 | 99.996 % | weak |
| more | no practical limit | next to none |

The ε is that for replacing a participant's data by any other; a guarantee about taking part or not counts with twice
its ε. The lines are ours: no standard draws them. ε of several releases from the same data add up, so a strong
guarantee that is spent ten times is a weak one.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Final

from gazeveil.privacy.unit import Neighbours


class Strength(StrEnum):
    """A step of the scale."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NEXT_TO_NONE = "next to none"

    @property
    def protects(self) -> bool:
        """Whether the guarantee is worth advising."""
        return self in (Strength.STRONG, Strength.MODERATE)


UP_TO: Final = ((Fraction(1), Strength.STRONG), (Fraction(3), Strength.MODERATE), (Fraction(10), Strength.WEAK))
"""The largest ε of each step but the last."""

MOST_ADVISED: Final = UP_TO[-1][0]
"""No advice, hint or forecast ever suggests an ε beyond this one."""

IN_SHORT: Final = "up to 1 is strong, up to 3 moderate, up to 10 weak, more protects next to nothing"
"""The scale in one line, for help texts."""


def strength_of(epsilon: Fraction, neighbours: Neighbours = Neighbours.REPLACE_ONE) -> Strength:
    """Return how strong a guarantee with this ε is; one about taking part or not counts with twice its ε."""
    counted = 2 * epsilon if neighbours is Neighbours.ADD_REMOVE else epsilon
    return next((strength for most, strength in UP_TO if counted <= most), Strength.NEXT_TO_NONE)
