# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from gazeveil.arrays import FloatArray
from gazeveil.errors import OptionError
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.experiments.stream_errors import Run, Setting, StreamSet, measure, references, settings
from gazeveil.noise import NoiseSource
from gazeveil.samples.space import Space

PLANE = screen(1000, 800, 400, 320, 600)
RNG = np.random.default_rng(2)
LONG = RNG.uniform(100, 700, (2, 300))
SHORT = RNG.uniform(300, 500, (2, 100))
SHORT[:, 10:20] = np.nan
STREAMS = StreamSet(
    "tiny",
    "nowhere",
    tuple(Recording(np.arange(gaze.shape[1]) / 100, gaze[0], gaze[1], PLANE, "a") for gaze in (LONG, SHORT)),
)


def centre(space: Space, setting: Setting, rate: float) -> Run:
    """A stand-in that always says the centre."""

    def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full(len(x), space.centre[0]), np.full(len(x), space.centre[1])

    return run


def shifted(space: Space, setting: Setting, rate: float) -> Run:
    """A stand-in that is off by radius / ε, to the right or to the left by one bit of noise."""

    def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x + (1 if noise.bits(1) else -1) * setting.radius / setting.epsilon, y

    return run


def wide_or_narrow(space: Space, setting: Setting, rate: float) -> Run:
    """A stand-in that is off by 3 or by 4 pixels, by one bit of noise."""

    def run(noise: NoiseSource, t: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        return x + (3 if noise.bits(1) else 4), y

    return run


def test_the_settings_are_those_of_the_paper() -> None:
    assert len(settings()) == 48
    assert settings([1.0], [0.5, 2.0], [60.0]) == [Setting(60, 0.5, 1), Setting(60, 2, 1)]


def test_always_the_centre_has_the_error_of_its_reference() -> None:
    (point,) = measure([STREAMS], {"centre": centre}, settings([1.0], [1.0], [60.0]), repeats=2)
    gaze = np.concatenate([LONG, SHORT[:, 20:], SHORT[:, :10]], axis=1)
    by_hand = math.sqrt(np.mean((gaze[0] - 500) ** 2 + (gaze[1] - 400) ** 2))
    assert point.rmse == pytest.approx(by_hand)
    assert point.rmse == pytest.approx(point.centre)
    assert point.own_mean < point.centre
    assert point.repeat_se == 0
    assert math.isnan(point.cc)


def test_error_bars_over_recordings_are_those_of_clusters() -> None:
    (point,) = measure([STREAMS], {"centre": centre}, settings([1.0], [1.0], [60.0]), repeats=1)
    squares = [np.sum((x - 500) ** 2 + (y - 400) ** 2) for x, y in (LONG, SHORT[:, ~np.isnan(SHORT[0])])]
    counts, mean = np.array([300, 90]), sum(squares) / 390
    by_hand = math.sqrt(sum((np.array(squares) - counts * mean) ** 2)) / 390 / (2 * math.sqrt(mean))
    assert point.recording_se == pytest.approx(by_hand)
    assert math.isnan(point.repeat_se)


def test_every_setting_veil_and_set_has_its_point_with_its_own_error() -> None:
    told: list[tuple[float, float | None]] = []
    chosen = settings([1.0, 2.0], [1.0], [60.0, 300.0])
    points = measure(
        [STREAMS], {"shift": shifted, "centre": centre}, chosen, repeats=3,
        tell=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert [point.veil for point in points] == ["shift"] * 4 + ["centre"] * 4
    for point in points[:4]:
        assert point.rmse == pytest.approx(point.setting.radius / point.setting.epsilon)
        assert point.to_dict()["epsilon"] == point.setting.epsilon
    assert told == [(number, 4) for number in range(1, 5)]


def test_repeats_differ_in_their_noise_and_the_seed_decides_them() -> None:
    chosen = settings([1.0], [1.0], [60.0])
    (one,), (same,), (other,) = (
        measure([STREAMS], {"w": wide_or_narrow}, chosen, repeats=20, seed=seed) for seed in (1, 1, 2)
    )
    assert one == same or (one.rmse == same.rmse and one.repeat_se == same.repeat_se)
    assert one.rmse != other.rmse
    assert 3 < one.rmse < 4
    assert 0 < one.repeat_se < 0.5 / math.sqrt(20)


def test_maps_are_compared_on_demand() -> None:
    chosen = settings([1.0, 60.0], [1.0], [60.0])
    far, near = measure([STREAMS], {"shift": shifted}, chosen, repeats=2, maps=True)
    assert 0.9 < near.cc <= 1
    assert far.cc < near.cc
    assert far.cc_se > 0


def test_a_set_without_recordings_to_repeat_is_refused() -> None:
    with pytest.raises(OptionError, match="repeat"):
        measure([STREAMS], {"centre": centre}, settings(), repeats=0)
    assert references(STREAMS)[0] > 0
