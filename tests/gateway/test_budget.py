# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""A budget of 24 hours is paid ahead and never overspent, through crashes, midnights, clocks and ledgers that fail."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from gazeveil.errors import BudgetExceeded, GazeveilError, InternalError, LedgerBusy, LedgerError
from gazeveil.gateway.hub.budget import DATASET, FIRST_PAUSE_S, SPENT, WAIT_S, GroupLeases, LeaseCharge
from gazeveil.gateway.policy.settings import BudgetSetting
from gazeveil.gateway.veiling import mechanism_of
from gazeveil.privacy.guarantee import GazeStreamDP, Guarantee, Unproven
from gazeveil.privacy.ledger import Account, Clock, Ledger, Receipt
from gazeveil.privacy.ledger.spending import GRID_S, SLACK_S
from gazeveil.samples.space import Screen
from tests.gateway.hub_bench import Bench, app, budget, clock_of, policy, tracker, windows_needed

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STREAM = GazeStreamDP("1.5", "1.5", 60)
RECIPE = mechanism_of({"preset": "mpmu"}, Screen(1280, 720)).to_dict()


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.open(tmp_path / "ledger.sqlite", create=True)


def charge(
    guarantee: Guarantee = STREAM, windows: int = 6, day: BudgetSetting | None = None, name: str = "one"
) -> LeaseCharge:
    window = guarantee.window if isinstance(guarantee, GazeStreamDP) else Fraction(1)
    return LeaseCharge(name, "desk/1", "anna", 0.0, guarantee, windows, windows * window, day or budget(100), RECIPE)


def account(ledger: Ledger | None, person: str = "anna") -> Account:
    assert ledger is not None
    return ledger.account(DATASET, person)


class Hours:
    """A machine's clocks, which only the test moves, and the ledger beside them."""

    def __init__(self, path: Path, start: datetime = NOON) -> None:
        self.path, self.steady, self.wall = path, 0.0, start.timestamp()
        Ledger.open(path, create=True).close()

    def start(self) -> Ledger:
        """Start a program: a ledger with a clock of its own."""
        return Ledger.open(self.path, clock=Clock(lambda: self.wall, lambda: self.steady))

    def live(self, *parts: Any, **values: Any) -> Bench:
        """Start a gateway whose time is the machine's."""
        benches: list[Bench] = []
        book = Ledger.open(self.path, clock=clock_of(benches, 1000.0, self.wall))
        benches.append(Bench(policy(*parts), book, **values))
        return benches[0]


# What a lease costs


@pytest.mark.parametrize(
    ("guarantee", "windows", "radius", "cost"),
    [
        (GazeStreamDP("1.5", "1.5", 60), 6, 60, 9),
        (GazeStreamDP("1.5", "1.5", 90), 6, 60, 9),  # hiding more is not cheaper than one step
        (GazeStreamDP("1.5", "1.5", 60), 6, 61, 18),  # two steps of 60 reach 61
        (GazeStreamDP("1.5", "1.5", 60), 6, 300, 45),
        (GazeStreamDP(3, "0.5", 60), 1, 60, 3),
        (GazeStreamDP("0.1", "0.3", 60), 7, 60, "0.7"),
    ],
)
def test_a_lease_costs_its_windows_times_epsilon_times_the_steps_of_the_radius(
    ledger: Ledger, guarantee: GazeStreamDP, windows: int, radius: int, cost: float | str
) -> None:
    receipt = charge(guarantee, windows, budget(100, radius=radius)).pay(ledger)
    assert receipt.guarantee == GazeStreamDP(cost, 86400, radius)
    assert account(ledger).spent == {"epsilon": Fraction(cost)}
    assert account(ledger).remaining == {"epsilon": 100 - Fraction(cost)}


def test_a_day_is_opened_once_and_the_same_charge_costs_once(ledger: Ledger) -> None:
    first, again = charge().pay(ledger), charge().pay(ledger)
    assert (first.repeated, again.repeated) == (False, True)
    other = charge(name="two").pay(ledger)
    assert other.account.spent == {"epsilon": Fraction(18)}
    assert account(ledger).budget == GazeStreamDP(100, 86400, 60)
    assert ledger.verify().sound


