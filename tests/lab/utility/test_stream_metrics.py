# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import InputError
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import Geometry, headset, normalised, screen
from gazeveil.lab.utility.streams import METRICS, Pair, VeilError, veil_error
from gazeveil.simulate import SimulatedStudy

SCREEN = screen(1000, 500, 400, 200, 600)
T = np.arange(200) / 100
CIRCLE = 500 + 200 * np.cos(3 * T), 250 + 200 * np.sin(3 * T)


def pair_of(veiled: tuple[np.ndarray, np.ndarray], plane: Geometry = SCREEN) -> Pair:
    return Pair.of(T, CIRCLE, veiled, plane)


@pytest.fixture(scope="module")
def real() -> Recording:
    return SimulatedStudy(observers=1, stimuli=1, sessions=1, tracker="remote", seconds=20, seed=5).recording(0, 0)


def test_an_unveiled_stream_has_no_error_at_all(real: Recording) -> None:
    told = veil_error(real, real)
    assert told.samples == real.tracked.sum()
    assert told.answered == 1
    for name in ("rmse_px", "rmse_deg", "saliency_kl", "lag_s", "fixation_count_error"):
        assert getattr(told, name) == pytest.approx(0, abs=1e-9)
    for name in ("aoi_precision", "aoi_recall", "aoi_f1", "saliency_cc", "lag_correlation"):
        assert getattr(told, name) == pytest.approx(1)
    assert told.jitter == told.raw_jitter > 0
    assert told.fixations == told.veiled_fixations > 10
    assert told.centre_rmse_px > 50
    assert list(told.to_dict()) == [field.name for field in fields(VeilError)]


def test_a_shift_is_an_error_of_its_own_length() -> None:
    pair = pair_of((CIRCLE[0] + 30, CIRCLE[1] - 40))
    assert METRICS["rmse_px"](pair) == pytest.approx(50)
    assert METRICS["centre_rmse_px"](pair) == pytest.approx(200)
    assert METRICS["jitter"](pair) == pytest.approx(METRICS["raw_jitter"](pair))
    assert METRICS["lag_s"](pair) == 0


def test_degrees_are_the_angle_between_the_lines_of_sight() -> None:
    ahead, aside = np.full(3, 0.0), np.array([179.0, -179.0, 90.0])
    pair = Pair.of(np.arange(3.0), (aside, ahead), (-aside, ahead), headset())
    assert METRICS["rmse_deg"](pair) == pytest.approx(math.sqrt((2**2 + 2**2 + 180**2) / 3))
    pole = Pair.of([0.0], ([0.0], [89.0]), ([180.0], [89.0]), headset())
    assert METRICS["rmse_deg"](pole) == pytest.approx(2)
    on_screen = Pair.of([0.0], ([500.0], [250.0]), ([1000.0], [250.0]), SCREEN)
    assert METRICS["rmse_deg"](on_screen) == pytest.approx(math.degrees(math.atan(200 / 600)))
    tiny = Pair.of([0.0], ([500.0], [250.0]), ([500.0 + 1e-9], [250.0]), SCREEN)
    assert METRICS["rmse_deg"](tiny) == pytest.approx(math.degrees(4e-10 / 600), rel=1e-3)


def test_degrees_are_also_right_for_corners_of_a_screen() -> None:
    pair = Pair.of([0.0], ([0.0], [0.0]), ([1000.0], [500.0]), SCREEN)
    half = math.atan(math.hypot(200, 100) / 600)
    assert METRICS["rmse_deg"](pair) == pytest.approx(math.degrees(2 * half))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 60))
def test_a_delay_is_found_exactly(late: int) -> None:
    noise = np.random.default_rng(late).standard_normal((2, 1100))
    raw, veiled = noise[:, 100:], noise[:, 100 - late : 1100 - late]
    pair = Pair.of(np.arange(1000) / 100, (raw[0], raw[1]), (veiled[0], veiled[1]), SCREEN)
    assert METRICS["lag_s"](pair) == pytest.approx(late / 100)
    assert METRICS["lag_correlation"](pair) == pytest.approx(1, abs=0.05)


def test_gaps_do_not_move_the_delay() -> None:
    noise = np.random.default_rng(1).standard_normal((2, 700))
    raw, veiled = noise[:, 100:].copy(), noise[:, 80:680].copy()
    raw[:, 150:300] = np.nan
    veiled[:, 400:410] = np.nan
    pair = Pair.of(np.arange(600) / 100, (raw[0], raw[1]), (veiled[0], veiled[1]), SCREEN)
    assert METRICS["lag_s"](pair) == pytest.approx(0.2)


