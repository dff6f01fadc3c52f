# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""An account as it stands, the receipt for a charge, and the refusal of one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from gazeveil.display import html_table
from gazeveil.errors import BudgetExceeded, LedgerError
from gazeveil.exact import as_text, in_digits
from gazeveil.privacy.guarantee import LETTERS, Guarantee, Unproven, guarantee_from_dict
from gazeveil.privacy.ledger.events import Charged, Leased, digest_of_text, from_text
from gazeveil.privacy.ledger.spending import NoPrice, Totals
from gazeveil.privacy.ledger.store import StoredAccount


@dataclass(frozen=True, slots=True)
class Account:
    """One account as it stands: its totals, and its newest event.

    Attributes:
        dataset: Which data set.
        person: Which participant; empty for the data set as a whole.
        totals: Its grants and charges, added up.
        number: How many events it has.
        head: The digest of its newest event.
    """

    dataset: str
    person: str
    totals: Totals
    number: int
    head: str

    @classmethod
    def at(cls, stored: StoredAccount) -> Account:
        """Return the account as the store has it."""
        return cls(stored.dataset, stored.person, Totals.from_text(stored.totals), stored.number, stored.head)

    @property
    def budget(self) -> Guarantee | None:
        """All that was granted; None for an account that only records."""
        return self.totals.budget

    @property
    def spent(self) -> dict[str, Fraction]:
        """What was spent, in the budget's terms."""
        return by_name(self.budget, self.totals.spent)

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What may still be spent, in the budget's terms."""
        return by_name(self.budget, self.totals.remaining)

    @property
    def next_restoration(self) -> tuple[int, Fraction] | None:
        """In how many seconds ε is restored next, and how much; None where nothing is."""
        return None if self.totals.rolling is None else self.totals.rolling.next_restoration

    @property
    def guarantee(self) -> Guarantee | None:
        """What all releases together guarantee so far: what was spent; unproven once one of them was.

        For an allowance it is the budget itself: every one of its windows keeps to that.
        """
        if self.totals.unproven:
            return Unproven(self.totals.unproven)
        if self.budget is None or self.totals.rolling is not None:
            return self.budget
        return guarantee_from_dict({**self.budget.to_dict(), **_plain(self.spent)})

    def __repr__(self) -> str:
        closed = ", closed" if self.totals.closed else ""
        budget = "no budget" if self.budget is None else f"{in_letters(self.remaining, up=False)} left of {self.budget}"
        return f"Account({account_label(self.dataset, self.person)}, {self.totals.charges:,} charges, {budget}{closed})"

    def _repr_html_(self) -> str:
        rows = {
            "budget": "none" if self.budget is None else str(self.budget),
            "spent": in_letters(self.spent),
            "left": in_letters(self.remaining, up=False),
            "charges": f"{self.totals.charges:,}",
            "together": "nothing yet" if self.guarantee is None else str(self.guarantee),
        }
        return html_table(f"Account of {account_label(self.dataset, self.person)}", rows.items())

    def affords(self, guarantee: Guarantee) -> bool:
        """Whether a charge would fit now. Only a charge itself makes sure."""
        totals, rolling = self.totals, self.totals.rolling
        try:
            after = (
                totals.after_charge(guarantee)
                if rolling is None
                else totals.after_lease(guarantee, rolling.at, rolling.at)
            )
            return not totals.closed and not after.overspent
        except NoPrice:
            return False

    def to_dict(self) -> dict[str, Any]:
        """Return the account as plain values; numbers are exact, as text."""
        return {
            "dataset": self.dataset,
            "person": self.person,
            "budget": None if self.budget is None else self.budget.to_dict(),
            "spent": _plain(self.spent),
            "remaining": _plain(self.remaining),
            **({} if self.totals.rolling is None else {"next_back": _restoration(self.next_restoration)}),
            "charges": self.totals.charges,
            "unproven": list(self.totals.unproven),
            "closed": self.totals.closed,
            "events": self.number,
            "head": self.head,
        }