def test_gateways_that_pay_at_once_open_one_account_and_never_pass_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    Ledger.open(path, create=True).close()

    def gateway(number: int) -> int:
        paid = 0
        with Ledger.open(path) as own:
            for index in range(5):
                try:
                    charge(name=f"{number}-{index}").pay(own)
                    paid += 1
                except BudgetExceeded:
                    pass
        return paid

    with ThreadPoolExecutor(4) as pool:
        paid = sum(pool.map(gateway, range(4)))
    book = Ledger.open(path)
    assert paid == 11  # of 9 each, from 100
    assert account(book).spent == {"epsilon": Fraction(99)}
    assert [event.kind for event in book.history()].count("allowance-set") == 1


def test_a_charge_that_does_not_fit_spends_nothing(ledger: Ledger) -> None:
    charge(windows=66).pay(ledger)
    with pytest.raises(BudgetExceeded):
        charge(name="two").pay(ledger)
    assert account(ledger).spent == {"epsilon": Fraction(99)}


def test_a_stricter_policy_counts_at_once_and_so_does_a_looser_one(ledger: Ledger) -> None:
    charge(day=budget(100)).pay(ledger)
    charge(day=budget(20), name="two").pay(ledger)
    with pytest.raises(BudgetExceeded) as refused:
        charge(day=budget(20), name="three").pay(ledger)
    assert refused.value.remaining == {"epsilon": "2"}
    assert account(ledger).budget == GazeStreamDP(100, 86400, 60)
    charge(windows=60, day=budget(1000), name="four").pay(ledger)
    assert account(ledger).budget == GazeStreamDP(1000, 86400, 60)
    assert account(ledger).spent == {"epsilon": Fraction(9 + 9 + 90)}
    assert ledger.verify().sound


def test_a_smaller_radius_in_the_policy_is_priced_in_the_larger_one_while_that_counts(tmp_path: Path) -> None:
    hours = Hours(tmp_path / "l")
    book = hours.start()
    charge(day=budget(100, radius=120)).pay(book)
    assert charge(day=budget(100, radius=60), name="two").pay(book).guarantee == GazeStreamDP(18, 86400, 120)
    hours.steady += 90_000
    assert charge(day=budget(100, radius=60), name="three").pay(book).guarantee == GazeStreamDP(9, 86400, 60)


def test_a_larger_radius_in_the_policy_counts_at_once_also_for_what_was_spent(ledger: Ledger) -> None:
    charge(day=budget(100, radius=60)).pay(ledger)
    receipt = charge(day=budget(100, radius=120), name="two").pay(ledger)
    assert receipt.guarantee == GazeStreamDP(18, 86400, 120)
    assert receipt.account.spent == {"epsilon": Fraction(18 + 18)}
    assert ledger.verify().sound


def test_what_is_in_another_unit_has_no_price(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded, match="says nothing about"):
        charge(GazeStreamDP(1, 1, 2, "deg")).pay(ledger)


def test_a_closed_account_pays_nothing(ledger: Ledger) -> None:
    charge().pay(ledger)
    ledger.close_account(DATASET, person="anna")
    with pytest.raises(BudgetExceeded, match="closed"):
        charge(name="two").pay(ledger)


def test_an_account_of_another_kind_is_a_fault_of_the_ledger(ledger: Ledger) -> None:
    from gazeveil.privacy.guarantee import PureDP

    ledger.grant(DATASET, PureDP(5), person="anna")
    with pytest.raises(LedgerError, match="does not come back"):
        charge().pay(ledger)


def test_an_unproven_veil_is_recorded_once_and_voids_the_accounts_promise(ledger: Ledger) -> None:
    guarantee = Unproven("the veil is off")
    for name in ("one", "two"):
        charge(guarantee, day=budget(100, unproven=True), name=name).pay(ledger)
    assert account(ledger).totals.unproven == ("the veil is off",)
    assert account(ledger).number == 2
    assert isinstance(account(ledger).guarantee, Unproven)


