# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest

from gazeveil import Eye, Recording, screen
from gazeveil.errors import InputError
from gazeveil.gaze import schema
from gazeveil.gaze.recording import Key

DESK = screen(1920, 1080, 530, 300, 600)


def a_recording(**changes: object) -> Recording:
    values = {
        "t": np.array([0.0, 0.1, 0.2, 0.3]),
        "x": np.array([1.0, np.nan, 3.0, 4.0]),
        "y": np.array([5.0, 6.0, np.inf, 8.0]),
        "geometry": DESK,
        "observer": "ann",
    }
    return Recording(**{**values, **changes})  # type: ignore[arg-type]


def test_where_a_value_is_missing_the_sample_is_not_valid_and_shows_no_number() -> None:
    recording = a_recording()
    assert recording.tracked.tolist() == [True, False, False, True]
    assert np.isnan(recording.y[1:3]).all()


def test_a_sample_the_tracker_calls_invalid_shows_no_number() -> None:
    recording = a_recording(valid=np.array([False, True, True, True]))
    assert recording.tracked.tolist() == [False, False, False, True]
    assert np.isnan(recording.x[0])


def test_nothing_can_be_changed_afterwards() -> None:
    t = np.array([0.0, 0.1, 0.2, 0.3])
    recording = a_recording(t=t)
    t[0] = 99
    assert recording.t[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        recording.x[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        recording.observer = "bob"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"x": np.zeros(3)}, "x must be 4 numbers"),
        ({"t": np.zeros((2, 2))}, "t must be"),
        ({"t": ["a", "b"]}, "t must be numbers"),
        ({"valid": np.ones(4)}, "booleans"),
        ({"pupil": np.ones(5)}, "pupil must be 4"),
        ({"observer": ""}, "observer"),
        ({"trial": 7}, "trial must be text"),
        ({"left": Eye(np.zeros(2), np.zeros(2))}, "left eye has 2"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        a_recording(**changes)


def test_odd_times_are_reported_and_kept_in_the_devices_order() -> None:
    recording = a_recording(t=np.array([0.0, 2.0, 1.0, 1.0]))
    assert recording.time_faults == (1, 1, 0)
    assert recording.time_faults.any
    assert recording.t.tolist() == [0, 2, 1, 1]
    assert not a_recording().time_faults.any


def test_the_rate_is_what_the_device_says_else_what_it_does() -> None:
    assert a_recording().rate == pytest.approx(10)
    assert a_recording(rate_hz=1000.0).rate == 1000
    assert np.isnan(a_recording(t=np.zeros(4)).rate)


def test_two_eyes_combine_to_their_mean_where_both_are_tracked() -> None:
    left = Eye(np.array([0.0, 2.0, np.nan, np.nan]), np.zeros(4), pupil=np.array([2.0, 2, 2, np.nan]))
    right = Eye(np.array([10.0, np.nan, 4.0, np.nan]), np.zeros(4), pupil=np.array([4.0, np.nan, 4, np.nan]))
    recording = Recording.from_eyes(np.arange(4), left, right, DESK, Key("ann"))
    np.testing.assert_array_equal(recording.x, [5, 2, 4, np.nan])
    assert recording.tracked.tolist() == [True, True, True, False]
    assert recording.pupil is not None
    np.testing.assert_array_equal(recording.pupil, [3, 2, 3, np.nan])


def test_conversion_takes_eyes_and_events_along_and_leaves_the_original() -> None:
    events = pl.DataFrame(
        {"kind": ["fixation", "message"], "onset": [0.0, 0.1], "x": [960.0, None], "y": [540.0, None]}
    )
    left = Eye(np.full(4, 960.0), np.full(4, 540.0))
    recording = a_recording(left=left).with_events(events)
    degrees = recording.to("deg")
    assert degrees.left is not None
    assert degrees.left.x.tolist() == [0, 0, 0, 0]
    assert degrees.events["x"].to_list() == [0, None]
    assert recording.geometry.unit == "px"
    assert degrees.to("px").left is not None
    np.testing.assert_allclose(degrees.to("px").x, recording.x)


def test_a_stretch_keeps_the_events_that_overlap_it() -> None:
    events = pl.DataFrame({"kind": ["fixation"] * 3, "onset": [0.0, 0.05, 0.25], "offset": [0.04, 0.15, 0.3]})
    cut = a_recording().with_events(events).between(0.1, 0.25)
    assert cut.t.tolist() == [0.1, 0.2]
    assert cut.events["onset"].to_list() == [0.05]


def test_a_table_and_back_is_the_same_recording() -> None:
    left = Eye(np.arange(4.0), np.arange(4.0), pupil=np.arange(4.0))
    recording = a_recording(left=left, pupil=np.arange(4.0))
    table = recording.to_frame()
    assert dict(table.schema) == {name: schema.SAMPLES[name] for name in table.columns}
    assert Recording.from_frame(table, DESK, recording.key).equals(recording)
    assert not recording.equals(a_recording())


def test_a_table_that_lacks_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="lacks x, valid"):
        Recording.from_frame(pl.DataFrame({"t": [0.0], "y": [0.0]}), DESK, Key("ann"))


def test_an_empty_recording_is_no_special_case() -> None:
    empty = Recording(np.array([]), np.array([]), np.array([]), DESK, "ann")
    assert len(empty) == 0
    assert empty.duration == 0
    assert len(empty.to("deg")) == 0
