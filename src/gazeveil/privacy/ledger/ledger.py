# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger: who may spend how much, what was spent, and the time by which budgets are restored.

Charge first, release after. `Ledger.charge` returns once the charge is on disk and not before, so a crash at any
moment may waste budget but never overspends it. Whatever goes wrong raises, and then nothing may leave. Time never runs
back: budgets are restored by the wall clock as it was when the process began, and the steady clock since then.

Charge first, release after. `Ledger.charge` returns once the charge is on disk and not before, so a crash at any
moment may waste budget but never overspends it. Whatever goes wrong raises, and then nothing may leave.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from gazeveil.display import html_table
from gazeveil.errors import LedgerError, OptionError
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.privacy.ledger.account import (
    Account,
    Receipt,
    account_label,
    in_letters,
    no_account,
    no_price,
    over_budget,
    receipt_again,
)
from gazeveil.privacy.ledger.anchor import AnchorCheck, KnownEvent, LostEvents, Notice
from gazeveil.privacy.ledger.anchor import log_notice as default_notice
from gazeveil.privacy.ledger.events import (
    AccountClosed,
    AllowanceSet,
    BudgetGranted,
    Charged,
    Leased,
    LedgerEvent,
    Restored,
    UnprovenRecorded,
    digest_of,
    digest_of_text,
    from_text,
    now,
    to_text,
)
from gazeveil.privacy.ledger.replay import Verification, verify
from gazeveil.privacy.ledger.spending import SLACK_S, NoPrice, Totals, check_names, checked, written
from gazeveil.privacy.ledger.store import (
    PATIENCE_S,
    AccountMoved,
    AccountTransaction,
    Store,
    StoredAccount,
    StoredEvent,
)

