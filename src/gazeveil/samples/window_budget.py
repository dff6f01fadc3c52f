# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The window ledger: how much every closed window of a gaze stream has cost, in integers, on the device's own time.

A spend is a time in microseconds and a loss per unit of distance (ε / r) in units of 2**-30. Losses per distance add
up whatever the radius was when they were spent, so the radius may change (erratum K4). A rule says what any closed
window of a length may hold. A new guarantee adds a rule, and the old one stays binding until a window that began before
the change is over: tightening is immediate, loosening waits. See docs/proofs/gaze-stream.md.
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
        """Return the rule that a guarantee amounts to; what does not come out even is rounded against the spender.

        Raises:
            OptionError: If a number is not positive, or out of the ledger's range.
        """
        per_unit = above_zero(epsilon, "epsilon") / above_zero(radius, "radius")
        seconds = above_zero(window, "window")
        if not SHORTEST_WINDOW <= seconds <= LONGEST_WINDOW:
            raise OptionError(
                f"window must be between 0.001 and {LONGEST_WINDOW} seconds, not {window!r}",
                hint="the ledger remembers ten seconds",
            )
        cap = math.floor(per_unit * LOSS_UNIT)
        if not _LEAST_CAP <= cap <= _MOST_CAP:
            raise OptionError(
                f"epsilon / radius must be between 1e-6 and 262144, not {float(per_unit):g}",
                hint="check the radius: it is in the unit of the gaze, px or degrees",
            )
        return cls(cap, math.ceil(seconds * 1_000_000) + 1)


def books_for(rule: Rule, spacing_us: int) -> IntArray:
    """Return an empty ledger for spends that are at least so far apart, as the array that kernels work on.

    Raises:
        OptionError: If ten seconds would hold more than a million spends.
    """
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415  (numba loads on use)

    slots = k.KEPT_US // max(1, spacing_us) + 2
    if slots > _MOST_SLOTS:
        raise OptionError("spends so close together would fill the ledger", hint="use a longer window")
    books = np.zeros(k.RING_AT + 2 * slots, np.int64)
    books[k.SLOTS] = slots
    _add_rule(books, rule, 0)
    return books


def with_rule(books: IntArray, now_us: int, rule: Rule, spacing_us: int) -> IntArray:
    """Return the ledger with a new rule from now on, the old ones binding until their windows have passed."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    fresh = _moved(books, max(int(books[k.SLOTS]), len(books_for(rule, spacing_us)) - k.RING_AT >> 1))
    count = int(fresh[k.RULES])
    for number in range(count):
        at = k.RULES_AT + number * k.RULE_WIDTH
        fresh[at + k.UNTIL] = min(int(fresh[at + k.UNTIL]), now_us + int(fresh[at + k.WINDOW]))
    k.left(fresh, now_us)  # forgets the rules that bind no more
    if fresh[k.RULES] == k.MOST_RULES:
        _merge(fresh)
    _add_rule(fresh, rule, now_us)
    return fresh


def spends(books: IntArray) -> list[tuple[int, int]]:
    """Return the spends that are still remembered, as (microseconds, loss units), oldest first."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    slots = int(books[k.SLOTS])
    places = [k.RING_AT + 2 * (number % slots) for number in range(int(books[k.OLDEST]), int(books[k.NEXT]))]
    return [(int(books[slot]), int(books[slot + 1])) for slot in places]


def fits(books: IntArray) -> bool:
    """Whether an array can be a ledger at all: for state that came from outside."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    if books.ndim != 1 or books.dtype != np.int64 or len(books) < k.RING_AT + 2:
        return False
    rules, following, oldest, slots = (int(value) for value in books[: k.RULES_AT])
    return (
        1 <= rules <= k.MOST_RULES
        and len(books) == k.RING_AT + 2 * slots
        and 0 <= oldest <= following <= oldest + slots
    )


def _add_rule(books: IntArray, rule: Rule, now_us: int) -> None:
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    inside = [(number, amount) for number, (t, amount) in enumerate(spends(books)) if t >= now_us - rule.window_us]
    first = int(books[k.OLDEST]) + inside[0][0] if inside else int(books[k.NEXT])
    at = k.RULES_AT + int(books[k.RULES]) * k.RULE_WIDTH
    row = (rule.cap, rule.window_us, k.FOREVER, first, sum(amount for _, amount in inside))
    books[at : at + k.RULE_WIDTH] = row
    books[k.RULES] += 1


def _merge(books: IntArray) -> None:
    """Replace all rules by one that is as strict as each of them, so that the list stays short."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    rows = books[k.RULES_AT : k.RING_AT].reshape(k.MOST_RULES, k.RULE_WIDTH)
    widest = int(np.argmax(rows[:, k.WINDOW]))
    rows[0] = [
        rows[:, k.CAP].min(),
        *rows[widest, [k.WINDOW]],
        rows[:, k.UNTIL].max(),
        *rows[widest, [k.FIRST, k.RULE_SPENT]],
    ]
    books[k.RULES] = 1


def _moved(books: IntArray, slots: int) -> IntArray:
    """Return a copy with a ring of another size."""
    from gazeveil.samples import stream_kernels as k  # noqa: PLC0415

    fresh = np.zeros(k.RING_AT + 2 * slots, np.int64)
    fresh[: k.RING_AT] = books[: k.RING_AT]
    fresh[k.SLOTS] = slots
    for number, (t, amount) in enumerate(spends(books), start=int(books[k.OLDEST])):
        slot = k.RING_AT + 2 * (number % slots)
        fresh[slot], fresh[slot + 1] = t, amount
    return fresh
