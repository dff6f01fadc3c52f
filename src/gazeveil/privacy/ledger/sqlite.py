# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A ledger in one SQLite file: the default.

Durable against a killed process and against power loss: write-ahead log, and ``synchronous=FULL`` so that a commit
returns only when the disk has it. Writers queue at a lock file beside the ledger. SQLite would keep them apart too,
but unfairly (one process can starve for seconds), and before version 3.51.3 a checkpoint that races a writer can lose
pages (the "WAL-reset bug"); where writers are alone, there is no race.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from gazeveil.errors import InternalError, LedgerBusy, LedgerError, LedgerRolledBack
from gazeveil.files import sync
from gazeveil.privacy.ledger.store import PATIENCE_S, SCHEMA_VERSION, ForkSafeLock, Reader, StoredEvent
from gazeveil.process import try_lock, unlock

_APPLICATION_ID = 0x475A564C  # "GZVL", so that a ledger is told from any other SQLite file
_PAUSE_S = 0.001
_PRIVATE = 0o600
"""Who may read and write a new ledger: its owner. The files that SQLite puts beside it get the same mode."""

_SCHEMA = f"""
CREATE TABLE accounts (
    account INTEGER PRIMARY KEY,
    dataset TEXT NOT NULL,
    person TEXT NOT NULL,
    UNIQUE (dataset, person)
);
CREATE TABLE events (
    account INTEGER NOT NULL REFERENCES accounts,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    event TEXT NOT NULL,
    totals TEXT NOT NULL,
    PRIMARY KEY (account, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (id) WHERE id <> '';
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
    WHEN NEW.number IS NOT (SELECT ifnull(max(number), 0) + 1 FROM events WHERE account = NEW.account)
        OR EXISTS (SELECT 1 FROM events WHERE id = NEW.id AND id <> '')
    BEGIN SELECT RAISE(ABORT, 'events are only added at the end'); END;
CREATE TRIGGER accounts_are_not_changed BEFORE UPDATE ON accounts
    BEGIN SELECT RAISE(ABORT, 'accounts are never changed'); END;
CREATE TRIGGER accounts_are_not_deleted BEFORE DELETE ON accounts
    BEGIN SELECT RAISE(ABORT, 'accounts are never deleted'); END;
CREATE TRIGGER accounts_are_not_replaced BEFORE INSERT ON accounts
    WHEN EXISTS (SELECT 1 FROM accounts WHERE account = NEW.account OR (dataset = NEW.dataset AND person = NEW.person))
    BEGIN SELECT RAISE(ABORT, 'accounts are only added'); END;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
"""  # noqa: S608  (a constant)

_TAILS = """
SELECT accounts.account, dataset, person, ifnull(number, 0), ifnull(digest, ?), ifnull(totals, '')
FROM accounts LEFT JOIN events ON events.account = accounts.account
    AND number = (SELECT max(own.number) FROM events AS own WHERE own.account = accounts.account)
"""

File = tuple[int, int]
"""A file by its device and number, whatever it is called."""

_BEING_READ: Counter[File] = Counter()
_INHERITED: set[File] = set()
"""Files that the parent was reading when it forked this process.

SQLite remembers per process and file which locks are held. A child that inherits this memory takes the parent's locks
for its own, and others then remove the log that it writes to. So there must be no connection when a process forks:
`SqliteStore` closes its own before, and a file that was being read is refused in the child.
"""


