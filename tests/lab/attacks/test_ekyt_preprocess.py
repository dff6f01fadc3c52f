# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What the network sees: velocities at a constant rate, nothing invented where gaze is missing."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError, OptionError
from gazeveil.lab.attacks.ekyt.windows import (
    Scale,
    at_rate,
    bridged,
    decimated,
    derivative,
    interpolated,
    pooled_scale,
    unwrapped,
    velocities,
    window_samples,
    windows,
)


def wandering(seed: int, samples: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).normal(size=(2, samples)), axis=1)


def test_the_derivative_is_savitzky_golay_of_7_samples_and_order_2() -> None:
    signal = pytest.importorskip("scipy.signal")
    gaze = wandering(1, 200)
    gaze[0, 50:60] = np.nan
    expected = signal.savgol_filter(gaze, 7, 2, deriv=1, mode="nearest")
    np.testing.assert_allclose(derivative(gaze), expected, atol=1e-12)


@pytest.mark.parametrize("samples", [0, 1, 2, 6])
def test_the_derivative_of_very_short_gaze_is_there(samples: int) -> None:
    assert derivative(np.ones((2, samples))).shape == (2, samples)
    assert not derivative(np.ones((2, samples))).any()


def test_a_steady_turn_has_its_speed() -> None:
    t = np.arange(1000) / 250.0
    v = velocities(t, 30.0 * t, -10.0 * t, 250.0, 125.0)
    assert v.shape == (2, 500)
    gain = 10 ** (-0.05 / 10)  # the filter's gain at rest, as scipy's is
    np.testing.assert_allclose(v[:, 10:-10], np.tile([[30.0 * gain], [-10.0 * gain]], 480), rtol=1e-4)


def test_speeds_are_clamped_to_1000_degrees_a_second() -> None:
    t = np.arange(100) / 125.0
    x = np.where(np.arange(100) < 50, 0.0, 100.0)
    v = velocities(t, x, -x, 125.0, 125.0)
    assert v.max() == 1000.0
    assert v.min() == -1000.0


def test_an_angle_that_passes_180_degrees_does_not_jump() -> None:
    turning = np.linspace(100.0, 500.0, 81)
    turning[40] = np.nan
    wrapped = (turning + 180.0) % 360.0 - 180.0
    np.testing.assert_allclose(np.diff(unwrapped(wrapped))[:39], 5.0)
    assert np.isnan(unwrapped(wrapped)[40])
    assert unwrapped(wrapped)[41] - unwrapped(wrapped)[39] == pytest.approx(10.0)


@pytest.mark.parametrize("factor", [2, 4, 8, 20])
def test_decimation_is_that_of_scipy_away_from_the_ends(factor: int) -> None:
    signal = pytest.importorskip("scipy.signal")
    gaze = wandering(2, 8000)
    expected = gaze
    for part in {2: (2,), 4: (4,), 8: (8,), 20: (5, 4)}[factor]:
        expected = signal.decimate(expected, part, axis=1)
    ours = decimated(gaze, factor)
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours[:, 50:-50], expected[:, 50:-50], atol=1e-4)


@pytest.mark.parametrize("factor", [3, 4, 8])
def test_decimated_gaze_is_missing_exactly_where_it_was_missing_at_the_kept_samples(factor: int) -> None:
    gaze = wandering(3, 1000)
    lost = np.random.default_rng(4).random(1000) < 0.2
    lost[600:800] = True
    gaze[:, lost] = np.nan
    np.testing.assert_array_equal(np.isnan(decimated(gaze, factor))[0], lost[::factor])


def test_gaps_are_bridged_by_monotone_cubics() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    whole = wandering(5, 300)[0]
    gappy = whole.copy()
    gappy[np.random.default_rng(6).random(300) < 0.4] = np.nan
    gappy[[0, -1]] = whole[[0, -1]]
    knots = np.flatnonzero(np.isfinite(gappy))
    expected = interpolate.PchipInterpolator(knots, whole[knots])(np.arange(300))
    np.testing.assert_allclose(bridged(gappy), expected, atol=1e-12)


def test_a_bridge_needs_no_gaze_at_all() -> None:
    assert not bridged(np.full(5, np.nan)).any()
    np.testing.assert_array_equal(bridged(np.array([np.nan, 2.0, np.nan])), [2.0, 2.0, 2.0])


def test_interpolation_keeps_samples_and_does_not_reach_into_gaps() -> None:
    t = np.arange(6) / 100.0
    gaze = np.array([[0.0, 1.0, 2.0, np.nan, 4.0, 5.0]])
    np.testing.assert_allclose(interpolated(t, gaze, 100.0, 100.0), gaze)
    finer = interpolated(t, gaze, 100.0, 200.0)[0]
    np.testing.assert_allclose(finer, [0, 0.5, 1, 1.5, 2, np.nan, np.nan, np.nan, 4, 4.5, 5, 5])


