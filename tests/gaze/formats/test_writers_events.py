# SPDX-FileCopyrightText: 2026 The gazeveil authors
# SPDX-License-Identifier: Apache-2.0
"""Events in EyeLink files that we write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from gazeveil import Recording, read, screen
from gazeveil.gaze import schema
from gazeveil.gaze.corpus import chunk_of
from gazeveil.gaze.formats.base import writer_of

SCREEN = screen(1680, 1050, 474, 297.1, 700)
TIMES = np.round(10.0 + 0.004 * np.arange(50), 3)
EVENTS: list[dict[str, Any]] = [
    {"kind": "message", "onset": 9.5, "text": "before  the first sample"},
    {"kind": "button", "onset": 10.0105, "text": "5 1"},
    {"kind": "input", "onset": 10.011, "text": "127"},
    {"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.02, "x": 0.1 + 0.2, "y": 1e-7, "pupil": 812.0},
    {"kind": "message", "onset": 10.05, "text": "!V TRIAL_VAR answer yes"},
    {
        "kind": "saccade",
        "eye": "right",
        "onset": 10.024,
        "offset": 10.052,
        "x": 3.5,
        "y": -2.25,
        "end_x": 700.125,
        "end_y": 80.0,
        "amplitude": 4.75,
        "peak_velocity": 311.5,
    },
    {"kind": "blink", "eye": "left", "onset": 10.1, "offset": 10.15},
    {"kind": "message", "onset": 99.0, "text": "after the last"},
]


def a_recording(events: list[dict[str, Any]] = (), **changes: Any) -> Recording:  # type: ignore[assignment]
    x = 500 + np.arange(50) / 3
    made = Recording(TIMES, x, x / 2, SCREEN, "ann", "lake.png", rate_hz=250.0, **changes)
    table = schema.event_table(pl.DataFrame([{"source": "tracker", **each} for each in events])) if events else None
    return made if table is None else made.with_events(table)


def written(name: str, recording: Recording, path: Path) -> tuple[Path, tuple[str, ...]]:
    lost = writer_of(name).write([chunk_of(recording)], path)
    (file,) = path.iterdir()
    return file, lost


def test_events_come_back_from_an_eyelink_file(tmp_path: Path) -> None:
    made = a_recording(EVENTS)
    file, lost = written("eyelink-asc", made, tmp_path / "asc")
    assert not [phrase for phrase in lost if "event" in phrase or "message" in phrase]
    (back,) = read(file).recordings
    own = pl.col("text").str.contains("^(?:TRIALID|GAZE_COORDS|!V TRIAL_VAR image)").fill_null(False)
    found = back.events.filter(~own).sort("onset", "kind")
    assert found.equals(made.events.sort("onset", "kind"))


def test_events_stand_among_the_samples_of_their_time(tmp_path: Path) -> None:
    file, _ = written("eyelink-asc", a_recording(EVENTS), tmp_path / "asc")
    lines = [line.split() for line in file.read_text().splitlines()]
    at = {line[0]: number for number, line in enumerate(lines) if line}
    assert float(lines[at["EFIX"] - 1][0]) == 10020
    assert float(lines[at["ESACC"] - 1][0]) == 10052
    assert lines[-1][0] == "END"
    assert lines[-2][2:] == ["after", "the", "last"]


def test_written_again_an_eyelink_file_does_not_grow(tmp_path: Path) -> None:
    first, _ = written("eyelink-asc", a_recording(EVENTS), tmp_path / "first")
    second, _ = written("eyelink-asc", read(first).recordings[0], tmp_path / "second")
    assert first.read_text() == second.read_text()


@pytest.mark.parametrize(
    ("event", "phrase"),
    [
        ({"kind": "pursuit", "onset": 10.0, "offset": 10.1}, "no line for"),
        ({"kind": "message", "onset": 10.0, "text": "two\nlines"}, "no line for"),
        ({"kind": "message", "onset": -1.0, "text": "early"}, "no line for"),
        ({"kind": "fixation", "eye": "left", "onset": 10.0}, "no line for"),
        ({"kind": "fixation", "eye": "left", "onset": None, "offset": 10.1}, "no line for"),
        ({"kind": "fixation", "eye": "both", "onset": 10.0, "offset": 10.1}, "of both eyes together"),
        ({"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.1, "amplitude": 1.0}, "details of events"),
        ({"kind": "blink", "eye": "left", "onset": 10.0, "offset": 10.1, "source": "ivt"}, "by which detector"),
        ({"kind": "message", "onset": 10.0, "text": "TRIALID another"}, "the file says its own"),
        ({"kind": "message", "onset": 10.0, "text": "DISPLAY_COORDS 0 0 9 9"}, "the file says its own"),
    ],
)
def test_what_an_eyelink_file_cannot_say_of_events_is_told(event: dict[str, Any], phrase: str, tmp_path: Path) -> None:
    file, lost = written("eyelink-asc", a_recording([event]), tmp_path / "asc")
    assert any(phrase in each for each in lost)
    (back,) = read(file).recordings
    assert (back.stimulus, back.trial, back.geometry.width_px) == ("lake.png", "1", 1680)


def test_a_message_never_names_a_recording_without_a_stimulus(tmp_path: Path) -> None:
    made = a_recording([{"kind": "message", "onset": 10.0, "text": "!V TRIAL_VAR image other.png"}])
    file, lost = written("eyelink-asc", replace(made, stimulus=""), tmp_path / "asc")
    assert any("the file says its own" in each for each in lost)
    assert read(file).recordings[0].stimulus == ""


def test_events_are_turned_into_pixels_with_the_gaze(tmp_path: Path) -> None:
    made = a_recording([{"kind": "fixation", "eye": "left", "onset": 10.0, "offset": 10.1, "x": 0.0, "y": 0.0}])
    made = replace(made, x=made.x / 100, y=made.y / 100, geometry=SCREEN.in_unit("deg"))
    file, _ = written("eyelink-asc", made, tmp_path / "asc")
    (fixation,) = read(file).recordings[0].events.filter(pl.col("kind") == "fixation").iter_rows(named=True)
    assert (fixation["x"], fixation["y"]) == pytest.approx((840, 525))
