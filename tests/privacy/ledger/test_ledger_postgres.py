# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger on a server: what only a server can do wrong."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from benchmarks.postgres_server import Server
from gazeveil.errors import BudgetExceeded, LedgerError, MissingExtra
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.postgres import PostgresStore

psycopg = pytest.importorskip("psycopg")


def admin(address: str) -> Any:
    return psycopg.connect(address, autocommit=True)


def test_a_database_without_a_ledger_is_not_silently_filled(database: str) -> None:
    with pytest.raises(LedgerError, match="there is no ledger in PostgreSQL database shared"):
        Ledger.open(database)


def test_a_server_that_is_not_there_says_so_without_secrets() -> None:
    with pytest.raises(LedgerError, match=r"database study on 127\.0\.0\.1 cannot be used") as refused:
        Ledger.open("postgresql://me:secret@127.0.0.1:1/study")
    assert "secret" not in str(refused.value)


def test_an_address_that_is_none_says_so() -> None:
    with pytest.raises(LedgerError, match="address") as refused:
        Ledger.open("postgresql://me:secret@[::1/study")
    assert "secret" not in str(refused.value)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"gazeveil\[postgres\]"):
        Ledger.open("postgresql://me@127.0.0.1/study")


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_may_forget_is_refused(postgres: Server, database: str, setting: str) -> None:
    Ledger.open(database, create=True).close()
    with admin(postgres.address()) as connection:
        connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
        try:
            while connection.execute(f"SHOW {setting}").fetchone() != ("off",):
                pass  # the reload takes effect a moment later
            with pytest.raises(LedgerError, match=f"{setting} is off"):
                Ledger.open(database)
        finally:
            connection.execute(f"ALTER SYSTEM RESET {setting}")
            connection.execute("SELECT pg_reload_conf()")
            while connection.execute(f"SHOW {setting}").fetchone() != ("on",):
                pass


def test_a_session_that_may_forget_is_corrected(postgres: Server) -> None:
    database = postgres.fresh_database("forgetful")
    with admin(postgres.address()) as connection:
        connection.execute("ALTER DATABASE forgetful SET synchronous_commit = off")
    with Ledger.open(database, create=True) as ledger:
        assert isinstance(ledger.store, PostgresStore)
        assert ledger.store._connection is not None
        assert ledger.store._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE gazeveil.events SET event = ''",
        "DELETE FROM gazeveil.events",
        "TRUNCATE gazeveil.events",
        "TRUNCATE gazeveil.accounts CASCADE",
        "DELETE FROM gazeveil.accounts",
        "UPDATE gazeveil.accounts SET dataset = 'mine'",
    ],
)
def test_the_database_itself_only_lets_the_ledger_grow(database: str, statement: str) -> None:
    with Ledger.open(database, create=True) as ledger, admin(database) as intruder:
        ledger.grant("study", PureDP(3))
        ledger.charge("study", PureDP(1))
        with pytest.raises(psycopg.errors.RaiseException, match="only grows"):
            intruder.execute(statement)
        assert ledger.verify().sound


def test_tampering_shows(database: str) -> None:
    with Ledger.open(database, create=True) as ledger, admin(database) as intruder:
        ledger.grant("study", PureDP(3))
        ledger.charge("study", PureDP(1))
        ledger.charge("study", PureDP(1))
        intruder.execute("SET session_replication_role = replica")  # what a superuser can do: no triggers
        intruder.execute("UPDATE gazeveil.events SET event = replace(event, '\"1\"', '\"0\"') WHERE number = 2")
        assert any("event 2 was changed" in fault for fault in ledger.verify().faults)
        intruder.execute("DELETE FROM gazeveil.accounts")
        assert ledger.verify().faults[0] == "there are events of an account 1 that is gone"


