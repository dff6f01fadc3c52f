# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor on AOI statistics: consistent as they are, violated as soon as noise is missing."""

from __future__ import annotations

from dataclasses import replace

import pytest

import gazeveil.aggregate.audited  # noqa: F401  (enters the subjects)
from gazeveil.privacy.audit import SUBJECTS, audit
from gazeveil.privacy.guarantee import PureDP

NAMES = [name for name in SUBJECTS.names() if name.startswith("aoi-")]


def test_every_statistic_can_be_audited() -> None:
    assert NAMES == [
        "aoi-comparison", "aoi-dwell", "aoi-first-fixation", "aoi-fixations", "aoi-reached", "aoi-together",
        "aoi-transitions", "aoi-visit-order",
    ]  # fmt: skip


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("name", ["aoi-dwell", "aoi-first-fixation", "aoi-together", "aoi-comparison"])
def test_promises_are_kept_on_adversarial_neighbours(name: str, delta: float) -> None:
    """Each bound is false with a chance of at most 0.001."""
    result = audit(SUBJECTS[name](delta=delta), trials=4000, confidence=0.999, seed=1)
    assert not result.violated


@pytest.mark.parametrize("name", ["aoi-dwell", "aoi-transitions", "aoi-visit-order"])
def test_a_claim_of_half_the_epsilon_is_found_out(name: str) -> None:
    subject = SUBJECTS[name](epsilon=4.0, delta=0.0)
    result = audit(replace(subject, claim=PureDP(2)), trials=8000, seed=1)
    assert result.violated
