# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError
from gazeveil.lab.utility.label_agreement import AoiHits, aoi_hits

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=60)


def test_hits_counted_by_hand() -> None:
    hits = aoi_hits([0, 0, 1, 1, -1, 2], [0, 1, 1, -1, 2, 2], 4)
    assert hits.precision[:3].tolist() == [1.0, 0.5, 0.5]
    assert hits.recall[:3].tolist() == [0.5, 0.5, 1.0]
    assert hits.f1[:3].tolist() == pytest.approx([2 / 3, 0.5, 2 / 3])
    assert np.isnan([hits.precision[3], hits.recall[3], hits.f1[3]]).all()
    assert hits.macro() == pytest.approx((2 / 3 + 0.5 + 2 / 3) / 3)
    assert hits.weighted("recall") == pytest.approx(3 / 5)


def test_an_area_that_is_never_reported_counts_as_missed_not_as_unknown() -> None:
    hits = aoi_hits([0, 0, 1], [0, 0, 0], 2)
    assert math.isnan(hits.precision[1])
    assert hits.macro("precision") == pytest.approx((2 / 3 + 0) / 2)
    assert hits.macro() == pytest.approx((4 / 5) / 2)


def counted(pairs: list[tuple[int, int]], area: int) -> tuple[float, float, float]:
    """Precision, recall and F1 from the definition, 0 where nothing was reported."""
    right = sum(true == reported == area for true, reported in pairs)
    looked_at = sum(true == area for true, _ in pairs)
    reported_there = sum(reported == area for _, reported in pairs)
    precision, recall = right / reported_there if reported_there else 0.0, right / looked_at
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


@settings(max_examples=50, deadline=None)
@given(LABELS)
def test_the_means_follow_the_definition(pairs: list[tuple[int, int]]) -> None:
    true, reported = np.array(pairs).T
    hits = aoi_hits(true, reported, 4)
    looked_at = sorted({area for area, _ in pairs if area >= 0})
    if not looked_at:
        assert math.isnan(hits.macro())
        return
    scores = np.array([counted(pairs, area) for area in looked_at])
    shares = [sum(area == true for true, _ in pairs) for area in looked_at]
    for number, measure in enumerate(("precision", "recall", "f1")):
        assert hits.macro(measure) == pytest.approx(scores[:, number].mean())
        assert hits.weighted(measure) == pytest.approx(np.average(scores[:, number], weights=shares))


@settings(max_examples=25, deadline=None)
@given(LABELS, LABELS)
def test_two_recordings_add_up_to_one(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    def hits_of(pairs: list[tuple[int, int]]) -> AoiHits:
        return aoi_hits([true for true, _ in pairs], [reported for _, reported in pairs], 4)

    apart, together = hits_of(one) + hits_of(other), hits_of(one + other)
    assert apart.f1.tolist() == pytest.approx(together.f1.tolist(), nan_ok=True)


@pytest.mark.parametrize(("true", "reported"), [([0, 1], [0]), ([0.5], [0.5]), ([4], [0]), ([-2], [0]), ([[0]], [[0]])])
def test_labels_that_are_none_are_refused(true: list[int], reported: list[int]) -> None:
    with pytest.raises(InputError):
        aoi_hits(true, reported, 4)


def test_other_areas_and_other_measures_are_refused() -> None:
    with pytest.raises(InputError, match="do not add up"):
        aoi_hits([0], [0], 1) + aoi_hits([0], [0], 2)
    with pytest.raises(InputError, match="no 'kappa'"):
        aoi_hits([0], [0], 1).macro("kappa")
