# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Shares that a picture helps with: closer where it is right, not far off where it is wrong, with true intervals."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil import screen
from gazeveil.aggregate.aoi.tables import expected_error, expected_shares, with_picture
from gazeveil.aggregate.saliency import Saliency
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle

PLANE = screen(1200, 800, 480, 320, 600)
AREAS = AreasOfInterest((Rectangle("left", 0, 0, 400, 800), Rectangle("middle", 400, 0, 800, 800)), PLANE)
LIKELY = np.ones((8, 12))
LIKELY[:, 4:8] = 6.0
PICTURE = Saliency.of_map(LIKELY)
NOISE_SD = 0.3
DRAWS = 2_000


def shares_of(truth: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the noisy shares, those that the picture helped with, and their standard deviations, of many releases."""
    noisy = truth + NOISE_SD * np.random.default_rng(1).normal(size=(DRAWS, 2))
    made = [with_picture(each, NOISE_SD, AREAS, PLANE, PICTURE) for each in noisy]
    return noisy, np.array([each.share for each in made]), np.array([each.sd for each in made])


def test_a_right_picture_makes_shares_closer_by_as_much_as_is_expected() -> None:
    expected, _ = expected_shares(AREAS, PLANE, PICTURE)
    rng = np.random.default_rng(2)
    truth = expected + np.sqrt(0.03 * expected) * rng.normal(size=(DRAWS, 2))  # the middle one of three spreads
    noisy, helped, sd = shares_of(truth)
    errors = helped - np.clip(truth, 0, 1)
    assert np.sqrt(np.mean(errors**2)) < 0.6 * np.sqrt(np.mean((noisy - truth) ** 2))
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(expected_error(NOISE_SD, AREAS, PLANE, PICTURE), rel=0.25)
    assert np.mean(np.abs(errors) <= 1.96 * sd) > 0.9
    assert ((helped >= 0) & (helped <= 1)).all()
    assert np.mean(helped[:, 0] < helped[:, 1]) > 0.85  # the middle draws gaze, and noise seldom hides it


@pytest.mark.parametrize("noise_sd", [0.05, 0.1, 0.3, 1.0])
def test_intervals_are_narrower_as_a_rule_and_where_noise_makes_guesses_differ_a_little_wider(noise_sd: float) -> None:
    """Width is a ratio to the noise alone."""
    noisy = np.array([0.2, 0.6]) + noise_sd * np.random.default_rng(3).normal(size=(DRAWS, 2))
    wide = np.array([with_picture(each, noise_sd, AREAS, PLANE, PICTURE).sd for each in noisy]) / noise_sd
    assert np.median(wide) < 1
    assert wide.max() < 1.25


def test_a_wrong_picture_is_given_up_where_noise_is_small() -> None:
    truth = np.array([0.9, 0.05])
    made = with_picture(truth, 0.02, AREAS, PLANE, PICTURE)
    assert made.share == pytest.approx(truth, abs=0.02)
    assert made.picture_share < 0.5
