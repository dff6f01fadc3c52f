# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where a ledger is kept: the contract of a store, what SQLite and PostgreSQL share, and a lock that is safe to fork.

A store keeps texts and digests and knows nothing of privacy. With every event it keeps what all events of the account
up to it come to, so that a charge reads one row, however long the history; `Ledger.verify` replays the events and
compares. Nothing is ever updated: two tables, accounts and events, and rows are only added.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Protocol

from gazeveil.privacy.ledger.events import GENESIS


class ForkSafeLock:
    """A lock among threads that a forked process finds free.

    A child that is forked while another thread charges would otherwise find the lock taken for ever, keep the file lock
    of its parent alive, and share SQLite's memory of which locks are held, which is wrong in the child.
    """

    __slots__ = ("__weakref__", "_before_fork", "_lock")

    def __init__(self, before_fork: Callable[[], None] | None = None) -> None:
        """Make a lock; ``before_fork`` is called while it is held, in the parent, before each fork."""
        self._lock = threading.RLock()  # so that a thread that forks inside its own turn does not wait for itself
        self._before_fork = before_fork
        _TURNS.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._lock.release()

    def take_for_fork(self) -> None:
        """Take the lock and prepare for the fork."""
        self._lock.acquire()
        _TAKEN.append(self)
        if self._before_fork is not None:
            self._before_fork()


_TURNS: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()
_TAKEN: list[ForkSafeLock] = []


def _before() -> None:
    for turn in list(_TURNS):
        turn.take_for_fork()


def _after() -> None:
    while _TAKEN:
        _TAKEN.pop().__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


# --- The contract of a store.


SCHEMA_VERSION = 1
"""Of the tables; events have their own rules of compatibility (`gazeveil.privacy.ledger.events`)."""

PATIENCE_S = 30.0
"""How long a writer waits for others before it gives up."""


@dataclass(frozen=True, slots=True)
class StoredAccount:
    """An account as the store has it: its newest event, and what all of its events come to."""

    account: int
    dataset: str
    person: str
    number: int
    head: str
    totals: str


class StoredEvent(NamedTuple):
    """One stored event, and what all events of its account up to it come to."""

    number: int
    id: str
    digest: str
    text: str
    totals: str


class AccountMoved(Exception):  # noqa: N818  (always caught in this package, never shown)
    """Someone else wrote to the account meanwhile; nothing was written, and a second try reads it again."""


class AccountTransaction(Protocol):
    """One account, locked by one transaction."""

    @property
    def tail(self) -> StoredAccount | None:
        """Where the account stands; None if there is no such account."""
        ...

    @property
    def reader(self) -> Reader:
        """All accounts, as they stand now."""
        ...

    def append(self, line: StoredEvent) -> None:
        """Add the next event; once in a transaction."""
        ...


class Reader(ABC):
    """All accounts as they stood at one moment. Databases differ in how they write tables and parameters."""

    tails_sql: ClassVar[str]
    """Selects the tails of all accounts; its parameter is what stands for the digest of no event."""
    events_sql: ClassVar[str]
    """The name of the table of events."""
    mark: ClassVar[str]
    """What stands for a parameter."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tails(self) -> list[StoredAccount]:
        """Return where every account stands, sorted by data set and participant."""
        return self._tails("ORDER BY dataset, person")

    def tail(self, dataset: str, person: str) -> StoredAccount | None:
        """Return where one account stands."""
        found = self._tails("WHERE dataset = {mark} AND person = {mark}", dataset, person)
        return found[0] if found else None

    @abstractmethod
    def lines(self, account: int) -> Iterator[StoredEvent]:
        """Go through an account's events from the first to the newest."""

    def find(self, event_id: str) -> str | None:
        """Return the text of the event that was given an id, in whichever account."""
        return self._one("SELECT event FROM {events} WHERE id = {mark} AND id <> ''", event_id)

    def text(self, account: int, number: int) -> str | None:
        """Return the text of one event; None if there is no such event."""
        return self._one("SELECT event FROM {events} WHERE account = {mark} AND number = {mark}", account, number)

    def digest(self, account: int, number: int) -> str | None:
        """Return the digest of one event; None if there is no such event."""
        return self._one("SELECT digest FROM {events} WHERE account = {mark} AND number = {mark}", account, number)

    def identity(self) -> str:
        """Return the digest of the very first event: the same for all copies of a ledger. Empty before there is one."""
        return self._one("SELECT digest FROM {events} ORDER BY account, number LIMIT 1") or ""

    @abstractmethod
    def faults(self) -> list[str]:
        """Return what the database itself finds wrong with its files."""

    def _tails(self, which: str, *parameters: str) -> list[StoredAccount]:
        query = f"{self.tails_sql} {which.format(mark=self.mark)}"
        return [StoredAccount(*row) for row in self._connection.execute(query, (GENESIS, *parameters)).fetchall()]

    def _one(self, query: str, *parameters: str | int) -> str | None:
        query = query.format(events=self.events_sql, mark=self.mark)
        row = self._connection.execute(query, parameters).fetchone()
        return None if row is None else str(row[0])


class Store(Protocol):
    """A place for events that survives what happens to processes and power."""

    @property
    def where(self) -> str:
        """The place in words, without secrets."""
        ...

    def book(self, dataset: str, person: str, *, opening: bool = False) -> AbstractContextManager[AccountTransaction]:
        """Lock one account in a transaction; its end commits durably, an error rolls everything back.

        With ``opening``, the account is made if there is none.

        Raises:
            Moved: If the transaction must be tried again; the second try holds.
        """
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Make this thread's accounts parts of one transaction, where that is possible: all on disk when it ends.

        A part that fails is rolled back alone; an error at the end rolls everything back.
        """
        ...

    def reading(self) -> AbstractContextManager[Reader]:
        """Return all accounts as they stand at one moment; writers do not wait."""
        ...

    def close(self) -> None:
        """Close the file or connection."""
        ...