# Leases


class Hand:
    """Leases, and a clock that the test moves."""

    def __init__(self, day: BudgetSetting | None, *, start: datetime = NOON, lease_s: float = 10.0) -> None:
        self.start, self.now = start, 0.0
        self.leases = GroupLeases("desk/1", "anna", STREAM, RECIPE, budget=day, lease_s=lease_s, wall=self.wall)

    def wall(self) -> datetime:
        return datetime.fromtimestamp(self.start.timestamp() + self.now, UTC)

    def pay(self, ledger: Ledger) -> LeaseCharge | None:
        due = self.leases.charge(self.now)
        if due is not None:
            self.leases.settled(due, due.pay(ledger), self.now)
        return due


def test_without_a_budget_nothing_is_charged_and_everything_flows() -> None:
    hand = Hand(None)
    assert hand.leases.charge(0.0) is None
    assert hand.leases.begin(0.0, 0.0) == (float("inf"), float("inf"))


def test_a_lease_is_whole_windows_and_the_next_is_asked_for_when_it_begins(ledger: Ledger) -> None:
    hand = Hand(budget(100))
    assert hand.leases.begin(5.0, 0.0) is None
    due = hand.pay(ledger)
    assert due is not None
    assert (due.windows, due.seconds) == (6, Fraction(9))
    assert hand.leases.charge(0.0) is None  # one in reserve is enough
    assert hand.leases.begin(5.0, 0.0) == (14.0, 9.0)
    reserve = hand.leases.charge(0.1)
    assert reserve is not None
    assert hand.leases.charge(0.1) is None  # one at a time
    hand.leases.settled(reserve, reserve.pay(ledger), 8.9)  # as long as the first lasts
    assert hand.leases.begin(14.0, 9.0) == (23.0, 18.0)


def test_what_is_paid_ahead_and_never_used_is_charged_all_the_same(ledger: Ledger) -> None:
    hand = Hand(budget(100))
    hand.pay(ledger)
    hand.leases.begin(0.0, 0.0)
    hand.pay(ledger)
    assert account(ledger).spent == {"epsilon": Fraction(18)}


def test_a_lease_that_waited_too_long_for_gaze_is_lost(ledger: Ledger) -> None:
    """The ledger knows until when a lease may be used; later than that it must not be."""
    hand = Hand(budget(100))
    due = hand.pay(ledger)
    assert due is not None
    assert (due.waits_s, due.lasts_s) == (WAIT_S + 9, WAIT_S + 18)
    assert hand.leases.charge(WAIT_S + 9) is None
    hand.now = WAIT_S + 9.1
    assert hand.leases.begin(0.0, hand.now) is None
    assert hand.pay(ledger) is not None
    assert hand.leases.begin(0.0, hand.now) == (9.0, hand.now + 9.0)


def test_a_charge_whose_outcome_is_unknown_for_too_long_is_given_up(ledger: Ledger) -> None:
    hand = Hand(budget(100))
    first = hand.leases.charge(0.0)
    assert first is not None
    hand.leases.settled(first, LedgerError("the connection broke"), 0.0)
    again = hand.leases.charge(WAIT_S + 10)
    assert again is not None
    assert again.id != first.id


def test_the_last_of_a_budget_is_used_up_in_shorter_leases_and_what_comes_back_is_used(tmp_path: Path) -> None:
    hours = Hours(tmp_path / "l")
    ledger = hours.start()
    hand = Hand(budget(20))  # thirteen windows of 1.5
    paid = []
    for _ in range(20):
        due = hand.leases.charge(hand.now)
        if due is None:
            break
        try:
            outcome: Receipt | GazeveilError = due.pay(ledger)
            paid.append(due.windows)
        except BudgetExceeded as error:
            outcome = error
        if hand.leases.settled(due, outcome, hand.now):
            hand.now += 9
            hand.leases.begin(hand.now, hand.now)
            hand.now += 9
    assert paid == [6, 6, 1]
    assert hand.leases.spent == SPENT
    assert "over budget" in hand.leases.trouble
    assert hand.leases.remaining == Fraction(1, 2)
    hand.now += 61
    due = hand.leases.charge(hand.now)
    assert due is not None  # something may have come back
    assert due.windows == 1
    hours.steady += 86_400 + WAIT_S + GRID_S + SLACK_S + 20
    assert hand.leases.settled(due, due.pay(ledger), hand.now)
    assert hand.leases.remaining == Fraction("18.5")
    hand.leases.begin(0.0, hand.now)
    hand.now += 1.0
    due = hand.leases.charge(hand.now)
    assert due is not None
    assert due.windows == 2  # longer and longer again


