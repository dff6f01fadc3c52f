# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Training data from files: whatever lies at a path is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazeveil.errors import InputError
from gazeveil.gaze.corpus import write_corpus
from gazeveil.lab.attacks.ekyt.training_gaze import gathered
from gazeveil.simulate import SimulatedStudy


def test_a_corpus_and_files_of_velocities_are_found_by_path(tmp_path: Path) -> None:
    study = SimulatedStudy(observers=2, stimuli=1, sessions=2, tracker="headset", seconds=2.0)
    write_corpus(study.recordings(), tmp_path / "corpus")
    found = gathered([tmp_path / "corpus"], 62.5)
    assert len(found) == 4
    assert found.names == ("p001", "p002")
    assert {recording.shape for recording in found.recordings} == {(2, 125)}
    found.save(tmp_path / "v.npz")
    assert len(gathered([tmp_path / "v.npz"], 62.5)) == 4
    with pytest.raises(InputError, match=r"at 62\.5 Hz, not at 125"):
        gathered([tmp_path / "v.npz"], 125.0)


def test_a_folder_of_gazebase_is_found_by_its_file_names(tmp_path: Path) -> None:
    lines = [f"{index},{index / 100:.2f},0,0,0,0" for index in range(2000)]
    for session in (1, 2):
        text = "\n".join(["n,x,y,val,xT,yT", *lines]) + "\n"
        (tmp_path / f"S_1001_S{session}_TEX.csv").write_text(text)
    told: list[int] = []
    found = gathered([tmp_path], 125.0, told.append)
    assert told == [1, 2]
    assert len(found) == 2
    assert found.recordings[0].shape == (2, 250)
