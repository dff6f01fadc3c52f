# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets that come back: any 24 hours keep to them, whatever clocks do."""

from __future__ import annotations

import json
import pickle
import time
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gazeveil.errors import BudgetExceeded, LedgerError
from gazeveil.privacy.guarantee import GazeStreamDP, PureDP, Unproven
from gazeveil.privacy.ledger import Clock, Leased, Ledger
from gazeveil.privacy.ledger.account import restoration_time
from gazeveil.privacy.ledger.events import from_text, to_text
from gazeveil.privacy.ledger.spending import GRID_S, SLACK_S, Rolling, Totals
from tests.privacy.ledger.hours import DAY_S, LATEST_BACK, NOON, Machine, day

# What comes back, and when


def test_a_charge_counts_until_24_hours_after_its_last_moment(address: str) -> None:
    machine = Machine(address)
    machine.allow(60)
    machine.pay(60, lasts_s=600)
    machine.passes(600 + DAY_S - 1)
    assert machine.spent == 60
    assert machine.budgets(1) == 0
    machine.passes(LATEST_BACK - DAY_S)
    assert machine.spent == 0
    assert machine.pay(60).account.spent == {"epsilon": Fraction(60)}
    assert machine.book.verify().sound


def test_twenty_minutes_around_midnight_hold_one_budget(tmp_path: Path) -> None:
    """S4: with an account for each calendar day they held two."""
    machine = Machine(tmp_path / "l", datetime(2026, 3, 1, 23, 50, tzinfo=UTC))
    machine.allow(600)
    paid = 0
    for _ in range(20 * 60 // 10):
        machine.passes(10)
        paid += machine.budgets(10)
    assert paid * 10 == 600


def test_what_was_spent_little_by_little_comes_back_little_by_little(machine: Machine) -> None:
    machine.allow(24)
    for _ in range(24):
        machine.pay(1)
        machine.passes(3600)
    left = []
    for _ in range(5):
        machine.passes(3600)
        left.append(machine.book.account("gateway", "anna").remaining["epsilon"])
    assert left == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_summer_time_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        for number, start in enumerate([(2026, 3, 28), (2026, 3, 7), (2026, 4, 4), (2026, 10, 24), (2026, 10, 31)]):
            machine = Machine(tmp_path / f"{number}", datetime(*start, 12, tzinfo=UTC))
            machine.allow(60)
            machine.pay(60)
            machine.passes(DAY_S)
            assert machine.spent == 60
            machine.passes(LATEST_BACK + 10 - DAY_S)
            assert machine.spent == 0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_account_says_what_comes_back_and_when(machine: Machine) -> None:
    assert restoration_time(machine.allow(60)) == ""
    account = machine.pay(12).account
    seconds, epsilon = account.next_restoration or (0, 0)
    assert epsilon == 12
    assert DAY_S < seconds <= LATEST_BACK + 10
    assert restoration_time(account, NOON) == "ε=12 at 2026-03-02 12:15 UTC"
    assert account.to_dict()["next_back"] == {"in_s": seconds, "epsilon": "12"}
    with pytest.raises(BudgetExceeded, match="comes back ε=12 at "):
        machine.pay(60)


def test_an_account_holds_few_numbers_however_many_charges_there_were(machine: Machine) -> None:
    machine.allow(100_000)
    for _ in range(30):
        for _ in range(4):
            account = machine.pay("0.1", lasts_s=600).account
        machine.passes(3000)
    assert account.totals.rolling is not None
    assert len(account.totals.rolling.due) <= (DAY_S + 600) / 3000 + 2
    rolling = Rolling(0)
    for at in range(0, 2 * DAY_S, 5):
        rolling = rolling.rolled(at).charged(at + 310, Fraction(DAY_S), Fraction(1))
    assert len(rolling.due) <= DAY_S / GRID_S + 3


# Clocks


def test_a_clock_that_jumps_while_a_program_runs_brings_nothing(machine: Machine) -> None:
    """G6: +1 day, +2 days and back gave three budgets in a minute."""
    machine.allow(60)
    paid = machine.budgets(20)
    for days in (1, 2, -2, 400):
        machine.wall += days * DAY_S
        machine.steady += 20
        paid += machine.budgets(20)
        again = Ledger.open(machine.address, clock=machine.book._time._clock)  # the same process opens it once more
        machine.book = again
        paid += machine.budgets(20)
    assert paid == 3
    assert machine.notes == []


def test_a_clock_goes_along_to_a_process_that_pays_for_another() -> None:
    mine = Clock()
    theirs: Clock = pickle.loads(pickle.dumps(mine))
    assert theirs.began == mine.began
    assert abs(theirs.now() - mine.now()) < 60


def test_a_forward_jump_across_a_restart_is_accepted_and_logged(machine: Machine) -> None:
    machine.allow(60)
    assert machine.budgets(60) == 1
    machine.wall += 2 * DAY_S
    machine.start()
    assert machine.budgets(60) == 1
    assert len(machine.notes) == 1
    assert "2 days, 0:00:00 passed" in machine.notes[0]
    assert "ε=60 came back" in machine.notes[0]
    machine.wall -= 2 * DAY_S
    machine.start()
    assert machine.budgets(60) == 0
    machine.wall += 2 * DAY_S
    machine.start()
    assert machine.budgets(60) == 0, "the same two days do not count twice"


def test_a_restart_after_a_pause_in_which_nothing_came_back_is_not_news(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(10)
    machine.passes(DAY_S / 2)
    machine.start()
    machine.pay(10)
    assert machine.notes == []


def test_a_clock_set_back_across_a_restart_brings_nothing_back_and_is_logged(machine: Machine) -> None:
    machine.allow(60)
    assert machine.budgets(60) == 1
    machine.wall -= DAY_S / 2
    machine.start()
    assert machine.budgets(60) == 0
    assert len(machine.notes) == 1
    assert "clock is 12:00:00 behind the newest charge" in machine.notes[0]
    machine.passes(DAY_S * 3 / 2)
    assert machine.budgets(60) == 0, "no time passed until the clock had caught up"
    machine.passes(LATEST_BACK + 20 - DAY_S)
    assert machine.budgets(60) == 1
    assert machine.book.verify().sound


def test_of_two_programs_the_one_that_looked_first_gains_no_time(machine: Machine) -> None:
    machine.allow(20)
    machine.pay(10)
    machine.wall -= 40 * DAY_S
    first, second = machine.start(), machine.start()
    machine.book = first
    assert machine.budgets(20) == 0
    machine.passes(DAY_S / 2)
    machine.book = second
    machine.pay(10)
    machine.passes(DAY_S / 2 + GRID_S + SLACK_S)
    machine.book = first
    assert machine.budgets(10) == 0, "what the second one paid is 12 hours old"


def test_a_ledger_whose_time_runs_back_is_not_sound(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(1)
    events = list(machine.book.history())
    totals = Totals()
    for event in events:
        totals = totals.after(event)
    lease = events[-1]
    assert isinstance(lease, Leased)
    with pytest.raises(LedgerError, match="runs back"):
        totals.after(replace(lease, at=lease.at - 1))


class Model:
    """What was paid, by true time: from when until when it may have been used, and how much."""

    def __init__(self) -> None:
        self.paid = list[tuple[float, float, Fraction]]()

    def most_in_a_day(self) -> Fraction:
        """Return the most that may have been shown in any 24 hours; the worst begin where a lease ends."""
        return max(
            (
                sum((cost for first, last, cost in self.paid if first <= start + DAY_S and last >= start), Fraction(0))
                for _, start, _ in self.paid
            ),
            default=Fraction(0),
        )

    def counts(self, now: float) -> Fraction:
        """Return how much may still count, at most, if clocks are right."""
        return sum((cost for _, last, cost in self.paid if now < last + LATEST_BACK + SLACK_S), Fraction(0))


PAY = st.tuples(st.just("pay"), st.integers(0, 1), st.sampled_from([1, 10, 20, 20]), st.sampled_from([0, 310, 4000]))
STEP = st.one_of(
    PAY,
    PAY,
    st.tuples(st.just("wait"), st.sampled_from([1.5, 300, 5000, 43_200, 86_399, 90_000])),
    # shortly before or after an earlier charge, or the end of its lease, is 24 hours old
    st.tuples(st.just("until"), st.integers(1, 3), st.booleans(), st.sampled_from([-1, 10, 50, 100, 1000])),
    st.tuples(st.just("jump"), st.sampled_from([-3, 1, 2])),
    st.tuples(st.just("restart"), st.integers(0, 1), st.sampled_from([0, 30, -30])),
    st.tuples(st.just("set back"), st.sampled_from([4000, 200_000])),
)


@given(steps=st.lists(STEP, min_size=10, max_size=40))
@example([("pay", 0, 20, 0), ("jump", 2), ("pay", 0, 20, 0)])  # a jump
@example([("pay", 0, 20, 4000), ("until", 1, False, 1000), ("pay", 0, 20, 0)])  # the end of the lease counts
@example([("restart", 0, -30), ("pay", 0, 20, 0), ("until", 1, True, -1), ("pay", 1, 20, 0)])  # unequal clocks
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_24_hours_of_true_time_hold_more_than_the_budget(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[Any, ...]]
) -> None:
    """Two programs share a ledger. Their clocks agree to a minute when they begin, and are set back, but not forward,
    between all of them ending and beginning; while they run, clocks jump as they like."""
    path = tmp_path_factory.mktemp("rolling") / "ledger.sqlite"
    Ledger.open(path, create=True).close()
    true, back, jump, model = 0.0, 0.0, 0.0, Model()

    def begin(wrong: float) -> Ledger:
        wall, steady = lambda: NOON.timestamp() + true + wrong - back + jump, lambda: true
        return Ledger.open(path, clock=Clock(wall, steady), notice=lambda note: None)

    programs = [begin(0.0), begin(30.0)]
    programs[0].allow("gateway", day(20), person="anna")
    for what, *values in steps:
        if what == "wait":
            true += values[0]
        elif what == "until" and len(model.paid) >= values[0]:
            first, last, _ = model.paid[-values[0]]
            true = max(true, (last if values[1] else first) + DAY_S + values[2])
        elif what == "jump":
            jump = values[0] * DAY_S
        elif what == "restart":
            jump = 0.0
            programs[values[0]] = begin(values[1])
        elif what == "set back":
            back, jump = back + values[0], 0.0
            programs = [begin(0.0), begin(30.0)]
        elif what == "pay":
            book, cost, lasts = programs[values[0]], values[1], values[2]
            try:
                book.charge("gateway", day(cost), person="anna", lasts_s=lasts)
                model.paid.append((true, true + lasts, Fraction(cost)))
            except BudgetExceeded:
                assert back or model.counts(true) + cost > 20, "nothing is held back for longer than it must"
    assert model.most_in_a_day() <= 20
    assert programs[0].verify().sound


# What may be allowed


def test_allowing_the_same_again_writes_nothing_and_more_holds_at_once(machine: Machine) -> None:
    assert machine.allow(60).number == 1
    assert machine.allow(60).number == 1
    assert machine.allow(40).number == 1
    assert machine.allow(80).budget == day(80)
    assert machine.book.verify().sound


def test_a_larger_radius_counts_what_was_spent_in_its_terms_up_to_the_budget(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(25)
    machine.passes(3600)
    machine.pay(15)
    account = machine.allow(60, radius=120)
    assert account.spent == {"epsilon": Fraction(60)}  # 2 * 25 + 2 * 15, but never more than all
    machine.passes(LATEST_BACK - 3600 + 10)
    assert machine.spent == 30
    assert machine.book.verify().sound


def test_another_unit_waits_until_nothing_counts(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(1)
    assert machine.allow(60, 2, "deg").budget == day(60)
    machine.passes(LATEST_BACK + 10)
    assert machine.allow(60, 2, "deg").budget == day(60, 2, "deg")
    assert machine.book.verify().sound


def test_accounts_that_come_back_and_accounts_that_do_not_are_not_mixed_up(machine: Machine) -> None:
    machine.allow(60)
    with pytest.raises(LedgerError, match="comes back by itself"):
        machine.book.grant("gateway", day(60), person="anna")
    with pytest.raises(LedgerError, match="must say until when"):
        machine.book.charge("gateway", day(1), person="anna")
    machine.book.grant("study", PureDP(3))
    with pytest.raises(LedgerError, match="a lease needs an allowance"):
        machine.book.charge("study", PureDP(1), lasts_s=10)
    machine.book.grant("stays", day(3), person="anna")
    with pytest.raises(LedgerError, match="does not come back"):
        machine.book.allow("stays", day(3), person="anna")


def test_a_repeated_lease_costs_once_and_is_the_first_one(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(10, name="a")
    machine.passes(100)
    assert machine.pay(10, name="a").repeated
    assert machine.spent == 10
    with pytest.raises(LedgerError, match="used before for something else"):
        machine.pay(11, name="a")


def test_less_may_be_asked_for_than_is_allowed(machine: Machine) -> None:
    machine.allow(60)
    for _ in range(2):
        machine.book.charge("gateway", day(10), person="anna", lasts_s=10, within=Fraction(25))
    with pytest.raises(BudgetExceeded) as refused:
        machine.book.charge("gateway", day(10), person="anna", lasts_s=10, within=Fraction(25))
    assert refused.value.remaining == {"epsilon": "5"}


def test_what_an_account_keeps_to_is_its_budget_and_what_is_affordable_is_said(machine: Machine) -> None:
    machine.allow(60)
    account = machine.pay(50).account
    assert account.guarantee == day(60)
    assert account.affords(day(10))
    assert not account.affords(day(11))
    machine.book.record_unproven("gateway", Unproven("off"), person="anna")
    assert isinstance(machine.book.account("gateway", "anna").guarantee, Unproven)
    assert machine.book.verify().sound


def test_parts_smaller_than_a_billionth_are_rounded_up(machine: Machine) -> None:
    machine.allow(1)
    machine.pay("0.1")
    assert machine.spent == Fraction(1, 10)
    machine.book.charge("gateway", GazeStreamDP(Fraction(1, 3), DAY_S, 60), person="anna", lasts_s=1)
    assert Fraction(1, 10) + Fraction(1, 3) < machine.spent < Fraction(1, 10) + Fraction(1, 3) + Fraction(1, 10**9)


# What is written


def test_events_and_totals_are_read_as_they_were_written(machine: Machine) -> None:
    machine.allow(60)
    machine.pay(7)
    texts = [line.text for line in machine.book.lines()]
    assert [json.loads(text)["kind"] for text in texts] == ["allowance-set", "leased"]
    assert [to_text(from_text(text)) for text in texts] == texts
    totals = machine.book.account("gateway", "anna").totals
    assert Totals.from_text(totals.to_text()) == totals


def test_an_allowance_for_gaze_and_head_stays_one_when_it_is_limited_and_is_not_narrowed_while_charges_count() -> None:
    both, eyes = GazeStreamDP(9, 86400, 5, "deg", 10), GazeStreamDP(9, 86400, 5, "deg")
    totals = Totals(None).after_allowance(both, 0, {})
    assert totals.limited(Fraction(1)).budget == GazeStreamDP(1, 86400, 5, "deg", 10)
    spent = totals.after_lease(GazeStreamDP(1, 86400, 5, "deg", 10), 0, 100)
    assert spent.allowed(eyes) == both
    assert spent.allowed(GazeStreamDP(9, 86400, 5, "deg", 20)).head_radius == 20
    assert totals.allowed(eyes) == eyes