def test_a_ledger_that_fails_is_asked_again_later_and_later_with_the_same_charge(ledger: Ledger) -> None:
    hand = Hand(budget(100))
    first = hand.leases.charge(0.0)
    assert first is not None
    asked = []
    due: LeaseCharge | None = first
    while hand.now < 20:
        if due is not None:
            asked.append(hand.now)
            assert due is first
            hand.leases.settled(due, LedgerError("the disk is full"), hand.now)
        hand.now += 0.125
        due = hand.leases.charge(hand.now)
    pauses = [after - before for before, after in itertools.pairwise(asked)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.25, 4.0)
    assert hand.leases.trouble == "the disk is full"


def test_a_ledger_that_others_hold_is_asked_again_soon() -> None:
    hand = Hand(budget(100))
    first = hand.leases.charge(0.0)
    for _ in range(10):
        assert hand.leases.charge(hand.now) is None
        assert first is not None
        hand.leases.settled(first, LedgerBusy("held by others"), hand.now)
        hand.now += FIRST_PAUSE_S
        assert hand.leases.charge(hand.now) is first


def test_a_payment_that_nobody_asked_for_is_our_fault() -> None:
    with pytest.raises(InternalError):
        Hand(budget(1)).leases.settled(charge(), LedgerError("x"), 0.0)


# Through the hub


def test_gaze_flows_while_it_is_paid_for_and_ends_with_the_reason(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(20)), ledger)
    bench.gaze(40)
    seen = bench.seen["game"]
    paid = [outcome for outcome in bench.outcomes if isinstance(outcome, Receipt)]
    assert len(paid) >= 3
    assert seen.ended == [SPENT]
    assert bench.state("game") == "ended"
    assert 13 * 1.5 - 1 <= seen.shown[-1].t - seen.shown[0].t <= 13 * 1.5 + 0.5
    assert account(ledger).spent["epsilon"] == Fraction("19.5")
    status = bench.hub.status().budgets[0]
    assert (status.participant, status.remaining) == ("anna", 0.5)
    assert status.spent


def test_a_spent_budget_flows_again_after_24_hours_and_the_status_says_when(tmp_path: Path) -> None:
    bench = Hours(tmp_path / "l").live(app(), budget(9))
    bench.gaze(19)
    assert bench.state("game") == "ended"
    back = bench.hub.status().budgets[0].back
    assert back == "ε=9 at 2026-03-02 12:15 UTC"  # paid at noon, used at 12:00:10, and back with the quarter of an hour
    bench.now += 86_400
    bench.gaze(3)
    assert bench.state("game") == "ended"
    bench.now += 1_000
    bench.gaze(3)
    assert bench.state("game") == "flowing"
    assert 0 < account(bench.ledger).spent["epsilon"] <= 9


def paid_by(bench: Bench) -> Fraction:
    receipts = [one for one in bench.outcomes if isinstance(one, Receipt)]
    return sum((one.guarantee.numbers()["epsilon"] for one in receipts), Fraction(0))


def test_twenty_minutes_around_midnight_spend_one_budget_at_most(tmp_path: Path) -> None:
    """S4: calendar days gave 1,200 where every receipt said 600 in any 86,400 seconds."""
    before = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
    bench = Hours(tmp_path / "l", before).live(app(), budget(600), start=before)
    bench.gaze(20 * 60, rate=4)
    assert paid_by(bench) == 600
    shown = bench.seen["game"].when
    assert windows_needed(shown, 1.5) * Fraction("1.5") <= 600
    assert shown[-1] - shown[0] <= 600
    assert bench.state("game") == "ended"


