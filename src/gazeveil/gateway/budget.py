# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A person's day: an account in the ledger, and leases that are paid ahead of the gaze that leaves.

A lease of n windows of a stream with ``GazeStreamDP(ε, w, r)`` costs n ε ⌈r_day / r⌉ of a budget
``GazeStreamDP(B, one day, r_day)``. It is charged before anything leaves, and what is left of it after a crash is lost.
docs/proofs/gateway-budget.md has the proof. No sockets and no threads here: `Charge.pay` blocks, and the caller
decides where.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

from gazeveil.errors import (
    BudgetExceeded,
    CannotCompose,
    GazeveilError,
    InternalError,
    LedgerBusy,
    LedgerError,
    LedgerRolledBack,
)
from gazeveil.gateway.policy import BudgetSetting
from gazeveil.privacy.exact import as_text
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.privacy.ledger import Account, Ledger, Receipt
from gazeveil.privacy.unit import WindowOfGaze

_MOST_NOTE = 200
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
"""Pauses after the ledger failed; they double."""
SPENT = "the privacy budget of this day is spent; the next day (UTC) brings a new one"
"""What apps are told: no name, and no number."""
ASK_AGAIN_S = 60.0
"""How often a spent budget is asked whether somebody granted more."""


def dataset_of(day: date) -> str:
    """Return under which data set a day's accounts are kept."""
    return f"gateway {day.isoformat()}"


