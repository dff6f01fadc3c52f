# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gazeveil.errors import OptionError, UnknownName
from gazeveil.geometry import Unit, normalised
from gazeveil.simulate import TRACKERS, Population, SimulatedStudy, Tracker, scene
from gazeveil.simulate.eye_movements import TrueGaze, look
from gazeveil.simulate.population import Purpose, generator

PERSON = replace(Population(1).observer(0), precision_factor=1.0, accuracy_factor=1.0, loss_factor=1.0)
NAMES = TRACKERS.names()


def staring(seconds: float) -> TrueGaze:
    """An eye that does not move, does not blink and looks a little off the middle."""
    gaze = np.tile([2.0, -1.0], (round(seconds * 1000), 1))
    return TrueGaze(gaze, np.empty((0, 10)), np.empty((0, 2)), np.full(round(seconds * 50) + 2, 3.5))


def rng(number: int) -> np.random.Generator:
    return generator(5, Purpose.RECORDING, number)


def without_errors(name: str) -> Tracker:
    return replace(TRACKERS[name], losses_per_minute=0.0, quantum=0.0)


@pytest.mark.parametrize("name", NAMES)
def test_noise_has_the_stated_magnitude_and_colour(name: str) -> None:
    tracker = without_errors(name)
    seconds = 60_000 / tracker.rate_hz
    plane = tracker.geometry.in_unit(Unit.DEGREE)
    times = tracker.clock(seconds, rng(1))
    x, y, _, _ = tracker.observe(staring(seconds), PERSON, np.zeros(6), times, plane, rng(2))
    steps = np.sqrt(np.mean(np.diff(x) ** 2 + np.diff(y) ** 2))
    spread = np.sqrt(x.var() + y.var())
    assert np.hypot(steps, spread) == pytest.approx(tracker.noise_deg, rel=0.1)
    assert steps / spread == pytest.approx(tracker.noise_type, rel=0.1)
    assert x.mean() == pytest.approx(2.0, abs=0.15 * tracker.noise_deg)


def test_noise_of_a_fast_tracker_is_not_white() -> None:
    tracker = without_errors("eyelink")
    plane = tracker.geometry.in_unit(Unit.DEGREE)
    x, _, _, _ = tracker.observe(staring(64), PERSON, np.zeros(6), tracker.clock(64, rng(1)), plane, rng(3))
    power = (np.abs(np.fft.rfft(x.reshape(-1, 1000) - x.mean(), axis=1)) ** 2).mean(axis=0)
    assert power[2:10].mean() > 20 * power[300:500].mean()


@pytest.mark.parametrize("name", NAMES)
def test_accuracy_is_as_stated_on_average_and_new_every_session(name: str) -> None:
    tracker = TRACKERS[name]
    shifts = np.array([tracker.calibrate(PERSON, rng(number))[:2] for number in range(2000)])
    # the mean of 2000 Rayleigh lengths has a relative standard error of 1.2 %
    assert np.hypot(*shifts.T).mean() == pytest.approx(tracker.accuracy_deg, rel=0.06)
    assert len(np.unique(shifts[:, 0])) == 2000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_samples_come_at_the_stated_rate_in_order(name: str, seconds: float) -> None:
    recording = SimulatedStudy(1, 1, 1, tracker=name, seconds=seconds).recording(0, 0)
    tracker = TRACKERS[name]
    assert len(recording) == int(seconds * tracker.rate_hz)
    steps = np.diff(recording.t)
    assert (steps > 0).all()
    assert steps.mean() == pytest.approx(1 / tracker.rate_hz, rel=0.05)
    assert recording.rate == tracker.rate_hz
    assert recording.t[0] >= 0
    assert not recording.time_faults.any


@pytest.mark.parametrize("rate", [72.0, 90.0, 120.0])
def test_headsets_come_in_several_rates_and_speak_degrees(rate: float) -> None:
    recording = SimulatedStudy(1, 1, 1, tracker=replace(TRACKERS["headset"], rate_hz=rate), seconds=4).recording(0, 0)
    assert recording.geometry.unit is Unit.DEGREE
    assert recording.rate == rate
    assert len(recording) == int(4 * rate)
    assert np.nanmax(np.abs(recording.x)) < 60


