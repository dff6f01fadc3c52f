# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals cover as often as they say, on simulated people and real noise.

Each test of coverage allows as many misses as a coin with the stated chance shows, except with a chance of 10^-6.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, gamma

from gazeveil import NoiseSource
from gazeveil.aggregate.aoi.noisy_means import Difference, Law, Noise, NoisyMean, gamma_difference_quantile
from gazeveil.aggregate.aoi.statistics import UNIT

FloatArray = NDArray[np.float64]

TRIALS = 2000
CONFIDENCE = 0.95
MOST_MISSES = int(binom.ppf(1 - 1e-6, TRIALS, 1 - CONFIDENCE))
FEWEST_MISSES = int(binom.ppf(1e-6, TRIALS, 1 - CONFIDENCE))

NOISES = [
    Noise(Law.GAUSSIAN, 3.0 * UNIT, 4),
    Noise(Law.LAPLACE, 2.0 * UNIT, 4),
    Noise(Law.RADIAL, 1.4 * UNIT, 3),
    Noise(Law.RADIAL, 1.4 * UNIT, 6),
    Noise(Law.GAUSSIAN, 0.01 * UNIT, 1),
]
PEOPLE = {
    "rare": (0.03, lambda rng, shape: (rng.random(shape) < 0.03).astype(float)),
    "coins": (0.5, lambda rng, shape: (rng.random(shape) < 0.5).astype(float)),
    "shares": (0.25, lambda rng, shape: rng.beta(1, 3, shape)),
    "common": (0.97, lambda rng, shape: (rng.random(shape) < 0.97).astype(float)),
}


def noisy(kind: str, people: int, noise: Noise, seed: int, wider: float = 1.0) -> tuple[NoisyMean, FloatArray, float]:
    """Many releases of one number: what was released, the truth of each study, and the truth of the population."""
    truth, draw = PEOPLE[kind]
    values = np.floor(draw(np.random.default_rng(seed), (TRIALS, people)) * UNIT).astype(np.int64)
    total = values.sum(axis=1)
    added = noise.add(np.zeros((TRIALS, noise.dimensions), dtype=np.int64), NoiseSource.seeded(seed))[:, 0]
    mean = (total + wider * added) / (people * UNIT)
    return NoisyMean(mean, people, UNIT, 1 / UNIT, noise), total / (people * UNIT), truth


def misses(interval: tuple[FloatArray, FloatArray], truth: FloatArray | float) -> int:
    low, high = interval
    return int(np.count_nonzero((truth < low) | (truth > high)))


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.law}-{noise.dimensions}-{noise.scale / UNIT:g}")
@pytest.mark.parametrize("people", [2, 15, 120])
@pytest.mark.parametrize("kind", PEOPLE)
def test_intervals_cover(kind: str, people: int, noise: Noise) -> None:
    released, study, population = noisy(kind, people, noise, seed=people)
    assert misses(released.in_study(CONFIDENCE), study) <= MOST_MISSES
    assert misses(released.in_population(CONFIDENCE), population) <= MOST_MISSES


@pytest.mark.parametrize("noise", NOISES[:3], ids=lambda noise: noise.law)
def test_intervals_about_the_study_are_no_wider_than_they_must(noise: Noise) -> None:
    released, study, _ = noisy("coins", 120, noise, seed=1)
    assert misses(released.in_study(CONFIDENCE), study) >= FEWEST_MISSES


@pytest.mark.parametrize("noise", NOISES[:4], ids=lambda noise: f"{noise.law}-{noise.dimensions}")
def test_noise_that_is_larger_than_stated_would_be_noticed(noise: Noise) -> None:
    released, study, _ = noisy("coins", 120, noise, seed=2, wider=1.5)
    assert misses(released.in_study(CONFIDENCE), study) > MOST_MISSES


def test_an_interval_that_forgets_the_sampling_would_be_noticed() -> None:
    released, _, population = noisy("coins", 15, NOISES[-1], seed=3)
    assert misses(released.in_study(CONFIDENCE), population) > MOST_MISSES


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: f"{noise.law}-{noise.dimensions}-{noise.scale / UNIT:g}")
@pytest.mark.parametrize(("first", "second"), [(15, 15), (10, 90)])
def test_intervals_of_differences_cover(first: int, second: int, noise: Noise) -> None:
    one, one_study, one_truth = noisy("coins", first, noise, seed=5)
    other, other_study, other_truth = noisy("shares", second, noise, seed=6)
    difference = Difference(one, other)
    assert misses(difference.in_study(CONFIDENCE), one_study - other_study) <= MOST_MISSES
    assert misses(difference.in_population(CONFIDENCE), one_truth - other_truth) <= MOST_MISSES


def test_differences_of_the_study_are_no_wider_than_they_must() -> None:
    for noise in NOISES[:3]:
        one, one_study, _ = noisy("coins", 40, noise, seed=7)
        other, other_study, _ = noisy("coins", 40, noise, seed=8)
        assert misses(Difference(one, other).in_study(CONFIDENCE), one_study - other_study) >= FEWEST_MISSES


def test_groups_that_do_not_differ_are_seldom_called_different() -> None:
    one, _, _ = noisy("coins", 40, NOISES[0], seed=9)
    other, _, _ = noisy("coins", 40, NOISES[0], seed=10)
    low, high = Difference(one, other).in_population(CONFIDENCE)
    assert np.count_nonzero((low > 0) | (high < 0)) <= MOST_MISSES


def test_with_many_people_intervals_become_narrow() -> None:
    widths = []
    for people in (100, 10_000, 1_000_000):
        low, high = NoisyMean(np.array([0.25]), people, UNIT, 1 / UNIT, NOISES[0]).in_population(CONFIDENCE)
        assert low[0] < 0.25 < high[0]
        widths.append(float(high[0] - low[0]))
    assert widths[1] < 0.025
    assert widths[2] < 0.0025
    # Chernoff's price over a normal approximation with the variance of coins is at most √(2 ln 40) / 1.96
    assert widths[2] / (2 * 1.96 * math.sqrt(0.25 * 0.75 / 1_000_000)) < 1.39


def test_the_tail_of_radial_noise_is_that_of_a_difference_of_gammas() -> None:
    assert gamma_difference_quantile(0.025, 1) == pytest.approx(-math.log(0.05))
    for shape in (2, 3, 7):
        far = gamma_difference_quantile(0.01, shape)
        grid = np.linspace(0, 60, 60_001)
        tail = np.trapezoid(gamma.pdf(grid, shape) * gamma.sf(grid + far, shape), grid)
        assert tail == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("noise", NOISES[:4], ids=lambda noise: f"{noise.law}-{noise.dimensions}")
def test_the_moment_generating_function_is_that_of_the_noise(noise: Noise) -> None:
    """Means of exp(s z) over 200,000 draws, within 5 standard errors: a false alarm below one in 10^6."""
    drawn = noise.add(np.zeros((200_000, noise.dimensions), dtype=np.int64), NoiseSource.seeded(11))[:, 0]
    slope = 0.35 / noise.scale
    values = np.exp(slope * drawn)
    error = values.std() / math.sqrt(len(values))
    assert values.mean() == pytest.approx(math.exp(noise.log_mgf(np.array([slope]))[0]), abs=5 * error)
