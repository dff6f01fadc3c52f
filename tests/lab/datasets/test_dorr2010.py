# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Films seen on two days: who, which day, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gazeveil.errors import FileFormatError, InputError
from gazeveil.lab.attacks.trials import dorr_trials
from gazeveil.lab.datasets import DORR_FOLDER, dorr2010

HEADER = "gaze 1280 720\ngeometry distance 0.45 width 0.4 height 0.225\n"


def write(folder: Path, name: str, text: str = HEADER + "0 640 360 1\n4000 650 360 1\n8000 0 0 0\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_a_file_is_a_showing_and_the_sixth_is_on_the_second_day(tmp_path: Path) -> None:
    for showing in (10, 2, 6):
        write(tmp_path, f"AMS1_rep_{showing}_breite_strasse.coord")
    found = list(dorr2010(tmp_path))
    assert {(one.observer, one.stimulus) for one in found} == {("AMS1", "breite_strasse")}
    assert [(one.session, one.trial) for one in found] == [("1", "2"), ("2", "6"), ("2", "10")]
    np.testing.assert_allclose(found[0].t, [0, 0.004, 0.008])


def test_trials_are_of_people_who_came_twice_and_lost_gaze_is_missing(tmp_path: Path) -> None:
    for name in ("A_rep_1_golf", "A_rep_7_golf", "B_rep_1_golf"):
        write(tmp_path / DORR_FOLDER, f"{name}.coord")
    trials = dorr_trials(tmp_path)
    assert [(trial.person, trial.session, trial.rate_hz) for trial in trials] == [("A", "1", 250.0), ("A", "2", 250.0)]
    np.testing.assert_allclose(trials[0].x, [0.0, np.degrees(np.arctan(10 * 400 / 1280 / 450)), np.nan], atol=0.05)


def test_other_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no files like"):
        list(dorr2010(tmp_path))
    write(tmp_path, "A_rep_1_golf.coord", "something else\n")
    with pytest.raises(FileFormatError, match="geometry"):
        list(dorr2010(tmp_path))
    write(tmp_path, "A_rep_1_golf.coord", HEADER + "1 2 3\n")
    with pytest.raises(FileFormatError, match="every line"):
        list(dorr2010(tmp_path))
