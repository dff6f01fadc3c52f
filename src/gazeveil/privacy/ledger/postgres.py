# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A ledger on a PostgreSQL server, for a team: ``postgresql://user@host/database``.

A transaction locks its account's row, then reads, then adds the account's next event, and touches no other account.
Transactions of one account therefore run one after the other, as if alone, and those of different accounts do not wait
for each other. A store that finds itself alone with an account skips the reading: it remembers where the account stood
and adds the event that comes next, in one statement. If someone else has added that one, the numbers collide, nothing
is written, and the store starts again with the reading.
A commit returns when the server's disk has it; a server that is set up to forget (``fsync = off``) is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gazeveil.errors import InternalError, LedgerBusy, LedgerError, needing
from gazeveil.privacy.ledger.events import GENESIS
from gazeveil.privacy.ledger.store import (
    PATIENCE_S,
    SCHEMA_VERSION,
    AccountMoved,
    ForkSafeLock,
    Reader,
    StoredAccount,
    StoredEvent,
)

if TYPE_CHECKING:
    import psycopg

_SCHEMA = f"""
CREATE SCHEMA gazeveil;
CREATE TABLE gazeveil.ledger (version integer NOT NULL);
CREATE TABLE gazeveil.accounts (
    account bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    dataset text COLLATE "C" NOT NULL,
    person text COLLATE "C" NOT NULL,
    UNIQUE (dataset, person)
);
CREATE TABLE gazeveil.events (
    account bigint NOT NULL,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    digest text NOT NULL,
    event text NOT NULL,
    totals text NOT NULL,
    PRIMARY KEY (account, number)
);
CREATE UNIQUE INDEX events_by_id ON gazeveil.events (id) WHERE id <> '';
CREATE FUNCTION gazeveil.never() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'the ledger only grows: no % of %', TG_OP, TG_TABLE_NAME; END $$;
CREATE TRIGGER events_are_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON gazeveil.events
    FOR EACH STATEMENT EXECUTE FUNCTION gazeveil.never();
CREATE TRIGGER accounts_are_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON gazeveil.accounts
    FOR EACH STATEMENT EXECUTE FUNCTION gazeveil.never();
INSERT INTO gazeveil.ledger VALUES ({SCHEMA_VERSION});
"""  # noqa: S608  (a constant)

_TAILS = """
SELECT account, dataset, person, coalesce(number, 0), coalesce(digest, %s), coalesce(totals, '')
FROM gazeveil.accounts LEFT JOIN LATERAL (
    SELECT number, digest, totals FROM gazeveil.events
    WHERE events.account = accounts.account ORDER BY number DESC LIMIT 1
) AS newest ON true
"""
_TAIL = f"{_TAILS} WHERE dataset = %s AND person = %s"
_LOCK = "SELECT 1 FROM gazeveil.accounts WHERE dataset = %s AND person = %s FOR UPDATE"
_OPEN = "INSERT INTO gazeveil.accounts (dataset, person) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_APPEND = """
INSERT INTO gazeveil.events SELECT account, %s::bigint, %s, %s, %s, %s
FROM (SELECT account FROM gazeveil.accounts WHERE account = %s FOR UPDATE) AS own ON CONFLICT DO NOTHING
"""
_REMEMBERED_ACCOUNTS = 1024
_INIT_LOCK = 0x475A564C  # any number that others are unlikely to lock

_ABANDONED: list[psycopg.Connection[Any]] = []
"""Connections inherited by a forked child. Closing one there would end the parent's session, so they stay open."""


