# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""The filter and its smoother against the exact answer: Gaussian conditioning on all points at once."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.samples import stream_kernels as gaze
from gazeveil.samples.gaze_model import EYES, choose_ticks, predicted_error

SIZE = (1280.0, 720.0)


def model(turn: float = 0.0) -> np.ndarray:
    numbers = np.zeros(gaze.MODEL_WIDTH)
    variances = EYES.variances(SIZE)
    numbers[gaze.VAR_U : gaze.VAR_U + 2], numbers[gaze.VAR_M : gaze.VAR_M + 2] = variances[:2], variances[2:]
    numbers[gaze.CENTRE : gaze.CENTRE + 2] = 640.0, 360.0
    numbers[gaze.HIGH : gaze.HIGH + 2] = SIZE
    numbers[[gaze.TAU, gaze.SLOW, gaze.TURN]] = EYES.settle * 1e6, EYES.drift * 1e6, turn
    return numbers


def covariance(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
    apart = np.abs(first[:, None] - second[None, :]) / 1e6
    variances = EYES.variances(SIZE)
    near, slow = np.exp(-apart / EYES.settle), np.exp(-apart / EYES.drift)
    return np.asarray(variances[axis] * near + variances[2 + axis] * slow)


def conditioned(times: np.ndarray, points: np.ndarray, noise: float, at: float) -> np.ndarray:
    """Return the mean of gaze at a time, given all noisy points."""
    where = []
    for axis, centre in enumerate((640.0, 360.0)):
        among = covariance(times, times, axis) + noise * np.eye(len(times))
        where.append(
            centre + (covariance(np.array([at]), times, axis) @ np.linalg.solve(among, points[:, axis] - centre))[0]
        )
    return np.array(where)


def filtered(times: np.ndarray, points: np.ndarray, noise: float, rows: int) -> tuple[np.ndarray, np.ndarray]:
    belief, past, constants = np.zeros(gaze.BELIEF_WIDTH), np.full((rows, gaze.TICK_WIDTH), -1.0), model()
    gaze.forget(belief, constants)
    before = times[0]
    for t, (x, y) in zip(times, points, strict=True):
        gaze.advance(belief, constants, t - before)
        gaze.learn(belief, constants, x, y, noise)
        gaze.remember(past, belief, constants, t)
        before = t
    return belief, past


def example(count: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return np.cumsum(rng.integers(20_000, 400_000, count)).astype(float), rng.uniform(-200, 1500, (count, 2))


def test_the_filter_is_exact_conditioning_on_the_past() -> None:
    times, points = example()
    belief, _ = filtered(times, points, 9e3, 1)
    for later in (0.0, 1e5, 7e6):
        expected = conditioned(times, points, 9e3, times[-1] + later)
        assert np.allclose(gaze.predicted(belief, model(), later), expected, rtol=0, atol=1e-7)


def test_the_smoother_is_exact_conditioning_on_past_and_future() -> None:
    times, points = example()
    _, past = filtered(times, points, 9e3, len(times) + 1)
    for at in (times[0] - 3e5, times[0], times[3] + 1e4, times[7] - 1.0, times[-1], times[-1] + 2e5):
        expected = conditioned(times, points, 9e3, at)
        assert np.allclose(gaze.looking_back(past, model(), at), expected, rtol=0, atol=1e-6)


def test_gaps_of_an_hour_and_points_at_one_time_leave_numbers() -> None:
    times, points = np.array([0.0, 0.0, 1.0, 3.6e9, 3.6e9 + 1]), np.tile([100.0, 700.0], (5, 1))
    belief, past = filtered(times, points, 1e-3, 5)
    for at in (0.0, 0.5, 1.8e9, 3.6e9 + 0.5):
        assert np.isfinite(gaze.looking_back(past, model(), at)).all()
    assert np.isfinite(belief).all()


def test_a_circle_is_crossed_the_short_way() -> None:
    belief, constants = np.zeros(gaze.BELIEF_WIDTH), model(turn=360.0)
    constants[gaze.CENTRE] = 0.0
    gaze.forget(belief, constants)
    gaze.learn(belief, constants, 179.0, 0.0, 1.0)
    gaze.learn(belief, constants, -179.0, 0.0, 1.0)
    assert abs(gaze.wrapped_difference(gaze.predicted(belief, constants, 0.0)[0] - 180.0, 360.0)) < 2.0


def test_the_number_of_ticks_is_that_of_the_study() -> None:
    table = {
        (60, 0.5): [1, 1, 2, 2, 3, 3],
        (60, 1.0): [1, 2, 2, 3, 3, 4],
        (60, 1.5): [1, 2, 3, 3, 4, 4],
        (60, 2.0): [1, 2, 3, 3, 4, 5],
    } | {(300, window): [1] * 6 for window in (0.5, 1.0, 1.5, 2.0)}
    for (radius, window), ticks in table.items():
        found = [choose_ticks(EYES, SIZE, radius / epsilon, window) for epsilon in (0.5, 1, 1.5, 2, 2.5, 3)]
        assert found == ticks


def test_the_expected_error_lies_between_perfect_and_ignorant() -> None:
    ignorant = sum(EYES.variances(SIZE))
    errors = [predicted_error(EYES, SIZE, scale, 0.25) for scale in (1e-3, 1.0, 60.0, 600.0, 1e6)]
    assert errors == sorted(errors)
    assert 0 < errors[0] < errors[-1] <= ignorant * (1 + 1e-9)
    assert errors[-1] == pytest.approx(ignorant, rel=1e-3)
