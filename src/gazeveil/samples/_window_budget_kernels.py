# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The window ledger as one array of integers, so that a live step and a compiled loop keep the same books.

Layout: a header of four, then `MOST_RULES` rules of five, then a ring of spends of two. Spends are numbered from the
first one ever; the ring holds the latest. Times never run back: callers see to that.
"""

from __future__ import annotations

import numpy as np

from gazeveil.arrays import IntArray
from gazeveil.kernel_compiler import kernel

RULES, NEXT, OLDEST, SLOTS = range(4)
"""Header: how many rules are in force, the number of the next spend, of the oldest kept, and the ring's size."""
CAP, WINDOW, UNTIL, FIRST, SPENT = range(5)
"""A rule: what a closed window may hold, its length, until when the rule binds, its first spend, their sum."""
MOST_RULES = 8
RULE_WIDTH = 5
RULES_AT = 4
RING_AT = RULES_AT + MOST_RULES * RULE_WIDTH

KEPT_US = 10_000_002
FOREVER = np.iinfo(np.int64).max


@kernel(error_model="numpy")
def left(books: IntArray, now: int) -> int:
    """Return what may still be spent at this time under every rule in force; it can be negative."""
    least = FOREVER
    slots = books[SLOTS]
    rule = 0
    while rule < books[RULES]:
        at = RULES_AT + rule * RULE_WIDTH
        if now > books[at + UNTIL]:
            last = RULES_AT + (books[RULES] - 1) * RULE_WIDTH
            for field in range(RULE_WIDTH):
                books[at + field] = books[last + field]
            books[RULES] -= 1
            continue
        start = now - books[at + WINDOW]
        first = books[at + FIRST]
        while first < books[NEXT] and books[RING_AT + 2 * (first % slots)] < start:
            books[at + SPENT] -= books[RING_AT + 2 * (first % slots) + 1]
            first += 1
        books[at + FIRST] = first
        unspent = books[at + CAP] - books[at + SPENT]
        least = min(least, unspent)
        rule += 1
    return least


@kernel(error_model="numpy")
def spend(books: IntArray, now: int, amount: int) -> bool:
    """Enter a spend if every rule has room for it and the ring too; otherwise change nothing and say so."""
    if amount <= 0 or left(books, now) < amount:
        return False
    slots = books[SLOTS]
    while books[OLDEST] < books[NEXT] and books[RING_AT + 2 * (books[OLDEST] % slots)] < now - KEPT_US:
        books[OLDEST] += 1
    if books[NEXT] - books[OLDEST] >= slots:
        return False
    slot = RING_AT + 2 * (books[NEXT] % slots)
    books[slot] = now
    books[slot + 1] = amount
    books[NEXT] += 1
    for rule in range(books[RULES]):
        books[RULES_AT + rule * RULE_WIDTH + SPENT] += amount
    return True
