# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from gazeveil.cli.main import run
from gazeveil.errors import OptionError
from gazeveil.lab.experiments.stream_errors import StreamSet, preset_errors, simulated_recordings
from gazeveil.terminal.printing import EXIT_INPUT, EXIT_OK


@pytest.fixture(scope="module")
def streams() -> StreamSet:
    return StreamSet("simulated", "simulated", simulated_recordings(2, 30.0))


def test_stronger_presets_leave_less(streams: StreamSet) -> None:
    names = ["none", "lphu", "hplu", "gaussian-low", "gaussian-high", "smoothing-high"]
    rows = [row for name in names for row in preset_errors(streams, name)]
    found = {(row.where["preset"], row.what): row.value for row in rows}
    assert found["none", "rmse_deg"] == 0
    assert found["none", "aoi_f1"] == 1
    assert found["gaussian-low", "rmse_deg"] == pytest.approx(2**0.5, rel=0.1)
    assert found["gaussian-high", "rmse_deg"] == pytest.approx(3 * 2**0.5, rel=0.1)
    assert found["lphu", "aoi_f1"] > found["hplu", "aoi_f1"]
    assert found["smoothing-high", "lag_s"] > 0.2
    promises = {row.where["preset"]: row.note for row in rows}
    assert "ε=3" in promises["lphu"]
    assert "unproven" in promises["gaussian-low"]


def test_no_repeats_are_refused(streams: StreamSet) -> None:
    with pytest.raises(OptionError, match="repeat"):
        preset_errors(streams, "lphu", repeats=0)


def test_the_command_prints_a_row_for_each_preset(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["lab", "experiment", "veils", "--presets", "lphu, temporal-high", "--quick", "--json"]) == EXIT_OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert list(dict.fromkeys(row["preset"] for row in rows)) == ["none", "lphu", "temporal-high"]
    assert run(["lab", "experiment", "veils", "--presets", "lphu", "--quick"]) == EXIT_OK
    assert "lag_correlation" in capsys.readouterr().out
    assert run(["lab", "experiment", "veils", "--presets", "nonsense", "--quick"]) == EXIT_INPUT
    assert "no preset" in capsys.readouterr().err
