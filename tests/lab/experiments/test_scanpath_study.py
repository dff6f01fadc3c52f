# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Scanpaths behind veils: what must come out, whatever the people."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from gazeveil.cli.main import run
from gazeveil.errors import InputError, OptionError, UnknownName
from gazeveil.lab.experiments.named_mechanisms import veil
from gazeveil.lab.experiments.scanpath_privacy import OSIE_FOLDER, Measured, measure, osie, scene_sets, simulated
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK


@pytest.fixture(scope="module")
def found() -> Measured:
    return measure(simulated(people=8, scenes=3), ("none", "hplu", "temporal-low"), repeats=2)


def test_without_a_veil_everybody_is_linked_and_every_outlier_found(found: Measured) -> None:
    plain = found.rows[0]
    assert plain.mean == pytest.approx(1.0)
    assert plain.linked == plain.warped == plain.found == 1.0
    assert plain.outlier_f1 == 1.0
    assert found.random["mean"] < found.between_people["mean"] < 1.0


def test_a_strong_guarantee_hides_what_a_lower_rate_does_not(found: Measured) -> None:
    """Eight people, three scenes, twice: chance names 6 of 48, and more than 20 once in 10 million times."""
    _, hplu, temporal = found.rows
    assert temporal.warped > 0.9
    assert hplu.warped < 20 / 48
    assert hplu.mean < temporal.mean
    assert hplu.promise != "none"


def test_fixations_of_osie_become_streams(tmp_path: Path) -> None:
    file = tmp_path / OSIE_FOLDER / "fixations.parquet"
    file.parent.mkdir()
    rows = [
        {"image": image, "user": user, "fix": k, "x": 100.0 * k, "y": 50.0 * user, "dur_ms": 200 + 10 * k}
        for image in (1001, 1002)
        for user in (1, 2, 3)
        for k in range(1, 6)
        if (image, user) != (1002, 3)
    ]
    pl.DataFrame(rows).write_parquet(file)
    one = osie(file)
    assert (one.people, len(one.scenes)) == (("1", "2", "3"), 1)
    assert len(one.scenes[0][0]) == sum(20 + k for k in range(1, 6))
    assert {each.name for each in scene_sets(tmp_path, people=3, scenes=1)} == {"simulated", "osie"}


def test_the_command_writes_numbers_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--sets", "simulated", "--participants", "5", "--scenes", "1", "--veils", "none,gaussian-low"]
    out = tmp_path / "found"
    assert run(["lab", "experiment", "scanpaths", *small, "--out", str(out), "--json"]) == EXIT_OK
    told = json.loads(capsys.readouterr().out)
    assert [row["veil"] for row in told["sets"][0]["rows"]] == ["none", "gaussian-low"]
    assert json.loads((out / "scanpaths.json").read_text())["sets"] == told["sets"]
    assert (out / "scanpaths.png").read_bytes().startswith(b"\x89PNG")
    assert run(["lab", "experiment", "scanpaths", *small]) == EXIT_OK
    assert "Chance of a link 0.200" in capsys.readouterr().out
    assert run(["lab", "experiment", "scanpaths", "--sets", "moon"]) == EXIT_INPUT


def test_what_is_unknown_is_refused() -> None:
    one = simulated(people=2, scenes=1)
    with pytest.raises(UnknownName, match="no mechanism"):
        veil("curtain", one.plane)
    with pytest.raises(OptionError, match="repeat"):
        measure(one, repeats=0)
    with pytest.raises(InputError, match="none of osie"):
        scene_sets(None, ("osie",))
