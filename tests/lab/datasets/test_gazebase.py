# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""GazeBase and GazeBaseVR, from tiny files of the same layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.attacks.trials import gazebase_trials
from gazeveil.lab.datasets import gazebase_files

HEADER = "n,x,y,val,xT,yT"
VR_HEADER = "n,lx,ly,rx,ry,x,y,xT,yT,zT,clx,cly,clz,crx,cry,crz"


def write(path: Path, header: str, rows: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows, ""]))
    return path


@pytest.fixture
def gazebase(tmp_path: Path) -> Path:
    folder = tmp_path / "GazeBase_v2_0" / "Round_1" / "Subject_1001" / "S1"
    rows = [f"{n},{n / 100:.2f},{-n / 50:.2f},0,1.0,2.0" for n in range(5)]
    rows[3] = "3,NaN,NaN,2,1.0,2.0"
    rows[4] = "4,0.04,-0.08,1,1.0,2.0"
    for session in (1, 2):
        write(folder / f"S_1001_S{session}_TEX.csv", HEADER, rows)
    write(folder / "S_1001_S1_RAN.csv", HEADER, rows)
    write(tmp_path / "GazeBase_v2_0" / "Round_2" / "S_2007_S1_TEX.csv", HEADER, rows)
    write(tmp_path / "GazeBase_v2_0" / "notes" / "S_of_another_kind.csv", "a,b", ["1,2"])
    return tmp_path / "GazeBase_v2_0"


def test_a_recording_has_its_person_session_and_task_from_its_name(gazebase: Path) -> None:
    trials = list(gazebase_trials(gazebase))
    assert [(one.person, one.session, one.name) for one in trials] == [
        ("001", "round 1 session 1", "RAN"),
        ("001", "round 1 session 1", "TEX"),
        ("001", "round 1 session 2", "TEX"),
        ("007", "round 2 session 1", "TEX"),
    ]
    first = trials[0]
    assert first.rate_hz == 1000
    assert np.allclose(first.t, np.arange(5) / 1000)
    assert np.allclose(first.x[:3], [0, 0.01, 0.02])
    assert np.allclose(first.y[:3], [0, -0.02, -0.04])
    assert np.isnan(first.x[3:]).all()  # lost, and marked as not valid
    assert first.pupil is None


def test_the_headset_has_both_eyes_together_a_number_before_the_task_and_its_own_rate(tmp_path: Path) -> None:
    rows = [f"{4 * n}," + ",".join(f"{n}.{column}" for column in range(15)) for n in range(4)]
    rows[2] = "8," + ",".join(["NaN"] * 15)
    write(tmp_path / "data" / "S_1002_S1_4_TEX.csv", VR_HEADER, rows)
    [trial] = gazebase_trials(tmp_path)
    assert (trial.person, trial.session, trial.name, trial.rate_hz) == ("002", "round 1 session 1", "TEX", 250)
    assert np.allclose(trial.x, [0.4, 1.4, np.nan, 3.4], equal_nan=True)
    assert np.allclose(trial.y, [0.5, 1.5, np.nan, 3.5], equal_nan=True)


def test_people_rounds_and_tasks_can_be_chosen_without_reading_the_rest(gazebase: Path) -> None:
    (gazebase / "Round_2" / "S_2007_S1_TEX.csv").write_text("broken")
    assert len(gazebase_files(gazebase, tasks=["RAN"])) == 1
    assert [one.name.person for one in gazebase_files(gazebase, rounds=[2])] == ["007"]
    assert len(gazebase_files(gazebase, people=["001"])) == 3
    assert len(list(gazebase_trials(gazebase, people=["001"], tasks=["TEX"]))) == 2


def test_a_folder_without_recordings_says_what_they_are_called(tmp_path: Path, gazebase: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        gazebase_files(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no recording") as caught:
        gazebase_files(tmp_path / "empty")
    assert "S_1001_S1_TEX.csv" in caught.value.hint
    with pytest.raises(InputError, match="none of the 4 recordings") as caught:
        gazebase_files(gazebase, tasks=["BLG"])
    assert "RAN, TEX" in caught.value.hint


def broken(tmp_path: Path, header: str, rows: list[str]) -> FileFormatError:
    path = write(tmp_path / "S_1001_S1_TEX.csv", header, rows)
    with pytest.raises(FileFormatError) as caught:
        gazebase_files(tmp_path)[0].recording()
    assert caught.value.path == path
    return caught.value


def test_a_bad_file_says_where_it_is_bad(tmp_path: Path) -> None:
    error = broken(tmp_path, HEADER, ["0,1,1,0,0,0", "1,one,1,0,0,0"])
    assert (error.line, error.column, error.found) == (3, "x", "'one'")
    error = broken(tmp_path, HEADER, ["0,1,1,0,0,0", "1,1,1,0"])
    assert error.line == 3
    error = broken(tmp_path, HEADER, ["5,1,1,0,0,0", "6,1,1,0,0,0", "", "6,1,1,0,0,0"])
    assert (error.column, error.found) == ("n", "1 that do not")
    assert "times that grow" in error.expected
    error = broken(tmp_path, "n,x,val", ["0,1,0"])
    assert "'y', degrees" in error.expected
    error = broken(tmp_path, HEADER, [",1,1,0,0,0"])
    assert (error.line, error.column) == (2, "n")
    assert "samples" in broken(tmp_path, HEADER, []).expected
    assert "two samples" in broken(tmp_path, HEADER, ["0,1,1,0,0,0"]).expected


@settings(max_examples=25, deadline=None)
@given(
    gaze=st.lists(
        st.tuples(st.floats(-30, 30), st.floats(-30, 30), st.sampled_from([0, 0, 0, 1])), min_size=2, max_size=30
    ),
    step=st.sampled_from([1, 2, 4]),
)
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, gaze: list[tuple[float, float, int]], step: int
) -> None:
    path = tmp_path_factory.mktemp("gazebase") / "S_1001_S1_TEX.csv"
    write(path, HEADER, [f"{number * step},{x!r},{y!r},{val},0,0" for number, (x, y, val) in enumerate(gaze)])
    [trial] = [one.recording() for one in gazebase_files(path.parent)]
    assert trial.rate == pytest.approx(1000 / step)
    for number, (x, y, val) in enumerate(gaze):
        if val:
            assert np.isnan(trial.x[number])
        else:
            assert (trial.x[number], trial.y[number]) == pytest.approx((x, y))
