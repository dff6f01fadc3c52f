# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A participant's daily privacy budget: an account in the ledger, and leases that are paid before gaze leaves."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from gazeveil.errors import BudgetExceeded, CannotCompose, GazeveilError, InternalError, LedgerBusy, LedgerError
from gazeveil.exact import as_text
from gazeveil.gateway.policy.settings import BudgetSetting
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.privacy.ledger import Account, Ledger, Receipt
from gazeveil.privacy.ledger.account import restoration_time
from gazeveil.privacy.protection import WindowOfGaze

_MOST_NOTE = 200
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
"""Pauses in seconds after the ledger failed; they double."""
SPENT = "the privacy budget of the last 24 hours is spent; it comes back bit by bit"
"""What is shown to apps: no name and no number."""
ASK_AGAIN_S = 60.0
"""Seconds between checks whether some of a spent budget came back."""
WAIT_S = 300.0
"""Seconds that a lease may wait for gaze, beyond the lease before it; after that it is lost."""
DATASET = "gateway"
"""The data set of the participants' accounts in the ledger."""


@dataclass(frozen=True, slots=True)
class LeaseCharge:
    """One lease to pay for.

    Attributes:
        id: The charge's name in the ledger: paying twice under one id costs once.
        group: The viewer group that it is for.
        participant: Whose account pays.
        asked: When it was requested, in monotonic seconds.
        guarantee: What the group's stream guarantees.
        windows: How many windows the lease is long.
        seconds: How long that is.
        budget: What the policy allows in any 24 hours.
        recipe: The veil, of which the ledger keeps the digest.
        waits_s: For how long after the request it may begin.
    """

    id: str
    group: str
    participant: str
    asked: float
    guarantee: Guarantee
    windows: int
    seconds: Fraction
    budget: BudgetSetting
    recipe: Mapping[str, Any]
    waits_s: float = WAIT_S

    @property
    def lasts_s(self) -> float:
        """For how long it is paid, from its request: it may wait, and then be used."""
        return float(self.seconds) + self.waits_s

    def may_begin(self, now: float) -> bool:
        """Whether there is time left to use all of it."""
        return now <= self.asked + self.waits_s

    def pay(self, ledger: Ledger) -> Receipt:
        """Charge the participant's account, opening it first if need be.

        Blocks, and returns once the charge is on disk.

        Raises:
            BudgetExceeded: If it does not fit; nothing was spent.
            LedgerRolledBack: If the ledger was replaced, is gone, or is an old copy; nothing may leave any more.
            LedgerError: If the ledger cannot be used; whether something was spent is unknown, so pay the same again.
        """
        account = ledger.allow(DATASET, self.budget.guarantee, person=self.participant, note="any 24 hours of gaze")
        note = f"{self.windows} windows of {self.group}"[:_MOST_NOTE]
        if isinstance(self.guarantee, Unproven):
            if not set(self.guarantee.reasons) <= set(account.totals.unproven):
                account = ledger.record_unproven(
                    account.dataset, self.guarantee, person=self.participant, recipe=self.recipe, note=note
                )
            return Receipt(self.id, account.head, "", self.guarantee, account)
        if account.totals.closed:
            raise self._refused(account, "the account is closed")
        price = self.price(account)
        return ledger.charge(
            account.dataset,
            price,
            person=self.participant,
            recipe=self.recipe,
            note=note,
            charge_id=self.id,
            lasts_s=self.lasts_s,
            within=self.budget.epsilon_per_day,
        )

    def price(self, account: Account) -> GazeStreamDP:
        """Return what the lease costs an account, as a guarantee to the account's whole day.

        Raises:
            BudgetExceeded: If no such account could ever pay.
        """
        day = account.budget
        if not isinstance(day, GazeStreamDP):
            raise LedgerError(f"the account of {self.participant!r} does not hold a budget for a day of gaze")
        try:
            lease = self.guarantee.restated(
                unit=WindowOfGaze(self.seconds, day.radius, day.radius_unit, day.head_radius)
            )
        except CannotCompose as error:
            raise self._refused(account, error.message) from None
        return GazeStreamDP(lease.numbers()["epsilon"], day.window, day.radius, day.radius_unit, day.head_radius)

    def _refused(self, account: Account, why: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"over budget for {self.participant!r}: {why}",
            account=f"{account.dataset}/{account.person}",
            requested={},
            remaining={name: as_text(value) for name, value in account.remaining.items()},
            difference=None,
            hint=f"back next: {restoration_time(account) or 'nothing'}",
        )


