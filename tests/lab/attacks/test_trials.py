# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.gaze.corpus import Corpus
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.gaze_features import Movement, stretches
from gazeveil.lab.attacks.trials import (
    cut,
    eyetribe_trials,
    simulated_trials,
    trial_of,
    trials_of,
    vr_trials,
    without_pupil,
)
from gazeveil.lab.datasets import EYETRIBE_FILE, VR_FILE, VR_FOLDER
from gazeveil.simulate import SimulatedStudy


def a_trial(seconds: float, rate: float = 50.0) -> Trial:
    t = np.arange(round(seconds * rate)) / rate
    return Trial("ann", "1", "scene 1", t, np.sin(t), np.cos(t), rate, np.full(len(t), 3.0))


def test_a_recording_becomes_degrees_without_what_has_no_time_of_its_own() -> None:
    plane = screen(1000, 1000, 500, 500, 600)
    recording = Recording(
        np.array([0.0, 0.1, 0.1, 0.05, 0.2]),
        np.array([500.0, 600, 1, 1, np.nan]),
        np.array([500.0, 500, 1, 1, 500]),
        plane,
        "ann",
        "pier",
        session="2",
        trial="3",
        pupil=np.array([3.0, 0, 3, 3, 4]),
        rate_hz=10,
    )
    trial = trial_of(recording)
    assert (trial.person, trial.session, trial.name, trial.rate_hz) == ("ann", "2", "pier 3", 10)
    np.testing.assert_allclose(trial.t, [0, 0.1, 0.2])
    np.testing.assert_allclose(trial.x, [0, np.degrees(np.arctan(50 / 600)), np.nan])
    assert trial.pupil is not None
    np.testing.assert_allclose(trial.pupil, [3, np.nan, 4])
    (same,) = trials_of(Corpus.of([recording]))
    np.testing.assert_array_equal(same.x, trial.x)


def test_simulated_people_come_once_for_each_thing_they_look_at() -> None:
    trials = simulated_trials(SimulatedStudy(observers=2, stimuli=2, sessions=2, seconds=1, tracker="headset"))
    assert len({(trial.person, trial.session, trial.name) for trial in trials}) == len(trials) == 8
    assert np.nanmax(np.abs(trials[0].x)) < 60


def test_headset_trials_lose_what_the_log_holds_as_zero(tmp_path: Path) -> None:
    path = tmp_path / VR_FOLDER / VR_FILE
    path.parent.mkdir()
    pl.DataFrame(
        {
            "user": [6, 6, 6],
            "scene": ["office"] * 3,
            "session": [2] * 3,
            "trial": [1] * 3,
            "t_ms": [22, 0, 11],
            "yaw": [150, 0, -100],
            "pitch": [0, 0, 250],
            "pupil_l": [300, -1, -1],
            "pupil_r": [310, 320, -1],
        }
    ).write_parquet(path)
    (trial,) = vr_trials(tmp_path)
    assert (trial.person, trial.session, trial.name) == ("user-06", "2", "office 1")
    np.testing.assert_allclose(trial.t, [0, 0.011, 0.022])
    np.testing.assert_allclose(trial.x, [np.nan, -1, 1.5])
    np.testing.assert_allclose(trial.y, [np.nan, -2.5, 0])
    assert trial.pupil is not None
    np.testing.assert_allclose(trial.pupil, [3.2, np.nan, 3.05])


def test_runs_are_cut_into_minutes(tmp_path: Path) -> None:
    path = tmp_path / EYETRIBE_FILE
    path.parent.mkdir()
    t = np.arange(0, 178_000, 34)
    pl.DataFrame(
        {
            "user": np.full(len(t), 3),
            "run": np.full(len(t), 1),
            "t_ms": t,
            "x": np.full(len(t), 960),
            "y": np.full(len(t), 540),
            "pupil": np.full(len(t), 200),
            "state": np.where(t < 1000, 4, 7),
        }
    ).write_parquet(path)
    trials = eyetribe_trials(tmp_path)
    assert [trial.name for trial in trials] == ["1", "2", "3"]
    assert all(59 < np.ptp(trial.t) < 60 for trial in trials[:2])
    assert np.isnan(trials[0].x[:29]).all()
    assert np.nanmax(np.abs(trials[0].x)) == 0


def test_a_data_set_that_is_not_there_or_lacks_a_column_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        vr_trials(tmp_path)
    path = tmp_path / EYETRIBE_FILE
    path.parent.mkdir()
    pl.DataFrame({"user": [1]}).write_parquet(path)
    with pytest.raises(FileFormatError, match="column run"):
        eyetribe_trials(tmp_path)


def test_cutting_leaves_out_a_short_rest_and_refuses_no_length() -> None:
    parts = cut(a_trial(25.2), 10)
    assert [part.name for part in parts] == ["scene 1 1", "scene 1 2", "scene 1 3"]  # half of the last is there
    assert len(cut(a_trial(24), 10)) == 2
    assert sum(len(part.t) for part in parts) == 25.2 * 50
    with pytest.raises(OptionError):
        cut(a_trial(1), 0)


def test_the_pupil_can_be_denied() -> None:
    (trial,) = without_pupil([a_trial(1)])
    assert trial.pupil is None


def test_stretches_overlap_and_keep_every_sample() -> None:
    found = stretches(a_trial(20), 10, 5)
    assert [float(one.t[0]) for one in found] == [0, 5, 10]
    assert all(len(one.t) == 500 for one in found)
    assert all(one.pupil is not None and len(one.pupil) == 500 for one in found)
    (whole,) = stretches(a_trial(3), 10, 5)
    assert len(whole.t) == 150
    with pytest.raises(OptionError):
        stretches(a_trial(3), 10, 0)


def test_a_repeated_sample_is_no_news_and_a_lost_one_is_no_repeat() -> None:
    t = np.arange(6) / 10
    x = np.array([0.0, 0, 1, np.nan, np.nan, 1])
    movement = Movement.of(Trial("ann", "1", "1", t, x, np.zeros(6), 10.0))
    np.testing.assert_allclose(movement.t, [0, 0.2, 0.3, 0.4, 0.5])
    across, _ = movement.ways(2)
    np.testing.assert_allclose(across, [1])
    np.testing.assert_allclose(movement.velocities()[0], [5, np.nan, np.nan, np.nan])