def test_frames_that_never_came_are_missing_too() -> None:
    t = np.array([0.0, 0.01, 0.02, 0.10, 0.11])
    even = interpolated(t, t[None, :] * 100.0, 100.0, 100.0)[0]
    np.testing.assert_allclose(even, [0, 1, 2, *[np.nan] * 7, 10, 11])


@pytest.mark.parametrize(("recorded", "wanted"), [(90.0, 125.0), (72.0, 125.0), (1000.0, 90.0), (300.0, 125.0)])
def test_five_seconds_stay_five_seconds_at_any_rate(recorded: float, wanted: float) -> None:
    t = np.arange(round(5 * recorded)) / recorded
    even = at_rate(t, np.sin(t)[None, :], recorded, wanted)
    assert even.shape[1] == round(5 * wanted)
    ours, true = even[0, 20:-20], np.sin(np.arange(even.shape[1]) / wanted)[20:-20]
    assert np.abs(ours - true).max() < 0.02


@given(
    samples=st.integers(1, 400),
    recorded=st.sampled_from([30.0, 60.0, 90.0, 120.0, 250.0, 1000.0]),
    wanted=st.sampled_from([31.25, 125.0, 250.0]),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_no_gaze_gives_anything_but_bounded_velocities_or_gaps(
    samples: int, recorded: float, wanted: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    t = np.sort(np.arange(samples) / recorded + np.abs(rng.normal(0, 0.2 / recorded, samples)))
    x, y = rng.normal(0, 20, (2, samples))
    x[rng.random(samples) < 0.3] = np.nan
    y[rng.random(samples) < 0.1] = np.inf
    v = velocities(t, x, y, recorded, wanted)
    assert v.dtype == np.float32
    assert not np.isinf(v).any()
    assert not (np.abs(v[np.isfinite(v)]) > 1000).any()
    np.testing.assert_array_equal(np.isnan(v[0]), np.isnan(v[1]))


def test_one_scale_is_pooled_over_channels_and_recordings() -> None:
    first, second = wandering(7, 100), 5.0 * wandering(8, 300)
    first[0, :20] = np.nan
    both = np.concatenate([first[np.isfinite(first)], second.ravel()])
    scale = pooled_scale([first, second])
    assert scale.mean == pytest.approx(both.mean())
    assert scale.sd == pytest.approx(both.std())


def test_what_is_missing_becomes_zero_after_scaling() -> None:
    np.testing.assert_allclose(Scale(10.0, 2.0).apply(np.array([[10.0, np.nan, 14.0]])), [[0.0, 0.0, 2.0]])


def test_nothing_to_scale_by_is_an_error() -> None:
    with pytest.raises(InputError, match="every sample is missing"):
        pooled_scale([np.full((2, 3), np.nan)])
    with pytest.raises(InputError, match="cannot be scaled"):
        pooled_scale([np.zeros((2, 3))])


def test_windows_slide_and_mostly_missing_ones_are_left_out() -> None:
    v = np.arange(40, dtype=np.float32).reshape(2, 20)
    assert windows(v, 10, 5).shape == (3, 2, 10)
    np.testing.assert_array_equal(windows(v, 10, 5)[1, 0], np.arange(5, 15))
    v[1, :6] = np.nan
    assert windows(v, 10, 5)[:, 0, 0].tolist() == [5, 10]


def test_a_window_that_lacks_a_sample_at_its_end_is_kept_and_a_shorter_one_is_not() -> None:
    assert windows(np.ones((2, 624)), 625, 125).shape == (1, 2, 625)
    assert windows(np.ones((2, 600)), 625, 125).shape == (0, 2, 625)


def test_bad_values_are_told() -> None:
    t = np.arange(3.0)
    with pytest.raises(InputError, match="different lengths"):
        velocities(t, t, t[:2], 1.0, 1.0)
    with pytest.raises(InputError, match="must not go back"):
        velocities(t[::-1], t, t, 1.0, 1.0)
    with pytest.raises(OptionError, match="wanted rate"):
        velocities(t, t, t, 1.0, 0.0)
    with pytest.raises(OptionError, match="shorter than 7 samples"):
        window_samples(0.01, 125)
    with pytest.raises(OptionError, match="at least 1"):
        windows(np.ones((2, 3)), 2, 0)


def test_it_needs_nothing_but_numpy() -> None:
    code = (
        "import sys\n"
        "for name in ('polars', 'torch', 'rich', 'typer', 'cryptography', 'numba', 'scipy'): sys.modules[name] = None\n"
        "import gazeveil.lab.attacks.ekyt.windows"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