class GroupLeases:
    """The leases of one viewer group: at most one in use and one in reserve, which is paid when the first begins.

    So a payment may take as long as a lease before a sample has to wait for it.

    Attributes:
        seconds_paid: How long the lease in use is; 0 if there is none.
        spent: Why nothing more is paid at present; empty while there is budget.
        trouble: Why the last payment failed; empty after one that worked.
        remaining: What was left of the budget after the last payment; None where nothing is charged.
        back: What comes back next and when, in words, as of the last payment; empty where nothing is charged.
    """

    def __init__(
        self,
        group: str,
        participant: str,
        guarantee: Guarantee,
        recipe: Mapping[str, Any],
        *,
        budget: BudgetSetting | None,
        lease_s: float,
        wall: Callable[[], datetime],
    ) -> None:
        self.participant, self.guarantee, self.budget = participant, guarantee, budget
        self._group, self._recipe, self._wall = group, recipe, wall
        window = guarantee.window if isinstance(guarantee, GazeStreamDP) else Fraction(1)
        self._window = window
        self._most = max(1, math.floor(Fraction(lease_s) / window))
        self._windows = self._most
        self._paying: LeaseCharge | None = None
        self._again: LeaseCharge | None = None
        self._ready: LeaseCharge | None = None
        self.seconds_paid = 0.0
        self._ask_at, self._pause = -math.inf, FIRST_PAUSE_S
        self.spent = self.trouble = self.back = ""
        self.remaining: Fraction | None = None

    def is_spent(self, now: float) -> bool:
        """Whether the budget is spent and the next check whether something came back is not due."""
        return bool(self.spent) and now < self._ask_at

    def begin(self, t: float, now: float) -> tuple[float, float] | None:
        """Use the next lease; return its end in stream time and on the machine's clock, or None if it is not paid.

        A lease ends when its seconds have passed on either clock.
        """
        if self.budget is None:
            return math.inf, math.inf
        lease, self._ready, self.seconds_paid = self._ready, None, 0.0
        if lease is None or not lease.may_begin(now):
            return None
        seconds = self.seconds_paid = float(lease.seconds)
        return t + seconds, now + seconds

    def charge(self, now: float) -> LeaseCharge | None:
        """Return what is to be paid now, if anything; call `settled` before the next one."""
        if self.budget is None or self._paying is not None:
            return None
        if self._ready is not None and self._ready.may_begin(now):
            return None
        if now < self._ask_at:
            return None
        again, self._again = self._again, None
        self._paying = again if again is not None and again.may_begin(now) else self._new(now)
        return self._paying

    def settled(self, charge: LeaseCharge, outcome: Receipt | GazeveilError, now: float) -> bool:
        """Take the outcome of a payment; return whether a lease is there now.

        Raises:
            InternalError: If this payment was not requested.
        """
        if charge is not self._paying:
            raise InternalError("a payment arrived that was not requested")
        self._paying = None
        if isinstance(outcome, Receipt):
            self._ready = charge
            self._windows = min(2 * self._windows, self._most)
            self.remaining = outcome.account.remaining.get("epsilon")
            self.back = restoration_time(outcome.account, self._wall())
            self._pause, self._ask_at = FIRST_PAUSE_S, -math.inf
            self.spent = self.trouble = ""
            return True
        self.trouble = outcome.message
        if isinstance(outcome, BudgetExceeded):
            if self._windows > 1:  # a shorter lease may still fit
                self._windows //= 2
                return False
            self.spent = SPENT
            self._ask_at = now + ASK_AGAIN_S
            return False
        self._again = charge  # the same id, since it may have been paid all the same
        self._ask_at = now + self._pause
        if not isinstance(outcome, LedgerBusy):  # try again soon, while the lease in use lasts
            self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
        return False

    def _new(self, now: float) -> LeaseCharge:
        if self.budget is None:
            raise InternalError("nothing is charged where there is no budget")
        return LeaseCharge(
            uuid.uuid4().hex,
            self._group,
            self.participant,
            now,
            self.guarantee,
            self._windows,
            self._windows * self._window,
            self.budget,
            self._recipe,
            float(self._most * self._window) + WAIT_S,
        )
