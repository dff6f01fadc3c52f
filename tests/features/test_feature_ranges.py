# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Declared ranges: every feature has one with a reason, clipping is counted, scaling goes there and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import OptionError
from gazeveil.features.feature_list import NAMES, PUPIL_MM, declared_ranges
from gazeveil.features.ranges import Range, Ranges


@pytest.mark.parametrize("unit", ["deg", "norm"])
@pytest.mark.parametrize("window", [0.5, 5.0, 30.0, 300.0])
def test_every_feature_has_a_range_and_a_reason(unit: str, window: float) -> None:
    ranges = declared_ranges(window=window, unit=unit)
    assert ranges.names == NAMES
    assert all(item.why for _, item in ranges)


def test_counts_of_words_grow_with_the_window_and_rates_do_not() -> None:
    short, long = declared_ranges(window=10), declared_ranges(window=40)
    assert long["words4_distinct"].high == 4 * short["words4_distinct"].high
    assert long["fixation_duration_max"].high == 40
    assert long["fixations_per_s"] == short["fixations_per_s"]


def test_pupil_ranges_follow_the_trackers_unit() -> None:
    micrometres = declared_ranges(pupil_range=(1000 * PUPIL_MM[0], 1000 * PUPIL_MM[1]))
    assert micrometres["pupil_var_of_means"].high == pytest.approx(1e6 * declared_ranges()["pupil_var_of_means"].high)
    assert "pupil_mean_of_means" not in declared_ranges(pupil_range=None).names


def test_ranges_depend_on_public_numbers_only_and_survive_as_plain_values() -> None:
    ranges = declared_ranges()
    assert Ranges.from_dict(ranges.to_dict()) == ranges == declared_ranges()
    with pytest.raises(OptionError, match="no declared ranges"):
        Ranges.from_dict({"a": {"low": 1}})


@settings(max_examples=100, deadline=None)
@given(st.floats(0.01, 10), st.floats(1.01, 1e6), st.booleans(), st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_scaling_goes_there_and_back_and_stays_within(low: float, times: float, log: bool, values: list[float]) -> None:
    item = Range(low, low * times, log=log)
    shares = item.to_unit(values)
    assert ((shares >= 0) & (shares <= 1)).all()
    back = item.from_unit(shares)
    np.testing.assert_allclose(back, np.clip(values, item.low, item.high), rtol=1e-9, atol=1e-9)
    assert ((back >= item.low) & (back <= item.high)).all()


def test_clipped_values_are_counted_and_told_and_nan_is_neither() -> None:
    ranges = Ranges.of({"a": Range(0, 1), "b": Range(0.1, 10, log=True)})
    values = np.array([[0.5, 0.0], [2.0, 3.0], [np.nan, 20.0]])
    scaled, clipped = ranges.to_unit(values)
    assert dict(clipped.counts) == {"a": 1, "b": 2}
    assert clipped.total == 3
    assert "3 of 5 values (60.0%)" in str(clipped)
    assert "most in b (2)" in str(clipped)
    assert np.isnan(scaled[2, 0])
    assert scaled[:, 1].tolist() == [0.0, pytest.approx(np.log(30) / np.log(100)), 1.0]
    assert "none of 1 values" in str(ranges.only(["a"]).to_unit(values[:1, :1])[1])


@pytest.mark.parametrize(("low", "high", "log"), [(1, 1, False), (2, 1, False), (0, 1, True), (float("nan"), 1, False)])
def test_a_range_that_is_none_is_refused(low: float, high: float, log: bool) -> None:
    with pytest.raises(OptionError, match="a range needs"):
        Range(low, high, log=log)


def test_ranges_that_are_not_declared_are_refused() -> None:
    ranges = declared_ranges()
    with pytest.raises(OptionError, match="no range is declared"):
        _ = ranges["nonsense"]
    with pytest.raises(OptionError, match="do not fit"):
        ranges.to_unit(np.zeros((3, 2)))


def test_nonsense_public_numbers_are_refused() -> None:
    with pytest.raises(OptionError, match="not in pixels"):
        declared_ranges(unit="px")
    with pytest.raises(OptionError, match="more than 0 seconds"):
        declared_ranges(window=0)
