# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbours must differ in one unit, never by more than it may, and reach what it may."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Eye, Recording, headset, normalised, screen
from gazeveil.errors import OptionError
from gazeveil.privacy.audit import observer_pairs, series_pairs, still_gaze, window_pairs
from gazeveil.privacy.audit.subject import CLOCKS, MOVES, extreme_maps

DESK = screen(1920, 1080)


@given(
    cells=st.integers(1, 40),
    cap=st.integers(1, 9),
    total=st.none() | st.integers(1, 60),
    norm=st.none() | st.integers(1, 20),
)
@settings(max_examples=100, deadline=None)
def test_no_extreme_observer_goes_beyond_clipping(cells: int, cap: int, total: int | None, norm: int | None) -> None:
    shapes = extreme_maps(cells, cap=cap, total=total, norm=norm)
    assert shapes
    for shape in shapes.values():
        assert shape.dtype == np.int64
        assert shape.min() >= 0
        assert shape.max() <= cap
        assert total is None or shape.sum() <= total
        assert norm is None or (shape**2).sum() <= norm**2


def test_one_observer_reaches_the_sensitivities_that_mechanisms_are_calibrated_to() -> None:
    maps = np.zeros((5, 100), dtype=np.int64)

    def largest(power: int, **clipping: int) -> int:
        pairs = observer_pairs(maps, **clipping)  # type: ignore[arg-type]
        return max(int((np.abs(pair.first.sum(0) - pair.second.sum(0)) ** power).sum()) for pair in pairs)

    assert largest(2, cap=3) == 9 * 100  # one observer fills the map: m √r (Liu)
    assert largest(2, cap=3, total=30) == 2 * 3 * 30  # √(2 m T), erratum L4
    assert largest(1, cap=3, total=30) == 2 * 30
    assert largest(2, cap=50, norm=7) == 2 * 49  # √2 c for non-negative maps
    assert largest(1, cap=50, norm=10) == 100  # spread over all cells: c √r


def test_replaced_observers_leave_the_others_alone() -> None:
    maps = np.arange(12).reshape(4, 3)
    for pair in observer_pairs(maps, cap=2):
        assert pair.first.shape == pair.second.shape == (4, 3)
        assert np.array_equal(pair.first[:-1], maps[:-1])
        assert np.array_equal(pair.second[:-1], maps[:-1])
        assert not np.array_equal(pair.first, pair.second)


def test_added_observers_are_there_or_not() -> None:
    for pair in observer_pairs(np.ones((4, 3), dtype=np.int64), cap=2, neighbours="add-remove"):
        assert (len(pair.first), len(pair.second)) == (4, 3)
        assert np.array_equal(pair.first[:-1], pair.second)


def test_observers_that_are_not_integers_are_refused() -> None:
    for wrong in (np.zeros((2, 3)), np.zeros(3, dtype=int), np.zeros((0, 3), dtype=int)):
        with pytest.raises(OptionError, match="rows of integers"):
            list(observer_pairs(wrong, cap=1))
    with pytest.raises(OptionError, match="cap"):
        list(observer_pairs(np.zeros((2, 3), dtype=int), cap=0))


@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    steps=st.integers(2, 30),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_series_stay_in_their_ranges_and_differ_only_where_they_may(
    low: float, width: float, steps: int, data: st.DataObject
) -> None:
    high = low + width
    changed = data.draw(st.integers(1, steps))
    start = data.draw(st.integers(0, steps - changed))
    pairs = list(series_pairs([low, 0.0], [high, 1.0], steps, changed=changed, start=start))
    for pair in pairs:
        for series in (pair.first, pair.second):
            assert series.shape == (steps, 2)
            assert (series >= [low, 0.0]).all()
            assert (series <= [high, 1.0]).all()
        differs = (pair.first != pair.second).any(axis=1)
        assert not differs[:start].any()
        assert not differs[start + changed :].any()
    inside = slice(start, start + changed)
    assert np.array_equal(pairs[0].first[inside], np.tile([low, 0.0], (changed, 1)))
    assert np.array_equal(pairs[0].second[inside], np.tile([high, 1.0], (changed, 1)))


def test_series_come_in_several_shapes() -> None:
    words = [pair.words for pair in series_pairs(0, 1, 64, changed=8, cycles=(2.0, 16.0))]
    assert len(words) == len(set(words)) == 5
    assert "a sinusoid of 16 cycles against its mirror image in 8 of 64 steps" in words


