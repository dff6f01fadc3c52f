# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from gazeveil.errors import OptionError
from gazeveil.simulate import TRACKERS, Block, GazeStream, Population, scene

PERSON = Population(1).observer(0)


def take(name: str, seconds: float, block: float = 0.5) -> Block:
    stream = GazeStream(PERSON, scene(1, 0), TRACKERS[name], seed=3)
    blocks = list(islice(stream.blocks(block), round(seconds / block)))
    return Block._make(np.concatenate(parts) for parts in zip(*blocks, strict=True))


@pytest.mark.parametrize("name", TRACKERS.names())
def test_a_stream_goes_on_at_the_trackers_rate(name: str) -> None:
    gaze = take(name, 60)
    rate = TRACKERS[name].rate_hz
    assert len(gaze.t) == int(60 * rate)
    steps = np.diff(gaze.t)
    assert steps.min() > 0
    assert steps.mean() == pytest.approx(1 / rate, rel=1e-3)
    assert steps.max() < 2 / rate
    assert np.isnan(gaze.x[~gaze.valid]).all()
    assert np.isfinite(gaze.x[gaze.valid]).all()


def test_a_stream_has_no_seams() -> None:
    gaze = take("eyelink", 120)
    degrees, _ = TRACKERS["eyelink"].geometry.convert(gaze.x, gaze.y, "deg")
    # no eye turns faster than its main sequence allows, nor does a pupil jump, where one stretch joins the next
    assert np.nanmax(np.abs(np.diff(degrees))) < 1.3 * 1e-3 * PERSON.saccade_ceiling
    wide_open = np.convolve(~gaze.valid, np.ones(101), mode="same") == 0
    assert np.abs(np.diff(gaze.pupil))[wide_open[1:] & wide_open[:-1]].max() < 30  # thousandths of a mm


def test_block_length_does_not_change_the_gaze() -> None:
    one, other = take("headset", 20, 0.1), take("headset", 20, 2.0)
    count = min(len(one.t), len(other.t))
    assert one.x[:count].tobytes() == other.x[:count].tobytes()


def test_a_stream_can_be_played_again() -> None:
    assert take("webcam", 20).x.tobytes() == take("webcam", 20).x.tobytes()


def test_a_block_too_short_for_a_sample_says_so() -> None:
    with pytest.raises(OptionError, match="holds no sample"):
        next(GazeStream(PERSON, scene(1, 0), TRACKERS["webcam"]).blocks(0.01))