def test_a_broken_connection_is_an_error_and_then_mended(postgres: Server, database: str) -> None:
    with Ledger.open(database, create=True) as ledger, admin(postgres.address()) as connection:
        ledger.grant("study", PureDP(3))
        for _ in range(2):
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'shared'")
            with pytest.raises(LedgerError, match="cannot be used"):
                ledger.charge("study", PureDP(1), charge_id="x")
            ledger.charge("study", PureDP(1), charge_id="x")
        assert ledger.account("study").spent == {"epsilon": 1}


def test_an_account_that_stays_locked_says_so(database: str) -> None:
    Ledger.open(database, create=True).close()
    ledger = Ledger(PostgresStore(database, patience_s=1))
    ledger.grant("study", PureDP(3))
    ledger.grant("other", PureDP(3))
    with admin(database) as other:
        other.execute("BEGIN")
        other.execute("SELECT * FROM gazeveil.accounts WHERE dataset = 'study' FOR UPDATE")
        with pytest.raises(LedgerError, match="locked by another session for 1 s"):
            ledger.charge("study", PureDP(1))
        ledger.charge("other", PureDP(1))  # other accounts do not wait
        other.execute("ROLLBACK")
    ledger.charge("study", PureDP(1))
    ledger.close()


def test_a_ledger_of_another_version_is_refused(database: str) -> None:
    Ledger.open(database, create=True).close()
    with admin(database) as connection:
        connection.execute("INSERT INTO gazeveil.ledger VALUES (2)")
    with pytest.raises(LedgerError, match="schema version 2; this gazeveil knows 1"):
        Ledger.open(database)


def taken_to_be_alone(ledger: Ledger) -> bool:
    assert isinstance(ledger.store, PostgresStore)
    return ledger.store._left["study", ""][1]


def test_who_is_alone_with_an_account_needs_no_reading_and_is_still_right(database: str) -> None:
    with Ledger.open(database, create=True) as one, Ledger.open(database) as two:
        one.grant("study", PureDP(6))
        for _ in range(3):
            one.charge("study", PureDP(1))
        assert taken_to_be_alone(one)
        two.charge("study", PureDP(1))
        one.charge("study", PureDP(1))  # finds out, reads, and charges
        assert not taken_to_be_alone(one)
        for _ in range(2):
            one.account("study")
        one.charge("study", PureDP(1))
        with pytest.raises(BudgetExceeded):
            one.charge("study", PureDP(1))
        assert [event.number for event in one.history()] == list(range(1, 8))
        assert one.verify().sound


def test_a_refusal_from_memory_is_checked_against_the_server(database: str) -> None:
    with Ledger.open(database, create=True) as one, Ledger.open(database) as two:
        one.grant("study", PureDP(3))
        for _ in range(3):
            one.charge("study", PureDP(1))
        two.grant("study", PureDP(1))
        assert one.charge("study", PureDP(1)).account.remaining == {"epsilon": 0}


def test_a_clerk_with_few_rights_can_charge_and_no_more(postgres: Server, database: str) -> None:
    with Ledger.open(database, create=True) as ledger, admin(database) as owner:
        ledger.grant("study", PureDP(3))
        owner.execute("DROP ROLE IF EXISTS clerk")
        owner.execute("CREATE ROLE clerk LOGIN")
        owner.execute("GRANT USAGE ON SCHEMA gazeveil TO clerk")
        owner.execute("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA gazeveil TO clerk")
        owner.execute("GRANT UPDATE ON gazeveil.accounts TO clerk")  # without it, nobody may lock a row
        try:
            with Ledger.open(database.replace("gazeveil@", "clerk@")) as desk:
                for _ in range(3):
                    desk.charge("study", PureDP(1))
                with pytest.raises(BudgetExceeded):
                    desk.charge("study", PureDP(1))
                assert desk.verify().sound
            with admin(database.replace("gazeveil@", "clerk@")) as clerk:
                for statement in (
                    "DROP TABLE gazeveil.events",
                    "DROP TRIGGER events_are_not_changed ON gazeveil.events",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        clerk.execute(statement)
        finally:
            owner.execute("DROP OWNED BY clerk")
            owner.execute("DROP ROLE clerk")