@pytest.mark.parametrize(
    ("low", "high", "options"),
    [
        (1, 0, {}),
        (0, math.inf, {}),
        ([0, 0], [1], {}),
        (0, 1, {"changed": 9}),
        (0, 1, {"start": 8}),
        (0, 1, {"start": -1}),
    ],
)
def test_impossible_series_are_refused(low: object, high: object, options: dict[str, int]) -> None:
    with pytest.raises(OptionError):
        list(series_pairs(low, high, 8, **options))  # type: ignore[arg-type]


@given(radius=st.floats(1e-6, 1e4), start=st.floats(0, 1.5), seconds=st.floats(0.1, 1.0))
@settings(max_examples=30, deadline=None)
def test_gaze_moves_by_at_most_the_radius_within_the_window_and_not_at_all_outside(
    radius: float, start: float, seconds: float
) -> None:
    recording = still_gaze(DESK, 2.0, 50.0)
    limit = Fraction(radius) ** 2
    for pair in window_pairs(recording, start, seconds, radius):
        here, there = pair.first, pair.second
        assert np.array_equal(here.t, there.t)
        inside = (here.t >= start) & (here.t <= start + seconds)
        assert np.array_equal(here.x[~inside], there.x[~inside])
        assert np.array_equal(here.y[~inside], there.y[~inside])
        moves = [
            (Fraction(float(b)) - Fraction(float(a))) ** 2 + (Fraction(float(d)) - Fraction(float(c))) ** 2
            for a, b, c, d in zip(here.x, there.x, here.y, there.y, strict=True)
        ]
        assert max(moves) <= limit
        assert float(max(moves)) ** 0.5 == pytest.approx(radius, rel=1e-6)


def test_the_window_is_closed_at_both_ends() -> None:
    t = np.array([0.0, 1.0, 1.5, 2.0, 3.0])
    recording = Recording(t, np.full(5, 100.0), np.full(5, 100.0), DESK, "nobody")
    pair = next(window_pairs(recording, 1.0, 1.0, 60.0))
    assert (pair.first.x != pair.second.x).tolist() == [False, True, True, True, False]


def test_every_clock_meets_every_move() -> None:
    recording = still_gaze(DESK, 2.0, 100.0)
    pairs = list(window_pairs(recording, 0.5, 0.5, 60.0))
    assert len({pair.words for pair in pairs}) == len(pairs) == len(CLOCKS) * len(MOVES)
    inside = [int(((p.first.t >= 0.5) & (p.first.t <= 1.0)).sum()) for p in pairs]
    assert min(inside) >= 50
    assert max(inside) >= 500  # ten times as many samples in a burst
    for pair in pairs:
        assert (np.diff(pair.first.t) > 0).all()
    steps = {round(step, 9) for step in np.diff(pairs[-1].first.t)}
    assert len(steps) > 5  # jittered


def test_lost_samples_stay_lost_and_both_eyes_move() -> None:
    x = np.array([5.0, np.nan, 7.0])
    eye = Eye(x, x)
    recording = Recording(np.arange(3.0), x, x, DESK, "nobody", left=eye, right=eye)
    for pair in window_pairs(recording, 0.0, 2.0, 1.0):
        assert np.array_equal(pair.first.tracked, pair.second.tracked)
        shift = pair.second.x - pair.first.x
        assert pair.second.left is not None
        assert np.allclose(pair.second.left.x - pair.first.left.x, shift, equal_nan=True)


def test_made_up_gaze_fits_its_geometry() -> None:
    for geometry, most in ((DESK, 1920.0), (headset(), 10.0), (normalised(), 1.0)):
        recording = still_gaze(geometry, 1.0, 10.0)
        assert len(recording) == 10
        assert np.abs(recording.x).max() <= most
        assert len(np.unique(recording.x)) == 3


def test_impossible_windows_are_refused() -> None:
    recording = still_gaze(DESK, 1.0, 10.0)
    for start, seconds, radius in ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (5.0, 1.0, 1.0)):
        with pytest.raises(OptionError):
            list(window_pairs(recording, start, seconds, radius))
    with pytest.raises(OptionError):
        still_gaze(DESK, 0.0, 10.0)
