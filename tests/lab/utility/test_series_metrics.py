# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of series: ours is stable, the article's is not; correlation over time, and what it gives away."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.lab.utility.releases import (
    SERIES_METRICS,
    correlated_factor,
    correlation_over_time,
    nmse,
    range_error,
    utility,
)


def test_the_error_by_range_is_the_root_mean_square() -> None:
    assert range_error(np.zeros(4), np.array([0.1, -0.1, 0.1, -0.1])) == pytest.approx(0.1)
    assert range_error(np.ones((2, 3)), np.ones((2, 3))) == 0


def test_the_articles_error_and_utility_are_as_defined() -> None:
    true, released = np.array([1.0, 3.0]), np.array([2.0, 4.0])
    assert nmse(true, released) == pytest.approx(1.0 / (2.0 * 3.0))
    assert utility(true, released) == pytest.approx(6.0)
    assert utility(true, true) == float("inf")


def test_the_articles_error_has_no_bound_and_can_be_negative_where_ours_hardly_moves() -> None:
    """B8: two releases that are off by almost the same differ a thousandfold, and a third is below 0."""
    true = np.full(100, 0.5)
    noise = np.where(np.arange(100) % 2, 1.0, -1.0)
    far, near, below = (noise + mean for mean in (0.5, 0.0005, -0.1))
    assert nmse(true, near) / nmse(true, far) > 1000
    assert nmse(true, below) < 0
    assert np.isnan(nmse(true, noise - noise.mean()))
    assert range_error(true, near) / range_error(true, far) < 1.2
    assert range_error(true, below) > 0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_error_by_range_never_leaves_its_scale(pairs: list[tuple[float, float]]) -> None:
    true, released = np.array(pairs).T
    assert 0 <= range_error(true, released) <= 1


def test_series_of_other_shapes_or_without_values_are_refused() -> None:
    with pytest.raises(OptionError, match="cannot be compared"):
        range_error(np.zeros(3), np.zeros(4))
    with pytest.raises(OptionError, match="cannot be compared"):
        nmse(np.zeros(0), np.zeros(0))


class TestCorrelation:
    def test_it_is_one_where_it_begins_and_falls_with_a_walk(self) -> None:
        walks = np.random.default_rng(1).normal(size=(400, 60)).cumsum(axis=1)
        found = correlation_over_time(walks, since=4, until=50)
        assert found[0] == pytest.approx(1)
        assert len(found) == 51
        # a walk after t steps has seen t, so its correlation with step s is √(s/t)
        assert found[15] == pytest.approx(np.sqrt(5 / 20), abs=0.12)

    def test_a_step_on_which_all_people_agree_counts_as_uncorrelated(self) -> None:
        series = np.random.default_rng(2).normal(size=(10, 8))
        series[:, 6] = 3.0
        assert correlation_over_time(series)[2] == 0

    @pytest.mark.parametrize("shape", [(2, 20), (5, 4), (5,)])
    def test_too_few_people_or_steps_are_refused(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(OptionError, match="at least three series"):
            correlation_over_time(np.zeros(shape))


class TestFactor:
    def test_independent_steps_give_nothing_away(self) -> None:
        # lags of 5 a side over 200,000 pairs: each adds 2 · √(2/π)/√200000 by chance, in all 0.02
        series = np.random.default_rng(3).normal(size=(1000, 200))
        assert correlated_factor(series, most=5) == pytest.approx(1, abs=0.05)

    def test_a_constant_has_nothing_to_give_away(self) -> None:
        assert correlated_factor(np.ones((3, 20))) == 1

    def test_overlapping_windows_cost_about_as_much_as_they_overlap(self) -> None:
        raw = np.random.default_rng(4).normal(size=(200, 400))
        windows = np.lib.stride_tricks.sliding_window_view(raw, 20, axis=1).mean(axis=-1)
        # the correlation of a moving mean falls from 1 to 0 over 20 steps on either side: it sums to 20
        assert correlated_factor(windows, most=19) == pytest.approx(20, rel=0.1)
        assert correlated_factor(np.diff(windows, axis=1), most=15) < 2


@pytest.mark.parametrize("name", SERIES_METRICS.names())
def test_every_metric_of_series_is_zero_where_both_are_equal(name: str) -> None:
    true = np.linspace(0.1, 0.9, 20)
    assert SERIES_METRICS[name](true, true) == 0
    assert SERIES_METRICS[name](true, true + 0.1) > 0
