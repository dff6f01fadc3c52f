# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.optimize import curve_fit, least_squares

from gazeveil import Recording, headset
from gazeveil.gaze import schema
from gazeveil.gaze.events import VelocityThreshold, main_sequence, main_sequence_by_observer


def saturating(amplitude: np.ndarray, eta: float, c: float) -> np.ndarray:
    return eta * (1 - np.exp(-amplitude / c))


def table(amplitude: np.ndarray, peak: np.ndarray, fixations: tuple[float, ...] = ()) -> pl.DataFrame:
    saccades = pl.DataFrame({"kind": "saccade", "amplitude": amplitude, "peak_velocity": peak})
    rests = pl.DataFrame({"offset": list(fixations)}, schema={"offset": pl.Float64}).with_columns(
        pl.lit("fixation").alias("kind"), pl.lit(0.0).alias("onset")
    )
    return pl.concat([schema.event_table(saccades), schema.event_table(rests)])


def test_on_perfect_saccades_the_parameters_come_back() -> None:
    amplitude = np.linspace(0.5, 20, 40)
    found = main_sequence(table(amplitude, saturating(amplitude, 520, 7.5), (0.2, 0.3, 0.5)))
    assert (found.eta, found.c, found.r2) == pytest.approx((520, 7.5, 1))
    assert (found.n, found.fixations) == (40, 3)
    assert found.median_fixation == pytest.approx(0.3)
    assert found.median_amplitude == pytest.approx(10.25)
    root = main_sequence(table(amplitude, 100 * np.sqrt(amplitude)))
    assert (root.gain, root.gain_r2) == pytest.approx((100, 1))


def test_on_noise_without_outliers_it_is_near_least_squares() -> None:
    rng = np.random.default_rng(4)
    amplitude = rng.gamma(1.5, 3.5, 400) + 0.3
    peak = saturating(amplitude, 480, 6) + rng.uniform(-1, 1, 400)  # bounded, so hardly any weight is cut
    found = main_sequence(table(amplitude, peak))
    (eta, c), _ = curve_fit(saturating, amplitude, peak, p0=(400, 5))
    assert (found.eta, found.c) == pytest.approx((eta, c), rel=2e-3)


def test_it_is_the_huber_estimate() -> None:
    rng = np.random.default_rng(5)
    amplitude = rng.gamma(1.5, 3.5, 300) + 0.3
    peak = saturating(amplitude, 480, 6) + rng.normal(0, 15, 300)
    found = main_sequence(table(amplitude, peak))
    residuals = peak - saturating(amplitude, found.eta, found.c)
    scale = 1.345 * 1.4826 * np.median(np.abs(residuals))
    best = least_squares(
        lambda p: peak - saturating(amplitude, *p), x0=(400, 5), loss="huber", f_scale=scale, xtol=1e-14, ftol=1e-14
    )
    assert (found.eta, found.c) == pytest.approx(tuple(best.x), rel=1e-4)


def test_outliers_move_it_little() -> None:
    rng = np.random.default_rng(6)
    amplitude = rng.gamma(1.5, 3.5, 400) + 0.3
    peak = saturating(amplitude, 480, 6) + rng.normal(0, 10, 400)
    wrong = rng.choice(400, 24, replace=False)
    peak[wrong] += rng.uniform(300, 900, 24)  # eyelids
    found = main_sequence(table(amplitude, peak))
    (eta, _), _ = curve_fit(saturating, amplitude, peak, p0=(400, 5))
    assert abs(found.eta - 480) < 15 < abs(eta - 480)


def test_saccades_too_small_to_bend_say_nothing_about_the_ceiling() -> None:
    amplitude = np.linspace(0.1, 0.5, 50)
    found = main_sequence(table(amplitude, 60 * amplitude))
    assert math.isnan(found.eta)
    assert math.isnan(found.c)
    assert found.r2 == pytest.approx(1)


@pytest.mark.parametrize("amplitude", [[], [5.0], [5.0, 5.0, 5.0, 5.0]])
def test_too_few_or_equal_saccades_give_no_fit(amplitude: list[float]) -> None:
    found = main_sequence(table(np.array(amplitude), 40 * np.array(amplitude)))
    assert found.n == len(amplitude)
    assert math.isnan(found.eta)
    assert math.isnan(found.median_fixation)


def test_saccades_without_a_measured_velocity_do_not_count() -> None:
    amplitude = np.array([1.0, 2, 3, 4, 0.0, math.inf])
    events = table(amplitude, np.array([50.0, math.nan, 120, math.inf, 10, 100]))
    assert main_sequence(events.with_columns(pl.col("peak_velocity").fill_nan(None))).n == 2
    assert main_sequence(events).n == 2


def test_an_observers_recordings_are_summarised_together() -> None:
    rng = np.random.default_rng(7)
    recordings = []
    for observer in ("ann", "bob", "ann"):
        x = np.repeat(rng.normal(0, 5, 8), 300)
        x = np.convolve(np.pad(x, 15, mode="edge"), np.ones(31) / 31, mode="valid")
        recordings.append(Recording(np.arange(len(x)) / 1000, x, 0 * x, headset(), observer))
    found = main_sequence_by_observer(recordings, VelocityThreshold())
    assert list(found) == ["ann", "bob"]
    tables = [VelocityThreshold().detect(recording) for recording in recordings]
    assert found["ann"] == main_sequence(pl.concat([tables[0], tables[2]]))
    assert found["ann"].n == 14
    assert found["bob"].to_dict()["n"] == 7