def test_what_is_missing_is_not_compared_but_told() -> None:
    veiled_x, raw_x = CIRCLE[0] + 10, CIRCLE[0].copy()
    raw_x[:50] = np.nan
    veiled_x[40:100] = np.nan
    veiled_x[:40] = 9e9  # an answer where there is no truth is neither right nor wrong
    pair = Pair.of(T, (raw_x, CIRCLE[1]), (veiled_x, CIRCLE[1]), SCREEN)
    assert pair.both.sum() == 100
    assert pair.answered == pytest.approx(100 / 150)
    assert METRICS["rmse_px"](pair) == pytest.approx(10)


@pytest.mark.parametrize("name", METRICS.names())
def test_nothing_to_measure_is_nan_and_never_zero(name: str) -> None:
    nothing = np.full(len(T), np.nan)
    told = METRICS[name](pair_of((nothing, nothing)))
    assert math.isnan(told) or (name.endswith("fixations") and told == 0)
    empty = Pair.of([], ([], []), ([], []), SCREEN)
    assert math.isnan(METRICS[name](empty)) or name.endswith("fixations")


@pytest.mark.parametrize("name", METRICS.names())
def test_every_metric_gives_a_number_on_every_plane(name: str, real: Recording) -> None:
    for plane in (SCREEN, screen(1000, 500), normalised(), headset(), headset(60, 40)):
        told = METRICS[name](pair_of((CIRCLE[0] + 1, CIRCLE[1]), plane))
        assert isinstance(told, float)


def test_what_a_plane_does_not_know_is_nan() -> None:
    assert math.isnan(METRICS["rmse_deg"](pair_of(CIRCLE, screen(1000, 500))))
    assert math.isnan(METRICS["rmse_px"](pair_of(CIRCLE, headset(60, 40))))
    assert math.isnan(METRICS["saliency_cc"](pair_of(CIRCLE, headset())))
    assert math.isnan(METRICS["aoi_f1"](pair_of(CIRCLE, headset())))
    assert METRICS["saliency_cc"](pair_of(CIRCLE, screen(1000, 500))) == pytest.approx(1)


def test_always_the_centre_follows_nothing() -> None:
    still = pair_of((np.full(len(T), 500.0), np.full(len(T), 250.0)))
    assert math.isnan(METRICS["lag_s"](still))
    assert METRICS["jitter"](still) == 0
    assert METRICS["rmse_px"](still) == pytest.approx(METRICS["centre_rmse_px"](still))
    assert METRICS["saliency_cc"](still) < 0.2
    assert METRICS["aoi_f1"](still) < 0.1


def test_more_noise_is_worse_by_every_measure(real: Recording) -> None:
    rng = np.random.default_rng(3)
    noise = rng.standard_normal((2, len(real)))
    quiet, loud = (
        veil_error(real, replace(real, x=real.x + size * noise[0], y=real.y + size * noise[1])) for size in (5, 150)
    )
    for name in ("rmse_px", "rmse_deg", "jitter", "saliency_kl"):
        assert getattr(loud, name) > getattr(quiet, name)
    for name in ("aoi_f1", "aoi_precision", "aoi_recall", "saliency_cc", "lag_correlation"):
        assert getattr(loud, name) < getattr(quiet, name)
    assert loud.veiled_fixations < quiet.veiled_fixations
    assert loud.rmse_px == pytest.approx(150 * math.sqrt(2), rel=0.05)


def test_areas_may_be_given() -> None:
    areas = AreasOfInterest((Rectangle("left", 0, 0, 500, 500),), SCREEN)
    x = np.array([100.0, 100.0, 900.0, 900.0])
    veiled = np.array([100.0, 900.0, 900.0, 100.0])
    one, other = (Recording(np.arange(4.0), values, values / 2, SCREEN, "a") for values in (x, veiled))
    told = veil_error(one, other, areas)
    assert (told.aoi_precision, told.aoi_recall, told.aoi_f1) == (0.5, 0.5, 0.5)


def test_points_beyond_the_edge_count_at_the_edge_in_a_map() -> None:
    far = pair_of((CIRCLE[0] + 5000, CIRCLE[1]))
    assert METRICS["saliency_cc"](far) < 0.5
    assert METRICS["saliency_kl"](far) > 1


def test_streams_that_do_not_run_in_step_are_refused(real: Recording) -> None:
    with pytest.raises(InputError, match="in step"):
        veil_error(real, real.take(np.arange(10)))
    with pytest.raises(InputError, match="in step"):
        veil_error(real, replace(real, t=real.t + 1))
    with pytest.raises(InputError, match="two viewing planes"):
        veil_error(real, replace(real, geometry=SCREEN))


def test_a_veiled_stream_in_another_unit_of_the_same_plane_is_fine(real: Recording) -> None:
    assert veil_error(real, real.to("deg")).rmse_px == pytest.approx(0, abs=1e-6)


def test_steps_across_the_back_of_the_head_are_short() -> None:
    yaw = np.array([179.0, -179.0, 179.0])
    pair = Pair.of(np.arange(3) / 100, (yaw, yaw * 0), (yaw, yaw * 0), headset())
    assert METRICS["jitter"](pair) == pytest.approx(2)
