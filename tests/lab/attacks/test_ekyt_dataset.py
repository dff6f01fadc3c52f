# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training data: compact files, windows with labels, simulated people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gazeveil.errors import FileFormatError, InputError, OptionError, UnknownName
from gazeveil.lab.attacks.contract import Trial
from gazeveil.lab.attacks.ekyt.files import QUANTUM, Velocities, Windows, load, packed, unpacked
from gazeveil.lab.attacks.ekyt.training_gaze import Crowd, varied_tracker, velocities_of
from gazeveil.simulate.population import Purpose, generator


def ints(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def some(seed: int, names: tuple[str, ...] = ("ann", "bob")) -> Velocities:
    rng = np.random.default_rng(seed)
    recordings = tuple(packed(rng.normal(0, 50, (2, length))) for length in (40, 25, 30))
    return Velocities(recordings, ints(0, 1, 1), ints(1, 1, 2), names, 31.25, {"seed": seed})


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    before = some(1)
    before.save(tmp_path / "v.npz")
    after = load([tmp_path / "v.npz"])
    for ours, theirs in zip(before.recordings, after.recordings, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert after.names == before.names
    assert after.person.tolist() == [0, 1, 1]
    assert after.session.tolist() == [1, 1, 2]
    assert (after.rate_hz, after.about) == (31.25, {"seed": 1})


def test_parts_of_a_crowd_load_as_one(tmp_path: Path) -> None:
    some(1).save(tmp_path / "a.npz")
    some(2, ("bob", "cleo")).save(tmp_path / "b.npz")
    both = load([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert both.names == ("ann", "bob", "cleo")
    assert both.person.tolist() == [0, 1, 1, 1, 2, 2]


@given(st.lists(st.one_of(st.floats(-3000, 3000), st.just(float("nan"))), min_size=1, max_size=50))
@settings(max_examples=60, deadline=None)
def test_packing_loses_at_most_half_a_step_and_keeps_gaps(values: list[float]) -> None:
    velocity = np.array([values, values])
    back = unpacked(packed(velocity))
    np.testing.assert_array_equal(np.isnan(back), np.isnan(velocity))
    there = ~np.isnan(velocity)
    assert (np.abs(back - np.clip(velocity, -1000, 1000))[there] <= QUANTUM / 2 + 1e-4).all()


def test_windows_carry_person_and_session() -> None:
    windows = some(3).windows(10)
    assert windows.velocity.shape == (4 + 2 + 3, 2, 10)
    assert windows.labels.tolist() == [0] * 4 + [1] * 5
    assert windows.session.tolist() == [1] * 6 + [2] * 3
    assert windows.seconds == pytest.approx(10 / 31.25)
    assert len(windows.of([1])) == 5
    assert len(some(3).windows(10, step=5)) == 7 + 4 + 5


def test_a_damaged_or_foreign_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    some(1).save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FileFormatError, match=r"v\.npz: expected a file of velocities"):
        load([path])
    np.savez(path, velocity=np.zeros(3))
    with pytest.raises(FileFormatError, match="expected a file of velocities"):
        load([path])
    np.savez(path, lengths=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileFormatError, match="allow_pickle"):
        load([path])
    with pytest.raises(InputError, match="there is no file"):
        load([tmp_path / "none.npz"])
    with pytest.raises(InputError, match="no file"):
        load([])


def test_a_file_whose_lengths_do_not_add_up_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    some(1).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["lengths"][0] += 1
    np.savez(path, **arrays)
    with pytest.raises(FileFormatError, match="stated lengths"):
        load([path])


def test_windows_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(InputError, match="shape"):
        Windows(np.zeros((3, 1, 5)), np.zeros(3, np.int64), np.zeros(3, np.int32), 125.0)
    with pytest.raises(InputError, match="label"):
        Windows(np.zeros((3, 2, 5)), np.zeros(2, np.int64), np.zeros(3, np.int32), 125.0)


def test_simulated_people_are_the_same_every_time_and_in_parts() -> None:
    crowd = Crowd(people=3, sessions=2, minutes=0.1, rate_hz=62.5, seed=5)
    whole = crowd.simulate()
    rest = Crowd(people=2, sessions=2, minutes=0.1, rate_hz=62.5, seed=5, first=1).simulate()
    assert whole.names[1:] == rest.names
    for ours, theirs in zip(whole.recordings[2:], rest.recordings, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(whole) == 6
    assert all(recording.shape == (2, 375) for recording in whole.recordings)
    assert whole.about["source"] == "simulator"


def test_two_processes_make_what_one_makes() -> None:
    crowd = Crowd(people=2, sessions=1, minutes=0.1, rate_hz=62.5)
    for ours, theirs in zip(crowd.simulate(workers=2).recordings, crowd.simulate().recordings, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_every_session_has_another_tracker() -> None:
    rng = generator(1, Purpose.CALIBRATION, "test")
    trackers = [varied_tracker(rng) for _ in range(50)]
    assert len({tracker.noise_deg for tracker in trackers}) == 50
    assert len({tracker.rate_hz for tracker in trackers}) > 4


def test_a_crowd_that_cannot_be_is_refused() -> None:
    with pytest.raises(OptionError, match="at least one participant"):
        Crowd(people=0)
    with pytest.raises(OptionError, match="minutes"):
        Crowd(minutes=float("nan"))
    with pytest.raises(UnknownName, match="no tracker is called"):
        Crowd(tracker="telescope")


def test_trials_become_recordings_with_numbered_sessions() -> None:
    t = np.arange(100) / 100.0
    trials = [Trial(who, day, "1", t, t, -t, 100.0) for who, day in (("b", "10"), ("a", "9"), ("b", "9"))]
    found = velocities_of(trials, 50.0)
    assert found.names == ("a", "b")
    assert found.person.tolist() == [1, 0, 1]
    assert found.session.tolist() == [2, 1, 1]
    with pytest.raises(InputError, match="no gaze"):
        velocities_of([], 50.0)
