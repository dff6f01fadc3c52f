# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import savgol_filter

from gazeveil import Recording, headset, screen
from gazeveil.errors import GeometryError
from gazeveil.gaze.events import Steps, velocity


def test_on_even_steps_it_is_the_savitzky_golay_derivative() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(0, 1, (2, 3000)).cumsum(axis=1)
    vx, vy = velocity(Recording(np.arange(3000) / 500, x, y, headset(), "a"), window=0.02)
    inner = slice(5, -5)
    for found, values in ((vx, x), (vy, y)):
        expected = savgol_filter(values, 11, 2, deriv=1, delta=1 / 500)
        np.testing.assert_allclose(found[inner], expected[inner], rtol=1e-8, atol=1e-8)


def test_on_uneven_steps_a_steady_movement_keeps_its_velocity() -> None:
    rng = np.random.default_rng(2)
    t = np.cumsum(rng.uniform(0.0005, 0.05, 2000))
    vx, vy = velocity(Recording(t, 3 * t, 7 - 11 * t, headset(), "a"))
    np.testing.assert_allclose(vx, 3, rtol=1e-9)
    np.testing.assert_allclose(vy, -11, rtol=1e-9)


def test_errors_do_not_add_up_over_a_long_recording() -> None:
    n = 400_000
    t = 1.7e9 + np.arange(n, dtype=np.float64) / 1024  # steps that floating point holds exactly
    x = np.where(np.arange(n) < 1000, 1e6, 0.25 * (t - t[0]))  # a huge value early on must leave no trace
    vx, _ = velocity(Recording(t, x, 0 * x, headset(), "a"))
    np.testing.assert_allclose(vx[-100_000:], 0.25, rtol=1e-7)


def test_a_slow_tracker_gets_the_difference_of_its_neighbours() -> None:
    t = np.arange(5) / 30
    x = np.array([0.0, 1, 3, 2, 2])
    vx, _ = velocity(Recording(t, x, 0 * x, headset(), "a"))
    np.testing.assert_allclose(vx, [30, 45, 15, -15, 0], atol=1e-9)


def test_there_is_none_where_gaze_is_lost_alone_or_repeated() -> None:
    t = np.array([0.0, 0.01, 0.01, 0.02, 0.03, 0.04, 0.05])
    x = np.array([0.0, 1.0, 9.0, 2.0, np.nan, 3.0, np.nan])
    vx, vy = velocity(Recording(t, x, 0 * x, headset(), "a"), window=0.0)
    np.testing.assert_allclose(vx, [100, 100, np.nan, 100, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(np.isnan(vx), np.isnan(vy))
    bridged, _ = velocity(Recording(t, x, 0 * x, headset(), "a"), window=0.0, steps=Steps(max_gap=0.02))
    np.testing.assert_allclose(bridged, [100, 100, np.nan, 450 / 7, np.nan, 50, np.nan])


def test_pixels_are_turned_into_degrees_first() -> None:
    t = np.arange(100) / 100
    desk = screen(1000, 800, 400, 320, 600)
    x, y = desk.in_unit("deg").convert(5 * t, 0 * t, "px")
    np.testing.assert_allclose(velocity(Recording(t, x, y, desk, "a"))[0], 5, rtol=1e-9)
    with pytest.raises(GeometryError):
        velocity(Recording(t, x, y, screen(1000, 800), "a"))


def test_of_nothing_there_is_nothing() -> None:
    empty = np.empty(0)
    assert [len(values) for values in velocity(Recording(empty, empty, empty, headset(), "a"))] == [0, 0]
