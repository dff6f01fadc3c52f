# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Identity and attributes: behind veils, and from geometry."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import FileFormatError, InputError, OptionError
from gazeveil.lab.bench.experiment import experiment
from gazeveil.lab.datasets import FIELDS, JEMR_FOLDER, SESSIONS_FILE, TARGETS_FILE, target_sessions
from gazeveil.lab.experiments import attributes
from gazeveil.lab.experiments.identification import TRAITS
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six people on two days each, whose eyes are three millimetres further apart than the last one's."""
    rng = np.random.default_rng(1)
    targets, sessions = [], []
    for user, session in np.ndindex(6, 4):
        values = rng.normal(0, 1, (12, len(FIELDS) + 2)).astype(np.float32)
        rows = pl.DataFrame(values, schema=["offX", "offY", *FIELDS]).with_columns(
            pl.lit(user + 1).alias("user"),
            pl.lit(session + 1).alias("session"),
            (pl.col("ipd") * 0.1 + 55 + 3 * user).alias("ipd"),
        )
        targets.append(rows)
        about = {"day": f"2021030{1 + session // 2}", "vision": "glasses" if user % 2 else "contacts"}
        more = {"gender": "female" if user < 3 else "male", "age": 20 + user}
        sessions.append({"user": user + 1, "session": session + 1, **about, **more})
    place = tmp_path / JEMR_FOLDER
    place.mkdir()
    pl.concat(targets).write_parquet(place / TARGETS_FILE)
    pl.DataFrame(sessions).write_parquet(place / SESSIONS_FILE)
    return tmp_path


def test_sessions_are_read_with_their_fields(folder: Path) -> None:
    sessions = target_sessions(folder / JEMR_FOLDER)
    assert len(sessions) == 24
    first = sessions[0]
    assert (first.person, first.session, first.day, first.vision) == ("user-01", "1", "20210301", "contacts")
    assert set(first.fields) == set(FIELDS.values())
    assert first.fields["eyes/ipd"].mean() == pytest.approx(55, abs=1)


def test_a_session_that_nobody_knows_of_is_refused(folder: Path) -> None:
    path = folder / JEMR_FOLDER / SESSIONS_FILE
    pl.read_parquet(path).head(3).write_parquet(path)
    with pytest.raises(FileFormatError, match="no such row"):
        target_sessions(folder / JEMR_FOLDER)


def test_geometry_names_people_on_another_day(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "found"
    assert run(["lab", "experiment", "geometry", "--data", str(folder), "--out", str(out), "--json"]) == EXIT_OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    identity = {row["sees"]: row["value"] for row in rows if row["question"] == "identity"}
    assert identity["eyes"] > 0.8
    assert identity["error + noise"] < 0.6
    assert {row["question"] for row in rows} == {"identity", *attributes.ATTRIBUTES}
    assert (out / "geometry.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_says_what_veils_leave_of_identity_and_traits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["lab", "experiment", "attributes", "--sets", "simulated", "--participants", "4", "--seconds", "30"]
    assert run([*small, "--veils", "none,hplu", "--out", str(tmp_path), "--json"]) == EXIT_OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["question"] for row in rows} == {attributes.IDENTITY, *TRAITS}
    assert all(0 <= row["value"] <= 1 for row in rows)
    assert (tmp_path / "attributes.png").exists()
    assert run([*small, "--veils", "none"]) == EXIT_OK
    assert "fast saccades" in capsys.readouterr().out
    assert run(["lab", "experiment", "attributes", "--sets", "moon"]) == EXIT_INPUT


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        attributes.trait_sets(None, ("moon",))
    with pytest.raises(InputError):
        attributes.trait_sets(None, ("vr",))
    with pytest.raises(InputError):
        experiment("geometry").run({"data": tmp_path, "seed": 1})
