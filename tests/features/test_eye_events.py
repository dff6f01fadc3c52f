# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Fixations, saccades and blinks of the features, on gaze whose events are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil import Recording, headset, normalised, screen
from gazeveil.errors import InputError, OptionError
from gazeveil.features.extraction import EventRules, find_events
from gazeveil.gaze.events import find_gaps
from gazeveil.geometry import Unit
from gazeveil.simulate import SimulatedStudy

DEGREES = EventRules.in_degrees()


def gaze(places: list[tuple[float, float, float]], rate: float = 100.0, **more: Any) -> Recording:
    """Rest at each (x, y) for some seconds; gaze jumps between two samples."""
    counts = [round(seconds * rate) for _, _, seconds in places]
    x = np.repeat([place[0] for place in places], counts)
    y = np.repeat([place[1] for place in places], counts)
    return Recording(np.arange(len(x)) / rate, x, y, headset(), "p1", **more)


def test_rests_are_fixations_and_jumps_are_saccades() -> None:
    events = find_events(gaze([(0, 0, 0.5), (5, 0, 0.3), (5, -3, 0.4)]), DEGREES)
    np.testing.assert_allclose(events.fixations[0], [0, 0.5, 0.8])
    np.testing.assert_allclose(events.fixations[1], [0.49, 0.79, 1.19])
    np.testing.assert_allclose(events.fixations[2:4], [[0, 5, 5], [0, 0, -3]])
    np.testing.assert_allclose(events.saccades[0], [0.49, 0.79])
    np.testing.assert_allclose(events.saccades[1:4], [[5, 0], [0, -3], [5, 3]])
    np.testing.assert_allclose(events.saccades[4], [250, 150])  # over 20 ms


def test_a_short_rest_is_no_fixation_and_a_long_way_no_saccade() -> None:
    events = find_events(gaze([(0, 0, 0.5), (9, 0, 0.08), (0, 9, 0.5)]), DEGREES)
    assert events.fixations.shape[1] == 2
    assert events.saccades[1:3, 0].tolist() == [0, 9]  # 0.09 s lie between the two fixations
    slow = find_events(gaze([(0, 0, 0.5), (9, 0, 0.08), (18, 0, 0.08), (0, 9, 0.5)]), DEGREES)
    assert slow.saccades.shape[1] == 0


def test_what_happens_within_a_fixation_is_measured() -> None:
    rng = np.random.default_rng(1)
    x, y = 0.2 * rng.standard_normal((2, 60))
    pupil = 3 + 0.1 * rng.standard_normal(60)
    recording = Recording(np.arange(60) / 60, x, y, headset(), "p1", pupil=pupil)
    fixation = find_events(recording, DEGREES).fixations[:, 0]
    np.testing.assert_allclose(fixation[2:], [x.mean(), y.mean(), x.var(), y.var(), pupil.mean(), pupil.var()])


def test_a_fixation_survives_some_lost_samples_but_not_a_long_loss() -> None:
    whole = gaze([(0, 0, 1.0)])
    x = whole.x.copy()
    x[30:38] = np.nan
    kept = find_events(Recording(whole.t, x, whole.y, headset(), "p1"), DEGREES)
    np.testing.assert_allclose(kept.fixations[:2, 0], [0, 0.99])
    x[30:45] = np.nan
    cut = find_events(Recording(whole.t, x, whole.y, headset(), "p1"), DEGREES)
    np.testing.assert_allclose(cut.fixations[0], [0, 0.45])
    assert cut.saccades.shape[1] == 0


def test_a_fixation_mostly_lost_is_none() -> None:
    whole = gaze([(0, 0, 1.0)])
    x = np.where(np.arange(100) % 3 == 0, whole.x, np.nan)
    assert find_events(Recording(whole.t, x, whole.y, headset(), "p1"), DEGREES).fixations.shape[1] == 0


def test_gaze_far_off_the_plane_is_an_error_and_just_beyond_is_not() -> None:
    x = np.array([100.0, -900.0, 2800.0, 3000.0, -1000.0, np.nan])
    recording = Recording(np.arange(6) / 30, x, np.full(6, 500.0), screen(1920, 1080, 518, 291, 600), "p1")
    for rules in (DEGREES, EventRules.in_fractions()):
        assert find_events(recording, rules).errors.tolist() == [False, False, False, True, True, True]


def test_blinks_are_losses_of_gaze_or_pupil_that_last_as_long_as_one() -> None:
    n = 400
    x, pupil = np.zeros(n), np.full(n, 3.0)
    x[50:65] = np.nan
    pupil[100:120] = 0
    pupil[200:201] = np.nan  # too short
    x[250:340] = np.nan  # too long
    x[395:] = np.nan  # never ends
    recording = Recording(np.arange(n) / 100, x, np.zeros(n), headset(), "p1", pupil=pupil)
    events = find_events(recording, DEGREES)
    np.testing.assert_allclose(events.blinks, [[0.5, 1.0], [0.15, 0.2]])
    ours = find_gaps(recording).filter(pl.col("kind") == "blink")
    np.testing.assert_allclose(events.blinks[0], ours["onset"].to_numpy())


