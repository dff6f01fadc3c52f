# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings behind a veil, and what apps get instead of samples."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import NoiseSource, Recording, headset, screen
from gazeveil.errors import GeometryError, InputError, OptionError, StateError
from gazeveil.gaze.aoi import AreasOfInterest, Rectangle
from gazeveil.gaze.events import VelocityThreshold
from gazeveil.gaze.recording import Eye
from gazeveil.samples import Screen, Sphere, space_of
from gazeveil.samples.mechanism import pack, unpack
from gazeveil.samples.mechanisms.gaussian import GaussianNoise
from gazeveil.samples.mechanisms.kalman import KalmanSmoothing
from gazeveil.samples.mechanisms.smoothing import LinearSmoothing
from gazeveil.samples.mechanisms.temporal import TemporalHold
from gazeveil.samples.veiled_recordings import (
    NOWHERE,
    FixationsOnly,
    HitsOnly,
    dropped_channels,
    processed,
    veiled_channels,
)

PLANE = screen(1000, 500, 500, 250, 600)
COUNT = 400


def recording(**changes) -> Recording:
    rng = np.random.default_rng(4)
    x, y = rng.uniform(0, 1000, COUNT), rng.uniform(0, 500, COUNT)
    x[30:50] = np.nan
    pupil = np.full(COUNT, 3.0)
    events = pl.DataFrame({"kind": ["blink"], "onset": [0.3], "offset": [0.5], "text": ["hello"]})
    values: dict[str, Any] = {
        "pupil": pupil,
        "left": Eye(x + 4, y, pupil=pupil),
        "right": Eye(x - 4, y, pupil=pupil),
        "pupil_unit": "mm",
        "rate_hz": 100.0,
    } | changes
    return Recording(np.arange(COUNT) / 100, x, y, PLANE, "ada", "wood", "2", "3", **values).with_events(events)


def test_every_channel_is_veiled_or_dropped() -> None:
    raw = recording()
    veiled = TemporalHold(space_of(PLANE)).apply(raw, NoiseSource.seeded(1))
    kept = {"t", "x", "y", "valid", "geometry", "observer", "stimulus", "session", "trial", "rate_hz"}
    empty = {field.name for field in fields(veiled)} - kept
    assert all(getattr(veiled, name) is None for name in ("pupil", "left", "right", "durations"))
    assert not len(veiled.events)
    assert empty == {
        "pupil",
        "left",
        "right",
        "events",
        "pupil_unit",
        "durations",
    }  # a new channel must be decided about here
    assert veiled.tracked.all()
    assert veiled.pupil_unit == ""
    assert dropped_channels(raw) == [
        "pupil",
        "events",
        "left eye",
        "right eye",
        "left pupil",
        "right pupil",
        "validity",
    ]
    assert dropped_channels(veiled) == []


def test_both_eyes_carry_one_veiled_point_or_none() -> None:
    mechanism, raw = GaussianNoise(space_of(PLANE)), recording()
    veiled = mechanism.apply(raw, NoiseSource.seeded(1), eyes="same")
    assert veiled.left is not None
    assert veiled.right is not None
    for eye in (veiled.left, veiled.right):
        assert np.array_equal(eye.x, veiled.x)
        assert eye.pupil is None
    one_eyed = mechanism.apply(recording(right=None), NoiseSource.seeded(1), eyes="same")
    assert one_eyed.right is None
    with pytest.raises(OptionError, match="eyes"):
        veiled_channels(raw, raw.x.copy(), raw.y.copy(), eyes="both")  # type: ignore[arg-type]


def test_a_recording_in_another_unit_is_refused() -> None:
    with pytest.raises(GeometryError, match="the veil works in deg"):
        TemporalHold(Sphere()).apply(recording(), NoiseSource.seeded(1))
    turned = TemporalHold(space_of(PLANE.in_unit("deg"))).apply(recording().to("deg"), NoiseSource.seeded(1))
    assert turned.geometry.unit == "deg"