@dataclass(frozen=True, slots=True)
class Receipt:
    """A charge that is on disk.

    Attributes:
        charge_id: The id that the charge was given, if any; the same id again is the same charge.
        digest: The digest of the event, by which it can be found in an export.
        time: When it was charged, in UTC.
        guarantee: What was charged.
        account: Where the account stood after it.
        repeated: Whether the charge was there already, from an earlier try.
        ledger: The ledger's identity; empty where it is not known.
    """

    charge_id: str
    digest: str
    time: str
    guarantee: Guarantee
    account: Account
    repeated: bool = False
    ledger: str = ""

    def __repr__(self) -> str:
        whose = account_label(self.account.dataset, self.account.person)
        return f"Receipt({self.guarantee}, charged to {whose} at {self.time}, digest {self.digest[:12]}…)"

    def _repr_html_(self) -> str:
        rows = {
            "charged": str(self.guarantee),
            "to": account_label(self.account.dataset, self.account.person),
            "at": self.time,
            "left": in_letters(self.account.remaining, up=False),
            "digest": self.digest,
        }
        return html_table("Receipt", rows.items())

    @property
    def anchor(self) -> dict[str, Any] | None:
        """What the ledger must hold from now on, as `check_anchor` takes it; None if the ledger is not known."""
        if not self.ledger:
            return None
        account = self.account
        return {
            "ledger": self.ledger,
            "dataset": account.dataset,
            "person": account.person,
            "events": account.number,
            "head": account.head,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain values."""
        return {
            "charge_id": self.charge_id,
            "digest": self.digest,
            "time": self.time,
            "dataset": self.account.dataset,
            "person": self.account.person,
            "guarantee": self.guarantee.to_dict(),
            "anchor": self.anchor,
        }


def account_label(dataset: str, person: str) -> str:
    """Return an account's name for a sentence."""
    return f'participant "{person}" of data set "{dataset}"' if person else f'data set "{dataset}"'


def as_arguments(dataset: str, person: str) -> str:
    """Return an account's name as arguments of the command line."""
    return shlex.join([dataset, "--participant", person] if person else [dataset])


def in_letters(values: Mapping[str, Fraction], *, up: bool = True) -> str:
    """Write ε, δ and ρ for participants, rounded up (what is spent) or down (what is left)."""
    return ", ".join(f"{LETTERS[name]}={in_digits(value, up=up)}" for name, value in values.items()) or "nothing"


def restoration_time(account: Account, now: datetime | None = None) -> str:
    """Say how much ε is restored next, and when; empty where nothing is."""
    return _moment(account.next_restoration, now)


def _moment(due: tuple[int, Fraction] | None, now: datetime | None = None) -> str:
    if due is None:
        return ""
    seconds, epsilon = due
    now = (now or datetime.now(UTC)).astimezone(UTC)
    moment = now + timedelta(seconds=seconds)
    day = "" if moment.date() == now.date() else f"{moment:%Y-%m-%d} "
    return f"{in_letters({'epsilon': epsilon}, up=False)} at {day}{moment:%H:%M} UTC"


def _restoration(due: tuple[int, Fraction] | None) -> dict[str, object] | None:
    return None if due is None else {"in_s": due[0], "epsilon": as_text(due[1])}


def no_account(dataset: str, person: str) -> LedgerError:
    """Return the error for an account without a budget."""
    return LedgerError(
        f"there is no account for {account_label(dataset, person)}",
        hint=f"grant a budget first: `gazeveil ledger init {as_arguments(dataset, person)} --epsilon E`",
    )


def over_budget(stored: StoredAccount, before: Totals, after: Totals) -> BudgetExceeded:
    """Return the refusal of a charge that does not fit: requested, remaining, missing and the next step."""
    cost = by_name(before.budget, tuple(new - old for new, old in zip(after.spent, before.spent, strict=True)))
    remaining = by_name(before.budget, before.remaining)
    missing = {name: max(Fraction(0), cost[name] - remaining[name]) for name in cost}
    back = "" if before.rolling is None else _moment(before.rolling.next_restoration)
    said = in_letters(missing) + (f"\n  comes back {back}" if back else "")
    way = "ask for less, or wait" if before.rolling else "ask for less, grant more"
    return _refusal(stored, in_letters(cost), remaining, said, _plain(cost), _plain(missing), way)


def no_price(stored: StoredAccount, before: Totals, asked: Guarantee, reason: NoPrice) -> BudgetExceeded:
    """Return the refusal of a charge that no budget of this kind can pay: the reason and the next step."""
    remaining = by_name(before.budget, before.remaining)
    return _refusal(stored, str(asked), remaining, f"without end: {reason}", asked.to_dict(), None)


def _refusal(
    stored: StoredAccount,
    requested: str,
    remaining: Mapping[str, Fraction],
    missing: str,
    requested_plain: Mapping[str, object],
    difference: Mapping[str, object] | None,
    way: str = "ask for less, grant more",
) -> BudgetExceeded:
    history = f"gazeveil ledger history {as_arguments(stored.dataset, stored.person)}"
    return BudgetExceeded(
        f"over budget for {account_label(stored.dataset, stored.person)}\n"
        f"  requested  {requested}\n"
        f"  remaining  {in_letters(remaining, up=False)}\n"
        f"  missing    {missing}",
        account=f"{stored.dataset}/{stored.person}" if stored.person else stored.dataset,
        requested=requested_plain,
        remaining=_plain(remaining),
        difference=difference,
        hint=f"{way}, or see what was spent with `{history}`",
    )


def by_name(budget: Guarantee | None, numbers: tuple[Fraction, ...]) -> dict[str, Fraction]:
    """Return numbers under the names that they have in a budget."""
    return dict(zip(() if budget is None else budget.numbers(), numbers, strict=True))


def _plain(values: Mapping[str, Fraction]) -> dict[str, object]:
    return {name: as_text(value) for name, value in values.items()}


def receipt_again(text: str, account: Account, guarantee: Guarantee, recipe: str, ledger: str) -> Receipt:
    """Return the receipt of a charge that was made before under the same id.

    Raises:
        LedgerError: If it was for something else.
    """
    event = from_text(text)
    asked = (account.dataset, account.person, guarantee.to_dict(), recipe)
    if not isinstance(event, Charged | Leased) or (event.dataset, event.person, event.guarantee, event.recipe) != asked:
        raise LedgerError(
            f"the charge id {event.id!r} was used before for something else", hint="use one id for one release"
        )
    return Receipt(event.id, digest_of_text(text), event.time, guarantee, account, repeated=True, ledger=ledger)
