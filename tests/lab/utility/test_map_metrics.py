# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gazeveil.arrays import FloatArray
from gazeveil.errors import InputError, OptionError
from gazeveil.lab.utility.releases import (
    MAP_METRICS,
    Spread,
    correlation,
    divergence,
    hot_spot_hits,
    hot_spots,
    mean_squared_error,
    residual_correlation,
)


def maps(seed: int, shape: tuple[int, int] = (12, 16)) -> tuple[FloatArray, FloatArray, FloatArray]:
    one, other, prior = np.random.default_rng(seed).gamma(2.0, size=(3, *shape))
    return one, other, prior


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-50, 50))
def test_correlation_is_pearsons_and_blind_to_scale_and_shift(seed: int, scale: float, shift: float) -> None:
    one, other, _ = maps(seed)
    expected = stats.pearsonr(one.ravel(), other.ravel()).statistic
    assert correlation(one, other) == pytest.approx(expected, abs=1e-10)
    assert correlation(one * scale + shift, other) == pytest.approx(expected, abs=1e-9)
    assert correlation(one, one) == pytest.approx(1)
    assert correlation(one, -one) == pytest.approx(-1)


def test_a_flat_map_correlates_with_nothing() -> None:
    one, _, _ = maps(1)
    assert correlation(np.full_like(one, 0.1), one) == 0
    assert correlation(one, np.zeros_like(one)) == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_goes_beyond_the_prior_is_the_partial_correlation(seed: int) -> None:
    one, other, prior = maps(seed)
    a, b, c = correlation(one, other), correlation(one, prior), correlation(other, prior)
    expected = (a - b * c) / math.sqrt((1 - b * b) * (1 - c * c))
    assert residual_correlation(one, other, prior) == pytest.approx(expected, abs=1e-9)


def test_an_estimate_that_is_the_prior_adds_nothing_to_it() -> None:
    truth, _, prior = maps(2)
    assert residual_correlation(3 * prior + 1, truth + 5 * prior, prior) == 0
    assert correlation(3 * prior + 1, truth + 5 * prior) > 0.9
    assert residual_correlation(truth, truth, prior) == pytest.approx(1)
    flat = np.ones_like(truth)
    assert residual_correlation(truth, prior, flat) == pytest.approx(correlation(truth, prior))


def test_the_squared_error_is_that_of_the_maps_as_they_are() -> None:
    assert mean_squared_error([[1.0, 2.0]], [[0.0, 4.0]]) == 2.5


def test_divergence_is_that_of_distributions() -> None:
    one, other, _ = maps(3)
    expected = stats.entropy(other.ravel(), one.ravel())
    assert divergence(one, other) == pytest.approx(expected)
    assert divergence(7 * one, 3 * other) == pytest.approx(expected)
    assert divergence(other, other) == pytest.approx(0, abs=1e-12)
    assert math.isnan(divergence(-one, other))


def test_what_the_estimate_did_not_see_costs_much_but_not_everything() -> None:
    cost = divergence([[1.0, -1.0]], [[1.0, 1.0]])
    assert cost == pytest.approx(0.5 * math.log(0.5) + 0.5 * math.log(0.5 * 2**52))


def peaks(places: list[tuple[int, int, float]], shape: tuple[int, int] = (24, 32)) -> FloatArray:
    y, x = np.mgrid[: shape[0], : shape[1]]
    return np.asarray(sum(h * np.exp(-((y - a) ** 2 + (x - b) ** 2) / 4) for a, b, h in places))


def test_hot_spots_are_found_highest_first() -> None:
    heat = peaks([(4, 5, 1.0), (12, 20, 3.0), (20, 8, 2.0), (2, 28, 0.5)])
    assert hot_spots(heat) == [(12, 20), (20, 8), (4, 5)]
    assert hot_spots(heat, count=1) == [(12, 20)]
    assert hot_spots(np.ones((5, 5))) == []


def test_a_peak_near_a_higher_one_does_not_count() -> None:
    heat = np.zeros((9, 9))
    heat[4, 4], heat[4, 6], heat[8, 8] = 3, 2, 1
    assert hot_spots(heat, radius=2) == [(4, 4), (8, 8)]
    assert hot_spots(heat, radius=1) == [(4, 4), (4, 6), (8, 8)]


def test_hits_are_the_share_of_true_hot_spots_that_were_found() -> None:
    truth = peaks([(4, 5, 1.0), (12, 20, 3.0), (20, 8, 2.0)])
    near = peaks([(5, 6, 1.0), (12, 19, 1.0), (2, 28, 1.0)])
    assert hot_spot_hits(near, truth) == pytest.approx(2 / 3)
    assert hot_spot_hits(truth, truth) == 1
    assert hot_spot_hits(-truth, truth, radius=0) == 0
    assert math.isnan(hot_spot_hits(truth, np.ones_like(truth)))


def test_repeats_have_a_mean_and_a_standard_deviation() -> None:
    told = Spread.of(iter([1.0, 2.0, 4.0]))
    assert told.mean == pytest.approx(7 / 3)
    assert told.repeats == 3
    assert told.sd == pytest.approx(np.std([1, 2, 4], ddof=1))
    assert math.isnan(Spread.of([1.0]).sd)
    with pytest.raises(InputError, match="no repeats"):
        Spread.of([])


def test_maps_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(InputError, match="same size"):
        correlation(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(InputError, match="same size"):
        mean_squared_error([], [])
    with pytest.raises(InputError, match="finite"):
        divergence([[math.nan]], [[1.0]])
    with pytest.raises(OptionError, match="rows and columns"):
        hot_spots(np.ones(3))


@pytest.mark.parametrize("name", MAP_METRICS.names())
def test_every_metric_of_maps_has_its_best_value_where_both_are_equal(name: str) -> None:
    one, other, _ = maps(1)
    best = MAP_METRICS[name](one, one)
    assert best == pytest.approx(0, abs=1e-12) or best == pytest.approx(1)
    assert MAP_METRICS[name](other, one) != pytest.approx(best)