def test_headset_gaze_is_veiled_in_degrees() -> None:
    raw = Recording(np.array([0.0, 0.1]), np.array([10.0, 350.0]), np.array([1.0, 2.0]), headset(360, 180), "ada")
    veiled = LinearSmoothing(space_of(raw.geometry), window=2).apply(raw, NoiseSource.seeded(1))
    assert veiled.x.tolist() == pytest.approx([10, -10 / 3])


def test_a_time_that_is_no_number_lets_nothing_out() -> None:
    raw = recording()
    broken = Recording(np.where(np.arange(COUNT) == 7, np.nan, raw.t), raw.x, raw.y, PLANE, "ada")
    with pytest.raises(InputError, match="1 samples"):
        TemporalHold(space_of(PLANE)).apply(broken, NoiseSource.seeded(1))


def test_an_empty_recording_stays_empty() -> None:
    nothing = Recording(np.empty(0), np.empty(0), np.empty(0), PLANE, "ada")
    assert len(GaussianNoise(space_of(PLANE)).apply(nothing, NoiseSource.seeded(1))) == 0


def test_the_processor_smooths_and_brings_points_inside() -> None:
    space = space_of(PLANE)
    rule = processed(GaussianNoise(space, sigma=20.0), edge="reflect", smooth=KalmanSmoothing(space))
    veiled = rule.apply(recording(), NoiseSource.seeded(1))
    assert veiled.x.min() >= 0
    assert veiled.y.max() <= 500
    assert [member.name for member in rule.members] == ["gaussian", "kalman", "edge"]  # type: ignore[attr-defined]
    assert processed(GaussianNoise(space), edge=None) == GaussianNoise(space)


def test_an_app_can_have_fixations_only() -> None:
    mechanism = TemporalHold(space_of(PLANE), keep_every=2)
    x = np.repeat([100.0, 800.0, 300.0], 40)
    times, y = np.arange(120) / 100, np.full(120, 250.0)
    app = FixationsOnly(mechanism.start(NoiseSource.seeded(1)), VelocityThreshold(), PLANE)
    told = [event for sample in zip(times.tolist(), x.tolist(), y.tolist(), strict=True) for event in app.push(*sample)]
    told += app.finish()
    veiled = Recording(times, *mechanism.start(NoiseSource.seeded(1)).run(times, x, y), PLANE, "ada")
    found = VelocityThreshold().detect(veiled).filter(pl.col("kind") == "fixation")
    assert [event.onset for event in told] == found["onset"].to_list()
    assert {event.kind for event in told} == {"fixation"}
    assert len(told) == 3
    assert app.guarantee == app.veil.guarantee


def test_an_app_can_have_names_of_areas_only() -> None:
    areas = AreasOfInterest((Rectangle("door", 0, 0, 200, 500), Rectangle("window", 600, 0, 1000, 500)), PLANE)
    app = HitsOnly(TemporalHold(space_of(PLANE), keep_every=1).start(NoiseSource.seeded(1)), areas)
    assert [app.push(t, x, 100.0) for t, x in ((0.0, 100.0), (0.1, 400.0), (0.2, 700.0))] == ["door", NOWHERE, "window"]
    assert not app.guarantee.proven
    with pytest.raises(GeometryError):
        HitsOnly(TemporalHold(Sphere()).start(NoiseSource.seeded(1)), areas)


def test_a_state_of_a_later_version_is_told_as_such() -> None:
    mechanism = TemporalHold(Screen(10, 10))
    state = bytearray(pack(mechanism, {"clock": np.zeros(3)}))
    state[8] = 9
    with pytest.raises(StateError, match="version 9"):
        unpack(mechanism, bytes(state))


def test_a_state_holds_what_was_packed() -> None:
    mechanism = TemporalHold(Screen(10, 10))
    arrays = {"a": np.arange(3.0), "b": np.arange(4), "c": np.frombuffer(b"xyz", np.uint8), "none": np.zeros(0)}
    back = unpack(mechanism, pack(mechanism, arrays))
    assert back.keys() == arrays.keys()
    assert all(np.array_equal(back[name], arrays[name]) and back[name].dtype == arrays[name].dtype for name in arrays)
