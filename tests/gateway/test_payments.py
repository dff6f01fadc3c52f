# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""No sample waits for the ledger: leases are paid ahead, many at once, by a process of its own that may die."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Iterator
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path

import pytest

from gazeveil.errors import BudgetExceeded, GazeveilError, LedgerBusy, LedgerError, LedgerRolledBack
from gazeveil.gateway.hub.budget import DATASET, LeaseCharge
from gazeveil.gateway.hub.payments import LedgerLocation, PaymentProcess, PaymentQueue
from gazeveil.gateway.sample import RawSample
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger, Receipt
from tests.gateway.hub_bench import Bench, app, budget, policy, tracker

STREAM = GazeStreamDP("1.5", "1.5", 60)
APPS, RATE_HZ = 100, 10.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    Ledger.open(tmp_path / "ledger.sqlite", create=True).close()
    return tmp_path / "ledger.sqlite"


# A hundred apps and a slow ledger, on a clock that only the test moves


class SlowLedger:
    """Pays one batch after the other, and every batch takes its time."""

    def __init__(self, bench: Bench, ledger: Ledger, seconds: Iterator[float]) -> None:
        self._bench, self._ledger, self._seconds = bench, ledger, seconds
        self._queue = PaymentQueue()
        self._paying: list[LeaseCharge] = []
        self._begun = self._ends = 0.0
        self.is_held = False

    def tick(self) -> None:
        bench = self._bench
        self._queue.add(bench.hub.charges())
        if self._paying and bench.now >= self._ends:
            self._queue.took(bench.now - self._begun)
            with self._ledger.transaction():
                outcomes = [self._outcome(charge) for charge in self._paying]
            for charge, outcome in zip(self._paying, outcomes, strict=True):
                bench.hub.settled(charge, outcome, bench.now)
            self._paying = []
        if not self._paying and (together := self._queue.next()):
            self._paying, self._begun = together, bench.now
            self._ends = bench.now + next(self._seconds)

    def _outcome(self, charge: LeaseCharge) -> Receipt | GazeveilError:
        return LedgerBusy("others hold it") if self.is_held else charge.pay(self._ledger)


class Crowd:
    """A tracker, a participant and an app for each of a hundred streams."""

    def __init__(self, ledger: Ledger, seconds: Iterator[float]) -> None:
        names = [f"t{index}" for index in range(APPS)]
        self.bench = Bench(
            policy(
                *(tracker(name, participant=f"p{name}") for name in names),
                *(app(name, "lphu", on=name) for name in names),
                budget(1_000_000, participant="*", radius=90),
            )
        )
        self.ledger = SlowLedger(self.bench, ledger, seconds)

    def lost(self, seconds: float) -> int:
        """Let everybody look for a while, and return how many samples no app was shown."""
        before = sum(len(seen.shown) for seen in self.bench.seen.values())
        steps = round(seconds * RATE_HZ)
        for _ in range(steps):
            self.bench.now += 1 / RATE_HZ
            self.bench.device += 1 / RATE_HZ
            for name in self.bench.seen:
                self.bench.hub.push(name, [RawSample(self.bench.device, 300.0, 500.0)], self.bench.now)
            self.bench.hub.tick(self.bench.now)
            self.ledger.tick()
        return steps * APPS - (sum(len(seen.shown) for seen in self.bench.seen.values()) - before)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(lambda: repeat(0.2), id="0.2 s each"),
        pytest.param(lambda: repeat(2.0), id="2 s each"),
        pytest.param(lambda: chain(repeat(0.01, 30), [6.0], repeat(0.01)), id="6 s once"),
    ],
)
def test_no_sample_waits_for_a_slow_ledger(path: Path, seconds: Callable[[], Iterator[float]]) -> None:
    with Ledger.open(path) as ledger:
        crowd = Crowd(ledger, seconds())
        assert crowd.lost(8) > 0  # every stream begins with a quiet time and its first payment
        assert crowd.lost(25) == 0
        assert ledger.verify().sound


def test_no_sample_waits_for_a_ledger_that_others_hold_for_some_seconds(path: Path) -> None:
    with Ledger.open(path) as ledger:
        crowd = Crowd(ledger, repeat(0.05))
        crowd.lost(8)
        crowd.ledger.is_held = True
        assert crowd.lost(6) == 0
        crowd.ledger.is_held = False
        assert crowd.lost(15) == 0


