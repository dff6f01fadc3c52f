# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The window budget: how much every closed window of a gaze stream has cost, in integers, on the device's own time.

A spend is a time in microseconds and a loss per unit of distance (ε / r) in units of 2**-30. Losses per distance add
up whatever the radius was when they were spent, so the radius may change (erratum K4). A rule limits what any closed
window of a length may cost. A new guarantee adds a rule, and the old one binds until the windows that began before the
change are over: a stricter guarantee holds at once, a looser one waits. See docs/proofs/gaze-stream.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gazeveil.arrays import IntArray
from gazeveil.errors import OptionError
from gazeveil.exact import Number, above_zero

LOSS_UNIT = 1 << 30
"""This many units make a loss of 1 per unit of distance."""
LONGEST_WINDOW = 10
SHORTEST_WINDOW = Fraction(1, 1000)

_MOST_CAP = 1 << 48
_LEAST_CAP = 1 << 10
_MOST_SLOTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Rule:
    """What any closed window may cost.

    Attributes:
        cap: The most that the spends of a window may add up to, in loss units.
        window_us: How long a window is; one microsecond more than guaranteed, because times are rounded to them.
    """

    cap: int
    window_us: int

    @classmethod
    def of(cls, epsilon: Number, window: Number, radius: Number) -> Rule:
        """Return the rule of a guarantee; what does not divide evenly is rounded down, so that less may be spent.

        Raises:
            OptionError: If a number is not positive, or out of range.
        """
        per_unit = above_zero(epsilon, "epsilon") / above_zero(radius, "radius")
        seconds = above_zero(window, "window")
        if not SHORTEST_WINDOW <= seconds <= LONGEST_WINDOW:
            raise OptionError(
                f"window must be between 0.001 and {LONGEST_WINDOW} seconds, not {window!r}",
                hint="the window budget remembers ten seconds",
            )
        cap = math.floor(per_unit * LOSS_UNIT)
        if not _LEAST_CAP <= cap <= _MOST_CAP:
            raise OptionError(
                f"epsilon / radius must be between 1e-6 and 262144, not {float(per_unit):g}",
                hint="check the radius: it is in the unit of the gaze, px or degrees",
            )
        return cls(cap, math.ceil(seconds * 1_000_000) + 1)


def budget_for(rule: Rule, spacing_us: int) -> IntArray:
    """Return an empty budget for spends that are at least ``spacing_us`` apart, as the array that kernels work on.

    Raises:
        OptionError: If ten seconds would hold more than a million spends.
    """
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415  (numba loads on use)

    slots = k.KEPT_US // max(1, spacing_us) + 2
    if slots > _MOST_SLOTS:
        raise OptionError("spends so close together would fill the window budget", hint="use a longer window")
    budget = np.zeros(k.RING_AT + 2 * slots, np.int64)
    budget[k.SLOTS] = slots
    _add_rule(budget, rule, 0)
    return budget


def with_rule(budget: IntArray, now_us: int, rule: Rule, spacing_us: int) -> IntArray:
    """Return the budget with a new rule from now on; the old ones bind until their windows have passed."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    fresh = _moved(budget, max(int(budget[k.SLOTS]), len(budget_for(rule, spacing_us)) - k.RING_AT >> 1))
    count = int(fresh[k.RULES])
    for number in range(count):
        at = k.RULES_AT + number * k.RULE_WIDTH
        fresh[at + k.UNTIL] = min(int(fresh[at + k.UNTIL]), now_us + int(fresh[at + k.WINDOW]))
    k.left(fresh, now_us)  # forgets the rules that bind no more
    if fresh[k.RULES] == k.MOST_RULES:
        _merge(fresh)
    _add_rule(fresh, rule, now_us)
    return fresh


def spends(budget: IntArray) -> list[tuple[int, int]]:
    """Return the spends that are still remembered, as (microseconds, loss units), oldest first."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    slots = int(budget[k.SLOTS])
    places = [k.RING_AT + 2 * (number % slots) for number in range(int(budget[k.OLDEST]), int(budget[k.NEXT]))]
    return [(int(budget[slot]), int(budget[slot + 1])) for slot in places]


def is_budget(budget: IntArray) -> bool:
    """Whether an array can be a budget at all: for state that came from outside."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    if budget.ndim != 1 or budget.dtype != np.int64 or len(budget) < k.RING_AT + 2:
        return False
    rules, following, oldest, slots = (int(value) for value in budget[: k.RULES_AT])
    return (
        1 <= rules <= k.MOST_RULES
        and len(budget) == k.RING_AT + 2 * slots
        and 0 <= oldest <= following <= oldest + slots
    )


def _add_rule(budget: IntArray, rule: Rule, now_us: int) -> None:
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    inside = [(number, amount) for number, (t, amount) in enumerate(spends(budget)) if t >= now_us - rule.window_us]
    first = int(budget[k.OLDEST]) + inside[0][0] if inside else int(budget[k.NEXT])
    at = k.RULES_AT + int(budget[k.RULES]) * k.RULE_WIDTH
    row = (rule.cap, rule.window_us, k.FOREVER, first, sum(amount for _, amount in inside))
    budget[at : at + k.RULE_WIDTH] = row
    budget[k.RULES] += 1


def _merge(budget: IntArray) -> None:
    """Replace all rules by one that is as strict as each of them, so that the list stays short."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    rows = budget[k.RULES_AT : k.RING_AT].reshape(k.MOST_RULES, k.RULE_WIDTH)
    widest = int(np.argmax(rows[:, k.WINDOW]))
    rows[0] = [
        rows[:, k.CAP].min(),
        *rows[widest, [k.WINDOW]],
        rows[:, k.UNTIL].max(),
        *rows[widest, [k.FIRST, k.RULE_SPENT]],
    ]
    budget[k.RULES] = 1


def _moved(budget: IntArray, slots: int) -> IntArray:
    """Return a copy with a ring of another size."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    fresh = np.zeros(k.RING_AT + 2 * slots, np.int64)
    fresh[: k.RING_AT] = budget[: k.RING_AT]
    fresh[k.SLOTS] = slots
    for number, (t, amount) in enumerate(spends(budget), start=int(budget[k.OLDEST])):
        slot = k.RING_AT + 2 * (number % slots)
        fresh[slot], fresh[slot + 1] = t, amount
    return fresh
