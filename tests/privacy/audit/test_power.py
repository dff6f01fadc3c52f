# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Every verdict says which violation it would have caught, and it would have."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gazeveil.privacy.audit import AuditResult, audit, build
from gazeveil.privacy.audit.bounds import smallest_caught


def claiming_one(epsilon: float, trials: int = 4000, seed: int = 1) -> AuditResult:
    """Audit Laplace noise of a true ε that claims 1."""
    subject = replace(build("lattice-laplace", {"epsilon": str(epsilon)}), claim=build("lattice-laplace").claim)
    return audit(subject, trials=trials, confidence=0.99, seed=seed, families=["likelihood-ratio"])


def test_more_runs_catch_less_down_to_the_claim() -> None:
    caught = [smallest_caught(1.0, 0.0, runs, 0.001) for runs in (100, 1000, 10_000, 1_000_000)]
    assert caught == sorted(caught, reverse=True)
    assert 1.0 < caught[-1] < 1.02
    assert caught[0] > 1.5


def test_a_violation_well_beyond_the_power_is_caught_and_one_well_below_is_not() -> None:
    """Half as far from the claim again, or half as far: of ten audits each, one may go the other way by chance."""
    power = claiming_one(1.0).smallest_caught
    assert power is not None
    assert 1.1 < power < 1.4
    beyond = [claiming_one(power + (power - 1) / 2, seed=seed).violated for seed in range(10)]
    below = [claiming_one(1 + (power - 1) / 2, seed=seed).violated for seed in range(10)]
    assert sum(beyond) >= 9
    assert sum(below) <= 1


def test_so_few_runs_that_nothing_could_be_caught_are_said_to_be_so() -> None:
    assert smallest_caught(10.0, 0.0, 1000, 0.001) == math.inf
    subject = build("lattice-laplace", {"epsilon": "10"})
    assert "no ε would have been caught" in audit(subject, trials=400, seed=1).in_words()


def test_the_verdict_says_its_power() -> None:
    result = claiming_one(1.0)
    assert f"An ε of {result.smallest_caught:.4g} or more would have been caught" in result.in_words()
    assert result.to_dict()["smallest_caught"] == result.smallest_caught


@pytest.mark.parametrize(("name", "method"), [("liu-as-published", "exact"), ("liu-random-selection", "sampling")])
def test_what_is_computed_or_claims_nothing_has_no_power(name: str, method: str) -> None:
    import gazeveil.lab.audited  # noqa: F401  (enters the subjects)

    assert audit(build(name), trials=400, seed=1, method=method).smallest_caught is None
