# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor on AOI statistics: consistent as they are, violated as soon as more is claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gazeveil.privacy.audit import SUBJECTS, audit
from gazeveil.privacy.guarantee import PureDP

NAMES = [
    "aoi-comparison", "aoi-dwell", "aoi-first-fixation", "aoi-fixations", "aoi-reached", "aoi-together",
    "aoi-transitions", "aoi-visit-order",
]  # fmt: skip
SHARP = ["likelihood-ratio", "threshold", "order"]
"""Families of events that are quick; all families are tried by ``gazeveil lab audit``."""


def test_every_statistic_can_be_audited() -> None:
    assert [name for name in SUBJECTS.names() if name.startswith("aoi-")] == NAMES


@pytest.mark.parametrize(("name", "delta"), [*((name, 0.0) for name in NAMES), ("aoi-together", 1e-5)])
def test_promises_are_kept_on_adversarial_neighbours(name: str, delta: float) -> None:
    """Each bound is false with a chance of at most 0.0001."""
    result = audit(SUBJECTS[name](delta=delta), trials=8000, confidence=0.9999, seed=1, families=SHARP)
    assert not result.violated


@pytest.mark.parametrize("name", [name for name in NAMES if name != "aoi-together"])
def test_a_claim_of_less_than_is_spent_is_found_out(name: str) -> None:
    subject = SUBJECTS[name](epsilon=4.0, delta=0.0)
    result = audit(replace(subject, claim=PureDP(1.5)), trials=8000, seed=1, families=SHARP)
    assert result.violated