class PostgresStore:
    """A ledger on a server."""

    def __init__(self, address: str, *, create: bool = False, patience_s: float = PATIENCE_S) -> None:
        with needing("psycopg", "postgres", "a ledger on PostgreSQL"):
            import psycopg  # noqa: PLC0415
        self._psycopg = psycopg
        self._address = address
        self.patience_s = patience_s
        self.where = self._without_secrets()
        self._mine = ForkSafeLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._process = 0
        # Where this store left an account, and whether nobody else had been there since the time before.
        self._left: dict[tuple[str, str], tuple[StoredAccount, bool]] = {}
        with self._mine, self._explaining():
            if create:
                self._create()
            self._connected()

    @contextmanager
    def book(self, dataset: str, person: str, *, opening: bool = False) -> Iterator[_PostgresTransaction]:
        """Lock one account in a transaction.

        Raises:
            Moved: If the account was taken for unchanged and is not; the next try reads it.
        """
        with self._mine, self._explaining():
            connection = self._connected()
            left, alone = self._left.pop((dataset, person), (None, False))
            if left is not None and alone and not opening:
                holding = self._unread(connection, left)
            else:
                holding = self._locked(connection, dataset, person, opening=opening)
            with holding as book:
                found = book.tail
                yield book
            if len(self._left) >= _REMEMBERED_ACCOUNTS:
                self._left.clear()
            if book.after is not None:
                self._left[dataset, person] = (book.after, found == left)

    def transaction(self) -> AbstractContextManager[None]:
        """Write one after the other: to hold many accounts at once would be to wait for each other in a ring."""
        return nullcontext()

    @contextmanager
    def _locked(
        self, connection: psycopg.Connection[Any], dataset: str, person: str, *, opening: bool
    ) -> Iterator[_PostgresTransaction]:
        """Read the account and keep it locked until it is written."""
        try:
            with connection.pipeline():  # one round trip to the server instead of one per statement
                connection.execute("BEGIN")
                if opening:  # one after the other, so that the first account of all is the first for good
                    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_INIT_LOCK,))
                    connection.execute(_OPEN, (dataset, person))
                connection.execute(_LOCK, (dataset, person))
                found = connection.execute(_TAIL, (GENESIS, dataset, person))
            row = found.fetchone()
            book = _PostgresTransaction(connection, None if row is None else StoredAccount(*row))
            yield book
            with connection.pipeline():
                written = book.write()
                connection.execute("COMMIT")
            if written is not None and written.rowcount != 1:
                raise LedgerError("the id of the charge was used at the same moment for another account")
        except BaseException:
            self._take_back(connection)
            raise

    @contextmanager
    def _unread(self, connection: psycopg.Connection[Any], left: StoredAccount) -> Iterator[_PostgresTransaction]:
        """Take the account to be where this store left it, and add the event that comes next."""
        book = _PostgresTransaction(connection, left)
        try:
            yield book
        except Exception:
            # What was refused on the strength of an old reading must be asked again.
            if book.reader.tail(left.dataset, left.person) != left:
                raise AccountMoved from None
            raise
        written = book.write()
        if written is not None and written.rowcount != 1:
            raise AccountMoved

    @contextmanager
    def reading(self) -> Iterator[_PostgresReader]:
        """Return all accounts as they stand at one moment."""
        with self._explaining(), self._open() as connection:
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _PostgresReader(connection)

    def close(self) -> None:
        """Close the connection."""
        with self._mine:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is not None and self._process != os.getpid():
            _ABANDONED.append(self._connection)
            self._connection = None
        if self._connection is None or self._connection.closed:
            self._connection, self._process = self._open(), os.getpid()
        return self._connection

    def _open(self) -> psycopg.Connection[Any]:
        connection = self._psycopg.connect(self._address, autocommit=True, connect_timeout=int(self.patience_s))
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: psycopg.Connection[Any]) -> None:
        patience = f"{int(self.patience_s * 1000)}"
        settings = dict(connection.execute("SELECT name, setting FROM pg_settings").fetchall())
        forgetful = [name for name in ("fsync", "full_page_writes") if settings.get(name) != "on"]
        if forgetful:
            raise LedgerError(
                f"the server of {self.where} may forget what was spent when power fails: {forgetful[0]} is off",
                hint="turn it on in postgresql.conf",
            )
        if settings.get("synchronous_commit") in ("off", "local"):
            connection.execute("SET synchronous_commit = on")
        # A writer whose machine vanished must not hold an account for ever.
        for name in ("lock_timeout", "idle_in_transaction_session_timeout"):
            connection.execute("SELECT set_config(%s, %s, false)", (name, patience))
        connection.execute("SET default_transaction_isolation = 'read committed'")
        self._check(connection)

    def _check(self, connection: psycopg.Connection[Any]) -> None:
        if not self._is_there(connection):
            raise LedgerError(
                f"there is no ledger in {self.where}",
                hint="make one with `gazeveil ledger init DATASET --epsilon 3 --delta 1e-4 --ledger ADDRESS`",
            )
        version = connection.execute("SELECT max(version) FROM gazeveil.ledger").fetchone()
        if version != (SCHEMA_VERSION,):
            raise LedgerError(
                f"the ledger in {self.where} has schema version {version and version[0]}; "
                f"this gazeveil knows {SCHEMA_VERSION}",
                hint="use the version of gazeveil that wrote it, or a newer one",
            )

    def _is_there(self, connection: psycopg.Connection[Any]) -> bool:
        return bool(connection.execute("SELECT to_regclass('gazeveil.ledger') IS NOT NULL").fetchone() == (True,))

    def _create(self) -> None:
        with self._psycopg.connect(self._address, connect_timeout=int(self.patience_s)) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_INIT_LOCK,))
            if not self._is_there(connection):
                connection.execute(_SCHEMA)

    def _take_back(self, connection: psycopg.Connection[Any]) -> None:
        """Roll back; where even that fails, drop the connection, and the server rolls back."""
        try:
            if not connection.closed:
                connection.execute("ROLLBACK")
        except self._psycopg.Error:
            connection.close()

    def _without_secrets(self) -> str:
        try:
            parts = self._psycopg.conninfo.conninfo_to_dict(self._address)
        except self._psycopg.Error:
            raise LedgerError(
                "the address of the ledger cannot be read", hint="for example postgresql://user@host/database"
            ) from None
        return f"PostgreSQL database {parts.get('dbname', '(default)')} on {parts.get('host', 'localhost')}"

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what the server says into what it means here."""
        try:
            yield
        except self._psycopg.errors.LockNotAvailable as error:
            raise LedgerBusy(
                f"the account has been locked by another session for {self.patience_s:g} s in {self.where}",
                hint="see which program holds it (pg_stat_activity), then try again",
            ) from error
        except self._psycopg.errors.DiskFull as error:
            raise LedgerError(f"the server's disk is full: {self.where} was not changed", hint="make room") from error
        except self._psycopg.Error as error:
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise LedgerError(
                f"{self.where} cannot be used: {said}",
                hint="if a charge was under way, its outcome is unknown; charge again with the same charge_id",
            ) from error


class _PostgresTransaction:
    """One account in a transaction; what is appended is sent when the transaction ends."""

    def __init__(self, connection: psycopg.Connection[Any], tail: StoredAccount | None) -> None:
        self._connection = connection
        self.reader = _PostgresReader(connection)
        self.tail = tail
        self.after: StoredAccount | None = None
        self._line: StoredEvent | None = None

    def append(self, line: StoredEvent) -> None:
        """Add the next event."""
        if self.tail is None or self._line is not None:
            raise InternalError("one event is added to an account that is there")
        self._line = line
        self.after = replace(self.tail, number=line.number, head=line.digest, totals=line.totals)

    def write(self) -> psycopg.Cursor[Any] | None:
        """Send what was appended, if anything; no row is written if its number or id is taken."""
        if self.tail is None or self._line is None:
            return None
        return self._connection.execute(_APPEND, (*self._line, self.tail.account))


class _PostgresReader(Reader):
    """One moment of the whole ledger."""

    tails_sql, events_sql, mark = _TAILS, "gazeveil.events", "%s"

    def lines(self, account: int) -> Iterator[StoredEvent]:
        """Go through an account's events from the first to the newest."""
        query = "SELECT number, id, digest, event, totals FROM gazeveil.events WHERE account = %s ORDER BY number"
        with self._connection.cursor(name="lines") as cursor:
            cursor.execute(query, (account,))
            for row in cursor:
                yield StoredEvent(*row)

    def faults(self) -> list[str]:
        """Return events without an account; the server itself watches its files (see its checksums)."""
        query = "SELECT DISTINCT account FROM gazeveil.events EXCEPT SELECT account FROM gazeveil.accounts"
        found = self._connection.execute(query).fetchall()
        return [f"there are events of an account {account} that is gone" for (account,) in found]