@dataclass(frozen=True, slots=True)
class Charge:
    """One lease to be paid for.

    Attributes:
        id: The charge's name in the ledger: paying twice under one id costs once.
        group: The viewer group that it is for.
        person: Whose account pays.
        day: Whose day of it.
        promise: What the group's stream promises.
        windows: How many windows the lease is long.
        seconds: How long that is.
        budget: What the policy grants a day.
        recipe: The veil, of which the ledger keeps the digest.
    """

    id: str
    group: str
    person: str
    day: date
    promise: Guarantee
    windows: int
    seconds: Fraction
    budget: BudgetSetting
    recipe: Mapping[str, Any]

    def pay(self, ledger: Ledger) -> Receipt:
        """Charge the day's account, opening it first if need be. Blocks, and returns once the charge is on disk.

        Raises:
            BudgetExceeded: If it does not fit; nothing was spent.
            LedgerRolledBack: If the ledger was replaced, is gone, or is an old copy; nothing may leave any more.
            LedgerError: If the ledger cannot be used; whether something was spent is unknown, so pay the same again.
        """
        account = self._account(ledger)
        note = f"{self.windows} windows of {self.group}"[:_MOST_NOTE]
        if isinstance(self.promise, Unproven):
            if not set(self.promise.reasons) <= set(account.totals.unproven):
                account = ledger.record_unproven(
                    account.dataset, self.promise, person=self.person, recipe=self.recipe, note=note
                )
            return Receipt(self.id, account.head, "", self.promise, account)
        if account.totals.closed:
            raise self._refused(account, None, "the account is closed")
        price = self.price(account)
        self._check_policy(account, price)
        return ledger.charge(
            account.dataset, price, person=self.person, recipe=self.recipe, note=note, charge_id=self.id
        )

    def price(self, account: Account) -> GazeStreamDP:
        """Return what the lease costs of an account, as a promise to the account's whole day.

        Raises:
            BudgetExceeded: If no such account could ever pay.
        """
        day = account.budget
        if not isinstance(day, GazeStreamDP):
            raise LedgerError(f"the account of {self.person!r} for {self.day} does not hold a budget for a day of gaze")
        try:
            lease = self.promise.restated(unit=WindowOfGaze(self.seconds, day.radius, day.radius_unit))
        except CannotCompose as error:
            raise self._refused(account, None, error.message) from None
        return GazeStreamDP(lease.numbers()["epsilon"], day.window, day.radius, day.radius_unit)

    def _account(self, ledger: Ledger) -> Account:
        """Return the day's account. The first grant of the day counts, whoever makes it."""
        dataset = dataset_of(self.day)
        try:
            account = ledger.account(dataset, self.person)
            if account.budget is not None:
                return account
        except LedgerError:
            pass  # there is none yet, or the ledger is broken, which granting tells
        try:
            return ledger.grant(dataset, self.budget.promise, person=self.person, note="a day of gaze", first=True)
        except (LedgerRolledBack, LedgerBusy):
            raise
        except LedgerError:
            account = ledger.account(dataset, self.person)  # somebody else was first
            if account.budget is None:
                raise
            return account

    def _check_policy(self, account: Account, price: GazeStreamDP) -> None:
        """Refuse what a policy that was made stricter during the day does not allow any more."""
        limit = self.budget.promise
        if account.budget is None or account.budget.unit != limit.unit:
            return
        if account.spent["epsilon"] + price.epsilon > limit.epsilon:
            raise self._refused(account, price, "the policy's budget for a day is spent")

    def _refused(self, account: Account, price: GazeStreamDP | None, why: str) -> BudgetExceeded:
        return BudgetExceeded(
            f"over budget for {self.person!r} on {self.day}: {why}",
            account=f"{account.dataset}/{account.person}",
            requested={} if price is None else {"epsilon": as_text(price.epsilon)},
            remaining={name: as_text(value) for name, value in account.remaining.items()},
            difference=None,
            hint="the next day (UTC) brings a new budget",
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """So many seconds that are paid for, on one day."""

    day: date
    seconds: float


@dataclass(frozen=True, slots=True)
class _Use:
    """A lease in use: since when, and when its day ends."""

    lease: Lease
    now: float
    midnight: float

    def ends_at_midnight(self, now: float) -> bool:
        return now < self.midnight <= self.now + self.lease.seconds


class Purse:
    """The leases of one viewer group: one in use at most, and one in reserve, which is paid while the first begins.

    So a payment may take as long as a lease lasts before a sample waits for it.

    Attributes:
        spent: Why nothing more is paid today; empty while there is budget.
        trouble: Why the last payment failed; empty after one that worked.
        remaining: What was left of the day's budget after the last payment; None where nothing is charged.
    """

    def __init__(
        self,
        group: str,
        person: str,
        promise: Guarantee,
        recipe: Mapping[str, Any],
        *,
        budget: BudgetSetting | None,
        lease_s: float,
        wall: Callable[[], datetime],
    ) -> None:
        self.person, self.promise, self.budget = person, promise, budget
        self._group, self._recipe, self._wall = group, recipe, wall
        window = promise.window if isinstance(promise, GazeStreamDP) else Fraction(1)
        self._window = window
        self._most = max(1, math.floor(Fraction(lease_s) / window))
        self._windows = self._most
        self._paying: Charge | None = None
        self._again: Charge | None = None
        self._ready: Lease | None = None
        self._used: _Use | None = None
        self._day: date | None = None
        self._ask_at = self._good_until = -math.inf
        self._pause = FIRST_PAUSE_S
        self._spent_on: date | None = None
        self.spent = self.trouble = ""
        self.remaining: Fraction | None = None

    @property
    def seconds_paid(self) -> float:
        """How long the lease in use is; 0 if there is none."""
        return self._used.lease.seconds if self._used else 0.0

    def is_spent(self, now: float) -> bool:
        """Whether the budget is spent and it is not time yet to ask again: next day, or if somebody granted more."""
        return bool(self.spent) and self._spent_on == self._today() and now < self._ask_at

    def begin(self, t: float, now: float) -> tuple[float, float] | None:
        """Use the next lease, from a sample on: until which stream time and which moment it lasts; None if unpaid.

        A lease ends when its seconds have passed on either clock, and at midnight.
        """
        if self.budget is None:
            self._used = None
            return math.inf, math.inf
        lease, self._used = self._ready, None
        if lease is None or lease.day != self._today():
            return None
        self._ready, self._good_until = None, -math.inf
        midnight = now + self._to_midnight()
        self._used = _Use(lease, now, midnight)
        return t + lease.seconds, min(now + lease.seconds, midnight)

    def charge(self, now: float) -> Charge | None:
        """Return what is to be paid now, if anything; it must be `settled` before another one comes."""
        if self.budget is None or self._paying is not None or now < self._good_until:
            return None
        today = self._today()
        if self._ready is not None and self._is_good(self._ready, today):
            self._good_until = now + min(1.0, self._to_midnight())
            return None
        if self._spent_on is not None and self._spent_on != today:
            self.spent, self._spent_on, self._ask_at = "", None, -math.inf
        if now < self._ask_at:
            return None
        day = today + timedelta(days=1) if self._used is not None and self._used.ends_at_midnight(now) else today
        self._paying = self._again if self._again is not None and self._again.day == day else self._new(day)
        self._again = None
        return self._paying

    def settled(self, charge: Charge, outcome: Receipt | GazeveilError, now: float) -> bool:
        """Take the outcome of a payment; return whether a lease is there now.

        Raises:
            InternalError: If nobody asked for this payment.
        """
        if charge is not self._paying:
            raise InternalError("a payment came that nobody asked for")
        self._paying = None
        if isinstance(outcome, Receipt):
            self._ready = Lease(charge.day, float(charge.seconds))
            self.remaining = outcome.account.remaining.get("epsilon")
            self._pause, self._ask_at = FIRST_PAUSE_S, -math.inf
            self.spent = self.trouble = ""
            self._spent_on = None
            return True
        self.trouble = outcome.message
        if isinstance(outcome, BudgetExceeded):
            if self._windows > 1:  # a shorter lease may still fit
                self._windows //= 2
                return False
            self.spent, self._spent_on = SPENT, self._today()
            self._ask_at = now + ASK_AGAIN_S
            return False
        self._again = charge  # the same id, since it may have been paid all the same
        self._ask_at = now + self._pause
        if not isinstance(outcome, LedgerBusy):  # who waits for others tries again soon, while the lease in use lasts
            self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
        return False

    def _is_good(self, lease: Lease, today: date) -> bool:
        """Whether a lease can still be used: today, or from a midnight on that is near."""
        if lease.day == today + timedelta(days=1):
            return self._to_midnight() <= lease.seconds + 1.0
        return lease.day == today

    def _new(self, day: date) -> Charge:
        if self.budget is None:
            raise InternalError("nothing is charged where there is no budget")
        if day != self._day:
            self._day, self._windows = day, self._most
        return Charge(
            uuid.uuid4().hex,
            self._group,
            self.person,
            day,
            self.promise,
            self._windows,
            self._windows * self._window,
            self.budget,
            self._recipe,
        )

    def _today(self) -> date:
        return self._wall().astimezone(UTC).date()

    def _to_midnight(self) -> float:
        here = self._wall().astimezone(UTC)
        return (datetime.combine(here.date() + timedelta(days=1), time(), UTC) - here).total_seconds()
