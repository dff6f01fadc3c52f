# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import InputError
from gazeveil.gateway import simulated_trackers
from gazeveil.gateway.sample import RawSample
from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen

PLANE = screen(1000, 800, 500, 400, 600)


def recording() -> Recording:
    valid = np.array([True, True, False, True])
    return Recording(
        np.array([5.0, 5.02, 5.04, 5.06]),
        np.array([1.0, 2, 3, 4]),
        np.array([5.0, 6, 7, 8]),
        PLANE,
        "anna",
        "picture",
        valid=valid,
    )


def test_a_replay_starts_at_zero_and_tells_lost_gaze_as_missing() -> None:
    samples = list(simulated_trackers.replayed(recording(), loop=False))
    assert [sample.t for sample in samples] == pytest.approx([0, 0.02, 0.04, 0.06])
    assert [sample.x for sample in samples[:2]] == [1.0, 2.0]
    assert math.isnan(samples[2].x)
    assert math.isnan(samples[2].y)


def test_a_replay_that_loops_goes_on_in_time() -> None:
    times = [sample.t for sample in islice(simulated_trackers.replayed(recording()), 12)]
    assert all(later > earlier for earlier, later in pairwise(times))
    assert times[4] == pytest.approx(0.08)


def test_a_faster_replay_is_due_earlier() -> None:
    samples = [RawSample(t, 0, 0) for t in (10.0, 10.5, 11.0)]
    assert [due for due, _ in simulated_trackers.moments(iter(samples), speed=2.0)] == pytest.approx([0, 0.25, 0.5])


def test_samples_of_one_beat_come_together_and_none_is_lost() -> None:
    samples = [RawSample(t / 1000, t, 0) for t in range(100)]
    moments = list(simulated_trackers.moments(iter(samples)))
    assert len(moments) < 25
    assert [sample.x for _, some in moments for sample in some] == list(range(100))
    assert all(due >= some[-1].t - 1e-9 for due, some in moments)


def test_simulated_eyes_look_at_the_plane_at_their_rate() -> None:
    samples = list(islice(simulated_trackers.simulated(PLANE, seed=3, rate_hz=100), 500))
    assert samples[-1].t - samples[0].t == pytest.approx(4.99, abs=0.1)
    seen = [sample.x for sample in samples if not math.isnan(sample.x)]
    assert len(seen) > 250
    assert np.mean([0 <= x <= 1000 for x in seen]) > 0.8


def test_a_screen_of_unknown_size_is_taken_as_usual() -> None:
    assert len(list(islice(simulated_trackers.simulated(screen(1000, 800), rate_hz=60), 10))) == 10


def test_a_file_without_gaze_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        simulated_trackers.recording_of(tmp_path / "none.csv", PLANE)
