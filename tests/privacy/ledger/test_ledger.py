# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What a ledger does, the same on SQLite and on PostgreSQL."""

from __future__ import annotations

import multiprocessing
import os
import threading
from fractions import Fraction

import pytest

from gazeveil.errors import BudgetExceeded, LedgerError, OptionError
from gazeveil.privacy.guarantee import ApproxDP, GazeStreamDP, PureDP, Unproven, ZeroConcentratedDP
from gazeveil.privacy.ledger import AccountClosed, BudgetGranted, Charged, Ledger, UnprovenRecorded
from gazeveil.privacy.ledger.events import GENESIS, digest_of, digest_of_text


def test_what_is_charged_is_spent_exactly(ledger: Ledger) -> None:
    ledger.grant("study", PureDP("0.3"))
    for _ in range(3):
        receipt = ledger.charge("study", PureDP("0.1"))
    assert receipt.account.spent == {"epsilon": Fraction(3, 10)}
    assert receipt.account.remaining == {"epsilon": 0}
    with pytest.raises(BudgetExceeded):
        ledger.charge("study", PureDP("1e-300"))


def test_a_refusal_says_requested_remaining_missing_and_what_next(ledger: Ledger) -> None:
    ledger.grant("study-7", PureDP(12))
    ledger.charge("study-7", PureDP(3))
    with pytest.raises(BudgetExceeded) as refused:
        ledger.charge("study-7", PureDP(30))
    error = refused.value
    assert (error.requested, error.remaining, error.difference) == (
        {"epsilon": "30"},
        {"epsilon": "9"},
        {"epsilon": "21"},
    )
    assert str(error).splitlines() == [
        'over budget for data set "study-7"',
        "  requested  ε=30",
        "  remaining  ε=9",
        "  missing    ε=21",
        "hint: ask for less, grant more, or see what was spent with `gazeveil ledger history study-7`",
    ]
    assert error.details()["difference"] == {"epsilon": "21"}


def test_a_refused_charge_leaves_no_trace(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(1))
    before = ledger.account("study")
    with pytest.raises(BudgetExceeded):
        ledger.charge("study", PureDP(2))
    assert ledger.account("study") == before
    assert ledger.verify().events == 1


@pytest.mark.parametrize(
    ("budget", "charge", "reason"),
    [
        (PureDP(9), Unproven("points pass as they are"), "points pass as they are"),
        (PureDP(9), ApproxDP(1, "1e-9"), "pure ε"),
        (PureDP(9), ZeroConcentratedDP("0.1"), "pure ε"),
        (PureDP(9), GazeStreamDP(1, 2, 60), "says nothing about"),
        (ZeroConcentratedDP(9), ApproxDP(1, "1e-9"), "budget of ρ"),
        (ApproxDP(9, 0), ZeroConcentratedDP("0.1"), "δ = 0"),
        (PureDP(9, neighbours="add-remove"), PureDP(1), "says nothing about"),
    ],
)
def test_what_has_no_finite_price_is_refused(ledger: Ledger, budget: PureDP, charge: PureDP, reason: str) -> None:
    ledger.grant("study", budget)
    with pytest.raises(BudgetExceeded, match=reason) as refused:
        ledger.charge("study", charge)
    assert refused.value.difference is None
    assert ledger.account("study").totals.charges == 0
    assert not ledger.account("study").affords(charge)


def test_accounts_are_per_data_set_and_per_person(ledger: Ledger) -> None:
    ledger.grant("live", GazeStreamDP(10, 2, 60), person="ann")
    ledger.grant("live", GazeStreamDP(1, 2, 60), person="bob")
    ledger.grant("live", PureDP(2))
    ledger.charge("live", GazeStreamDP(3, 2, 60), person="ann")
    with pytest.raises(BudgetExceeded, match='participant "bob" of data set "live"'):
        ledger.charge("live", GazeStreamDP(3, 2, 60), person="bob")
    with pytest.raises(LedgerError, match='participant "eve"'):
        ledger.charge("live", GazeStreamDP(3, 2, 60), person="eve")
    assert [(a.person, a.totals.charges) for a in ledger.accounts()] == [("", 0), ("ann", 1), ("bob", 0)]


