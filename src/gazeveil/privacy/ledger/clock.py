# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The time by which budgets are restored: it never runs back. And what still counts of day accounts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from gazeveil.privacy.ledger.account import Account, in_letters, named
from gazeveil.privacy.ledger.anchor import Notice
from gazeveil.privacy.ledger.spending import SLACK_S, Totals


class Clock:
    """Seconds since 1970 (UTC): the wall clock as it was at the beginning, and the steady clock since then.

    It can be pickled: a process that pays for another one goes by the other's clock.

    Attributes:
        began: What the wall clock showed at the beginning.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self.began, self._zero = wall(), steady()
        self._steady = steady

    def now(self) -> float:
        """Return the time."""
        return self.began + (self._steady() - self._zero)


THIS_PROCESS = Clock()
"""One for all ledgers that a process opens: to open one again is no way to another time."""


class LedgerTime:
    """The time of each account of a ledger, in whole seconds."""

    def __init__(self, clock: Clock | None, tell: Notice) -> None:
        self._clock, self._tell = clock or THIS_PROCESS, tell
        self._noted: set[tuple[str, str]] = set()

    def standing(self, account: Account) -> Account:
        """Return where an account stands now."""
        rolling = account.totals.rolling
        return account if rolling is None else replace(account, totals=account.totals.rolled(self._now(rolling.at)))

    def rolled(self, account: tuple[str, str], totals: Totals) -> tuple[Totals, int]:
        """Return the totals of an account as of now, and its time.

        Warn if clocks were set across a restart.
        """
        if totals.rolling is None:
            return totals, self._now(0)
        if note := self._note(account, totals):
            self._tell(note)
        at = self._now(totals.rolling.at)
        return totals.rolled(at), at

    def _now(self, last: int) -> int:
        """Return the time of an account whose newest event is of ``last``."""
        return max(last, math.floor(self._clock.now()))

    def _note(self, account: tuple[str, str], totals: Totals) -> str:
        """Say, once for an account, if budget came back across a restart, or if the clock was set back across one."""
        began, last = math.floor(self._clock.began), 0 if totals.rolling is None else totals.rolling.at
        if began <= last <= self._clock.now():
            return ""
        back = totals.epsilon - totals.rolled(began).epsilon if last < began else Fraction(0)
        if account in self._noted or not (back or last - self._clock.now() > SLACK_S):
            return ""
        self._noted.add(account)
        if not back:
            return (
                f"the machine's clock is {timedelta(seconds=last - math.floor(self._clock.now()))} behind the newest "
                f"charge of {named(*account)}: until it has caught up, no budget comes back"
            )
        return (
            f"{timedelta(seconds=began - last)} passed for {named(*account)} before this program began, and "
            f"{in_letters({'epsilon': back}, up=False)} came back; if the machine's clock was set forward meanwhile, "
            "that was too early"
        )
