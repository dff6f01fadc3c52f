# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Ledgers of earlier versions, with an account for each calendar day, go on as budgets that come back."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from gazeveil.errors import LedgerError
from gazeveil.privacy.guarantee import GazeStreamDP, Unproven
from gazeveil.privacy.ledger import Ledger
from gazeveil.privacy.ledger.rolling import GRID_S, SLACK_S
from tests.privacy.ledger.hours import DAY_S, NOON, Machine, day


class Old:
    """A ledger as the version before wrote it."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.book, self.patch = Ledger.open(path, create=True), monkeypatch
        self.note = str(path)  # a first event of its own, since that is a ledger's identity

    def spend(self, when: datetime, epsilon: float, on: str = "", budget: GazeStreamDP | None = None) -> None:
        self.patch.setattr("gazeveil.privacy.ledger.ledger.now", lambda: when.isoformat(timespec="microseconds"))
        dataset, held = f"gateway {on or when.date().isoformat()}", budget or day(60)
        try:
            self.book.account(dataset, "anna")
        except LedgerError:
            self.book.grant(dataset, held, person="anna", note=self.note, first=True)
        if epsilon:
            self.book.charge(dataset, GazeStreamDP(epsilon, *_terms(held)), person="anna")


def _terms(held: GazeStreamDP) -> tuple[Fraction, Fraction, str]:
    return held.window, held.radius, held.radius_unit


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Old:
    return Old(tmp_path / "ledger.sqlite", monkeypatch)


def test_what_day_accounts_spent_counts_until_24_hours_after_their_day(old: Old, machine: Machine) -> None:
    old.spend(NOON - timedelta(days=2), 60)  # over
    old.spend(NOON - timedelta(days=1), 20)  # counts until midnight
    old.spend(NOON - timedelta(hours=1), 30)  # counts until the midnight after
    assert machine.allow(60).spent == {"epsilon": Fraction(50)}
    assert machine.budgets(10) == 1
    machine.passes(12 * 3600 + GRID_S + SLACK_S)
    assert machine.spent == 40
    machine.passes(DAY_S)
    assert machine.spent == 0
    assert machine.book.verify().sound


def test_two_full_days_count_as_one_full_budget_that_comes_back_in_turn(old: Old, machine: Machine) -> None:
    old.spend(NOON - timedelta(days=1), 60)
    old.spend(NOON, 45)
    assert machine.allow(60).spent == {"epsilon": Fraction(60)}
    machine.passes(12 * 3600 + GRID_S + SLACK_S)
    assert machine.spent == 45


@pytest.mark.parametrize("days", [1, 2, 300])
def test_day_accounts_of_a_clock_that_was_ahead_count_all_the_same(old: Old, machine: Machine, days: int) -> None:
    old.spend(NOON + timedelta(days=days), 60)
    machine.allow(60)
    assert machine.budgets(1) == 0


def test_day_accounts_named_after_a_devices_clock_count_by_when_they_were_written(old: Old, machine: Machine) -> None:
    old.spend(NOON - timedelta(hours=1), 60, on="1970-01-02")
    assert machine.allow(60).spent == {"epsilon": Fraction(60)}


def test_day_accounts_in_other_terms_are_restated_or_count_as_spent(old: Old, machine: Machine) -> None:
    old.spend(NOON - timedelta(hours=1), 10, budget=day(60, radius=30))
    assert machine.allow(60).spent == {"epsilon": Fraction(20)}
    machine.start().close()


@pytest.mark.parametrize("how", ["unit", "closed"])
def test_day_accounts_that_cannot_be_counted_count_as_spent(old: Old, machine: Machine, how: str) -> None:
    old.spend(NOON, 0, budget=day(60, 2, "deg") if how == "unit" else None)
    if how == "closed":
        old.book.close_account("gateway 2026-03-01", person="anna")
    assert machine.allow(60).spent == {"epsilon": Fraction(60)}


def test_an_unproven_day_and_other_people_and_other_names_are_told_apart(old: Old, machine: Machine) -> None:
    old.spend(NOON, 5)
    old.book.record_unproven("gateway 2026-03-01", Unproven("the veil was off"), person="anna")
    old.book.grant("gateway 2026-03-01", day(60), person="bo")
    old.book.charge("gateway 2026-03-01", day(60), person="bo")
    old.book.grant("gateway plans", day(60), person="anna")
    account = machine.allow(60)
    assert account.spent == {"epsilon": Fraction(5)}
    assert account.totals.unproven == ("the veil was off",)
    assert machine.book.verify().sound


def test_old_accounts_are_still_read_and_still_add_up(old: Old, machine: Machine) -> None:
    old.spend(NOON, 15)
    account = machine.book.account("gateway 2026-03-01", "anna")
    assert account.spent == {"epsilon": Fraction(15)}
    assert "next_back" not in account.to_dict()
    machine.passes(40 * DAY_S)
    assert machine.book.account("gateway 2026-03-01", "anna").spent == {"epsilon": Fraction(15)}
