# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""What missing gaze costs: nothing where none is missing, and what still shows is measured."""

from __future__ import annotations

import numpy as np
import pytest

from gazeveil.gaze.recording import Recording
from gazeveil.geometry import screen
from gazeveil.lab.experiments.stream_errors import StreamSet
from gazeveil.lab.reproduction.kaleido_missing_gaze import SETTINGS, _seen_through, main, measure


def streams(lost: float) -> StreamSet:
    rng = np.random.default_rng(1)
    t = np.arange(3600) / 60
    recordings = []
    for number in range(3):
        x, y = (np.repeat(rng.uniform(0, size, 180), 20) for size in (1280, 720))
        gone = np.repeat(rng.random(360) < lost, 10)
        x, y = np.where(gone, np.nan, x), np.where(gone, np.nan, y)
        recordings.append(Recording(t, x, y, screen(1280, 720), observer=str(number), stimulus="s", rate_hz=60.0))
    return StreamSet("made", "made up", tuple(recordings))


def test_where_nothing_is_missing_nothing_is_lost() -> None:
    (row,) = measure(streams(0.0), SETTINGS[:1], repeats=1)
    assert row.missing == 0
    assert row.public == row.waiting
    assert np.isnan(row.shows)


def test_missing_gaze_costs_a_little_and_some_of_it_shows() -> None:
    (row,) = measure(streams(0.3), SETTINGS[:1], repeats=2)
    assert row.missing == pytest.approx(0.3, abs=0.1)
    assert (
        1.0 < row.public / row.waiting < 2.0
    )  # gaze moves whenever it is lost: a release that waits comes just in time
    assert 0.55 < row.shows < 0.95


def test_who_is_nearer_is_counted_by_pairs() -> None:
    assert _seen_through(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 1.0
    assert _seen_through(np.array([3.0]), np.array([3.0])) == 0.5


def test_the_table_has_a_row_for_every_promise(capsys: pytest.CaptureFixture[str]) -> None:
    main(None, quick=True)
    assert capsys.readouterr().out.count("simulated") == 2
