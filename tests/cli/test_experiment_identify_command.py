# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.lab.datasets import VR_FILE, VR_FOLDER
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK

COMMAND = ["lab", "experiment", "identify", "--experiment", "vr", "--recognisers", "lda", "--allow", "nothing"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two people in four sessions of two trials, one far steadier than the other."""
    rng = np.random.default_rng(1)
    parts = []
    for user, session, trial in np.ndindex(2, 4, 2):
        yaw, pitch = np.cumsum((5 + 30 * user) * rng.standard_normal((2, 300)), axis=1).round().astype(int) + 7
        parts.append(
            pl.DataFrame({"t_ms": np.arange(300) * 11, "yaw": yaw, "pitch": pitch}).with_columns(
                user=pl.lit(user),
                session=pl.lit(session + 1),
                trial=pl.lit(trial + 1),
                scene=pl.lit("office"),
                pupil_l=pl.lit(300),
                pupil_r=pl.lit(300),
            )
        )
    (tmp_path / VR_FOLDER / VR_FILE).parent.mkdir()
    pl.concat(parts).write_parquet(tmp_path / VR_FOLDER / VR_FILE)
    return tmp_path


def test_it_says_how_often_people_are_recognised(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*COMMAND, "--data", str(folder), "--json"]) == EXIT_OK
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["recogniser"], row["sees"], row["people"]) == ("lda", [], 2)
    assert row["trials"] == {"value": 1.0, "low": 1.0, "high": 1.0, "count": 4}
    assert run([*COMMAND, "--data", str(folder), "--held-out"]) == EXIT_OK
    told = capsys.readouterr().out
    assert "left out" in told
    assert "movement alone" in told


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["--experiment", "nonsense"], "nonsense"),
        (["--allow", "head"], "head"),
        (["--recognisers", "nobody"], "nobody"),
    ],
)
def test_what_is_not_there_is_refused(
    folder: Path, more: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*COMMAND, "--data", str(folder), *more]) == EXIT_INPUT
    assert named in capsys.readouterr().err
