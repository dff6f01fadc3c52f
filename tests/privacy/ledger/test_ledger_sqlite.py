# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger in a file: durable, append-only, and clear about what is wrong."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import LedgerError
from gazeveil.privacy.guarantee import ApproxDP, PureDP, ZeroConcentratedDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.events import digest_of_text
from gazeveil.privacy.ledger.sqlite import SqliteStore

TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def spent(path: Path) -> Path:
    """A ledger with a few events."""
    with Ledger.open(path, create=True) as ledger:
        ledger.grant("study", ApproxDP(3, "1e-6"))
        for name in ("", "", "map-3"):
            ledger.charge("study", PureDP("0.5"), charge_id=name)
        ledger.charge("study", ZeroConcentratedDP("0.001"))
        ledger.grant("other", PureDP(1))
    return path


@pytest.fixture
def intruder(spent: Path) -> Iterator[sqlite3.Connection]:
    """Somebody with the file and a SQLite shell."""
    with closing(sqlite3.connect(spent, isolation_level=None)) as connection:
        yield connection


def unguarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    for (name,) in connection.execute(TRIGGERS).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    return connection


def faults(path: Path) -> str:
    with Ledger.open(path) as ledger:
        found = ledger.verify()
    assert found.sound == (not found.faults)
    return "\n".join(found.faults)


def test_a_missing_ledger_is_not_silently_made(path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger at"):
        Ledger.open(path)
    assert not path.exists()


def test_every_commit_reaches_the_disk(path: Path) -> None:
    with Ledger.open(path, create=True) as ledger:
        store = ledger.store
        assert isinstance(store, SqliteStore)
        connection = store._connection
        assert connection is not None
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET event = ''",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT account, 1, 'x', digest, event, totals FROM events WHERE number = 2",
        "INSERT OR REPLACE INTO events SELECT 1, 6, id, digest, event, totals FROM events WHERE number = 4",
        "INSERT INTO events SELECT account, 99, 'x', digest, event, totals FROM events WHERE number = 2",
        "DELETE FROM accounts",
        "UPDATE accounts SET dataset = 'mine'",
        "INSERT OR REPLACE INTO accounts SELECT account, 'mine', person FROM accounts",
        "INSERT OR REPLACE INTO accounts SELECT 7, dataset, person FROM accounts",
    ],
)
def test_the_database_itself_only_lets_the_ledger_grow(intruder: sqlite3.Connection, statement: str) -> None:
    before = intruder.execute("SELECT * FROM events").fetchall(), intruder.execute("SELECT * FROM accounts").fetchall()
    with pytest.raises(sqlite3.IntegrityError):
        intruder.execute(statement)
    after = intruder.execute("SELECT * FROM events").fetchall(), intruder.execute("SELECT * FROM accounts").fetchall()
    assert after == before


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("""UPDATE events SET event = replace(event, '"0.5"', '"0.1"') WHERE number = 2""", "event 2 was changed"),
        ("DELETE FROM events WHERE account = 1 AND number = 3", "event 3 is missing"),
        ("DELETE FROM events WHERE account = 2", 'data set "other": it has no events'),
        ("UPDATE events SET id = 'x' WHERE number = 2", "event 2 belongs somewhere else"),
        ("UPDATE events SET totals = replace(totals, '\"3/2\"', '\"1/2\"')", "from event 4 on, the running totals"),
        ("DELETE FROM accounts WHERE account = 1", "foreign key"),
        ("UPDATE accounts SET dataset = 'mine' WHERE account = 1", "belongs somewhere else"),
    ],
)
def test_tampering_shows(spent: Path, intruder: sqlite3.Connection, statement: str, fault: str) -> None:
    assert faults(spent) == ""
    unguarded(intruder).execute(statement)
    assert fault in faults(spent)


def rewrite(connection: sqlite3.Connection, number: int, old: str, new: str) -> None:
    """Change an event and mend its own digest, as somebody would who knows how ledgers are made."""
    (text,) = connection.execute("SELECT event FROM events WHERE account = 1 AND number = ?", (number,)).fetchone()
    assert old in text
    text = text.replace(old, new)
    connection.execute(
        "UPDATE events SET event = ?, digest = ? WHERE account = 1 AND number = ?", (text, digest_of_text(text), number)
    )


