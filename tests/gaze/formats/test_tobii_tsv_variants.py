# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Tobii Pro Lab's ways to write coordinates, and its tables that hold no gaze."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazeveil.errors import FileFormatError
from gazeveil.gaze.reading import find_format, read
from gazeveil.geometry import Unit, screen


@pytest.mark.parametrize(
    "header",
    [
        "Recording\tParticipant\tTOI\tInterval\tEvent_type\tValidity\tEventIndex\tStart\tStop\tDuration\tAOI",
        "Recording\tParticipant\tTOI\tInterval\tMedia\tDuration_of_interval\tTotal_duration_of_fixations.Face",
    ],
)
def test_pro_labs_tables_of_metrics_are_refused_as_such(tmp_path: Path, header: str) -> None:
    path = tmp_path / "metrics.tsv"
    path.write_text(f"{header}\n" + "\t".join("1" for _ in header.split("\t")) + "\n")
    assert find_format(path) == "tobii-tsv"
    with pytest.raises(FileFormatError, match="found Tobii Pro Lab's table of metrics"):
        read(path)


@pytest.mark.parametrize(
    ("system", "unit"),
    [
        (" [DACS px]", Unit.PIXEL),
        (" [px]", Unit.PIXEL),
        ("", Unit.PIXEL),
        (" [MCS px]", Unit.PIXEL),
        (" [MCS norm]", Unit.FRACTION),
        (" (ADCSnorm)", Unit.FRACTION),
    ],
)
@pytest.mark.parametrize("mark", [".", ","])
def test_every_spelling_of_the_coordinates_is_known(tmp_path: Path, system: str, unit: Unit, mark: str) -> None:
    names = ["Recording timestamp [μs]", "Sensor", f"Gaze point X{system}", f"Gaze point Y{system}"]
    rows = [[str(8000 * k), "Eye Tracker", f"0.{5 + k}", "0.25"] for k in range(3)]
    text = "\n".join("\t".join(row) for row in [names, *rows])
    path = tmp_path / "export.tsv"
    path.write_text(text.replace("0.", f"0{mark}"), encoding="utf-8")
    [recording] = read(path, geometry=screen(1920, 1080)).recordings
    assert recording.geometry.unit is unit
    assert recording.x.tolist() == [0.5, 0.6, 0.7]
    assert recording.y.tolist() == [0.25, 0.25, 0.25]
