# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A ledger on a machine whose clocks only the test moves."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from gazeveil.errors import BudgetExceeded
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Account, Clock, Ledger, Receipt
from gazeveil.privacy.ledger.spending import GRID_S, SLACK_S

DAY_S = 86_400
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATEST_BACK = DAY_S + GRID_S + SLACK_S + 2
"""So long after its last moment a charge has come back at the latest, if clocks are right."""


OPEN: list[Ledger] = []
"""What machines have opened, to be closed after the test."""


def day(epsilon: float | str, radius: float = 60, unit: str = "px") -> GazeStreamDP:
    return GazeStreamDP(epsilon, DAY_S, radius, unit)


class Machine:
    """A ledger, and a machine's clocks, which only the test moves."""

    def __init__(self, address: Path | str, start: datetime = NOON) -> None:
        self.address, self.steady, self.wall = str(address), 0.0, start.timestamp()
        self.notes: list[str] = []
        Ledger.open(self.address, create=True).close()
        self.book = self.start()

    def start(self) -> Ledger:
        """Start a program anew: what it knows of time is what the clocks show now."""
        self.book = Ledger.open(
            self.address, clock=Clock(lambda: self.wall, lambda: self.steady), notice=self.notes.append
        )
        OPEN.append(self.book)
        self.notes.clear()
        return self.book

    def passes(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds

    def allow(self, epsilon: float, radius: float = 60, unit: str = "px") -> Account:
        return self.book.allow("gateway", day(epsilon, radius, unit), person="anna")

    def pay(self, epsilon: float | str, lasts_s: float = 10.0, name: str = "") -> Receipt:
        return self.book.charge("gateway", day(epsilon), person="anna", lasts_s=lasts_s, charge_id=name)

    def budgets(self, epsilon: float) -> int:
        """Spend until nothing is left, and return how many times so much fitted."""
        for count in itertools.count():
            try:
                self.pay(epsilon)
            except BudgetExceeded:
                return count
        raise AssertionError

    @property
    def spent(self) -> Fraction:
        return self.book.account("gateway", "anna").spent["epsilon"]
