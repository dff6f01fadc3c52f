# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The auditor finds out the published mechanisms for feature series."""

from __future__ import annotations

import pytest

import gazeveil.lab.audited  # noqa: F401  (enters the subjects)
from gazeveil.privacy.audit import audit, build


@pytest.mark.parametrize(
    "name", ["features-fpa-as-published", "features-c-fpa-as-published", "features-dc-fpa-as-published"]
)
def test_published_mechanisms_are_caught(name: str) -> None:
    """B2, B4, B6."""
    result = audit(build(name), trials=8_000, confidence=0.999, seed=5, workers=1)
    assert result.violated
    assert result.epsilon_lower_bound > 1.5