def test_a_ledger_that_stays_away_means_silence_and_nothing_unpaid_leaves(path: Path) -> None:
    with Ledger.open(path) as ledger:
        crowd = Crowd(ledger, repeat(0.05))
        crowd.lost(8)
        crowd.ledger.is_held = True
        crowd.lost(25)
        assert crowd.lost(2) == round(2 * RATE_HZ) * APPS
        paid = sum(account.totals.charges for account in ledger.accounts())
        shown = max(len(seen.shown) for seen in crowd.bench.seen.values())
        assert paid <= 3 * APPS
        assert shown <= 10 * RATE_HZ * paid / APPS


# The process that pays


def charge(name: str, participant: str = "anna", epsilon: float = 100) -> LeaseCharge:
    return LeaseCharge(
        name,
        "desk/1",
        participant,
        time.monotonic(),
        STREAM,
        6,
        Fraction(9),
        budget(epsilon, participant),
        {"mechanism": "x"},
    )


def paying(path: Path, does: Callable[[PaymentProcess], Awaitable[None]], *, create: bool = False) -> list[str]:
    notes: list[str] = []

    async def run() -> None:
        payer = PaymentProcess(LedgerLocation(str(path), create), notes.append)
        try:
            async with asyncio.timeout(120):
                await does(payer)
        finally:
            await payer.close()

    asyncio.run(run())
    return notes


def pid_of(payer: PaymentProcess) -> int:
    assert payer._process is not None
    return payer._process.pid


def spent(path: Path, participant: str = "anna") -> Fraction:
    with Ledger.open(path) as ledger:
        return ledger.account(DATASET, participant).spent["epsilon"]


def test_charges_are_paid_together_and_each_has_its_own_outcome(path: Path) -> None:
    async def does(payer: PaymentProcess) -> None:
        outcomes = await payer.pay([charge("one"), charge("two", "bo", epsilon=5), charge("three"), charge("one")])
        assert [type(outcome) for outcome in outcomes] == [Receipt, BudgetExceeded, Receipt, Receipt]
        assert [outcome.repeated for outcome in outcomes if isinstance(outcome, Receipt)] == [False, False, True]

    paying(path, does)
    assert [spent(path), spent(path, "bo")] == [18, 0]
    with Ledger.open(path) as ledger:
        assert ledger.verify().sound


def test_opening_makes_a_new_ledger_at_once_and_tells_if_there_is_none(tmp_path: Path) -> None:
    async def finds_none(payer: PaymentProcess) -> None:
        with pytest.raises(LedgerError, match="there is no ledger"):
            await payer.open()
        (outcome,) = await payer.pay([charge("one")])
        assert isinstance(outcome, LedgerError)

    async def makes(payer: PaymentProcess) -> None:
        await payer.open()

    paying(tmp_path / "new.sqlite", finds_none)
    paying(tmp_path / "new.sqlite", makes, create=True)
    assert (tmp_path / "new.sqlite").exists()


def test_a_process_that_died_is_replaced_and_nothing_is_paid_twice(path: Path) -> None:
    async def does(payer: PaymentProcess) -> None:
        assert isinstance((await payer.pay([charge("one")]))[0], Receipt)
        os.kill(pid_of(payer), signal.SIGKILL)
        (lost,) = await payer.pay([charge("two")])
        assert type(lost) is LedgerError
        assert "has ended" in lost.message
        assert all(isinstance(one, Receipt) for one in await payer.pay([charge("two"), charge("one")]))

    paying(path, does)
    assert spent(path) == 18


def test_a_process_that_was_replaced_knows_which_ledger_it_paid_from(path: Path) -> None:
    async def does(payer: PaymentProcess) -> None:
        await payer.pay([charge("one")])
        await payer.pay([charge("two")])
        os.kill(pid_of(payer), signal.SIGKILL)
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        with Ledger.open(path, create=True) as other:
            other.grant("something else", GazeStreamDP(1, 86400, 60))
        await payer.pay([charge("three")])
        (outcome,) = await payer.pay([charge("three")])
        assert isinstance(outcome, LedgerRolledBack)

    paying(path, does)


def test_signals_are_for_the_gateway_and_the_process_ends_with_it(path: Path) -> None:
    async def does(payer: PaymentProcess) -> None:
        await payer.open()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(pid_of(payer), number)
        assert isinstance((await payer.pay([charge("one")]))[0], Receipt)
        process = payer._process
        await payer.close()
        assert process is not None
        assert process.returncode == 0

    paying(path, does)
    assert spent(path) == 9
