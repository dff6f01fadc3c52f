# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.datasets import LUND_FOLDER, VR_FOLDER, find_data, vr_sessions
from gazeveil.lab.experiments.stream_errors import references, simulated_recordings, stream_sets

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


def small_vr(folder: Path) -> Path:
    """Three sessions, the second without any gaze; two trials of three frames; the last frame of each is lost."""
    rows = []
    for user in (3, 1, 2):
        for trial in (1, 2):
            for frame, name in enumerate(("", "Cup", "Table")):
                lost = frame == 2 or user == 2
                gaze = {"yaw": 0, "pitch": 0} if lost else {"yaw": 100, "pitch": 200}
                who = {"user": user, "session": 1, "trial": trial, "t_ms": 11 * frame}
                rows.append({**who, **gaze, "gaze_object": name, "head_yaw": 50, "head_pitch": -10})
    (folder / VR_FOLDER).mkdir(parents=True)
    pl.DataFrame(rows).write_parquet(folder / VR_FOLDER / "samples.parquet")
    return folder


@pytest.mark.skipif(not (DATA / VR_FOLDER).is_dir(), reason="the recordings in a headset are not here")
def test_the_headset_set_is_the_one_of_the_study() -> None:
    (streams,) = stream_sets(DATA, ["vr"])
    assert len(streams.recordings) == 31
    assert references(streams) == pytest.approx((416.0, 360.8), abs=0.05)
    assert max(recording.duration for recording in streams.recordings) < 120
    for recording in streams.recordings:
        assert not recording.time_faults.backwards
        assert 0 <= np.nanmin(recording.x) <= np.nanmax(recording.x) <= 1336


@pytest.mark.skipif(not (DATA / LUND_FOLDER).is_dir(), reason="the hand-labelled data are not here")
def test_the_laboratory_set_is_the_one_of_the_study() -> None:
    (streams,) = stream_sets(DATA, ["lund"])
    assert len(streams.recordings) == 23
    assert references(streams) == pytest.approx((264.8, 241.8), abs=0.05)
    assert sum(len(recording) for recording in streams.recordings) / 500 == pytest.approx(186, abs=0.5)


def test_simulated_people_are_always_there_and_always_the_same() -> None:
    one, other = simulated_recordings(2, 3.0), simulated_recordings(2, 3.0)
    assert one[0].x.tobytes() == other[0].x.tobytes() != one[1].x.tobytes()
    assert len(one[0]) == 180
    assert one[0].tracked.mean() > 0.5


def test_a_session_in_the_headset_is_read_sample_by_sample(tmp_path: Path) -> None:
    first, *others = vr_sessions(small_vr(tmp_path) / VR_FOLDER)
    assert (first.user, others) == (1, [])  # user 2 has no gaze, user 3 is every second
    assert first.t.tolist() == pytest.approx([0, 0.011, 0.022, 0.022 + 1 / 90, 0.033 + 1 / 90, 0.044 + 1 / 90])
    assert first.yaw[:2].tolist() == [1, 1]
    assert first.pitch[:2].tolist() == [-2, -2]  # ours grows downwards
    assert np.isnan([first.yaw[2], first.pitch[2]]).all()
    assert first.hit.tolist() == [-1, 0, 1, -1, 0, 1]
    assert first.objects == ("Cup", "Table")
    assert (first.head_yaw[0], first.head_pitch[0]) == (10, -2)
    recording = first.recording
    assert recording.tracked.tolist() == [True, True, False] * 2
    assert (recording.x[0], recording.y[0]) == pytest.approx((668 + 26.7, 668 - 2 * 26.7))


def test_only_what_is_there_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_data(None) is None
    assert [one.name for one in stream_sets(None)] == ["simulated"]
    small_vr(tmp_path / "data")
    assert find_data(None) == tmp_path / "data"
    assert [one.name for one in stream_sets(find_data(None))] == ["vr", "simulated"]
    with pytest.raises(InputError, match="none of lund"):
        stream_sets(tmp_path / "data", ["lund"])
    with pytest.raises(InputError, match="has no folder"):
        find_data(tmp_path)


def test_files_that_are_something_else_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        vr_sessions(tmp_path)
    (tmp_path / "samples.parquet").write_bytes(b"nonsense")
    with pytest.raises(FileFormatError, match="Parquet"):
        vr_sessions(tmp_path)
    pl.DataFrame({"user": [1]}).write_parquet(tmp_path / "samples.parquet")
    with pytest.raises(FileFormatError, match="session"):
        vr_sessions(tmp_path)


def test_some_of_a_set_are_spread_over_the_whole() -> None:
    (streams,) = stream_sets(None, ["simulated"])
    assert [recording.observer for recording in streams.some(3).recordings] == [
        streams.recordings[number].observer for number in (0, 7, 14)
    ]
    assert len(streams.some(100).recordings) == 20
