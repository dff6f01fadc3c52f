# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""How many participants a study needs: the chance to find a difference that is there.

For pairs by t the power is exact. For Wilcoxon's ranks it is that of t with 3/π times as many participants, which is
how much ranks lose where t is best (Lehmann 1975); where it is not, they lose less or win. Holm's first step is the
strictest, so its level is taken for all comparisons. With few participants even differences that all have one sign are
not rare enough for it: nothing is found then, however large it is.
"""

from __future__ import annotations

import math

from gazeveil.errors import OptionError
from gazeveil.lab.userstudy.statistics._tails import distributions

KEPT_BY_RANKS = 3 / math.pi
MOST_PEOPLE = 10_000


def power(d: float, participants: int, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True) -> float:
    """Return the chance that a difference of d standard deviations is found, two-sided.

    Raises:
        OptionError: If there are fewer than two participants or no comparison.
    """
    if participants < 2 or comparisons < 1 or not 0 < level < 1 or not math.isfinite(d):
        raise OptionError(
            "power needs two participants, one comparison and a level between 0 and 1 at least; found "
            f"{participants}, {comparisons} and {level}"
        )
    if ranks and 2.0 ** (1 - participants) > level / comparisons:  # the smallest exact p
        return 0.0
    law = distributions()
    people = participants * KEPT_BY_RANKS if ranks else float(participants)
    degrees = max(people - 1, 0.1)
    limit = float(law.t.isf(level / comparisons / 2, degrees))
    away = abs(d) * math.sqrt(people)
    return float(law.nct.sf(limit, degrees, away) + law.nct.cdf(-limit, degrees, away))


def participants_for(
    d: float, wanted: float = 0.8, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True
) -> int | None:
    """Return how many participants find a difference of d with the wanted power; nothing if ten thousand do not."""
    low, high = 2, 2
    while power(d, high, comparisons=comparisons, level=level, ranks=ranks) < wanted:
        if high == MOST_PEOPLE:
            return None
        low, high = high, min(high * 2, MOST_PEOPLE)
    while low < high:
        middle = (low + high) // 2
        if power(d, middle, comparisons=comparisons, level=level, ranks=ranks) < wanted:
            low = middle + 1
        else:
            high = middle
    return high


def smallest_difference(
    participants: int, wanted: float = 0.8, *, comparisons: int = 1, level: float = 0.05, ranks: bool = True
) -> float | None:
    """Return the d that this many participants find with the wanted power; nothing if they are too few for any."""
    low, high = 0.0, 50.0
    if power(high, participants, comparisons=comparisons, level=level, ranks=ranks) < wanted:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        if power(middle, participants, comparisons=comparisons, level=level, ranks=ranks) < wanted:
            low = middle
        else:
            high = middle
    return high