def test_grants_add_up_and_keep_their_kind(ledger: Ledger) -> None:
    ledger.grant("study", ApproxDP(1, "1e-6"))
    assert ledger.grant("study", ApproxDP(2, "1e-7")).budget == ApproxDP(3, "1.1e-6")
    with pytest.raises(LedgerError, match="cannot be added"):
        ledger.grant("study", PureDP(1))
    with pytest.raises(LedgerError, match="has a budget already"):
        ledger.grant("study", ApproxDP(1, "1e-6"), first=True)
    with pytest.raises(LedgerError, match="proven guarantee"):
        ledger.grant("other", Unproven("why"))
    assert len(ledger.accounts()) == 1  # the refused grant opened nothing


def test_a_retry_with_the_same_id_is_paid_once(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(1))
    first = ledger.charge("study", PureDP("0.6"), recipe={"name": "map"}, charge_id="map-12")
    again = ledger.charge("study", PureDP("0.6"), recipe={"name": "map"}, charge_id="map-12")
    assert (first.repeated, again.repeated) == (False, True)
    assert (again.digest, again.time, again.charge_id) == (first.digest, first.time, "map-12")
    assert again.account.spent == {"epsilon": Fraction(6, 10)}
    for other in ({"guarantee": PureDP("0.5")}, {"recipe": {"name": "other"}}):
        asked = {"guarantee": PureDP("0.6"), "recipe": {"name": "map"}, **other}
        with pytest.raises(LedgerError, match="used before for something else"):
            ledger.charge("study", charge_id="map-12", **asked)  # type: ignore[arg-type]


def test_an_id_belongs_to_one_account(ledger: Ledger) -> None:
    ledger.grant("a", PureDP(1))
    ledger.grant("b", PureDP(1))
    ledger.charge("a", PureDP("0.1"), charge_id="x")
    with pytest.raises(LedgerError, match="used before"):
        ledger.charge("b", PureDP("0.1"), charge_id="x")
    assert ledger.account("b").totals.charges == 0


def test_an_unproven_release_is_recorded_only_on_request_and_voids_the_promise(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(3))
    ledger.charge("study", PureDP(1))
    assert ledger.account("study").guarantee == PureDP(1)
    account = ledger.record_unproven("study", Unproven("as published"), note="for the figure")
    assert account.guarantee == Unproven("as published")
    assert account.spent == {"epsilon": 1}
    assert ledger.charge("study", PureDP(2)).account.guarantee == Unproven("as published")
    with pytest.raises(OptionError):
        ledger.record_unproven("study", PureDP(1))  # type: ignore[arg-type]
    assert ledger.record_unproven("new", Unproven("no budget yet")).budget is None
    with pytest.raises(BudgetExceeded, match="no budget has been granted"):
        ledger.charge("new", PureDP(1))
    assert ledger.verify().sound


def test_a_closed_account_stays_closed(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(3), person="ann")
    ledger.close_account("study", person="ann", note="withdrew")
    with pytest.raises(LedgerError, match="closed"):
        ledger.charge("study", PureDP(1), person="ann")
    with pytest.raises(LedgerError, match="closed"):
        ledger.grant("study", PureDP(1), person="ann")
    assert not ledger.account("study", "ann").affords(PureDP(1))
    assert ledger.verify().sound


def test_history_holds_every_event_in_order_and_chained(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(3), note="approved by the board")
    ledger.charge("study", PureDP(1), recipe={"mechanism": "map", "cap": 3})
    ledger.record_unproven("study", Unproven("why"))
    ledger.close_account("study")
    events = list(ledger.history("study"))
    assert [type(event) for event in events] == [BudgetGranted, Charged, UnprovenRecorded, AccountClosed]
    assert events[0].note == "approved by the board"
    assert events[1].recipe == digest_of({"cap": 3, "mechanism": "map"})
    assert [event.number for event in events] == [1, 2, 3, 4]
    digests = [digest_of_text(line.text) for line in ledger.lines("study")]
    assert [event.previous for event in events] == [GENESIS, *digests[:-1]]
    assert ledger.account("study").head == digests[-1]
    assert list(ledger.history("study", "nobody")) == []


