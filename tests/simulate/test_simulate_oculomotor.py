# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gazeveil.geometry import Unit, screen
from gazeveil.simulate import TRACKERS, Population, eye_movement_kernels, scene
from gazeveil.simulate.eye_movements import STEP_S, look
from gazeveil.simulate.population import Purpose, generator

SCREEN = TRACKERS["eyelink"].geometry
WIDE = screen(4000, 3000, 4000, 3000, 1000)
PERSON = Population(4).observer(2)


def rng(number: int) -> np.random.Generator:
    return generator(99, Purpose.RECORDING, number)


@pytest.mark.parametrize("amplitude", [0.2, 1.0, 4.0, 10.0, 25.0])
@pytest.mark.parametrize(("ceiling", "scale", "stretch"), [(560.0, 5.0, 0.12), (400.0, 8.0, 0.05), (700.0, 4.0, 0.4)])
def test_a_saccade_peaks_exactly_on_the_main_sequence(
    amplitude: float, ceiling: float, scale: float, stretch: float
) -> None:
    step = 1e-6
    times = np.arange(-0.2, 0.4, step)
    middle = 0.5 * amplitude / ceiling
    near = times[(times > middle - 0.003) & (times < middle + 0.003)]
    way = np.array([eye_movement_kernels.way_done(t, amplitude, ceiling, scale, stretch) for t in near]) * amplitude
    peak = np.diff(way).max() / step
    assert peak == pytest.approx(ceiling * (1 - np.exp(-amplitude / scale)), rel=1e-4)


@pytest.mark.parametrize("amplitude", [0.2, 4.0, 25.0])
def test_a_saccade_goes_all_the_way_and_never_back(amplitude: float) -> None:
    way = np.array([eye_movement_kernels.way_done(t, amplitude, 560.0, 5.0, 0.12) for t in np.arange(-0.3, 0.6, 1e-4)])
    assert way[0] == pytest.approx(0, abs=1e-6)
    assert way[-1] == pytest.approx(1, abs=1e-6)
    assert (np.diff(way) > -1e-12).all()


def test_longer_saccades_brake_relatively_longer() -> None:
    def skewness(amplitude: float) -> float:
        times = np.arange(-0.2, 0.5, 1e-4)
        speed = np.diff([eye_movement_kernels.way_done(t, amplitude, 560.0, 5.0, 0.12) for t in times])
        peak = int(np.argmax(speed))
        slow = speed.max() * 0.1
        before = peak - int(np.argmax(speed > slow))
        after = len(speed) - int(np.argmax(speed[::-1] > slow)) - peak
        return after / before

    assert 1.0 < skewness(2.0) < skewness(10.0) < skewness(25.0) < 2.0


def test_recorded_true_peak_velocities_are_what_the_eye_did() -> None:
    still = replace(PERSON, saccade_curve=0.0, wobble_gain=0.0, drift_noise=0.0)
    true = look(still, scene(1, 0), SCREEN, 60, rng(1))
    speed = np.hypot(*np.diff(true.gaze, axis=0).T) / STEP_S
    checked = 0
    for jump in true.jumps[true.jumps[:, 0] == eye_movement_kernels.SACCADE]:
        onset, offset, peak = jump[1], jump[3], jump[9]
        measured = speed[int(onset / STEP_S) : int(offset / STEP_S) + 1].max()
        # steps of 1 ms miss a little of the peak, small saccades most
        assert 0.88 * peak < measured < 1.01 * peak
        checked += 1
    assert checked > 100


def test_the_eye_rests_where_its_jumps_say() -> None:
    still = replace(PERSON, drift_noise=0.0, wobble_gain=0.0)
    true = look(still, scene(1, 1), SCREEN, 60, rng(2))
    ends = np.concatenate((true.jumps[1:, 1], [60.0]))
    settled = ends - true.jumps[:, 3] > 0.25
    before_next = np.floor((ends[settled] - 0.1) / STEP_S).astype(int)
    assert np.abs(true.gaze[before_next] - true.jumps[settled, 7:9]).max() < 2e-3


def test_fixation_durations_follow_the_persons_distribution() -> None:
    # without misses there are no quick corrections, so every rest is drawn from the person's own log-normal
    exact = replace(PERSON, saccade_gain=1.0, landing_scatter=0.0, drift_noise=0.01, fixation_s=0.3)
    true = look(exact, scene(1, 2), SCREEN, 600, rng(3))
    big = true.jumps[true.jumps[:, 0] == eye_movement_kernels.SACCADE]
    rests = big[1:, 1] - big[:-1, 3]
    width = np.sqrt(np.log1p(exact.fixation_cv**2))
    middle = np.log(exact.fixation_s) - width**2 / 2
    # false alarms: 1 in 1000
    assert stats.kstest(np.log(rests), "norm", (middle, width)).pvalue > 1e-3
    assert len(rests) > 1000


