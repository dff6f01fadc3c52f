# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The latest things of a stream, for readers that come when they like: who writes appends, and waits for nobody."""

from __future__ import annotations

from collections import deque
from itertools import count, islice
from typing import Generic, TypeVar

_numbers = count()
Thing = TypeVar("Thing")
Point = tuple[float, float, float]
"""Stream time, and where; in the unit of the viewing plane."""


class Ring(Generic[Thing]):
    """This many things at most; older ones go.

    Attributes:
        count: How many there ever were, so that a reader knows what it has seen.
        number: Of the ring itself: no other one has it.
    """

    __slots__ = ("__weakref__", "_things", "count", "number")

    def __init__(self, most: int) -> None:
        self._things: deque[Thing] = deque(maxlen=most)
        self.count = 0
        self.number = next(_numbers)

    def add(self, thing: Thing) -> None:
        """Append a thing."""
        self._things.append(thing)
        self.count += 1

    def since(self, seen: int, most: int | None = None) -> list[Thing]:
        """Return what came after the first ``seen`` things and is still there; the latest ``most`` of it."""
        fresh = min(self.count - seen, len(self._things))
        if most is not None:
            fresh = min(fresh, most)
        return list(islice(reversed(self._things), fresh))[::-1] if fresh > 0 else []

    def clear(self) -> None:
        """Forget all of them; the count goes on."""
        self._things.clear()
