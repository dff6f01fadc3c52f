# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The window ledger, and every private stream's spending, against plain sums over every closed window."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.noise import NoiseSource
from gazeveil.samples import MECHANISMS, Screen
from gazeveil.samples import stream_kernels as kernels
from gazeveil.samples import stream_kernels as places
from gazeveil.samples.window_budget import Rule, budget_for, is_budget, spends, with_rule

SCREEN = Screen(1280, 720)
SOUND = ["clock", "kaleido", "sparse-vector", "distribution", "absorption"]


@dataclass
class History:
    """Every spend there ever was, and every rule with the time from which it holds."""

    rules: list[tuple[int, Rule]]
    spent: list[tuple[int, int]] = field(default_factory=list)

    def check_latest(self, t: int, more: int = 0) -> None:
        """Check all windows that end with a spend that was made just now, and what it may cost besides."""
        ends = [start + rule.window_us for (start, _), (_, rule) in zip(self.rules[1:], self.rules, strict=False)]
        for (_, rule), end in zip(self.rules, [*ends, math.inf], strict=True):
            if t <= end:
                assert sum(k for at, k in self.spent if t - rule.window_us <= at <= t) + more <= rule.cap


def test_a_rule_is_rounded_against_the_spender() -> None:
    rule = Rule.of("0.1", "0.5", 60)
    assert rule.cap == math.floor(Fraction(1, 600) * 2**30)
    assert rule.window_us == 500_001


@pytest.mark.parametrize(
    "guarantee",
    [(0, 1, 60), (-1, 1, 60), (1, 0, 60), (1, 1, 0), (1, "0.0005", 60), (1, 11, 60), (1e-9, 1, 60), (1e9, 1, 1)],
)
def test_guarantees_beyond_the_ledger_are_refused(guarantee: tuple[float, float, float]) -> None:
    with pytest.raises(OptionError):
        Rule.of(*guarantee)


def test_the_window_is_closed_at_both_ends() -> None:
    budget = budget_for(Rule(10, 1000), 10_000)
    assert kernels.spend(budget, 0, 10)
    assert not kernels.spend(budget, 1000, 1)
    assert kernels.spend(budget, 1001, 10)


def test_a_refused_spend_changes_nothing() -> None:
    budget = budget_for(Rule(10, 1000), 10_000)
    kernels.spend(budget, 0, 7)
    before = budget.copy()
    assert not kernels.spend(budget, 0, 4)
    assert not kernels.spend(budget, 0, 0)
    assert (budget == before).all()


def test_a_full_ring_refuses_rather_than_forgets() -> None:
    budget = budget_for(Rule(1000, 1_000_000), 4_000_000)
    assert sum(kernels.spend(budget, t, 1) for t in range(10)) == 4
    assert len(spends(budget)) == 4


def test_a_longer_window_sees_what_the_shorter_one_had_let_go() -> None:
    budget = budget_for(Rule(10, 500_000), 1000)
    for t in range(0, 3_000_000, 500_001):
        assert kernels.spend(budget, t, 10)
    longer = with_rule(budget, 3_000_000, Rule(25, 2_000_000), 1000)
    assert kernels.left(longer, 3_000_000) == min(10, 25 - 40)


def test_tightening_is_immediate_and_loosening_waits() -> None:
    budget = budget_for(Rule(100, 1000), 10_000)
    kernels.spend(budget, 0, 60)
    tighter = with_rule(budget, 10, Rule(50, 1000), 10_000)
    assert kernels.left(tighter.copy(), 10) == -10
    looser = with_rule(tighter, 20, Rule(500, 1000), 10_000)
    assert kernels.left(looser.copy(), 1020) == 50
    assert kernels.left(looser, 1021) == 500


def test_a_privacy_level_turned_without_end_keeps_few_rules_and_stays_strict() -> None:
    budget = budget_for(Rule(1000, 1000), 10_000)
    for turn in range(50):
        budget = with_rule(budget, turn, Rule(100 + turn, 1000), 10_000)
        assert is_budget(budget)
    assert kernels.left(budget, 50) <= 149
    assert kernels.left(budget.copy(), 50) >= 100
    assert kernels.left(budget, 3000) == 149


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("spend"), st.integers(0, 900), st.integers(1, 40)),
            st.tuples(st.just("promise"), st.integers(0, 900), st.tuples(st.integers(1, 60), st.integers(1, 2000))),
        ),
        max_size=80,
    )
)
def test_every_closed_window_stays_within_every_rule_in_force(script: list[tuple[str, int, object]]) -> None:
    first = Rule(50, 1000)
    budget, now, history = budget_for(first, 20_000), 0, History([(0, first)])
    for what, wait, argument in script:
        now += wait
        if what == "promise":
            rule = Rule(*argument)  # type: ignore[misc]
            budget = with_rule(budget, now, rule, 20_000)
            history.rules.append((now, rule))
        elif kernels.spend(budget, now, argument):
            history.spent.append((now, argument))  # type: ignore[arg-type]
            history.check_latest(now)
    assert is_budget(budget)


PROMISES = st.tuples(
    st.sampled_from([0.5, 1.0, 4.0]), st.sampled_from([0.1, 0.5, 2.0]), st.sampled_from([20.0, 60.0, 300.0])
)
SAMPLES = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1e-6, 1e-4, 1 / 1200, 1 / 120, 1 / 120, 1 / 60, 0.3, 2.0, -0.01, -5.0]),
        st.sampled_from([100.0, 640.0, 1200.0, 700.0, math.nan, math.inf, 1e308]),
        st.one_of(st.none(), st.none(), st.none(), PROMISES),
    ),
    min_size=20,
    max_size=150,
)


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(SAMPLES)
def test_streams_spend_no_more_than_guaranteed_whatever_the_clock_does(name: str, samples: list[Any]) -> None:
    options: dict[str, Any] = {"ticks": 3} if name == "clock" else {"t_skip": "0.02"}
    options |= {"epsilon": 1, "window": 0.5, "radius": 60}
    veil: Any = MECHANISMS[name](SCREEN, **options).start(NoiseSource.seeded(5))
    t, latest = 0.0, -math.inf
    history = History([(-(1 << 62), Rule.of(1, 0.5, 60))])
    seen = [0, 0]

    def collect() -> None:
        for part, budget in enumerate((veil._budget, veil._tests)):
            if len(budget) > 1 and (fresh := int(budget[kernels.NEXT]) - seen[part]):
                history.spent += spends(budget)[-fresh:]
                seen[part] += fresh
                history.check_latest(history.spent[-1][0])

    for step, x, change in samples:
        t += step
        latest = max(latest, t)
        if change is not None:
            veil.change(t, epsilon=change[0], window=change[1], radius=change[2])
            collect()  # an epoch that the change broke off is entered under the old rules
            history.rules.append((round(latest * 1e6), Rule.of(*change)))
        veil.step(t, x, 300.0)
        collect()
        if name == "sparse-vector" and veil._clock[places.OWN]:
            history.check_latest(int(veil._clock[places.TEST]), veil.current.plan().epoch_loss)
