# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever is registered and claims a proof can be audited."""

from __future__ import annotations

from typing import Any

import pytest

from gazeveil.aggregate.aoi.statistics import STATISTICS
from gazeveil.aggregate.strategy import STRATEGIES
from gazeveil.errors import GazeveilError
from gazeveil.features.series import SERIES_MECHANISMS
from gazeveil.privacy.audit import SUBJECTS
from gazeveil.release.plan import PRODUCTS
from gazeveil.samples.mechanism import MECHANISMS, SampleMechanism
from gazeveil.samples.space import Room3D, Screen, Space, Sphere

PRODUCT_SUBJECTS = {
    "aoi": ("aoi-together", "aoi-comparison"),
    "feature-group": ("features-group",),
    "feature-series": ("features-own", "features-lengths"),
    "heatmap": ("heatmap-bumps", "heatmap-count"),
    "heatmaps": ("whole-study",),
    "liu-map": ("liu-gaussian-map", "liu-laplace-map", "liu-private-cap"),
    "movie": ("dynamic-heatmap",),
    "veil": ("clock",),
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


OPTIONS: dict[str, Any] = {"epsilon": 1, "window": 1, "radius": 5}
SPACES: dict[str, Space] = {
    "": Screen(1920.0, 1080.0),
    "-sphere": Sphere(),
    "-room": Room3D((-1000.0,) * 3, (1000.0,) * 3),
}
SAME_NOISE = {"kaleido", "distribution", "absorption", "sparse-vector"}
"""What adds noise to a direction, and turns its knob, with the code of the clock: `noisy_point` and `StreamVeil`."""
TURNED_BY_A_MEMBER = {"chain"}


def made(name: str, space: Space) -> SampleMechanism | None:
    """Return a mechanism of streams in a space, with a promise if it can have one; None if it is none for the space."""
    kind: Any = MECHANISMS[name]
    for options in (OPTIONS, {}):
        try:
            mechanism: SampleMechanism = kind(space, **options)
        except (TypeError, GazeveilError):
            continue
        return mechanism
    return None


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", MECHANISMS.names())
def test_every_mechanism_for_streams_has_a_subject_on_each_space_or_claims_nothing(name: str, space: str) -> None:
    mechanism = made(name, SPACES[space])
    if mechanism is None or not mechanism.guarantee.proven:
        return
    base = "clock" if name in SAME_NOISE and space else name
    if base == "held-ticks":  # in a room it is the subject of that name, on a screen the one whose knob is turned
        base, space = {"": ("held-ticks-turned", ""), "-room": ("held-ticks", "")}.get(space, (base, space))
    assert name in SUBJECTS.names()
    assert f"{base}{space}" in SUBJECTS.names()


@pytest.mark.parametrize("name", MECHANISMS.names())
def test_every_knob_has_a_subject(name: str) -> None:
    mechanism = made(name, SPACES[""])
    if mechanism is None or not (mechanism.guarantee.proven and mechanism.can_change):
        return
    base = "clock" if name in SAME_NOISE | TURNED_BY_A_MEMBER else name
    assert f"{base}-turned" in SUBJECTS.names()


def test_what_shares_the_clocks_noise_and_knob_does_so() -> None:
    for name in SAME_NOISE:
        assert MECHANISMS[name].start is MECHANISMS["clock"].start


def test_leases_and_scenes_have_a_subject() -> None:
    assert {"gateway-leases", "gateway-scene"} <= set(SUBJECTS.names())
