# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Bins: how far a change of raw gaze reaches, what they count, and the windows that follow from them."""

from __future__ import annotations

import dataclasses
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Recording, headset, normalised
from gazeveil.errors import InputError, OptionError
from gazeveil.features.bins import CHANNELS, BinRules, bin_ranges, extract_bins, windows_from_bins
from gazeveil.features.extraction import extract
from gazeveil.simulate import SimulatedStudy

TRACKERS = ("eyelink", "headset", "remote")


@cache
def recorded(tracker: str) -> Recording:
    return SimulatedStudy(1, 1, 1, tracker=tracker, seconds=30, seed=3).recording(0, 0)


def changed_bins(recording: Recording, other: Recording, rules: BinRules) -> np.ndarray:
    one, two = (extract_bins(item, rules=rules) for item in (recording, other))
    same = (one.values == two.values) | (np.isnan(one.values) & np.isnan(two.values))
    return np.flatnonzero(~same.all(axis=1))


@settings(max_examples=150, deadline=None)
@given(
    tracker=st.sampled_from(TRACKERS),
    start=st.floats(0, 29.9),
    seconds=st.sampled_from([0.0, 0.01, 0.2, 0.5, 2.0, 5.0]),
    seed=st.integers(0, 10_000),
    how=st.sampled_from(["noise", "still", "lost", "seen", "jump", "flicker"]),
    width=st.sampled_from([0.25, 0.5, 1.0]),
)
def test_a_changed_stretch_of_raw_gaze_changes_no_more_bins_than_stated(
    tracker: str, start: float, seconds: float, seed: int, how: str, width: float
) -> None:
    recording = recorded(tracker)
    rules = BinRules(width=width)
    rng = np.random.default_rng(seed)
    inside = (recording.t >= start) & (recording.t <= start + seconds)
    x, y, valid = recording.x.copy(), recording.y.copy(), recording.tracked.copy()
    assert recording.pupil is not None
    pupil = recording.pupil.copy()
    pupil[inside] = rng.uniform(0, 9, inside.sum())
    if how in {"noise", "seen", "flicker"}:
        x[inside], y[inside] = rng.uniform(0, 900, (2, inside.sum()))
        valid[inside] = True if how == "seen" else rng.random(inside.sum()) < 0.7
        if how == "seen":
            x[inside], y[inside] = 500.0, 400.0
    elif how == "still":
        x[inside], y[inside] = 100.0, 100.0
    elif how == "lost":
        valid[inside] = False
    else:
        x[inside] += 300.0
    other = dataclasses.replace(recording, x=x, y=y, valid=valid, pupil=pupil)
    changed = changed_bins(recording, other, rules)
    assert len(changed) <= rules.touched(seconds) <= math.floor((seconds + 2 * rules.reach) / width) + 2
    if len(changed):  # and nothing before the stretch changes, nor anything later than the reach
        origin = recording.t[0]
        assert changed[0] >= math.floor((start - origin) / width)
        assert changed[-1] <= math.floor((start + seconds + rules.reach - origin) / width)


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 1_000_000),
    steps=st.sampled_from([(0.005,), (0.004, 0.02, 0.049, 0.05, 0.0500005, 0.051), (0.01, 0.0499, 0.3)]),
    seconds=st.sampled_from([0.0, 0.1, 0.5]),
    width=st.sampled_from([0.1, 0.5]),
    min_fixation=st.sampled_from([0.05, 0.2]),
    max_blink=st.sampled_from([0.06, 0.3]),
)
def test_the_reach_holds_on_uneven_clocks_and_for_gaze_at_the_edge_of_every_rule(
    seed: int, steps: tuple[float, ...], seconds: float, width: float, min_fixation: float, max_blink: float
) -> None:
    rng = np.random.default_rng(seed)
    n = 200
    t = np.cumsum(rng.choice(steps, n))
    rules = BinRules(width=width, min_fixation=min_fixation, max_blink=max_blink)

    def anything() -> np.ndarray:
        place = np.where(rng.random(n) < rng.choice([0.02, 0.1, 0.5]), rng.choice([3.0, -3.0, 1.0], n), 0).cumsum()
        return np.where(rng.random(n) < rng.choice([0, 0.05, 0.4]), np.nan, place)

    start = rng.uniform(t[0], t[-1])
    inside = (t >= start) & (t <= start + seconds)
    x = anything()
    one, other = (Recording(t, item, np.zeros(n), headset(), "p1") for item in (x, np.where(inside, anything(), x)))
    changed = changed_bins(one, other, rules)
    assert len(changed) <= rules.touched(seconds)
    if len(changed):
        assert changed[0] >= math.floor((start - t[0]) / width)
        assert changed[-1] <= math.floor((start + seconds + rules.reach - t[0]) / width)


def test_the_window_features_do_reach_further_which_is_why_bins_exist() -> None:
    recording = recorded("eyelink")
    x = recording.x.copy()
    x[15_000:15_500] += 300
    one, two = (extract(item, window=10, step=0.5) for item in (recording, dataclasses.replace(recording, x=x)))
    assert (one.values != two.values).any(axis=1).sum() > BinRules().touched(0.5)


def test_the_reach_is_what_the_rules_add_up_to() -> None:
    rules = BinRules()
    assert rules.reach == pytest.approx(0.25, abs=1e-4)
    assert rules.touched(2.0) == 6
    assert BinRules(max_blink=0.4).reach == pytest.approx(0.4, abs=1e-4)
    assert BinRules(min_fixation=0.3).reach == pytest.approx(0.45, abs=1e-4)
    with pytest.raises(OptionError, match="from 0 seconds up"):
        rules.touched(-1)


