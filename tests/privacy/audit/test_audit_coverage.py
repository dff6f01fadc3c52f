# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is registered and claims a proof can be audited."""

from __future__ import annotations

import pytest

import gazeveil.aggregate.audited
import gazeveil.features.audited
import gazeveil.samples.audited  # noqa: F401  (enter the subjects)
from gazeveil.aggregate.aoi.statistics import STATISTICS
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.privacy.audit import SUBJECTS
from gazeveil.release.plan import PRODUCTS
from gazeveil.samples.mechanism import MECHANISMS
from gazeveil.samples.space import Sphere

PRODUCT_SUBJECTS = {
    "aoi": ("aoi-together", "aoi-comparison"),
    "feature-group": ("features-group",),
    "feature-series": ("features-own", "features-lengths"),
    "heatmap": ("heatmap-bumps", "heatmap-count"),
    "heatmaps": ("whole-study",),
    "liu-map": ("liu-gaussian-map", "liu-laplace-map", "liu-private-cap"),
    "movie": ("dynamic-heatmap",),
    "veiled-recordings": ("clock",),
}


def test_every_product_has_a_subject() -> None:
    assert set(PRODUCT_SUBJECTS) == set(PRODUCTS.names())
    assert {name for names in PRODUCT_SUBJECTS.values() for name in names} <= set(SUBJECTS.names())


@pytest.mark.parametrize("name", STRATEGIES.names())
def test_every_heatmap_strategy_has_a_subject(name: str) -> None:
    assert f"heatmap-{name}" in SUBJECTS.names()


@pytest.mark.parametrize("name", STATISTICS.names())
def test_every_statistic_of_areas_has_a_subject(name: str) -> None:
    assert f"aoi-{name}" in SUBJECTS.names()


@pytest.mark.parametrize("name", [name for name in SERIES_MECHANISMS.names() if not name.endswith("-as-published")])
def test_every_mechanism_for_series_that_claims_a_proof_has_a_subject(name: str) -> None:
    assert f"features-{name}" in SUBJECTS.names()


@pytest.mark.parametrize("name", MECHANISMS.names())
def test_every_mechanism_for_streams_has_a_subject_or_claims_nothing(name: str) -> None:
    if name not in SUBJECTS.names():
        assert not MECHANISMS[name](Sphere()).guarantee.proven
