# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""In which order participants meet conditions, so that order and condition are not mixed up.

A Latin square after Williams (1949): over its rows every condition stands at every place equally often, and follows
every other one equally often. An odd number of conditions needs two such squares.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def latin_rows(conditions: int) -> list[tuple[int, ...]]:
    """Return the rows of a balanced Latin square, or of two where the number is odd."""
    first = [0]
    low, high = 1, conditions - 1
    while len(first) < conditions:
        first.append(low if len(first) % 2 else high)
        low, high = (low + 1, high) if len(first) % 2 == 0 else (low, high - 1)
    rows = [tuple((place + shift) % conditions for place in first) for shift in range(conditions)]
    return rows if conditions % 2 == 0 else rows + [tuple(reversed(row)) for row in rows]


def shuffled(items: Sequence[T], key: str) -> list[T]:
    """Return items in an order that follows from a public key alone, each order as likely as any other."""
    left, found = list(items), []
    block = 0
    while left:
        drawn = int.from_bytes(hashlib.sha256(f"{key}/{block}".encode()).digest()[:8], "big")
        block += 1
        if drawn >= 2**64 - 2**64 % len(left):
            continue  # so that no item is a little likelier
        found.append(left.pop(drawn % len(left)))
    return found


def sequence(conditions: Sequence[T], participant: int, kind: str, key: str) -> list[T]:
    """Return the order for a participant, counted from 0: a row of the square, or a shuffle of their own."""
    if kind == "random":
        return shuffled(conditions, f"{key}/{participant}")
    rows = latin_rows(len(conditions))
    return [conditions[place] for place in rows[participant % len(rows)]]
