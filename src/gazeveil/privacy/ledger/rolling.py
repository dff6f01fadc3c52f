# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What comes back: charges that count until so long after the last moment that they paid for.

A budget ``GazeStreamDP(B, W, r)`` is about any W seconds. A charge pays for gaze until a moment ``until``, so it counts
until W seconds after that. Charges that come back within the same quarter of an hour are kept as one sum, which comes
back at its end: an account then holds at most a hundred numbers, however many charges there were, and nothing comes
back early. Sums are whole billionths of ε, rounded up. docs/proofs/rolling-budget.md has the proof.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

GRID_S = 900
"""Budget comes back at multiples of this many seconds."""
SLACK_S = 60
"""By so much may clocks of machines that share a ledger differ, and wall clocks be wrong when processes begin."""
_GRAINS = 10**9

_encoded = json.JSONEncoder(separators=(",", ":")).encode

Sums = tuple[tuple[int, int], ...]
"""When it comes back, as a number of steps of the grid, and how much, in billionths of ε; the earliest first."""


@dataclass(frozen=True, slots=True)
class Rolling:
    """Where an account stands whose budget comes back.

    Attributes:
        at: The account's time: seconds since 1970, as `gazeveil.privacy.ledger.clock` has it.
        due: What still counts, by when it comes back.
        counted: All of it, in billionths.
    """

    at: int
    due: Sums = ()
    counted: int = 0

    @property
    def epsilon(self) -> Fraction:
        """What still counts."""
        return Fraction(self.counted, _GRAINS)

    @property
    def next_back(self) -> tuple[int, Fraction] | None:
        """In how many seconds something comes back, and how much; None if nothing counts."""
        if not self.due:
            return None
        step, grains = self.due[0]
        return step * GRID_S - self.at, Fraction(grains, _GRAINS)

    def rolled(self, at: int) -> Rolling:
        """Return where it stands at a later moment; an earlier one changes nothing."""
        if at <= self.at:
            return self
        gone = bisect_left(self.due, (at // GRID_S + 1, 0))
        return Rolling(at, self.due[gone:], self.counted - sum(grains for _, grains in self.due[:gone]))

    def charged(self, until: int, window: Fraction, epsilon: Fraction) -> Rolling:
        """Return it with one more charge, for gaze until a moment."""
        step, grains = _comes_back(until, window), -(-epsilon.numerator * _GRAINS // epsilon.denominator)
        place = after = bisect_left(self.due, (step, 0))
        merged = grains
        if place < len(self.due) and self.due[place][0] == step:
            merged, after = grains + self.due[place][1], place + 1
        return Rolling(self.at, (*self.due[:place], (step, merged), *self.due[after:]), self.counted + grains)

    def times(self, steps: int, most: Fraction) -> Rolling:
        """Return it with all sums this many times as large, of which the latest count, up to a budget."""
        left, kept = math.floor(most * _GRAINS), []
        for step, grains in reversed(self.due):
            counted = min(left, steps * grains)
            left -= counted
            if counted:
                kept.append((step, counted))
        return Rolling(self.at, tuple(reversed(kept)), sum(grains for _, grains in kept))

    def to_text(self) -> str:
        """Write it as JSON."""
        return f'{{"at":{self.at},"due":{_encoded(self.due)}}}'

    @classmethod
    def from_plain(cls, values: Any) -> Rolling:
        """Return what `to_text` wrote, read as JSON."""
        due = _sums(values["due"])
        return cls(int(values["at"]), due, sum(grains for _, grains in due))


def _comes_back(until: int, window: Fraction) -> int:
    return -(-(until + math.ceil(window) + SLACK_S) // GRID_S)


def _sums(plain: Iterable[Iterable[int]]) -> Sums:
    return tuple((int(step), int(grains)) for step, grains in plain)
