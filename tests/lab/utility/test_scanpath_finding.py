# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths found in noisy gaze, and how far they are apart if each may wait."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.lab.utility.scanpaths import Scanpath, find_scanpath, warped_distance, warped_distances

PLACES = np.array([[0.0, 0.0], [8.0, 3.0], [-5.0, 6.0], [2.0, -7.0], [9.0, -4.0]])


def held(places: np.ndarray, samples: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    gaze = np.repeat(places, samples, axis=0)
    return np.arange(len(gaze)) / 100, gaze[:, 0].copy(), gaze[:, 1].copy()


@pytest.mark.parametrize("noise", [0.0, 0.3, 1.0])
def test_fixations_are_found_through_noise(noise: float) -> None:
    t, x, y = held(PLACES)
    rng = np.random.default_rng(3)
    found = find_scanpath(t, x + noise * rng.standard_normal(len(x)), y + noise * rng.standard_normal(len(x)))
    assert len(found) == len(PLACES)
    assert np.hypot(found.x - PLACES[:, 0], found.y - PLACES[:, 1]).max() < 0.1 + noise
    np.testing.assert_allclose(found.seconds, 0.3, atol=0.05)


def test_lost_gaze_ends_a_fixation_and_nothing_has_none() -> None:
    t, x, y = held(PLACES)
    x[45:50] = np.nan
    assert np.isfinite(find_scanpath(t, x, y).x).all()
    for empty in (np.empty(0), np.zeros(2)):
        assert len(find_scanpath(empty, empty, empty)) == 0
    assert len(find_scanpath(t, np.full(len(t), np.nan), y)) == 0


def by_hand(one: np.ndarray, other: np.ndarray) -> float:
    """Try every way to walk both lists."""
    here = float(np.hypot(*(one[0] - other[0])))
    if len(one) == 1 and len(other) == 1:
        return here
    ways = [(one[1:], other), (one, other[1:]), (one[1:], other[1:])]
    return here + min(by_hand(a, b) for a, b in ways if len(a) and len(b))


def test_warping_finds_the_shortest_of_all_walks() -> None:
    rng = np.random.default_rng(5)
    for lengths in ((1, 1), (1, 4), (4, 3), (5, 5)):
        one, other = (rng.standard_normal((length, 2)) for length in lengths)
        paths = [Scanpath(points[:, 0], points[:, 1], np.ones(len(points))) for points in (one, other)]
        assert warped_distance(*paths) == pytest.approx(by_hand(one, other) / sum(lengths))


def test_an_empty_scanpath_has_no_distance() -> None:
    nothing = Scanpath(np.empty(0), np.empty(0), np.empty(0))
    found = warped_distances([nothing, Scanpath(np.ones(2), np.ones(2), np.ones(2))])
    assert np.isnan(found[0, 1])
    assert found[1, 1] == 0
