# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The two radii are the medians of equations 6 and 7, whatever the regions are."""

from __future__ import annotations

import math
import statistics
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError
from gazeveil.scene.context import Radii, radii
from gazeveil.scene.regions import MOST_REGIONS, Box, Regions, as_array, overlaps, regions_from, without_doubles

edges = st.integers(0, 64).map(lambda n: n / 64)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    x0, x1 = sorted(draw(st.lists(edges, min_size=2, max_size=2, unique=True)))
    y0, y1 = sorted(draw(st.lists(edges, min_size=2, max_size=2, unique=True)))
    return Box(x0, y0, x1, y1)


def by_hand(regions: Regions, width: float, height: float) -> Radii:
    """The equations as the paper writes them, one region and one pair at a time."""
    intra = [0.5 * math.sqrt(((x1 - x0) * width) ** 2 + ((y1 - y0) * height) ** 2) for x0, y0, x1, y1 in regions]
    centres = [((x0 + x1) / 2 * width, (y0 + y1) / 2 * height) for x0, y0, x1, y1 in regions]
    inter = [math.dist(one, other) for one, other in combinations(centres, 2)]
    return Radii(statistics.median(intra) if intra else None, statistics.median(inter) if inter else None)


@given(st.lists(boxes(), max_size=12).map(tuple), st.sampled_from([(1.0, 1.0), (1920.0, 1080.0), (44.0, 26.0)]))
@settings(max_examples=150, deadline=None)
def test_radii_are_the_medians_of_the_equations(regions: Regions, size: tuple[float, float]) -> None:
    found, expected = radii(regions, *size), by_hand(regions, *size)
    for one, other in ((found.small, expected.small), (found.large, expected.large)):
        assert (one is None) == (other is None)
        assert one is None or other is None or math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


@given(st.lists(boxes(), min_size=2, max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_regions_does_not_matter(regions: list[Box], shuffler: object) -> None:
    shuffled = list(regions)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = radii(tuple(regions), 1600, 900), radii(tuple(shuffled), 1600, 900)
    assert (one.small, one.large) == pytest.approx((other.small, other.large))


def test_nothing_is_made_up_for_none_and_one_region() -> None:
    assert radii((), 1920, 1080) == Radii(None, None)
    assert radii((Box(0, 0, 1, 1),), 30, 40) == Radii(25.0, None)


def test_a_checkerboard_of_500_regions_has_the_radii_that_one_can_work_out() -> None:
    grid = [
        Box(column / 25, row / 20, (column + 0.5) / 25, (row + 0.5) / 20) for column in range(25) for row in range(20)
    ]
    found = radii(tuple(grid), 25 * 6, 20 * 8)
    assert found.small == pytest.approx(0.5 * math.hypot(3, 4))
    assert found.large == pytest.approx(by_hand(tuple(grid), 25 * 6, 20 * 8).large or 0)


@pytest.mark.parametrize("size", [(0, 10), (10, -1), (math.nan, 10), (10, math.inf)])
def test_a_frame_without_a_size_is_refused(size: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="cannot be"):
        radii((), *size)


def test_boxes_from_outside_are_taken_as_they_are() -> None:
    assert regions_from([[0, 0, 1, 1], [0.25, 0.5, 0.75, 1.0]]) == (Box(0, 0, 1, 1), Box(0.25, 0.5, 0.75, 1.0))
    assert regions_from([]) == ()


@pytest.mark.parametrize(
    ("given_boxes", "words"),
    [
        ("0,0,1,1", "are a list"),
        (None, "are a list"),
        ({"x0": 0}, "are a list"),
        ([[0, 0, 1]], "box 0 is not four numbers"),
        ([[0, 0, 1, 1], "0011"], "box 1 is not four numbers"),
        ([[0, 0, 1, "1"]], "not four numbers"),
        ([[False, 0, 1, 1]], "not four numbers"),
        ([[0, 0, 1, math.nan]], "not within the frame"),
        ([[0, 0, 1, math.inf]], "not within the frame"),
        ([[-0.1, 0, 1, 1]], "not within the frame"),
        ([[0, 0, 1920, 1080]], "not within the frame"),
        ([[0.5, 0, 0.5, 1]], "no area"),
        ([[0.5, 0.6, 0.8, 0.4]], "no area"),
        ([[0, 0, 1, 1]] * (MOST_REGIONS + 1), "more than the 1,000"),
    ],
)
def test_boxes_that_make_no_sense_are_refused_and_never_mended(given_boxes: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        regions_from(given_boxes)


def test_overlap_is_shared_area_over_joint_area() -> None:
    one, other = as_array([Box(0, 0, 0.5, 1)]), as_array([Box(0.25, 0, 0.75, 1), Box(0.5, 0, 1, 1), Box(0, 0, 0.5, 1)])
    np.testing.assert_allclose(overlaps(one, other), [[1 / 3, 0, 1]])


def test_of_doubles_the_best_stays() -> None:
    rows = as_array([Box(0, 0, 0.5, 0.5), Box(0.01, 0, 0.5, 0.5), Box(0.6, 0.6, 1, 1)])
    kept = without_doubles(rows, np.array([0.5, 0.9, 0.1]), most=10)
    np.testing.assert_array_equal(kept, rows[[1, 2]])
    assert len(without_doubles(rows, np.array([0.5, 0.9, 0.1]), most=1)) == 1
