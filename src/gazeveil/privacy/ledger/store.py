# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Where a ledger is kept: what SQLite and PostgreSQL both do for it.

A store keeps texts and digests and knows nothing of privacy. With every event it keeps what all events of the account
up to it come to, so that a charge reads one row, however long the history; `Ledger.verify` replays the events and
compares. Nothing is ever updated: two tables, accounts and events, and rows are only added.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

SCHEMA_VERSION = 1
"""Of the tables, not of the events in them; those have their own guarantee."""

PATIENCE_S = 30.0
"""How long a writer waits for others before it gives up."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Where an account stands: its newest event, and what all of its events come to."""

    account: int
    dataset: str
    person: str
    number: int
    head: str
    totals: str


class Line(NamedTuple):
    """One stored event, and what all events of its account up to it come to."""

    number: int
    id: str
    digest: str
    text: str
    totals: str


class Moved(Exception):  # noqa: N818  (always caught in this package, never shown)
    """An account is not where it was taken to be; nothing was written, and asking again helps."""


class Book(Protocol):
    """One account, held alone by one transaction."""

    @property
    def tail(self) -> Tail | None:
        """Where the account stands; None if there is no such account."""
        ...

    def find(self, event_id: str) -> str | None:
        """Return the text of the event that was given an id, in whichever account."""
        ...

    @property
    def reader(self) -> Reader:
        """All accounts, as they stand now."""
        ...

    def append(self, line: Line) -> None:
        """Add the next event; once in a transaction."""
        ...


class Reader(Protocol):
    """All accounts as they stood at one moment."""

    def tails(self) -> list[Tail]:
        """Return where every account stands, sorted by data set and participant."""
        ...

    def tail(self, dataset: str, person: str) -> Tail | None:
        """Return where one account stands."""
        ...

    def tails_of(self, beginning: str, person: str) -> list[Tail]:
        """Return the tails of a participant's accounts whose data sets begin with a text, which ends with a space."""
        ...

    def lines(self, account: int) -> Iterator[Line]:
        """Go through an account's events from the first to the newest."""
        ...

    def text(self, account: int, number: int) -> str | None:
        """Return the text of one event; None if there is no such event."""
        ...

    def digest(self, account: int, number: int) -> str | None:
        """Return the digest of one event; None if there is no such event."""
        ...

    def identity(self) -> str:
        """Return the digest of the very first event: the same for all copies of a ledger. Empty before there is one."""
        ...

    def faults(self) -> list[str]:
        """Return what the database itself finds wrong with its files."""
        ...


class Store(Protocol):
    """A place for events that survives what happens to processes and power."""

    @property
    def where(self) -> str:
        """Name the place for participants, without secrets."""
        ...

    def book(self, dataset: str, person: str, *, opening: bool = False) -> AbstractContextManager[Book]:
        """Hold one account in a transaction; leaving it commits durably, an error takes everything back.

        ``opening`` begins the account if there is none.

        Raises:
            Moved: If the transaction must be tried again; the second try holds.
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """Let this thread's books be parts of one transaction, where that is possible: all on disk when it ends.

        What fails within is taken back alone; an error at the end takes everything back.
        """
        ...

    def reading(self) -> AbstractContextManager[Reader]:
        """Look at everything as it stands at one moment, without getting in the way of writers."""
        ...

    def close(self) -> None:
        """Let go of the place."""
        ...