def test_a_clock_that_jumps_days_ahead_and_back_earns_nothing(tmp_path: Path) -> None:
    """G6: +1 day, +2 days and back gave three budgets in a minute."""
    bench = Hours(tmp_path / "l").live(app(), budget(60))
    start = bench._start
    for days in (0, 1, 2, 0):
        bench._start = start + timedelta(days=days)
        bench.gaze(75)
    assert paid_by(bench) == 60


def test_two_groups_and_two_trackers_of_one_person_are_charged_each(ledger: Ledger) -> None:
    rules = policy(
        tracker(), tracker("lab"), app("a"), app("same"), app("b", "hplu"), app("c", on="lab"), budget(5000)
    )  # fmt: skip
    bench = Bench(rules, ledger)
    bench.gaze(1)
    bench.gaze(1, on="lab")
    # mpmu: 6 windows of 1.5; hplu: 5 windows of 0.5; and mpmu again on the other tracker
    assert account(ledger).spent["epsilon"] == 9 + Fraction("2.5") + 9


def test_without_a_ledger_nothing_leaves_and_it_recovers_by_itself(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(1000)), ledger)
    fine, bench.outcome = bench.outcome, lambda charge: LedgerError("the ledger is locked")  # type: ignore[method-assign]
    bench.gaze(10)
    assert not bench.seen["game"].shown
    assert bench.seen["game"].told[-1] == "waiting for the ledger"
    bench.outcome = fine  # type: ignore[method-assign]
    bench.gaze(5)
    assert bench.state("game") == "flowing"


def test_what_is_paid_for_lasts_while_the_ledger_is_gone_and_no_longer(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(1000)), ledger)
    bench.gaze(2)
    assert bench.state("game") == "flowing"
    bench.outcome = lambda charge: LedgerError("gone")  # type: ignore[method-assign]
    bench.gaze(20)
    seen = bench.seen["game"]
    assert bench.state("game") == "silent"
    assert 9.0 < seen.shown[-1].t - seen.shown[0].t < 18.1  # the one in use, and the one in reserve


def test_what_nobody_watches_is_not_paid_for(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(1000)), ledger)
    bench.hub.set_watched("game", False)
    bench.gaze(5)
    assert bench.outcomes == []
    bench.hub.set_watched("game", True)
    bench.gaze(3)
    assert bench.outcomes


def test_a_turned_knob_is_paid_for_before_anything_leaves(ledger: Ledger) -> None:
    bench = Bench(policy(app(levels=("lphu",)), budget(1000)), ledger)
    bench.gaze(3)
    bench.hub.set_level("game", now=bench.now, preset="lphu")
    shown = len(bench.seen["game"].shown)
    bench.outcome = lambda charge: LedgerError("gone")  # type: ignore[method-assign]
    bench.gaze(2)
    assert len(bench.seen["game"].shown) == shown


def test_each_person_pays_for_themselves(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(1000, participant="*")), ledger)
    bench.gaze(3)
    bench.hub.set_participant("desk", "bob", bench.now)
    bench.gaze(3)
    assert account(ledger, person="anna").spent == account(ledger, person="bob").spent == {"epsilon": Fraction(18)}


def test_a_new_budget_in_the_policy_is_asked_at_once(ledger: Ledger) -> None:
    bench = Bench(policy(app(), budget(9)), ledger)
    bench.gaze(15)
    assert bench.state("game") == "ended"
    bench.hub.reload(policy(app(), budget(109)), bench.now)
    bench.gaze(2)
    assert bench.state("game") == "flowing"


def test_an_unproven_veil_under_a_budget_that_allows_it_is_written_down(ledger: Ledger) -> None:
    bench = Bench(policy(app(veil="spatial-low", unproven=True), budget(100, unproven=True)), ledger)
    bench.gaze(30)
    assert bench.state("game") == "flowing"
    assert isinstance(account(ledger).guarantee, Unproven)
    assert account(ledger).spent["epsilon"] == 0