def test_a_mended_digest_breaks_the_chain_at_the_next_event(spent: Path, intruder: sqlite3.Connection) -> None:
    rewrite(unguarded(intruder), 2, '"0.5"', '"0.1"')
    assert "event 3 does not follow the event before it" in faults(spent)


def test_an_unknown_kind_of_event_stops_everything(spent: Path, intruder: sqlite3.Connection) -> None:
    rewrite(unguarded(intruder), 5, '"kind":"charged"', '"kind":"refunded"')
    assert "unknown kind 'refunded'" in faults(spent)
    with Ledger.open(spent) as ledger, pytest.raises(LedgerError, match="unknown kind"):
        list(ledger.history())


def test_cheap_terms_of_conversion_show(spent: Path, intruder: sqlite3.Connection) -> None:
    rewrite(unguarded(intruder), 5, '"fee":"1', '"fee":"0')
    assert "too cheap" in faults(spent)


def test_an_overspent_account_shows(spent: Path, intruder: sqlite3.Connection) -> None:
    rewrite(unguarded(intruder), 3, '"0.5"', '"50"')
    assert "event 3 overspent the budget" in faults(spent)


def test_events_cut_off_at_the_end_show_against_an_export(
    spent: Path, intruder: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(spent) as ledger:
        export = [line.digest for line in ledger.lines("study")]
        assert ledger.verify(export).sound
    unguarded(intruder).execute("DELETE FROM events WHERE account = 1 AND number = 5")
    assert 'study": it has 4 events and had 5' in faults(spent)
    monkeypatch.setenv("GAZEVEIL_STATE", str(tmp_path / "another machine"))
    assert faults(spent) == ""  # by itself, a chain cannot show this
    with Ledger.open(spent) as ledger:
        assert ledger.verify(export).faults == (f"the exported event with the digest {export[4]} is gone",)


def test_another_sqlite_file_is_not_taken_for_a_ledger(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE mine (x)")
    for create in (False, True):
        with pytest.raises(LedgerError, match="not a ledger of gazeveil"):
            Ledger.open(path, create=create)


def test_a_file_of_something_else_says_so(path: Path) -> None:
    path.write_bytes(b"x,y\n1,2\n" * 200)
    with pytest.raises(LedgerError, match="damaged or is no SQLite file"):
        Ledger.open(path)


def test_an_empty_file_is_no_ledger_but_may_become_one(path: Path) -> None:
    path.touch()
    with pytest.raises(LedgerError, match="not a ledger"):
        Ledger.open(path)
    Ledger.open(path, create=True).close()
    Ledger.open(path).close()


def test_a_damaged_file_says_so(spent: Path) -> None:
    with spent.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for offset in range(4096, size, 4096):
            file.seek(offset)
            file.write(b"\xff" * 400)
    with pytest.raises(LedgerError, match="damaged"), Ledger.open(spent) as ledger:
        ledger.charge("study", PureDP("0.1"))


def test_a_ledger_of_another_version_is_refused(spent: Path, intruder: sqlite3.Connection) -> None:
    intruder.execute("PRAGMA user_version = 2")
    with pytest.raises(LedgerError, match="schema version 2; this gazeveil knows 1"):
        Ledger.open(spent)


def test_a_ledger_in_another_journal_mode_is_refused(spent: Path, intruder: sqlite3.Connection) -> None:
    intruder.execute("PRAGMA journal_mode = DELETE")
    with pytest.raises(LedgerError, match="write-ahead"):
        Ledger.open(spent)


def test_a_ledger_that_stays_locked_says_so(spent: Path, intruder: sqlite3.Connection) -> None:
    ledger = Ledger(SqliteStore(spent, patience_s=0.05))
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match=r"locked by another process for 0\.05 s"):
        ledger.charge("study", PureDP("0.1"))
    intruder.execute("ROLLBACK")
    with spent.with_name("ledger.sqlite.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LedgerError, match="locked by another process"):
            ledger.charge("study", PureDP("0.1"))
    ledger.charge("study", PureDP("0.1"))
    ledger.close()


def test_readers_do_not_wait_for_writers(spent: Path, intruder: sqlite3.Connection) -> None:
    with Ledger.open(spent) as ledger:
        intruder.execute("BEGIN IMMEDIATE")
        assert ledger.account("study").totals.charges == 4
        intruder.execute("ROLLBACK")
        history = ledger.history("study")
        next(history)
        ledger.charge("study", PureDP("0.1"))  # while somebody reads
        assert len(list(history)) == 4


def test_a_full_disk_says_so_and_spends_nothing(spent: Path) -> None:
    with Ledger.open(spent) as ledger:
        assert isinstance(ledger.store, SqliteStore)
        connection = ledger.store._connection
        assert connection is not None
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        paid = 0
        with pytest.raises(LedgerError, match="disk is full"):  # noqa: PT012
            while True:
                ledger.charge("study", PureDP(0), note="x" * 3000)
                paid += 1
        assert ledger.account("study").totals.charges == 4 + paid
        assert ledger.verify().sound


def test_a_file_swapped_while_in_use_is_noticed(spent: Path, tmp_path: Path) -> None:
    with Ledger.open(spent) as ledger:
        ledger.charge("study", PureDP("0.1"))
        aside = tmp_path / "aside.sqlite"
        spent.rename(aside)
        with pytest.raises(LedgerError, match="there is no ledger"):
            ledger.charge("study", PureDP("0.1"))
        with Ledger.open(spent, create=True) as fresh:
            fresh.grant("study", ApproxDP(3, "1e-6"))
        with pytest.raises(LedgerError, match="replaced by another file"):
            ledger.charge("study", PureDP("0.1"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_says_so(spent: Path) -> None:
    spent.parent.chmod(0o500)
    try:
        with pytest.raises(LedgerError, match="cannot"), Ledger.open(spent) as ledger:
            ledger.charge("study", PureDP("0.1"))
    finally:
        spent.parent.chmod(0o700)


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LedgerError, match="cannot make the folder"):
        Ledger.open(tmp_path / "file" / "sub" / "ledger.sqlite", create=True)


def test_odd_file_names_are_just_names(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=memory#% ü.sqlite"
    with Ledger.open(path, create=True) as ledger:
        ledger.grant("study", PureDP(1))
    assert path.is_file()
    with Ledger.open(path) as ledger:
        assert ledger.account("study").budget == PureDP(1)


class Unruly:
    """A connection whose disk fails from some statement on."""

    in_transaction = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement in ("COMMIT", "ROLLBACK"):
            raise sqlite3.OperationalError("disk I/O error")
        return self.connection.execute(statement, *values)

    def close(self) -> None:
        self.connection.close()


def test_a_failing_disk_is_an_error_and_the_next_charge_starts_afresh(spent: Path) -> None:
    with Ledger.open(spent) as ledger:
        store = ledger.store
        assert isinstance(store, SqliteStore)
        assert store._connection is not None
        store._connection = Unruly(store._connection)  # type: ignore[assignment]
        with pytest.raises(LedgerError, match="disk I/O error"):
            ledger.charge("study", PureDP("0.1"))
        ledger.charge("study", PureDP("0.1"))
        assert ledger.account("study").totals.charges == 5
        assert ledger.verify().sound


def test_a_second_name_of_the_file_is_refused(spent: Path) -> None:
    """SQLite keeps its log beside the name, so two names would be two budgets."""
    second = spent.with_name("second.sqlite")
    with Ledger.open(spent) as ledger:
        second.hardlink_to(spent)
        with pytest.raises(LedgerError, match="hard link"):
            ledger.charge("other", PureDP(1))
        with pytest.raises(LedgerError, match="hard link"):
            Ledger.open(second)
        second.unlink()
        ledger.charge("other", PureDP(1))


def test_a_symbolic_link_leads_to_the_same_lock(spent: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(spent)
    with Ledger.open(link) as ledger:
        ledger.charge("other", PureDP(1))
    assert list(link.parent.iterdir()) == [link]
    with Ledger.open(spent) as ledger:
        assert ledger.account("other").remaining == {"epsilon": 0}


def test_a_file_may_have_any_name_that_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a?b#c%41 \xff.sqlite")
    with Ledger.open(path, create=True) as ledger:
        ledger.grant("study", PureDP(1))
    with Ledger.open(path) as ledger:
        assert ledger.account("study").budget == PureDP(1)
    assert path.is_file()
