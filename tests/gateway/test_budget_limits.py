# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whole lives of a gateway: what is shown in any 24 hours never costs more than the budget."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gazeveil.errors import GazeveilError, LedgerError
from gazeveil.gateway.hub.budget import LeaseCharge
from gazeveil.gateway.policy.settings import Policy
from gazeveil.privacy.guarantee import GazeStreamDP
from gazeveil.privacy.ledger import Ledger, Receipt
from tests.gateway.hub_bench import Bench, app, budget, clock_of, policy, tracker, windows_needed

Shown = dict[tuple[int, str, GazeStreamDP], list[float]]
"""When something was shown: in which stretch without a turn or a crash, to whom, under which guarantee."""


def assert_within_limits(book: Ledger, shown: Shown, rules: Policy) -> None:
    """What left within any 24 hours, covered by as few windows as possible, costs no more than the budget."""
    limit = rules.budgets[0]
    starts = sorted({round(t, 0) for times in shown.values() for t in times})
    for start in starts[:: max(1, len(starts) // 40)]:
        cost = Fraction(0)
        for (_, _, guarantee), times in shown.items():
            inside = [t for t in times if start <= t <= start + 86_400]
            steps = -(-limit.radius // guarantee.radius)
            cost += windows_needed(inside, float(guarantee.window)) * guarantee.epsilon * steps
        assert cost <= limit.epsilon_per_day
    assert book.verify().sound


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=7, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_24_hours_are_overspent_through_crashes_restarts_clocks_and_faults(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = tmp_path / f"{seed}.sqlite"
    Ledger.open(path, create=True).close()
    rules = policy(
        tracker(), tracker("lab"), app("a", levels=("lphu", "hplu")), app("c", on="lab"),
        app("b", {"preset": "hplu", "radius": 60}),
        budget(rng.choice([20, 60, 200]), radius=100), lease_s=rng.choice([1.0, 4.0, 10.0]),
    )  # fmt: skip
    shown: Shown = defaultdict(list)
    stretches = itertools.count()
    now, start, device = 0.0, datetime(2026, 3, 1, 23, 59, 30, tzinfo=UTC), 0.0

    def note(bench: Bench, names: Iterable[str]) -> None:
        """Write down what was shown since the last time, as a stretch of its own."""
        for name in names:
            guarantee, stretch = bench.hub._group(name).guarantee, next(stretches)
            assert isinstance(guarantee, GazeStreamDP)
            shown[stretch, name, guarantee].extend(bench.seen[name].when)
            bench.seen[name].when.clear()

    back = 0.0
    for _ in range(4):
        back += rng.choice([0.0, 0.0, 50_000.0, 1e6])  # how far the clock was set back before the program begins
        wrong = rng.choice([0.0, 30.0, -30.0]) - back
        benches: list[Bench] = []
        clock = clock_of(benches, now, start.timestamp() + now + wrong)
        book = Ledger.open(path, clock=clock, notice=lambda note: None)
        bench = Bench(rules, book, now=now, start=datetime.fromtimestamp(start.timestamp() + now + wrong, UTC))
        benches.append(bench)
        bench.device = device
        pays = bench.outcome

        def faulty(due: LeaseCharge, pays=pays) -> Receipt | GazeveilError:
            what = rng.random()
            if what < 0.1:
                return LedgerError("locked")
            outcome = pays(due)
            return LedgerError("the connection broke") if what < 0.25 else outcome

        bench.outcome = faulty  # type: ignore[assignment, method-assign]
        for _ in range(10):
            what = rng.random()
            if what < 0.6:
                bench.gaze(rng.choice([0.5, 2.0, 6.0]), on=rng.choice(["desk", "desk", "lab"]), rate=10)
            elif what < 0.65:
                bench.wait(rng.choice([0.2, 1.0, 5.0]))
            elif what < 0.72:
                bench.now += rng.choice([200.0, 20_000.0, 85_000.0, 86_400.0, 88_000.0])
            elif what < 0.8:
                bench.device += rng.choice([-100.0, 50.0, 3600.0])  # the device's clock jumps
            elif what < 0.85:
                bench.hub.tracker_lost("desk", "unplugged", bench.now)
            elif what < 0.9:
                bench._start += timedelta(days=rng.choice([-2, 1, 2]))  # the machine's clock jumps
            elif what < 0.97:
                knob = {"lphu": 3, "hplu": Fraction(1, 2), "policy": Fraction(3, 2)}
                preset = rng.choice(list(knob))
                if bench.hub._group("a").guarantee.numbers()["epsilon"] != knob[preset]:
                    note(bench, "a")
                bench.hub.set_level("a", now=bench.now, preset=preset)
            else:
                bench.hub.reload(rules, bench.now)
        note(bench, "abc")
        book.close()  # kill -9: the hub is simply gone, and so is what was left of its leases
        now, device = bench.now + rng.choice([0.0, 0.1, 5.0, 80_000.0]), bench.device
    assert_within_limits(Ledger.open(path), shown, rules)
