# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Feature mechanisms before the auditor, with few trials; docs/concepts/private-features.md has a million each.

Bounds hold with 0.999 confidence and noise is seeded, so nothing here fails by chance from run to run.
"""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.features.audited import Sphere, opposite_pairs, toy_design
from gazeveil.features.group_series import GroupSeries
from gazeveil.features.participant_series import ParticipantSeries
from gazeveil.privacy.audit.auditor import audit
from gazeveil.privacy.audit.result import AuditResult
from gazeveil.privacy.audit.subject import build

TRIALS = 8_000


def audited(name: str, trials: int = TRIALS, **options: str) -> AuditResult:
    return audit(build(name, options), trials=trials, confidence=0.999, seed=5, workers=1)


@pytest.mark.parametrize("name", ["features-lpa", "features-fpa", "features-c-fpa", "features-dc-fpa"])
@pytest.mark.parametrize("delta", ["0", "0.001"])
def test_sound_mechanisms_keep_what_they_claim(name: str, delta: str) -> None:
    assert not audited(name, delta=delta).violated


@pytest.mark.parametrize("name", ["features-efpa", "features-spa", "features-exponential", "features-lengths"])
def test_peers_keep_what_they_claim(name: str) -> None:
    assert not audited(name).violated


@pytest.mark.parametrize(("name", "stretch"), [("features-c-fpa", "8"), ("features-own", "4"), ("features-own", "0")])
def test_promises_for_stretches_are_kept_and_largely_used_up(name: str, stretch: str) -> None:
    result = audited(name, trials=20_000, stretch=stretch)
    assert not result.violated
    assert result.epsilon_lower_bound > (0.85 if name == "features-own" else 0.45)


def test_a_group_keeps_what_it_claims_and_largely_uses_it_up() -> None:
    result = audited("features-group", trials=20_000)
    assert not result.violated
    assert result.epsilon_lower_bound > 0.7


@pytest.mark.parametrize(("epsilon", "stretch"), [(1, None), (1, 4), (1, 8), (8, 8), (20, 4)])
def test_own_series_to_try_are_as_far_apart_as_the_noise_is_made_for(epsilon: int, stretch: int | None) -> None:
    mechanism = ParticipantSeries(epsilon=epsilon, delta=1e-3, design=toy_design(), stretch=stretch)
    assert 0.99 < _farthest(mechanism) <= 1 + 1e-9


def test_group_members_to_try_are_as_far_apart_as_the_noise_is_made_for() -> None:
    mechanism = GroupSeries(epsilon=1, delta=1e-3, design=toy_design())
    assert 0.99 < _farthest(mechanism) <= 1 + 1e-9


def _farthest(mechanism: ParticipantSeries | GroupSeries) -> float:
    stretch, shapes = (None, 0) if isinstance(mechanism, GroupSeries) else (mechanism.stretch, mechanism.plan().shapes)
    pairs, runner = opposite_pairs(mechanism.design, stretch, shapes), Sphere(mechanism)
    away = [np.linalg.norm(runner._vector(pair.first) - runner._vector(pair.second)) for pair in pairs]
    return float(max(away)) / runner.plan.noise.change
