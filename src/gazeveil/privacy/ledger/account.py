# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where an account stands, the receipt for a charge, and the refusal of one."""

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
from gazeveil.privacy.guarantee import Guarantee, Unproven, guarantee_from_dict
from gazeveil.privacy.ledger.events import Charged, Leased, digest_of_text, from_text
from gazeveil.privacy.ledger.spending import NoPrice, Totals
from gazeveil.privacy.ledger.store import Tail

_LETTERS = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


@dataclass(frozen=True, slots=True)
class Account:
    """Where one account stands.

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
    def at(cls, tail: Tail) -> Account:
        """Return the account as the store has it."""
        return cls(tail.dataset, tail.person, Totals.from_text(tail.totals), tail.number, tail.head)

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
    def next_back(self) -> tuple[int, Fraction] | None:
        """In how many seconds ε comes back next, and how much; None where nothing does."""
        return None if self.totals.rolling is None else self.totals.rolling.next_back

    @property
    def promise(self) -> Guarantee | None:
        """What all releases together guarantee so far: what was spent, or nothing once one of them was unproven.

        Where the budget comes back it is the budget: that is what any of its windows keeps to.
        """
        if self.totals.unproven:
            return Unproven(self.totals.unproven)
        if self.budget is None or self.totals.rolling is not None:
            return self.budget
        return guarantee_from_dict({**self.budget.to_dict(), **_plain(self.spent)})

    def __repr__(self) -> str:
        closed = ", closed" if self.totals.closed else ""
        budget = "no budget" if self.budget is None else f"{in_letters(self.remaining, up=False)} left of {self.budget}"
        return f"Account({named(self.dataset, self.person)}, {self.totals.charges:,} charges, {budget}{closed})"

    def _repr_html_(self) -> str:
        rows = {
            "budget": "none" if self.budget is None else str(self.budget),
            "spent": in_letters(self.spent),
            "left": in_letters(self.remaining, up=False),
            "charges": f"{self.totals.charges:,}",
            "together": "nothing yet" if self.promise is None else str(self.promise),
        }
        return html_table(f"Account of {named(self.dataset, self.person)}", rows.items())

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
            **({} if self.totals.rolling is None else {"next_back": _back(self.next_back)}),
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
        ledger: The ledger's identity; empty where nobody knows.
    """

    charge_id: str
    digest: str
    time: str
    guarantee: Guarantee
    account: Account
    repeated: bool = False
    ledger: str = ""

    def __repr__(self) -> str:
        whose = named(self.account.dataset, self.account.person)
        return f"Receipt({self.guarantee}, charged to {whose} at {self.time}, digest {self.digest[:12]}…)"

    def _repr_html_(self) -> str:
        rows = {
            "charged": str(self.guarantee),
            "to": named(self.account.dataset, self.account.person),
            "at": self.time,
            "left": in_letters(self.account.remaining, up=False),
            "digest": self.digest,
        }
        return html_table("Receipt", rows.items())

    @property
    def anchor(self) -> dict[str, Any] | None:
        """What the ledger must hold from now on, as `check_anchor` takes it; None where nobody knows."""
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


def named(dataset: str, person: str) -> str:
    """Name an account in a sentence."""
    return f'participant "{person}" of data set "{dataset}"' if person else f'data set "{dataset}"'


def as_arguments(dataset: str, person: str) -> str:
    """Name an account on the command line."""
    return shlex.join([dataset, "--participant", person] if person else [dataset])


def in_letters(values: Mapping[str, Fraction], *, up: bool = True) -> str:
    """Write ε, δ and ρ for participants, rounded up (what is spent) or down (what is left)."""
    return ", ".join(f"{_LETTERS[name]}={in_digits(value, up=up)}" for name, value in values.items()) or "nothing"


def when_back(account: Account, now: datetime | None = None) -> str:
    """Say what comes back next, and when; empty where nothing does."""
    return _when(account.next_back, now)


def _when(back: tuple[int, Fraction] | None, now: datetime | None = None) -> str:
    if back is None:
        return ""
    seconds, epsilon = back
    now = (now or datetime.now(UTC)).astimezone(UTC)
    moment = now + timedelta(seconds=seconds)
    day = "" if moment.date() == now.date() else f"{moment:%Y-%m-%d} "
    return f"{in_letters({'epsilon': epsilon}, up=False)} at {day}{moment:%H:%M} UTC"


def _back(back: tuple[int, Fraction] | None) -> dict[str, object] | None:
    return None if back is None else {"in_s": back[0], "epsilon": as_text(back[1])}


def no_account(dataset: str, person: str) -> LedgerError:
    """Say that nothing was granted."""
    return LedgerError(
        f"there is no account for {named(dataset, person)}",
        hint=f"grant a budget first: `gazeveil ledger init {as_arguments(dataset, person)} --epsilon E`",
    )


def over_budget(tail: Tail, before: Totals, after: Totals) -> BudgetExceeded:
    """Say requested, remaining, missing and the next step."""
    cost = by_name(before.budget, tuple(new - old for new, old in zip(after.spent, before.spent, strict=True)))
    remaining = by_name(before.budget, before.remaining)
    missing = {name: max(Fraction(0), cost[name] - remaining[name]) for name in cost}
    back = "" if before.rolling is None else _when(before.rolling.next_back)
    said = in_letters(missing) + (f"\n  comes back {back}" if back else "")
    way = "ask for less, or wait" if before.rolling else "ask for less, grant more"
    return _refusal(tail, in_letters(cost), remaining, said, _plain(cost), _plain(missing), way)


def no_price(tail: Tail, before: Totals, asked: Guarantee, reason: NoPrice) -> BudgetExceeded:
    """Say why no budget of this kind could pay, and the next step."""
    remaining = by_name(before.budget, before.remaining)
    return _refusal(tail, str(asked), remaining, f"without end: {reason}", asked.to_dict(), None)


def _refusal(
    tail: Tail,
    requested: str,
    remaining: Mapping[str, Fraction],
    missing: str,
    requested_plain: Mapping[str, object],
    difference: Mapping[str, object] | None,
    way: str = "ask for less, grant more",
) -> BudgetExceeded:
    return BudgetExceeded(
        f"over budget for {named(tail.dataset, tail.person)}\n"
        f"  requested  {requested}\n"
        f"  remaining  {in_letters(remaining, up=False)}\n"
        f"  missing    {missing}",
        account=f"{tail.dataset}/{tail.person}" if tail.person else tail.dataset,
        requested=requested_plain,
        remaining=_plain(remaining),
        difference=difference,
        hint=f"{way}, or see what was spent with `gazeveil ledger history {as_arguments(tail.dataset, tail.person)}`",
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