def test_cameras_stamp_unevenly_and_fast_trackers_do_not() -> None:
    uneven = SimulatedStudy(1, 1, 1, tracker="webcam", seconds=20).recording(0, 0)
    even = SimulatedStudy(1, 1, 1, tracker="eyelink", seconds=2).recording(0, 0)
    assert np.diff(uneven.t).std() > 0.001
    assert np.diff(even.t).std() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_as_much_is_lost_as_stated(name: str) -> None:
    tracker = TRACKERS[name]
    seconds, lost, repeats = 300.0, 0.0, 20
    for number in range(repeats):
        times = tracker.clock(seconds, rng(number))
        _, _, tracked, pupil = tracker.observe(
            staring(seconds), PERSON, np.zeros(6), times, tracker.geometry, rng(500 + number)
        )
        lost += float((~tracked).mean()) / repeats
        assert np.isnan(pupil[~tracked]).all()
        assert np.isfinite(pupil[tracked]).all()
    expected = tracker.losses_per_minute / 60 * tracker.loss_s
    # losses overlap, and the shortest is one sample
    assert 0.7 * expected < lost < 1.5 * expected + 0.001


def test_blinks_are_lost_and_the_lid_pulls_gaze_down_around_them() -> None:
    tracker = without_errors("eyelink")
    eye = staring(2.0)
    eye = TrueGaze(eye.gaze, eye.jumps, np.array([[0.5, 0.7]]), eye.pupil)
    plane = tracker.geometry.in_unit(Unit.DEGREE)
    _, y, tracked, pupil = tracker.observe(eye, PERSON, np.zeros(6), tracker.clock(2.0, rng(1)), plane, rng(2))
    assert not tracked[500:700].any()
    assert tracked[:500].all()
    assert tracked[700:].all()
    assert y[495:500].mean() > y[:400].mean() + 0.8
    assert pupil[499] < 0.6 * pupil[400]


def test_latency_shifts_what_a_sample_shows() -> None:
    tracker = without_errors("headset")
    gaze = np.zeros((2000, 2))
    gaze[1000:, 0] = 10.0
    eye = TrueGaze(gaze, np.empty((0, 10)), np.empty((0, 2)), np.full(102, 3.5))
    times = tracker.clock(2.0, rng(1))
    x, _, _, _ = tracker.observe(eye, PERSON, np.zeros(6), times, tracker.geometry, rng(2))
    arrived = times[np.argmax(x > 5)]
    assert 1.0 + tracker.latency_s - 0.001 < arrived < 1.0 + tracker.latency_s + 2 / tracker.rate_hz


@pytest.mark.parametrize(("name", "quantum"), [("eyelink", 0.1), ("webcam", 1.0), ("headset", 0.01)])
def test_numbers_come_in_the_trackers_steps(name: str, quantum: float) -> None:
    recording = SimulatedStudy(1, 1, 1, tracker=name, seconds=5).recording(0, 0)
    steps = recording.x[recording.tracked] / quantum
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)


def test_both_eyes_agree_but_for_a_little() -> None:
    recording = SimulatedStudy(1, 1, 1, seconds=5, binocular=True).recording(0, 0)
    left, right = recording.left, recording.right
    assert left is not None
    assert right is not None
    both = left.tracked & right.tracked
    apart = (
        recording.geometry.convert(left.x, left.y, "deg")[0] - recording.geometry.convert(right.x, right.y, "deg")[0]
    )
    assert 0.02 < apart[both].std() < 1.0
    assert left.pupil is not None
    np.testing.assert_allclose(recording.x[both], (left.x + right.x)[both] / 2)


def test_bad_trackers_say_what_is_wrong() -> None:
    good = TRACKERS["eyelink"]
    with pytest.raises(OptionError, match="1 to 1000"):
        replace(good, rate_hz=2000)
    with pytest.raises(OptionError, match="noise_type"):
        replace(good, noise_type=2.0)
    with pytest.raises(OptionError, match="degrees"):
        replace(good, geometry=normalised())
    with pytest.raises(UnknownName, match="eyelnk"):
        SimulatedStudy(tracker="eyelnk")


def test_a_true_gaze_can_be_seen_through_any_tracker() -> None:
    true = look(PERSON, scene(1, 0), TRACKERS["eyelink"].geometry, 5, rng(9))
    for tracker in TRACKERS.values():
        times = tracker.clock(5, rng(10))
        x, y, tracked, _ = tracker.observe(true, PERSON, np.zeros(6), times, tracker.geometry, rng(11))
        assert len(x) == len(y) == len(tracked) == len(times)
        assert np.isfinite(x).all()