def known() -> Recording:
    """Rests 1 s at 0, jumps 8 degrees right within 40 ms, rests 1 s, is lost for 0.15 s, rests again; 100 Hz."""
    x = np.concatenate((np.zeros(100), [2.0, 4.0, 6.0], np.full(100, 8.0), np.full(15, np.nan), np.full(82, 8.0)))
    t = np.arange(len(x)) / 100
    return Recording(t, x, np.full(len(x), 1.0), headset(), "p1", pupil=np.full(len(x), 3.0), rate_hz=100)


def test_known_gaze_is_counted_as_it_is() -> None:
    bins = extract_bins(known())
    found = dict(zip(CHANNELS, bins.values.T, strict=True))
    assert len(bins) == 6
    assert found["fixations"].tolist() == [1, 0, 1, 0, 1, 0]  # the last begins at 2.18 s and counts 0.1 s later
    assert found["saccades"].sum() == 1
    assert found["right_saccades"].tolist() == [0, 0, 1, 0, 0, 0]
    assert found["saccade_path"].sum() == pytest.approx(8, rel=0.01)
    assert found["blinks"].tolist() == [0, 0, 0, 0, 1, 0]
    assert found["fixation_s"].sum() == pytest.approx(0.97 + 0.97 + 0.79, abs=0.02)
    assert found["x"][0] == 0
    assert found["x"][-1] == 8
    assert (found["pupil"] == 3).all()
    assert found["seen"].tolist() == pytest.approx([1, 1, 1, 1, 0.7, 1])


def test_windows_derived_from_bins_have_means_rates_and_quotients_of_sums() -> None:
    bins = extract_bins(known())
    window = windows_from_bins(bins, 3.0)
    row = dict(zip(window.names, window.values[0], strict=True))
    assert len(window) == 1
    assert row["saccades_per_s"] == pytest.approx(1 / 3)
    assert row["amplitude_mean"] == pytest.approx(8, rel=0.01)
    assert row["right_share"] == 1
    assert row["fixation_duration_mean"] == pytest.approx(bins.values[:, 9].sum() / 3)
    assert row["blinks_per_s"] == pytest.approx(1 / 3)
    assert row["pupil_mean"] == 3
    quiet = windows_from_bins(bins, 1.0)
    assert np.isnan(quiet.values[0, quiet.names.index("amplitude_mean")])


def test_bins_count_what_the_eye_really_did() -> None:
    recording = recorded("eyelink")
    true = dict(recording.events["kind"].value_counts().iter_rows())
    sums = dict(zip(CHANNELS, np.nansum(extract_bins(recording).values, axis=0), strict=True))
    assert sums["saccades"] == pytest.approx(true["saccade"], rel=0.15)
    assert sums["fixations"] == pytest.approx(true["fixation"], rel=0.25)  # 0.1 s and longer only
    assert sums["blinks"] == pytest.approx(true["blink"], rel=0.35)  # up to 0.25 s only


def test_a_bin_without_gaze_has_no_place_and_no_events() -> None:
    t = np.arange(300) / 100
    x = np.where((t >= 1) & (t < 2), np.nan, 0.0)
    bins = extract_bins(Recording(t, x, x, headset(), "p1"))
    assert np.isnan(bins.values[2:4, :3]).all()
    assert (bins.values[2:4, 3:] == 0).all()
    assert bins.rows["usable"].to_list() == [True, True, False, False, True, True]
    window = windows_from_bins(bins, 3.0)
    assert window.values[0, 0] == 0
    assert np.isnan(window.values[0, 2])


def test_every_channel_has_a_range_and_simulated_gaze_rarely_leaves_it() -> None:
    for recording in map(recorded, TRACKERS):
        bins = extract_bins(recording)
        pupil = (1.5, 9.0) if recording.pupil_unit == "mm" else (1500.0, 9000.0)
        ranges = bin_ranges(BinRules(), pupil, recording.geometry)
        assert ranges.names == CHANNELS
        _, clipped = ranges.to_unit(bins.values)
        assert clipped.total < 0.02 * clipped.values
    assert "pupil" not in bin_ranges(BinRules(), None).names


def test_planes_of_unknown_size_have_bins_in_fractions() -> None:
    t = np.arange(200) / 100
    bins = extract_bins(Recording(t, np.full(200, 0.5), np.full(200, 0.5), normalised(), "p1"))
    assert bins.info.unit == "norm"
    assert bins.values[:, 0].tolist() == [0.5] * 4


def test_bad_input_is_told() -> None:
    with pytest.raises(InputError, match="shorter than a window"):
        extract_bins(known().take(np.arange(20)))
    with pytest.raises(InputError, match="table of bins"):
        windows_from_bins(extract(recorded("remote")))
    bins = extract_bins(known())
    with pytest.raises(OptionError, match="whole number of bins"):
        windows_from_bins(bins, 0.7)
    with pytest.raises(InputError, match="fewer than a window"):
        windows_from_bins(bins, 30.0)
    for wrong in ({"width": 0}, {"threshold": math.nan}, {"velocity_span": 0.06}, {"unit": "px"}):
        with pytest.raises(OptionError):
            BinRules(**wrong)
