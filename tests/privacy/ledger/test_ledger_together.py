# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Charges that are put together wait for the disk once, and stand or fall together; each may be refused alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gazeveil.errors import BudgetExceeded, LedgerError
from gazeveil.privacy.guarantee import PureDP
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.sqlite import SqliteStore


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.open(tmp_path / "ledger.sqlite", create=True)
    for name in ("one", "two"):
        made.grant(name, PureDP(3))
    return made


class PowerFails(Exception):  # noqa: N818
    pass


def fails_after(*steps: Callable[[], object]) -> None:
    for step in steps:
        step()
    raise PowerFails


def spent(ledger: Ledger) -> list[int]:
    return [int(account.spent["epsilon"]) for account in ledger.accounts()]


def test_many_charges_are_one_transaction(ledger: Ledger) -> None:
    assert isinstance(ledger.store, SqliteStore)
    said: list[str] = []
    ledger.store._connected().set_trace_callback(said.append)
    with ledger.transaction():
        for name in ("one", "two", "one"):
            ledger.charge(name, PureDP(1))
            assert ledger.account(name).spent["epsilon"] >= 1  # who looks within sees it
    assert [text for text in said if text in ("BEGIN IMMEDIATE", "COMMIT")] == ["BEGIN IMMEDIATE", "COMMIT"]
    assert spent(ledger) == [2, 1]
    assert ledger.verify().sound


def test_what_is_refused_is_taken_back_alone(ledger: Ledger) -> None:
    with ledger.transaction():
        ledger.charge("one", PureDP(2), charge_id="a")
        with pytest.raises(BudgetExceeded):
            ledger.charge("one", PureDP(2), charge_id="b")
        with pytest.raises(LedgerError, match="no account"):
            ledger.charge("three", PureDP(1))
        ledger.charge("two", PureDP(3))
    assert spent(ledger) == [2, 3]
    assert ledger.verify().sound


def test_an_error_at_the_end_takes_everything_back_and_the_anchor_names_nothing_of_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    with Ledger.open(path, create=True) as ledger:
        with pytest.raises(PowerFails), ledger.transaction():  # the very first events of a ledger
            fails_after(
                lambda: ledger.grant("one", PureDP(3)),
                lambda: ledger.charge("one", PureDP(1)),
                lambda: ledger.grant("two", PureDP(3)),
            )
        assert ledger.accounts() == []
        ledger.grant("one", PureDP(3))
        ledger.charge("one", PureDP(1))
        with pytest.raises(PowerFails), ledger.transaction():
            fails_after(lambda: ledger.charge("one", PureDP(1)))
        ledger.charge("one", PureDP(1))
    with Ledger.open(path) as ledger:
        ledger.charge("one", PureDP(1))
        assert spent(ledger) == [3]
        assert ledger.verify().sound


def test_what_was_put_together_is_remembered_away_from_the_ledger(ledger: Ledger) -> None:
    with ledger.transaction():
        ledger.charge("one", PureDP(1))
        ledger.charge("two", PureDP(1))
        assert ledger._watch._file is not None
        assert {known.number for known in ledger._watch._file.everything()} == {1}
    assert {known.number for known in ledger._watch._file.everything()} == {2}


def test_another_thread_waits_and_is_not_drawn_in(ledger: Ledger) -> None:
    other = threading.Thread(target=lambda: ledger.charge("two", PureDP(1)))
    with pytest.raises(PowerFails), ledger.transaction():
        fails_after(other.start, lambda: ledger.charge("one", PureDP(1)))
    other.join(30)
    assert spent(ledger) == [0, 1]
    assert ledger.verify().sound


def test_the_disk_is_asked_again_if_it_took_everything_back(ledger: Ledger) -> None:
    assert isinstance(ledger.store, SqliteStore)
    rollback = partial(ledger.store._connected().execute, "ROLLBACK")  # as SQLite does by itself when a disk is full
    with pytest.raises(LedgerError, match="took back"), ledger.transaction():
        fails_after(lambda: ledger.charge("one", PureDP(1)), rollback, lambda: ledger.charge("two", PureDP(1)))
    assert spent(ledger) == [0, 0]
    ledger.charge("one", PureDP(1))
    assert ledger.verify().sound