class SqliteStore:
    """A ledger in a file."""

    def __init__(self, path: Path, *, create: bool = False, patience_s: float = PATIENCE_S) -> None:
        self.path = Path(os.path.realpath(path))  # one name for one file, and so one lock
        self._name = str(self.path)
        self._lock = self._name + ".lock"
        self.patience_s = patience_s
        self._mine = ForkSafeLock(self._hang_up)
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._file: File | None = None
        self._transaction = threading.local()  # has a connection while this thread is in `transaction`
        if create:
            self._create()
        with self._mine:
            self._connected()

    @property
    def where(self) -> str:
        """The place in words."""
        return str(self.path)

    @contextmanager
    def book(self, dataset: str, person: str, *, opening: bool = False) -> Iterator[_SqliteTransaction]:
        """Lock one account in a transaction, or in a part of one."""
        with self._part() if self._open_transaction else self._whole() as connection:
            yield _SqliteTransaction(connection, dataset, person, opening=opening)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything that this thread does here in one transaction, with one wait for the disk."""
        with self._whole() as connection:
            self._transaction.connection = connection
            try:
                yield
            finally:
                self._transaction.connection = None

    @property
    def _open_transaction(self) -> sqlite3.Connection | None:
        return getattr(self._transaction, "connection", None)

    @contextmanager
    def _whole(self) -> Iterator[sqlite3.Connection]:
        with self._mine, self._alone():
            connection = self._connected()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException as error:
                self._take_back(connection)
                if isinstance(error, sqlite3.Error):
                    raise self._explained(error) from error
                raise

    @contextmanager
    def _part(self) -> Iterator[sqlite3.Connection]:
        """Begin a part of the transaction that can be rolled back alone."""
        connection = self._connected()
        if not connection.in_transaction:  # an error such as a full disk took everything back
            raise LedgerError(f"the ledger {self.path} took back what was to be written together")
        with self._explaining():
            connection.execute("SAVEPOINT part")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK TO part")
                raise
            finally:
                connection.execute("RELEASE part")

    @contextmanager
    def reading(self) -> Iterator[_SqliteReader]:
        """Return all accounts as they stand at one moment; within `transaction`, with what was written there."""
        if connection := self._open_transaction:
            with self._explaining():
                yield _SqliteReader(connection)
            return
        file = self._same_file()
        _BEING_READ[file] += 1
        try:
            with self._explaining(), closing(self._open()) as connection:
                connection.execute("BEGIN")
                yield _SqliteReader(connection)
        finally:
            _BEING_READ[file] -= 1

    def close(self) -> None:
        """Close the file."""
        with self._mine:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
            self._connection = None

    def _take_back(self, connection: sqlite3.Connection) -> None:
        """Roll back; where even that fails, drop the connection, and whoever opens the file next rolls back."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        """Return this process's connection, and make sure that it still leads to the file of that name."""
        if self._connection is not None and self._process != os.getpid():
            raise self._carried_over()
        found = self._same_file()
        if self._connection is None:
            with self._explaining():
                self._connection = self._open()
            self._process, self._file = os.getpid(), found
        return self._connection

    def _same_file(self) -> File:
        """Return which file has the ledger's name, and make sure that it is the one that was in use."""
        try:
            found = self._identity()
        except LedgerError:
            if self._file is None or self.path.exists():
                raise
            raise LedgerRolledBack(
                f"there is no ledger at {self.path} any more: it went away while it was in use",
                hint="put it back, then start again",
            ) from None
        if self._file not in (None, found):
            raise LedgerRolledBack(
                f"the ledger {self.path} was replaced by another file while it was in use",
                hint="put the right file back, then start again",
            )
        return found

    def _identity(self) -> File:
        try:
            status = os.stat(self._name)  # noqa: PTH116  (on the way of every charge)
        except OSError:
            raise self._missing() from None
        if status.st_nlink > 1:
            raise LedgerError(
                f"the ledger {self.path} has {status.st_nlink} names (hard links): what is spent under one of them "
                "is not seen under the others",
                hint="remove the other names, or copy the file instead",
            )
        return status.st_dev, status.st_ino

    def _carried_over(self) -> LedgerError:
        return LedgerError(
            f"the ledger {self.path} was in use when this process was forked, and is not safe here",
            hint="fork before it is opened or while it is not read, or start a new process (spawn)",
        )

    def _missing(self) -> LedgerError:
        return LedgerError(
            f"there is no ledger at {self.path}",
            hint="make one with `gazeveil ledger init DATASET --epsilon 3 --delta 1e-4`, or name another with --ledger",
        )

    def _open(self, mode: str = "rw") -> sqlite3.Connection:
        if mode == "rw" and not self.path.is_file():
            raise self._missing()
        if _INHERITED and self.path.exists() and self._identity() in _INHERITED:
            raise self._carried_over()
        if mode == "rwc":
            self._make_private()
        connection = sqlite3.connect(
            f"file:{quote(os.fsencode(self._name))}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=self.patience_s,
            check_same_thread=False,
        )
        try:
            # fullfsync matters on macOS only, where a plain fsync does not reach the platter.
            for setting in ("synchronous = FULL", "fullfsync = ON", "checkpoint_fullfsync = ON", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {setting}")
            if mode == "rw":
                self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_private(self) -> None:
        """Make the file before SQLite does, which would let everyone read it."""
        try:
            os.close(os.open(self._name, os.O_RDWR | os.O_CREAT, _PRIVATE))
        except OSError as error:
            raise LedgerError(f"cannot make the ledger {self.path}: {error.strerror}") from error

    def _check(self, connection: sqlite3.Connection) -> None:
        if _pragma(connection, "application_id") != _APPLICATION_ID:
            raise LedgerError(f"{self.path} is not a ledger of gazeveil", hint="name another file with --ledger")
        version = _pragma(connection, "user_version")
        if version != SCHEMA_VERSION:
            raise LedgerError(
                f"the ledger {self.path} has schema version {version}; this gazeveil knows {SCHEMA_VERSION}",
                hint="use the version of gazeveil that wrote it, or a newer one",
            )
        if _pragma(connection, "journal_mode") != "wal":
            raise LedgerError(
                f"the ledger {self.path} is not in write-ahead mode: something other than gazeveil has changed it",
                hint="verify it, then set `PRAGMA journal_mode = WAL`",
            )

    def _create(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(f"cannot make the folder {self.path.parent}: {error.strerror}") from error
        with self._alone(), self._explaining(), closing(self._open("rwc")) as connection:
            empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if empty and not _pragma(connection, "application_id"):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
            self._check(connection)
        sync(self.path.parent)  # makes the new file's name durable too

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep all other writers out. The system lets go of the lock when a process ends, however it ends."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, _PRIVATE)
        except OSError as error:
            raise LedgerError(
                f"cannot open the lock file {self._lock}: {error.strerror}", hint="check the folder's permissions"
            ) from error
        try:
            self._queue(descriptor)
            try:
                yield
            finally:
                unlock(descriptor)
        finally:
            os.close(descriptor)

    def _queue(self, descriptor: int) -> None:
        give_up = time.monotonic() + self.patience_s
        while not try_lock(descriptor):
            if time.monotonic() > give_up:
                raise self._locked()
            time.sleep(_PAUSE_S)

    def _locked(self) -> LedgerBusy:
        return LedgerBusy(
            f"the ledger {self.path} has been locked by another process for {self.patience_s:g} s",
            hint="see which program has it open, then try again",
        )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what SQLite says into what it means here."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: sqlite3.Error) -> LedgerError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return self._locked()
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LedgerError(
                f"the ledger {self.path} is damaged or is no SQLite file: {error}",
                hint="restore it from a backup; do not delete it, or what was spent is forgotten",
            )
        if code == sqlite3.SQLITE_FULL:
            return LedgerError(f"the disk is full: the ledger {self.path} was not changed", hint="make room")
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR):
            return LedgerError(
                f"the ledger {self.path} cannot be read or written: {error}",
                hint="check that it, its folder and the files beside it may be written",
            )
        return LedgerError(f"the ledger {self.path} refused: {error}", hint="see `gazeveil ledger verify`")


class _SqliteTransaction:
    """One account in a transaction."""

    def __init__(self, connection: sqlite3.Connection, dataset: str, person: str, *, opening: bool) -> None:
        self._connection = connection
        self.reader = _SqliteReader(connection)
        self.tail = self.reader.tail(dataset, person)
        if self.tail is None and opening:
            connection.execute("INSERT INTO accounts (dataset, person) VALUES (?, ?)", (dataset, person))
            self.tail = self.reader.tail(dataset, person)

    def append(self, line: StoredEvent) -> None:
        """Add the next event."""
        if self.tail is None:
            raise InternalError("an event is added to an account that is there")
        self._connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (self.tail.account, *line))


class _SqliteReader(Reader):
    """One moment of the whole ledger."""

    tails_sql, events_sql, mark = _TAILS, "events", "?"

    def lines(self, account: int) -> Iterator[StoredEvent]:
        """Go through an account's events from the first to the newest."""
        query = "SELECT number, id, digest, event, totals FROM events WHERE account = ? ORDER BY number"
        for row in self._connection.execute(query, (account,)):
            yield StoredEvent(*row)

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with its file."""
        found = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check")]
        found += [f"foreign key: {row}" for row in self._connection.execute("PRAGMA foreign_key_check")]
        return [fault for fault in found if fault != "ok"]


def _remember_what_was_read() -> None:
    _INHERITED.update(file for file, readers in _BEING_READ.items() if readers > 0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_remember_what_was_read)


def _pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]