def test_what_was_charged_is_there_for_the_next_who_opens_it(address: str) -> None:
    with Ledger.open(address, create=True) as ledger:
        ledger.grant("study", ApproxDP(3, "1e-6"))
        ledger.charge("study", ZeroConcentratedDP("0.01"))
        left = ledger.account("study")
    with Ledger.open(address, create=True) as ledger:  # create never empties a ledger that is there
        assert ledger.account("study") == left
        assert ledger.charge("study", ZeroConcentratedDP("0.01")).account.totals.rho == Fraction(2, 100)
        assert ledger.verify().sound


def test_two_ledgers_on_one_place_see_each_others_charges(address: str) -> None:
    with Ledger.open(address, create=True) as one, Ledger.open(address) as two:
        one.grant("study", PureDP(10))
        for turn in range(8):
            (one, two)[turn % 2].charge("study", PureDP(1))
        for _ in range(2):
            one.charge("study", PureDP(1))
        with pytest.raises(BudgetExceeded):
            two.charge("study", PureDP(1))
        with pytest.raises(BudgetExceeded):
            one.charge("study", PureDP(1))
        two.grant("study", PureDP(1))
        one.charge("study", PureDP(1))  # although the last it saw was a refusal
        assert one.account("study").remaining == {"epsilon": 0}
        assert one.verify().sound


def test_threads_never_overspend(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(20))
    refused: list[BudgetExceeded] = []

    def spend() -> None:
        for _ in range(10):
            try:
                ledger.charge("study", PureDP(1))
            except BudgetExceeded as error:
                refused.append(error)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 20
    assert ledger.account("study").remaining == {"epsilon": 0}
    assert ledger.verify().sound


def _charge_in_a_child(ledger: Ledger, count: int) -> None:
    for _ in range(count):
        ledger.charge("study", PureDP(1))
    os._exit(0)


def test_a_ledger_may_be_carried_over_a_fork(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(100))
    ledger.charge("study", PureDP(1))
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=_charge_in_a_child, args=(ledger, 5)) for _ in range(3)]
    for child in children:
        child.start()
    ledger.charge("study", PureDP(1))
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    ledger.charge("study", PureDP(1))
    assert ledger.account("study").spent == {"epsilon": 18}
    assert ledger.verify().sound


def test_an_interruption_takes_everything_back(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.grant("study", PureDP(3))
    with monkeypatch.context() as patched:
        patched.setattr("gazeveil.privacy.ledger.ledger.to_text", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge("study", PureDP(1))
    assert ledger.charge("study", PureDP(3)).account.remaining == {"epsilon": 0}
    assert ledger.verify().sound


def _interrupted(*_: object) -> str:
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "a\nb", "x" * 201, "\ud800"])
def test_names_that_could_not_be_kept_are_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(OptionError, match="printable"):
        ledger.grant(name, PureDP(1))


def test_any_printable_name_and_any_note_is_kept(ledger: Ledger) -> None:
    ledger.grant("Étude n° 7; DROP TABLE events; --", PureDP(1), note="zwei\nZeilen \x00 \ud800 €")
    (event,) = ledger.history()
    assert event.note == "zwei\nZeilen \x00 \ud800 €"
    assert event.dataset == "Étude n° 7; DROP TABLE events; --"
    with pytest.raises(OptionError, match="note"):
        ledger.grant("study", PureDP(1), note="x" * 10_001)


def test_promises_that_are_none_are_refused(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(1))
    with pytest.raises(OptionError, match="guarantee is needed"):
        ledger.charge("study", 1.0)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="too long"):
        ledger.charge("study", PureDP(Fraction(1, 3**2000)))
    with pytest.raises(OptionError, match="JSON"):
        ledger.charge("study", PureDP(1), recipe={"mechanism": object()})
    assert ledger.account("study").totals.charges == 0


def test_endless_fractions_stay_bounded_and_err_against_the_spender(ledger: Ledger) -> None:
    ledger.grant("study", PureDP(100))
    exact = Fraction(0)
    for step in range(1, 25):
        part = Fraction(1, 2**127 - 2 * step * step - 1)
        exact += part
        spent = ledger.charge("study", PureDP(part)).account.spent["epsilon"]
        assert exact <= spent <= exact + Fraction(step, 2**1024)
        assert spent.denominator.bit_length() <= 2048
    assert exact.denominator.bit_length() > 2048
    assert ledger.verify().sound


def test_an_unknown_place_is_refused() -> None:
    with pytest.raises(LedgerError, match="mysql://"):
        Ledger.open("mysql://user:secret@host/db")