def test_someone_with_short_fixations_never_runs_out_of_them() -> None:
    hasty = replace(PERSON, fixation_s=0.15, landing_scatter=0.2, saccade_gain=0.85, microsaccade_hz=2.5)
    for number in range(20):
        true = look(hasty, scene(1, 2), SCREEN, 30, rng(100 + number))
        assert true.jumps[-1, 3] > 28.5
        assert (np.diff(true.jumps[:, 1]) > 0).all()


@pytest.mark.parametrize("rate", [0.6, 1.2, 2.4])
def test_microsaccades_come_at_the_persons_rate_while_the_eye_rests(rate: float) -> None:
    staring = replace(PERSON, fixation_s=0.42, microsaccade_hz=rate)
    true = look(staring, scene(1, 3), SCREEN, 600, rng(5))
    small = true.jumps[:, 0] == eye_movement_kernels.MICROSACCADE
    big = true.jumps[~small]
    rests = np.maximum(big[1:, 1] - big[:-1, 3] - 0.14, 0).sum()
    # gamma waits of shape 5: the count's relative standard error is about sqrt(.2 / count) < 4 %
    assert small.sum() / rests == pytest.approx(rate, rel=0.2)


def test_microsaccades_are_small_and_keep_clear_of_saccades() -> None:
    true = look(PERSON, scene(1, 3), SCREEN, 600, rng(6))
    small = np.flatnonzero(true.jumps[:, 0] == eye_movement_kernels.MICROSACCADE)
    sizes = np.hypot(true.jumps[small, 4], true.jumps[small, 5])
    assert sizes.mean() == pytest.approx(PERSON.microsaccade_deg, rel=0.1)
    assert sizes.max() < 2.5
    before = true.jumps[small, 1] - true.jumps[np.maximum(small - 1, 0), 3]
    assert before.min() > 0


def test_drift_stays_within_the_size_of_real_drift_and_is_held_back() -> None:
    normals = np.random.default_rng(8).standard_normal((400, 1000, 4)).astype(np.float32)

    def spread_after(feedback: float, milliseconds: int) -> float:
        out = np.empty((1000, 2))
        ends = []
        for noise in normals:
            eye_movement_kernels.drift(noise, 1.0, feedback, out)
            ends.append(out[milliseconds - 1].copy())
        return float(np.std(ends)) * 60

    # arcmin per axis after 300 ms: some minutes, not tens of minutes
    assert 2.0 < spread_after(0.15, 300) < 8.0
    # delayed feedback takes away more of the long run than of the short run
    long_run = spread_after(0.15, 900) / spread_after(0.0, 900)
    assert long_run < 0.85
    assert long_run < spread_after(0.15, 30) / spread_after(0.0, 30) - 0.05


def test_eyes_fall_short_and_scatter_as_the_person_does() -> None:
    exact = replace(PERSON, drift_noise=0.01, saccade_gain=0.9, landing_scatter=0.03)
    true = look(exact, scene(1, 0), WIDE, 300, rng(9))
    corrections = np.flatnonzero(np.diff(true.jumps[:, 1]) < 0.2)
    assert len(corrections) > 5  # long saccades that miss by much are mended soon


def test_people_look_at_the_screen_and_mostly_near_its_middle() -> None:
    outside = far = total = 0
    left, top, right, bottom = SCREEN.in_unit(Unit.DEGREE).extent()
    for index in range(20):
        gaze = look(Population(6).observer(index), scene(1, index), SCREEN, 20, rng(20 + index)).gaze
        inside = (gaze[:, 0] > left) & (gaze[:, 0] < right) & (gaze[:, 1] > top) & (gaze[:, 1] < bottom)
        outside += int((~inside).sum())
        far += int((np.abs(gaze[:, 0]) > 0.75 * right).sum())
        total += len(gaze)
    assert outside / total < 0.02
    assert far / total < 0.2  # a quarter of the width holds less than its share


def test_the_pupil_narrows_when_a_bright_scene_comes_up() -> None:
    bright, dark = replace(scene(1, 0), brightness=1.0), replace(scene(1, 0), brightness=0.0)
    calm = replace(PERSON, hippus_mm=0.04)
    at_start, later = (
        [look(calm, shown, SCREEN, 5, rng(40)).pupil_at(np.array([moment]))[0] for shown in (bright, dark)]
        for moment in (100.0, 1500.0)
    )
    assert at_start[0] == at_start[1]
    assert later[1] - later[0] > 0.5 * calm.light_response_mm


def test_blinks_come_at_the_persons_rate_and_never_overlap() -> None:
    blinks = look(replace(PERSON, blinks_per_minute=15.0), scene(1, 0), SCREEN, 3000, rng(41)).blinks
    # about 700 blinks; waits of gamma shape 1.5 and at least a quarter second, so somewhat fewer than 15 a minute
    assert 12.5 < len(blinks) / 50 < 15.5
    assert (blinks[1:, 0] > blinks[:-1, 1]).all()
    assert np.median(blinks[:, 1] - blinks[:, 0]) == pytest.approx(PERSON.blink_s, rel=0.1)