DEFAULT = "ledger.sqlite"
_LONGEST_NOTE = 10_000
_REMEMBERED_ACCOUNTS = 1024


Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def _retrying(method: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Let a method try a second time if someone else wrote to its account meanwhile."""

    @wraps(method)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        try:
            return method(*args, **kwargs)
        except AccountMoved:
            return method(*args, **kwargs)

    return asked


class Ledger:
    """Budgets and charges, kept in a file or on a PostgreSQL server. Safe to share between threads and after a fork."""

    def __init__(self, store: Store, notice: Notice | None = None, clock: Clock | None = None) -> None:
        self.store = store
        self._time = LedgerTime(clock, notice or default_notice)
        self._watch = AnchorCheck(store.where, notice)
        # Totals by account, with the stored text that they were read from: who charges often need not read it again.
        self._seen: dict[tuple[str, str], tuple[str, Totals]] = {}
        self._here = threading.local()  # holds what this thread is to remember at the end of `transaction`

    @classmethod
    def open(
        cls,
        where: str | Path = DEFAULT,
        *,
        create: bool = False,
        patience_s: float = PATIENCE_S,
        notice: Notice | None = None,
        clock: Clock | None = None,
    ) -> Ledger:
        """Open the ledger in a file, or at a ``postgresql://`` address.

        Args:
            where: A path, or an address.
            create: Make the ledger if there is none. Without it a missing ledger is an error, because an empty one
                has forgotten what was spent.
            patience_s: How long to wait for others who hold it, before it counts as unusable.
            notice: Called with notices that are no errors; by default they are logged.
            clock: The time by which budgets are restored; this process's own if there is none.

        Raises:
            LedgerError: If there is none, or it cannot be used.
            MissingExtra: If PostgreSQL is asked for and psycopg is not installed.
        """
        address = str(where)
        if address.startswith(("postgresql://", "postgres://")):
            from gazeveil.privacy.ledger.postgres import PostgresStore  # noqa: PLC0415

            return cls(PostgresStore(address, create=create, patience_s=patience_s), notice, clock)
        if "://" in address:
            raise LedgerError(
                f"a ledger is a file or a postgresql:// address, not {address.split('://', 1)[0]}://…",
                hint=f"for example {DEFAULT}",
            )
        try:
            from gazeveil.privacy.ledger.sqlite import SqliteStore  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise LedgerError(
                f"a ledger in a file needs a POSIX system ({error})", hint="keep it on a server: postgresql://…"
            ) from error
        return cls(SqliteStore(Path(where), create=create, patience_s=patience_s), notice, clock)

    @_retrying
    def grant(
        self, dataset: str, budget: Guarantee, *, person: str = "", note: str = "", first: bool = False
    ) -> Account:
        """Grant a budget, or more of it. The first grant opens the account and fixes the kind of budget.

        Args:
            dataset: The account's data set.
            budget: What may be spent, or what more.
            person: The account's participant, for streams; empty for the data set as a whole.
            note: Free text for participants.
            first: Refuse if there is a budget already.

        Raises:
            LedgerError: If the account is closed, or holds another kind of budget, or any while ``first``.
        """
        written(budget)
        with self._account(dataset, person, opening=True) as (held, tail, totals):
            if first and totals.budget is not None:
                raise LedgerError(
                    f"{account_label(dataset, person)} has a budget already: {totals.budget}",
                    hint="add to it with `gazeveil ledger grant`",
                )
            event = BudgetGranted(**_common(tail, budget, note=note))
            return self._append(held, event, totals.after_grant(budget))

    def allow(self, dataset: str, allowance: GazeStreamDP, *, person: str = "", note: str = "") -> Account:
        """Allow so much within any window of gaze: a budget that is restored. Allowing the same again changes nothing.

        More ε, and larger movements, hold at once. A smaller radius, or another unit or window, holds once nothing
        counts any more. ε is never lowered; a smaller limit is kept with ``within`` of `charge`.

        Args:
            dataset: The account's data set.
            allowance: What may be spent within any of its windows.
            person: The account's participant.
            note: Free text for participants.

        Raises:
            LedgerError: If the account is closed, or holds a budget that does not come back.
        """
        written(allowance)
        try:
            account = self.account(dataset, person)
        except LedgerError:
            pass  # there is none yet, or the ledger is broken, which writing tells
        else:
            totals = account.totals
            if totals.rolling is not None and (totals.closed or totals.allowed(allowance) == totals.budget):
                return account
        return self._allow(dataset, allowance, person, note)

    @_retrying
    def _allow(self, dataset: str, allowance: GazeStreamDP, person: str, note: str) -> Account:
        with self._account(dataset, person, opening=True) as (held, tail, before):
            totals, at = self._time.rolled((dataset, person), before)
            budget = totals.allowed(allowance)
            if budget == totals.budget and totals.rolling is not None:
                held.after = _standing(tail, totals)
                return held.after
            event = AllowanceSet(**_common(tail, budget, note=note), at=at)
            return self._append(held, event, totals.after(event))

    @_retrying
    def charge(
        self,
        dataset: str,
        guarantee: Guarantee,
        *,
        person: str = "",
        recipe: Mapping[str, Any] | None = None,
        note: str = "",
        charge_id: str = "",
        lasts_s: float | None = None,
        within: Fraction | None = None,
    ) -> Receipt:
        """Pay for one release. Returns once the charge cannot be lost any more; only then may the release leave.

        Args:
            dataset: The account's data set.
            guarantee: What the release guarantees.
            person: The account's participant, for streams; empty for the data set as a whole.
            recipe: The mechanism and its parameters; their digest is kept.
            note: Free text for participants.
            charge_id: Your own name for this charge. If the outcome of a charge is unknown, because a connection
                broke or a process died, charge again with the same id: it is paid once.
            lasts_s: For an account whose budget is restored: for how long from now on gaze is paid for. The charge
                counts until the budget's window has passed since then.
            within: For such an account: the most ε that may count with this charge, if that is less than allowed.

        Raises:
            BudgetExceeded: If it does not fit. Nothing was spent.
            LedgerError: If the ledger cannot be used, or there is no such account.
        """
        written(guarantee)
        digest = "" if recipe is None else digest_of(recipe)
        with self._account(dataset, person) as (held, tail, before):
            if charge_id and (text := held.book.reader.find(checked(charge_id, "charge id"))) is not None:
                held.after = _standing(tail, before)
                return receipt_again(text, held.after, guarantee, digest, self._watch.identity)
            totals, at = self._time.rolled((dataset, person), before)
            until = None if lasts_s is None else at + 1 + math.ceil(lasts_s)  # the time is rounded down
            try:
                after = totals.after_charge(guarantee) if until is None else totals.after_lease(guarantee, at, until)
            except NoPrice as reason:
                raise no_price(tail, totals, guarantee, reason) from None
            if after.limited(within).overspent:
                raise over_budget(tail, totals.limited(within), after.limited(within))
            common = _common(tail, guarantee, recipe=digest, note=note, event_id=charge_id)
            if until is None:
                terms = None if after.conversion is totals.conversion else after.conversion
                event: LedgerEvent = Charged(**common, conversion=None if terms is None else terms.to_dict())
            else:
                event = Leased(**common, at=at, until=until)
            account = self._append(held, event, after)
            identity = self._watch.identity or held.book.reader.identity()
        return Receipt(event.id, account.head, event.time, guarantee, account, ledger=identity)

    @_retrying
    def record_unproven(
        self,
        dataset: str,
        guarantee: Unproven,
        *,
        person: str = "",
        recipe: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> Account:
        """Record a release that guarantees nothing. It costs nothing, and voids what the account guarantees in total.

        Budgets never pay for such a release; this is for honesty about one that was made all the same.
        """
        if not isinstance(guarantee, Unproven):
            raise OptionError("only what is unproven is recorded without a charge", hint="use Ledger.charge")
        digest = "" if recipe is None else digest_of(recipe)
        with self._account(dataset, person, opening=True) as (held, tail, totals):
            event = UnprovenRecorded(**_common(tail, guarantee, recipe=digest, note=note))
            return self._append(held, event, totals.after(event))

    @_retrying
    def close_account(self, dataset: str, *, person: str = "", note: str = "") -> Account:
        """Close an account for good, for instance when a participant withdraws: nothing more is granted or charged."""
        with self._account(dataset, person) as (held, tail, totals):
            event = AccountClosed(**_common(tail, None, note=note))
            return self._append(held, event, totals.after(event))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write many charges in one transaction, where the store can: none of them counts before the block ends.

        Raises:
            LedgerError: If they could not be written. Whether they were is unknown, so charge again with the same ids.
        """
        self.check()  # on a fresh reading, without what a connection in use may still have in its memory
        later: list[tuple[int, Account]] = []
        with self.store.transaction():
            self._here.later = later
            try:
                yield
            finally:
                self._here.later = None
        for account, after in later:
            self._watch.remember(account, after)

    def account(self, dataset: str, person: str = "") -> Account:
        """Return an account as it stands.

        Raises:
            LedgerError: If there is no such account.
            OptionError: If there could not be one of that name.
        """
        check_names(dataset, person)
        with self.store.reading() as reader:
            tail = reader.tail(dataset, person)
        if tail is None:
            raise no_account(dataset, person)
        return self._time.standing(Account.at(tail))

    def accounts(self) -> list[Account]:
        """Return every account as it stands, sorted by data set and participant."""
        with self.store.reading() as reader:
            return [self._time.standing(Account.at(tail)) for tail in reader.tails()]

    def history(self, dataset: str | None = None, person: str | None = None) -> Iterator[LedgerEvent]:
        """Go through the events of all accounts, or of those of a data set or participant, each from its first."""
        return (from_text(line.text) for line in self.lines(dataset, person))

    def lines(self, dataset: str | None = None, person: str | None = None) -> Iterator[StoredEvent]:
        """Go through the stored texts and digests of events, as `history` does."""
        with self.store.reading() as reader:
            for tail in reader.tails():
                if dataset in (None, tail.dataset) and person in (None, tail.person):
                    yield from reader.lines(tail.account)

    def verify(self, anchors: Iterable[str] = ()) -> Verification:
        """Replay every event and compare with the chain of digests and the running totals.

        Args:
            anchors: Digests of events from an export that was kept elsewhere; all must still be there.
        """
        with self.store.reading() as reader:
            found = verify(reader, anchors)
            lost = (f"{line} (by the anchor on this machine)" for line in self._watch.loss(reader).in_words())
            return replace(found, faults=(*found.faults, *lost))

    @property
    def identity(self) -> str:
        """The digest of its first event, which no other ledger has; empty while it has none."""
        if not self._watch.identity:
            with self.store.reading() as reader:
                return reader.identity()
        return self._watch.identity

    def check(self) -> None:
        """Check that it holds everything that its anchor on this machine names.

        Raises:
            LedgerRolledBack: If it does not.
            LedgerError: If it cannot be read, or the anchor cannot.
        """
        with self.store.reading() as reader:
            self._watch.check(reader, None)

    def lost(self) -> LostEvents:
        """Return what the anchor on this machine names and the ledger does not hold: false if it holds everything."""
        with self.store.reading() as reader:
            return self._watch.loss(reader)

    def restore(self, note: str) -> LostEvents:
        """Accept an old copy of the ledger on purpose, and record what is lost as events of their own.

        What was charged to an account that lost events is not known any more, so its guarantee in total is void.

        Args:
            note: The reason, for participants.

        Returns:
            What is lost; nothing is recorded if that is nothing.

        Raises:
            OptionError: If there is no reason.
            LedgerError: If the ledger has no events at all, or cannot be written.
        """
        if not note.strip():
            raise OptionError("a restore needs a reason", hint="say with a note why an older ledger counts from now on")
        loss = self.lost()
        if not loss:
            return loss
        gone = {str(event.account): _named_event(event) for event, tail in loss.events if tail is None}
        with self.store.reading() as reader:
            first = min(reader.tails(), key=lambda tail: tail.account)
        lost = {tail: _named_event(event) for event, tail in loss.events if tail is not None}
        for tail in lost if lost and not gone else {first: {}, **lost}:
            self._record_restored(tail, lost.get(tail, {}), gone if tail == first else {}, note)
        with self.store.reading() as reader:
            self._watch.begin_anew(reader)
        return loss

    def close(self) -> None:
        """Close the file or connection."""
        self._watch.close()
        self.store.close()

    def __repr__(self) -> str:
        return f"Ledger({self.store.where!r})"

    def _repr_html_(self) -> str:
        rows = [
            (account_label(each.dataset, each.person), in_letters(each.spent), in_letters(each.remaining, up=False))
            for each in self.accounts()
        ]
        return html_table(f"Ledger {self.store.where}", [("account", "spent", "left"), *rows])

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _account(
        self, dataset: str, person: str, *, opening: bool = False
    ) -> Iterator[tuple[_OpenAccount, StoredAccount, Totals]]:
        """Lock an account and give its totals; at the end, its newest event goes to the anchor, too."""
        check_names(dataset, person)
        later: list[tuple[int, Account]] | None = getattr(self._here, "later", None)
        with self.store.book(dataset, person, opening=opening) as book:
            tail = book.tail
            self._watch.check(book.reader, tail, written=bool(later))
            if tail is None:
                raise no_account(dataset, person)
            text, totals = self._seen.get((dataset, person), ("", Totals()))
            if text != tail.totals:
                totals = Totals.from_text(tail.totals)
            if totals.closed:
                raise LedgerError(
                    f"the account of {account_label(dataset, person)} is closed",
                    hint="nothing more may be released from it",
                )
            held = _OpenAccount(book)
            yield held, tail, totals
        if held.after is None:
            return
        if later is None:
            self._watch.remember(tail.account, held.after)
        else:
            later.append((tail.account, held.after))

    @_retrying
    def _record_restored(
        self, where: StoredAccount, lost: Mapping[str, Any], gone: Mapping[str, Any], note: str
    ) -> None:
        with self.store.book(where.dataset, where.person) as book:
            if (tail := book.tail) is None:
                raise no_account(where.dataset, where.person)
            event = Restored(**_common(tail, None, note=note), lost=lost, gone=gone)
            self._append(_OpenAccount(book), event, Totals.from_text(tail.totals).after(event))

    def _append(self, held: _OpenAccount, event: LedgerEvent, totals: Totals) -> Account:
        if len(event.note) > _LONGEST_NOTE:
            raise OptionError(f"a note has at most {_LONGEST_NOTE:,} letters, not {len(event.note):,}")
        text, running = to_text(event), totals.to_text()
        digest = digest_of_text(text)
        held.book.append(StoredEvent(event.number, event.id, digest, text, running))
        if len(self._seen) >= _REMEMBERED_ACCOUNTS:
            self._seen.clear()
        self._seen[event.dataset, event.person] = (running, totals)
        held.after = Account(event.dataset, event.person, totals, event.number, digest)
        return held.after


@dataclass(slots=True)
class _OpenAccount:
    """A locked account, and the account as it stands at the end of its transaction."""

    book: AccountTransaction
    after: Account | None = None


def _common(
    tail: StoredAccount, guarantee: Guarantee | None, *, recipe: str = "", note: str = "", event_id: str = ""
) -> dict[str, Any]:
    return {
        "id": event_id,
        "time": now(),
        "dataset": tail.dataset,
        "person": tail.person,
        "number": tail.number + 1,
        "previous": tail.head,
        "guarantee": {} if guarantee is None else written(guarantee),
        "recipe": recipe,
        "note": note,
    }


def _standing(tail: StoredAccount, totals: Totals) -> Account:
    return Account(tail.dataset, tail.person, totals, tail.number, tail.head)


def _named_event(event: KnownEvent) -> dict[str, Any]:
    return {"number": event.number, "digest": event.digest}


# --- The time by which budgets are restored: it never runs back.


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
"""One for all ledgers of a process: opening a ledger again gives no other time."""


class LedgerTime:
    """The time of each account of a ledger, in whole seconds."""

    def __init__(self, clock: Clock | None, tell: Notice) -> None:
        self._clock, self._tell = clock or THIS_PROCESS, tell
        self._noted: set[tuple[str, str]] = set()

    def standing(self, account: Account) -> Account:
        """Return an account as it stands now."""
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
        """Return a notice, once for an account, if ε was restored across a restart, or the clock was set back."""
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
                f"charge of {account_label(*account)}: until it has caught up, no budget comes back"
            )
        return (
            f"{timedelta(seconds=began - last)} passed for {account_label(*account)} before this program began, and "
            f"{in_letters({'epsilon': back}, up=False)} came back; if the machine's clock was set forward meanwhile, "
            "that was too early"
        )
