# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from gazeveil.errors import OptionError
from gazeveil.geometry import Geometry, headset, normalised, screen
from gazeveil.simulate import TRACKERS, GazeStream, Population, SimulatedStudy, scene


@pytest.mark.parametrize("tracker", TRACKERS.names())
@pytest.mark.parametrize("binocular", [False, True])
def test_the_same_seed_gives_the_same_bytes(tracker: str, binocular: bool) -> None:
    study = SimulatedStudy(2, 2, 1, tracker=tracker, seconds=2, seed=9, binocular=binocular)
    for one, other in zip(study.recordings(), study.recordings(), strict=True):
        assert one.x.tobytes() == other.x.tobytes()
        assert one.equals(other)


def test_recordings_do_not_depend_on_order_or_number() -> None:
    large = {recording.key: recording for recording in SimulatedStudy(4, 3, 2, 2, seconds=1, seed=2).recordings()}
    small = SimulatedStudy(2, 2, 1, seconds=1, seed=2)
    assert all(recording.equals(large[recording.key]) for recording in small.recordings())
    last = SimulatedStudy(4, 3, 2, 2, seconds=1, seed=2).recording(3, 2, session=2, trial=2)
    assert last.equals(large[last.key])


def test_every_recording_is_its_own() -> None:
    recordings = list(SimulatedStudy(3, 2, 2, 2, seconds=1).recordings())
    assert len(recordings) == len(SimulatedStudy(3, 2, 2, 2)) == 24
    assert len({recording.key for recording in recordings}) == 24
    assert len({recording.x.tobytes() for recording in recordings}) == 24


def test_another_seed_gives_other_gaze() -> None:
    one, other = (SimulatedStudy(1, 1, 1, seconds=1, seed=seed).recording(0, 0) for seed in (1, 2))
    assert one.x.tobytes() != other.x.tobytes()


def test_recordings_carry_what_the_eye_truly_did() -> None:
    events = SimulatedStudy(1, 1, 1, seconds=60).recording(0, 0).events
    assert set(events["kind"]) == {"fixation", "saccade", "microsaccade", "blink"}
    assert set(events["source"]) == {"simulator"}
    assert events["onset"].is_sorted()
    assert (events["offset"] >= events["onset"]).all()
    assert (events["offset"] <= 60).all()
    saccades = events.filter(pl.col("kind") == "saccade")
    assert (
        saccades.select("x", "y", "end_x", "end_y", "amplitude", "peak_velocity").null_count().sum_horizontal()[0] == 0
    )
    assert events.filter(pl.col("kind") == "fixation").select("x", "y").null_count().sum_horizontal()[0] == 0


def test_fixations_and_saccades_take_turns_without_gaps() -> None:
    events = SimulatedStudy(1, 1, 1, seconds=60).recording(0, 0).events
    turns = events.filter(pl.col("kind").is_in(["fixation", "saccade"])).sort("onset")
    assert (turns["kind"].to_list()[::2], turns["kind"].to_list()[1::2]) == (
        ["fixation"] * ((len(turns) + 1) // 2),
        ["saccade"] * (len(turns) // 2),
    )
    gaps = turns["onset"].to_numpy()[1:] - turns["offset"].to_numpy()[:-1]
    assert abs(gaps).max() < 1e-9


@pytest.mark.parametrize(
    "plane", [screen(800, 600, 345, 256, 570), normalised(800, 600, 345, 256, 570), headset(60, 45)]
)
def test_a_study_can_be_held_on_another_plane(plane: Geometry) -> None:
    recording = SimulatedStudy(1, 1, 1, seconds=20, geometry=plane, tracker="headset").recording(0, 0)
    assert recording.geometry == plane
    left, top, right, bottom = plane.extent()
    x, y = recording.x[recording.tracked], recording.y[recording.tracked]
    inside = (x > left) & (x < right) & (y > top) & (y < bottom)
    assert inside.mean() > 0.9


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"observers": 0}, "observers"),
        ({"stimuli": -1}, "stimuli"),
        ({"sessions": 1.5}, "sessions"),
        ({"trials": True}, "trials"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": float("inf")}, "seconds"),
        ({"seed": -3}, "seed"),
        ({"geometry": normalised()}, "degrees"),
    ],
)
def test_a_study_that_cannot_be_says_why(options: dict[str, Any], word: str) -> None:
    with pytest.raises(OptionError, match=word):
        SimulatedStudy(**options)


def test_asking_for_a_recording_that_is_not_there_says_what_is() -> None:
    with pytest.raises(OptionError, match="no session 3"):
        SimulatedStudy(2, 2, 2).recording(0, 0, session=3)


def test_stimuli_and_people_can_be_had_without_recordings() -> None:
    study = SimulatedStudy(3, 2, 1, seed=4)
    assert study.people() == [Population(4).observer(index) for index in range(3)]
    assert study.scenes() == [scene(4, 0), scene(4, 1)]
    assert [person.name for person in study.people()] == ["p001", "p002", "p003"]


def test_a_stream_is_made_of_the_same_parts() -> None:
    assert GazeStream(Population(1).observer(0), scene(1, 0), TRACKERS["eyelink"]).seed == 1
