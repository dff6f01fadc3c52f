# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.lab.experiments.stream_errors import StreamSet, compare, simulated_recordings
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK


@pytest.fixture(scope="module")
def streams() -> StreamSet:
    return StreamSet("simulated", "simulated", simulated_recordings(2, 30.0))


def test_stronger_presets_leave_less(streams: StreamSet) -> None:
    told: list[float] = []
    names = ["lphu", "hplu", "gaussian-low", "gaussian-high", "smoothing-high"]
    rows = compare([streams], names, tell=lambda done, total: told.append(done))
    by_name = {row.preset: row.measures for row in rows}
    assert list(by_name) == ["none", *names]
    assert by_name["none"]["rmse_deg"] == 0
    assert by_name["none"]["aoi_f1"] == 1
    assert by_name["gaussian-low"]["rmse_deg"] == pytest.approx(2**0.5, rel=0.1)
    assert by_name["gaussian-high"]["rmse_deg"] == pytest.approx(3 * 2**0.5, rel=0.1)
    assert by_name["lphu"]["aoi_f1"] > by_name["hplu"]["aoi_f1"]
    assert by_name["smoothing-high"]["lag_s"] > 0.2
    assert told == [1, 2, 3, 4, 5, 6]
    promises = {row.preset: row.promise for row in rows}
    assert "ε=3" in promises["lphu"]
    assert "unproven" in promises["gaussian-low"]


def test_no_repeats_are_refused(streams: StreamSet) -> None:
    with pytest.raises(OptionError, match="repeat"):
        compare([streams], repeats=0)


def test_the_command_prints_a_row_for_each_preset(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["lab", "experiment", "veils", "--presets", "lphu, temporal-high", "--quick", "--json"]) == EXIT_OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["preset"] for row in rows] == ["none", "lphu", "temporal-high"]
    assert run(["lab", "experiment", "veils", "--presets", "lphu", "--quick"]) == EXIT_OK
    assert "lag_correlation" in capsys.readouterr().out
    assert run(["lab", "experiment", "veils", "--presets", "nonsense", "--quick"]) == EXIT_INPUT
    assert "no preset" in capsys.readouterr().err