def test_a_pupil_that_was_never_seen_makes_no_blinks_and_no_pupil_features() -> None:
    recording = gaze([(0, 0, 1.0)], pupil=np.full(100, np.nan))
    events = find_events(recording, DEGREES)
    assert events.blinks.shape[1] == 0
    assert np.isnan(events.fixations[6:]).all()


def test_true_saccades_of_a_simulated_observer_are_mostly_found() -> None:
    recording = SimulatedStudy(1, 1, 1, tracker="eyelink", seconds=60).recording(0, 0)
    true = recording.events.filter((pl.col("kind") == "saccade") & (pl.col("amplitude") > 2))
    found = find_events(recording, DEGREES).saccades
    near = [np.abs(found[0] - onset).min() < 0.03 for onset in true["onset"].to_list()]
    assert np.mean(near) > 0.8


def test_time_that_goes_backwards_is_refused_and_unknown_times_are_left_out() -> None:
    t = np.arange(50) / 100
    with pytest.raises(InputError, match="backwards 1 times"):
        find_events(Recording(np.concatenate((t, t)), np.zeros(100), np.zeros(100), headset(), "p1"), DEGREES)
    t[10] = np.nan
    events = find_events(Recording(t, np.zeros(50), np.zeros(50), headset(), "p1"), DEGREES)
    assert len(events.t) == 49


def test_rules_follow_what_the_geometry_knows() -> None:
    recording = gaze([(0.5, 0.5, 1.0)])
    assert EventRules.for_(recording).unit is Unit.DEGREE
    plain = Recording(recording.t, recording.x, recording.y, normalised(), "p1")
    assert EventRules.for_(plain) == EventRules.in_fractions()
    with pytest.raises(OptionError, match="not in pixels"):
        EventRules(Unit.PIXEL, 1, 1)
    with pytest.raises(OptionError, match="radius"):
        EventRules(Unit.DEGREE, -1, 1)
    with pytest.raises(OptionError, match="above 0"):
        EventRules(Unit.DEGREE, 0, 1)


def plainly(recording: Recording, rules: EventRules) -> tuple[list[list[float]], list[list[float]]]:
    """Fixations and saccades from whole lists of samples, recomputed from the beginning at every step."""
    t, x, y = recording.t, recording.x, recording.y
    good = [i for i in range(len(t)) if np.isfinite(x[i])]
    runs: list[list[int]] = []
    for i in good:
        if runs:
            run = runs[-1]
            near = np.hypot(x[i] - x[run].mean(), y[i] - y[run].mean()) <= rules.radius
            if near and t[i] - t[run[-1]] <= rules.max_gap + 1e-6:
                run.append(i)
                continue
        runs.append([i])
    rests = [
        run
        for run in runs
        if t[run[-1]] - t[run[0]] >= rules.min_fixation - 1e-6 and 2 * len(run) > run[-1] - run[0] + 1
    ]
    fixations = [[t[r[0]], t[r[-1]], x[r].mean(), y[r].mean(), x[r].var(), y[r].var()] for r in rests]
    saccades = []
    for (one, before), (two, after) in zip(
        zip(rests, fixations, strict=True), list(zip(rests, fixations, strict=True))[1:], strict=False
    ):
        between = np.arange(one[-1], two[0] + 1)
        across, down = after[2] - before[2], after[3] - before[3]
        seen = np.isfinite(x[between])
        if t[two[0]] - t[one[-1]] > rules.max_saccade + 1e-6 or 2 * (~seen).sum() >= len(between):
            continue
        speeds = []
        for i in between[1:][seen[1:]]:
            j = max(k for k in good if t[i] - t[k] >= rules.velocity_span or k == good[0])
            speeds.append(np.hypot(x[i] - x[j], y[i] - y[j]) / (t[i] - t[j]))
        amplitude = np.hypot(across, down)
        if amplitude >= rules.min_amplitude_radii * rules.radius and max(speeds) >= rules.min_velocity:
            saccades.append([t[one[-1]], across, down, amplitude, max(speeds)])
    return fixations, saccades


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 100_000), lost=st.sampled_from([0.0, 0.1, 0.3, 0.6]), rate=st.sampled_from([30.0, 50.0, 120.0])
)
def test_one_pass_finds_what_a_plain_search_finds(seed: int, lost: float, rate: float) -> None:
    rng = np.random.default_rng(seed)
    n = 250
    jumps = np.where(rng.random((2, n)) < 0.06, rng.normal(0, 3, (2, n)), 0).cumsum(axis=1)
    x, y = jumps + rng.normal(0, 0.25, (2, n))
    x[rng.random(n) < lost] = np.nan
    t = np.arange(n) / rate + rng.uniform(0, 0.3 / rate, n)
    recording = Recording(t, x, y, headset(), "p1")
    fixations, saccades = plainly(recording, DEGREES)
    found = find_events(recording, DEGREES)
    np.testing.assert_allclose(found.fixations[:6].T, np.array(fixations).reshape(-1, 6), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.saccades.T, np.array(saccades).reshape(-1, 5), rtol=1e-7, atol=1e-9)


def test_no_samples_are_no_events() -> None:
    events = find_events(Recording(np.empty(0), np.empty(0), np.empty(0), headset(), "p1"), DEGREES)
    assert [table.shape[1] for table in (events.fixations, events.saccades, events.blinks)] == [0, 0, 0]
